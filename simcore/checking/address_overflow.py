"""Probes of indices of 32 bits that have wrapped around and become part of an address.

Beside each register of 32 bits that goes into an address stands its exact value in 64 bits, as far
as it is computed by sums, products and shifts. Where the index is made longer, both must be equal:
what wraps and wraps back on the way is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.simcore.checking.records import WRAPPED
from kernelcast.simcore.checking.rewriting import Probed, Rewriter
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Compute,
    Immediate,
    Instruction,
    Kernel,
    Load,
    Operand,
    Register,
    Store,
    Straight,
)
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["with_wrapped_indices"]

_EXACT = {
    Algebra.SUM: "add",
    Algebra.DIFFERENCE: "sub",
    Algebra.PRODUCT: "mul.lo",
    Algebra.PRODUCT_SUM: "mad.lo",
    Algebra.SHIFT_LEFT: "shl",
    Algebra.NEGATION: "neg",
    Algebra.COPY: "mov",
    Algebra.CHOICE: "selp",
}
_LONGER = (Algebra.WIDE_PRODUCT, Algebra.WIDE_PRODUCT_SUM, Algebra.CONVERSION)
_SPACES = (AddressSpace.GLOBAL, AddressSpace.GENERIC)


def with_wrapped_indices(probed: Probed) -> Probed:
    """The kernel with probes where indices become addresses; itself without any."""
    indices = _Indices(probed)
    return indices.rewritten() if indices.is_used else probed


def _into_addresses(kernel: Kernel) -> frozenset[int]:
    """Indices of registers that addresses of buffers are computed from, by arithmetic alone."""
    made: dict[int, list[Compute]] = {}
    for instruction in kernel.instructions:
        if isinstance(instruction, Compute):
            for register in writes(instruction):
                made.setdefault(register.index, []).append(instruction)
    waiting: list[Operand | None] = [
        i.address.base
        for i in kernel.instructions
        if isinstance(i, Load | Store | Atomic) and i.address.space in _SPACES
    ]
    found: set[int] = set()
    while waiting:
        operand = waiting.pop()
        if not isinstance(operand, Register) or operand.index in found:
            continue
        found.add(operand.index)
        for instruction in made.get(operand.index, ()):
            algebra = instruction.opcode.algebra
            if algebra in _EXACT or algebra in _LONGER:
                waiting += instruction.sources
    return frozenset(found)


class _Indices:
    def __init__(self, probed: Probed) -> None:
        self._rewriter = Rewriter(probed)
        self._addresses = _into_addresses(probed.kernel)
        self._instructions = probed.kernel.instructions
        self._exact: dict[tuple[int, bool], Register] = {}
        longer = [i for i in self._instructions if self._is_longer(i)]
        for instruction in longer:
            assert isinstance(instruction, Compute)
            for source in self._narrow(instruction):
                self._follow(source, signed=_source_type(instruction).is_signed)
        self.is_used = bool(self._exact)

    def rewritten(self) -> Probed:
        return self._rewriter.rewritten(self._before, self._after)

    def _is_longer(self, instruction: Instruction) -> bool:
        """Whether an index of 32 bits becomes part of an address of 64 bits here."""
        if not isinstance(instruction, Compute) or instruction.opcode.algebra not in _LONGER:
            return False
        type_ = _source_type(instruction)
        if type_.bits != 32 or not type_.is_integer:
            return False
        return any(
            register.bits == 64 and register.index in self._addresses
            for register in writes(instruction)
        )

    @staticmethod
    def _narrow(instruction: Compute) -> list[Register]:
        count = 1 if instruction.opcode.algebra is Algebra.CONVERSION else 2
        return [s for s in instruction.sources[:count] if isinstance(s, Register) and s.bits == 32]

    def _follow(self, register: Register, *, signed: bool) -> None:
        """Gives a register, and what it is computed from, exact values."""
        waiting = [register]
        while waiting:
            one = waiting.pop()
            if (one.index, signed) in self._exact or one.bits != 32:
                continue
            self._exact[one.index, signed] = self._rewriter.register(64)
            for instruction in self._instructions:
                if one in writes(instruction) and _is_exact(instruction):
                    assert isinstance(instruction, Compute)
                    sources = instruction.sources[: _values(instruction)]
                    waiting += [s for s in sources if isinstance(s, Register)]

    def _before(self, instruction: Instruction) -> Iterator[Straight]:
        if not self._is_longer(instruction):
            return
        assert isinstance(instruction, Compute)
        signed = _source_type(instruction).is_signed
        for register in self._narrow(instruction):
            exact = self._exact[register.index, signed]
            long, wrong = self._rewriter.register(64), self._rewriter.register(1)
            yield self._longer(instruction, long, register, signed=signed)
            sources: list[Operand] = [long, exact]
            yield self._rewriter.compute(instruction, "setp.ne", ScalarType.S64, wrong, sources)
            yield from self._rewriter.probe_where(instruction, WRAPPED, wrong)

    def _after(self, instruction: Instruction) -> Iterator[Straight]:
        for register in writes(instruction):
            for signed in (True, False):
                exact = self._exact.get((register.index, signed))
                if exact is None:
                    continue
                if _is_exact(instruction):
                    assert isinstance(instruction, Compute)
                    yield from self._same(instruction, exact, signed=signed)
                else:
                    yield self._longer(instruction, exact, register, signed=signed)

    def _longer(
        self, about: Instruction, result: Register, source: Operand, *, signed: bool
    ) -> Straight:
        wide, narrow = (
            (ScalarType.S64, ScalarType.S32)
            if signed
            else (
                ScalarType.U64,
                ScalarType.U32,
            )
        )
        return self._rewriter.compute(about, "cvt", wide, result, [source], about.guard, narrow)

    def _same(self, about: Compute, exact: Register, *, signed: bool) -> Iterator[Straight]:
        """Computes with exact values what an instruction does with those of 32 bits."""
        sources: list[Operand] = []
        for number, source in enumerate(about.sources):
            if number >= _values(about):
                sources.append(source)
            elif isinstance(source, Immediate):
                sources.append(Immediate(_extended(source.bits)))
            elif isinstance(source, Register) and (source.index, signed) in self._exact:
                sources.append(self._exact[source.index, signed])
            else:
                long = self._rewriter.register(64)
                yield self._longer(about, long, source, signed=signed)
                sources.append(long)
        name = _EXACT[about.opcode.algebra]
        type_ = ScalarType.B64 if name in ("mov", "shl", "selp") else ScalarType.S64
        yield self._rewriter.compute(about, name, type_, exact, sources, about.guard)


def _source_type(instruction: Compute) -> ScalarType:
    is_conversion = instruction.opcode.algebra is Algebra.CONVERSION
    return instruction.source_type if is_conversion else instruction.type


def _is_exact(instruction: Instruction) -> bool:
    """Whether a result is exactly what it is of its sources, but for the 32 bits it has."""
    if not isinstance(instruction, Compute) or instruction.opcode.algebra not in _EXACT:
        return False
    return instruction.type.is_integer and instruction.type.bits == 32


def _values(instruction: Compute) -> int:
    """How many of the sources are numbers like the result.

    How far it is shifted is none, nor what chooses.
    """
    algebra = instruction.opcode.algebra
    if algebra is Algebra.SHIFT_LEFT:
        return 1
    return 2 if algebra is Algebra.CHOICE else len(instruction.sources)


def _extended(bits: int) -> int:
    """A constant of 32 bits in 64; it may well be a negative one."""
    bits &= 0xFFFFFFFF
    return bits - (1 << 32) & 0xFFFFFFFFFFFFFFFF if bits >> 31 else bits
