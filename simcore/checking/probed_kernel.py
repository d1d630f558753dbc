"""The kernel that is executed in place of one that is checked: with probes, where there are any."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from kernelcast.simcore.checking.rewriting import Probed
from kernelcast.simcore.checking.unwritten_registers import with_unwritten_registers
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["with_probes"]

_known: WeakKeyDictionary[Kernel, Probed] = WeakKeyDictionary()


def with_probes(kernel: Kernel) -> Probed:
    """The kernel with what looks at its registers; the same object every time."""
    if kernel in _known:
        return _known[kernel]
    probed = with_unwritten_registers(Probed(kernel))
    if probed.kernel is not kernel:
        _known[kernel] = probed
    return probed
