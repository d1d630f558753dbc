"""A GPU as data: facts, the files that hold them, and checks that refuse what cannot be.

`device` holds the facts, `file` reads them from the TOML files in `simcore/devices`, `section` says
how models add sections of their own, and `changed` makes another GPU of one. Imports the scalar
types of `isa` and nothing else of simcore.
"""

from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import offer_changes

offer_changes(changed_device)
