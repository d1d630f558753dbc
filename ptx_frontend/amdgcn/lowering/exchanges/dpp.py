"""Data parallel primitives: the first operand of a vector instruction comes from another lane.

AMD Instinct MI200 Instruction Set Architecture, chapter 6.3; RDNA 3 Instruction Set Architecture,
chapter 7.4. Rows are 16 lanes. A lane whose source is outside of what the pattern covers, or takes
no part, reads zero where `bound_ctrl` says so; else it writes nothing. `fi` reads lanes that take
no part. `row_mask` and `bank_mask` say which lanes write at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from kernelcast.ptx_frontend.amdgcn.lowering.exchanges.takes_part import takes_part
from kernelcast.ptx_frontend.amdgcn.lowering.writer import Writer
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction
from kernelcast.simcore.isa.ir.kernel import Guard, Immediate, Operand
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES

__all__ = ["is_dpp", "with_first_operand"]

_EXCHANGED = "v999"
"""A register that no instruction names."""
_REGISTER = re.compile(r"v\d+")
_ROW, _LAST = 16, 15
_ALL = 0xF
_MASKS = (("row_mask", 4, 3), ("bank_mask", 2, 3))
"""Names, the bits of a lane's number below those that a mask looks at, and which these are."""
_Found = tuple[Operand, Operand | None]
"""The lane that is read, and where there is one; None for all lanes."""


def is_dpp(instruction: AsmInstruction) -> bool:
    """Whether the first operand comes from another lane."""
    return instruction.mnemonic.endswith("_dpp")


def with_first_operand(code: Writer, instruction: AsmInstruction) -> AsmInstruction:
    """The instruction with what it reads from another lane in a register of its own.

    The guard is that of the lanes that write: the others are zero in a mask that it writes.
    UnsupportedInstruction for patterns that are not known.
    """
    modifiers, operands = instruction.modifiers, list(instruction.operands)
    index = 2 if "_co_" in instruction.opcode else 1
    pattern = next((name for name in modifiers if name in _PATTERNS), None)
    match = _REGISTER.search(operands[index]) if len(operands) > index else None
    if pattern is None or match is None:
        raise code.refused("its DPP control")
    code.guard = None
    lane, is_there = _PATTERNS[pattern](code, modifiers[pattern])
    found = code.register(32)
    value = code.single(match[0])
    code.exchange(WARP_OPCODES["lane.read"], (found,), (value, lane))
    if not _reads_all(modifiers):
        there = takes_part(code, lane)
        is_there = there if is_there is None else code.compute("and.pred", 1, there, is_there)
    is_zero = modifiers.get("bound_ctrl") is not None
    read: Operand = found
    if is_zero and is_there is not None:
        read = code.compute("selp.b32", 32, found, Immediate(0), is_there)
    code.unguarded("mov.b32", code.word(_EXCHANGED), read)
    writes: Operand = code.exec
    if not is_zero and is_there is not None:
        writes = code.compute("and.pred", 1, is_there, code.exec)
    for name, shift, mask in _MASKS:
        chosen = int(modifiers.get(name, "0xf"), 0)
        if chosen != _ALL:
            writes = code.compute("and.pred", 1, writes, _is_chosen(code, chosen, shift, mask))
    code.guard = Guard(code.compute("mov.pred", 1, writes), negated=False)
    operands[index] = _REGISTER.sub(_EXCHANGED, operands[index])
    return replace(instruction, operands=tuple(operands))


def _reads_all(modifiers: Mapping[str, str]) -> bool:
    """Whether lanes that take no part are read, too."""
    return modifiers.get("fi", "0") == "1"


def _is_chosen(code: Writer, chosen: int, shift: int, mask: int) -> Operand:
    """Whether the row or bank of the own lane is one of those that a mask has."""
    number = code.compute("shr.u32", 32, code.lane(), Immediate(shift))
    number = code.compute("and.b32", 32, number, Immediate(mask))
    bit = code.compute("shr.u32", 32, Immediate(chosen), number)
    bit = code.compute("and.b32", 32, bit, Immediate(1))
    return code.compute("setp.ne.u32", 1, bit, Immediate(0))


# ---- which lane is read ----


