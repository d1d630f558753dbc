"""Where the generic address space keeps shared, local and constant memory.

A generic address in [WINDOW, WINDOW + WINDOW_BYTES) is that space's address plus WINDOW; all other
generic addresses are global. The values are ours: hardware places its windows elsewhere.
"""

from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["WINDOWS", "WINDOW_BYTES"]

WINDOW_BYTES = 1 << 32
WINDOWS: dict[AddressSpace, int] = {
    AddressSpace.SHARED: 1 << 40,
    AddressSpace.LOCAL: 2 << 40,
    AddressSpace.CONST: 3 << 40,
    AddressSpace.PARAM: 4 << 40,
}
