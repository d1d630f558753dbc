"""The addresses of an access's lanes as LLVM IR: a scalar with fixed offsets, or a vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance
from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.memory.access_checks import Lanes
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.isa.ir.kernel import Atomic, Load, Register, Store, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["AddressCode"]

_VARYING = LaneVariance(None)
_LONG = 64
_ADDRESS_MASK = (1 << _LONG) - 1
_PATTERNED = (AddressSpace.GLOBAL, AddressSpace.SHARED, AddressSpace.CONST)


class AddressCode:
    """Writes addresses; `symbols`: those of variables in their spaces."""

    def __init__(
        self,
        warp: WarpCode,
        analysis: Analysis,
        registers: Registers,
        symbols: Mapping[str, int],
    ) -> None:
        self._warp = warp
        self._analysis = analysis
        self._registers = registers
        self._symbols = symbols

    def of(self, instruction: Load | Store | Atomic) -> Lanes:
        """Addresses within the instruction's space."""
        address, code = instruction.address, self._warp.scalar
        zero = (0,) * self._warp.width
        if not isinstance(address.base, Register):
            first = address.offset
            if isinstance(address.base, SymbolAddress):
                first += self._symbols[address.base.symbol] + address.base.offset
            return Lanes(str(first & _ADDRESS_MASK), zero)
        base, bits = address.base, address.base.bits
        variance = self._analysis.variance(base)
        value, offset = self._registers.bits_of(base), address.offset & ((1 << bits) - 1)
        if not variance.is_varying and not _is_scattered(variance, bits):
            moved = code.op(f"add i{bits} {value}, {offset}") if offset else value
            if bits == 64:
                return Lanes(moved, variance.offsets)
            if variance.is_uniform:
                return Lanes(code.op(f"zext i{bits} {moved} to i64"), zero)
            # 32-bit addresses wrap, and lanes that are not active may lie on the other side of 0:
            # as no space has 2 GB and lanes are no farther apart, the sign tells on which
            assert variance.offsets is not None
            low = min(variance.offsets)
            least = code.op(f"add i{bits} {moved}, {low}") if low else moved
            wide = code.op(f"sext i{bits} {least} to i64")
            return Lanes(wide, tuple(offset - low for offset in variance.offsets))
        vector = self._warp.vector
        if not variance.is_varying:
            value, variance = self._registers.spread(value, variance, bits), _VARYING
        if offset:
            value = vector.binary("add", f"i{bits}", value, vector.splat(f"i{bits}", offset))
        likely = variance.offsets if address.space in _PATTERNED else None
        lanes = Lanes(vector.cast("zext", f"i{bits}", value, "i64"), None, likely)
        guess = self._registers.guess(base)
        if guess is None or guess.offsets != likely or bits != _LONG:
            return lanes
        start = code.op(f"add i64 {guess.base}, {offset}") if offset else guess.base
        return replace(lanes, first=start, holds=guess.holds)


def _is_scattered(variance: LaneVariance, bits: int) -> bool:
    """Whether lanes of a short address are so far apart that some may wrap around."""
    assert variance.offsets is not None
    return bits < _LONG and max(variance.offsets) - min(variance.offsets) >= 1 << (bits - 1)