def _in_row(code: Writer, place: Operand) -> Operand:
    """The lane at a place of the own row."""
    first = code.compute("and.b32", 32, code.lane(), Immediate(0xFFFFFFFF - _LAST))
    kept = code.compute("and.b32", 32, place, Immediate(_LAST))
    return code.compute("or.b32", 32, first, kept)


def _shifted(sign: int) -> Callable[[Writer, str], _Found]:
    def found(code: Writer, value: str) -> _Found:
        distance = Immediate(sign * int(value, 0) & 0xFFFFFFFF)
        place = code.compute("and.b32", 32, code.lane(), Immediate(_LAST))
        other = code.compute("add.u32", 32, place, distance)
        inside = code.compute("setp.lt.u32", 1, other, Immediate(_ROW))
        return _in_row(code, other), inside

    return found


def _rotated(code: Writer, value: str) -> _Found:
    distance = Immediate(-int(value, 0) & 0xFFFFFFFF)
    return _in_row(code, code.compute("add.u32", 32, code.lane(), distance)), None


def _of_wavefront(sign: int, *, is_rotated: bool) -> Callable[[Writer, str], _Found]:
    """`wave_shr` and its kin: the next lane of the wavefront, on either side."""

    def found(code: Writer, _value: str) -> _Found:
        other = code.compute("add.u32", 32, code.lane(), Immediate(sign & 0xFFFFFFFF))
        kept = code.compute("and.b32", 32, other, Immediate(code.lanes - 1))
        if is_rotated:
            return kept, None
        return kept, code.compute("setp.lt.u32", 1, other, Immediate(code.lanes))

    return found


def _mirrored(lanes: int) -> Callable[[Writer, str], _Found]:
    return lambda code, _value: (
        code.compute("xor.b32", 32, code.lane(), Immediate(lanes - 1)),
        None,
    )


def _turned(code: Writer, value: str) -> _Found:
    """`row_xmask`: the lane whose number differs in those bits."""
    return code.compute("xor.b32", 32, code.lane(), Immediate(int(value, 0) & _LAST)), None


def _permuted(group: int) -> Callable[[Writer, str], _Found]:
    """`[1,0,3,2]`: the lane of each `group` that each of them reads, four or eight."""
    bits = group.bit_length() - 1

    def found(code: Writer, value: str) -> _Found:
        chosen = [int(number) for number in value.strip("[]").split(",")]
        packed = sum(number << (bits * place) for place, number in enumerate(chosen))
        place = code.compute("and.b32", 32, code.lane(), Immediate(group - 1))
        place = code.compute("mul.lo.u32", 32, place, Immediate(bits))
        number = code.compute("shr.u32", 32, Immediate(packed), place)
        number = code.compute("and.b32", 32, number, Immediate(group - 1))
        first = code.compute("and.b32", 32, code.lane(), Immediate(-group & 0xFFFFFFFF))
        return code.compute("or.b32", 32, first, number), None

    return found


def _of_row_before(code: Writer, value: str) -> _Found:
    """`row_bcast:15`: the last lane of the row before; `row_bcast:31`: lane 31, for the rest."""
    if value == "31":
        return Immediate(31), code.compute("setp.gt.u32", 1, code.lane(), Immediate(31))
    first = code.compute("and.b32", 32, code.lane(), Immediate(0xFFFFFFFF - _LAST))
    inside = code.compute("setp.ne.u32", 1, first, Immediate(0))
    before = code.compute("sub.u32", 32, first, Immediate(1))
    return code.compute("and.b32", 32, before, Immediate(63)), inside


def _of_own_row(code: Writer, value: str) -> _Found:
    return _in_row(code, Immediate(int(value, 0))), None


_PATTERNS: Mapping[str, Callable[[Writer, str], _Found]] = {
    "quad_perm": _permuted(4),
    "dpp8": _permuted(8),
    "row_shl": _shifted(1),
    "row_shr": _shifted(-1),
    "row_ror": _rotated,
    "wave_shl": _of_wavefront(1, is_rotated=False),
    "wave_shr": _of_wavefront(-1, is_rotated=False),
    "wave_rol": _of_wavefront(1, is_rotated=True),
    "wave_ror": _of_wavefront(-1, is_rotated=True),
    "row_mirror": _mirrored(16),
    "row_half_mirror": _mirrored(8),
    "row_bcast": _of_row_before,
    "row_newbcast": _of_own_row,
    "row_share": _of_own_row,
    "row_xmask": _turned,
}
