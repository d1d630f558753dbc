"""The kernel that is executed in place of one that is checked: with probes, where there are any."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from kernelcast.simcore.checking.address_overflow import with_wrapped_indices
from kernelcast.simcore.checking.births import with_births
from kernelcast.simcore.checking.rewriting import Probed
from kernelcast.simcore.checking.unwritten_registers import with_unwritten_registers
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["with_probes"]

_known: WeakKeyDictionary[Kernel, dict[tuple[bool, bool], Probed]] = WeakKeyDictionary()


def with_probes(kernel: Kernel, *, not_finite: bool, overflow: bool) -> Probed:
    """The kernel with what looks at its registers; the same object every time.

    Registers that nobody has written are looked for always; on request NaN and infinity that are
    born, and indices that wrap around on their way into addresses.
    """
    versions = _known.get(kernel, {})
    asked = not_finite, overflow
    if asked in versions:
        return versions[asked]
    probed = with_unwritten_registers(Probed(kernel))
    if not_finite:
        probed = with_births(probed)
    if overflow:
        probed = with_wrapped_indices(probed)
    if probed.kernel is not kernel:
        _known.setdefault(kernel, {})[asked] = probed
    return probed
