"""Permutations of lanes: `ds_swizzle_b32`, `ds_bpermute_b32`, `ds_permute_b32`, `v_permlane`.

AMD Instinct MI200 Instruction Set Architecture, chapters 11.4 and 12.13; RDNA 3 Instruction Set
Architecture, chapters 16.9 and 16.15 (V_PERMLANE16_B32, V_PERMLANEX16_B32, DS_SWIZZLE_B32). A lane
that is read and takes no part gives zero to `ds_swizzle_b32` and the reader's own value to
`ds_bpermute_b32`, where it is undefined.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.exchanges.takes_part import takes_part
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Guard, Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES

__all__ = ["PERMUTATIONS"]

_ROW, _LAST = 16, 15
_QUADS = 0x8000
_ROTATIONS = range(0xC000, 0xE000)
_GROUP = 0xFFFFFFE0
"""The bits of a lane's number that tell groups of 32 lanes apart."""
_MODE = re.compile(r"swizzle\((?P<name>[A-Z_]+),(?P<numbers>.*)\)")


def _read(site: Site, value: Operand, lane: Operand) -> Register:
    """The value of a lane, whether it takes part or not; counts as the instruction."""
    code = site.code
    guard, code.guard = code.guard, None
    found = code.register(32)
    code.exchange(WARP_OPCODES["lane.read"], (found,), (value, lane), is_main=True)
    code.guard = guard
    return found


# ---- local memory's permutations ----


def _place(site: Site, index: int) -> Operand:
    """The lane at a byte address, four bytes a lane, with the offset of the instruction."""
    code = site.code
    place = code.single(site.operands[index])
    offset = int(site.instruction.modifiers.get("offset", "0"), 0)
    if offset:
        place = code.compute("add.u32", 32, place, Immediate(offset))
    return code.compute("shr.u32", 32, place, Immediate(2))


def _pulled(site: Site) -> None:
    """`ds_bpermute_b32`: the value of the lane at an address, of those that take part."""
    code = site.code
    lane, value = _place(site, 1), code.single(site.operands[2])
    found = code.register(32)
    code.exchange(WARP_OPCODES["lane.read"], (found,), (value, lane), is_main=True)
    code.set_vector(site.operands[0], found)


def _pushed(site: Site) -> None:
    """`ds_permute_b32`: the value goes to the lane at an address; the highest lane is the last.

    Lanes that nothing comes to get zero.
    """
    code = site.code
    lanes = Immediate(code.lanes - 1)
    target = code.compute("and.b32", 32, _place(site, 1), lanes)
    value = code.single(site.operands[2])
    code.guard = None
    result: Operand = Immediate(0)
    for lane in range(code.lanes):
        to, sent = code.register(32), code.register(32)
        for found, what in ((to, target), (sent, value)):
            code.exchange(WARP_OPCODES["lane.read"], (found,), (what, Immediate(lane)))
        is_own = code.compute("setp.eq.u32", 1, to, code.lane())
        is_own = code.compute("and.pred", 1, is_own, takes_part(code, Immediate(lane)))
        result = code.compute("selp.b32", 32, sent, result, is_own)
    moved = site.main("mov.b32", 32, result)
    code.guard = Guard(code.exec, negated=False)
    code.set_vector(site.operands[0], moved)


def _swizzled(site: Site) -> None:
    code = site.code
    value, lane = code.single(site.operands[1]), _swizzle_lane(site, _mode(site))
    found = _read(site, value, lane)
    zero = Immediate(0)
    kept = code.compute("selp.b32", 32, found, zero, takes_part(code, lane))
    code.set_vector(site.operands[0], kept)


def _mode(site: Site) -> int:
    """The 16 bits of a pattern, which LLVM may write as `swizzle(BROADCAST,32,5)`."""
    text = site.instruction.modifiers.get("offset", "0")
    match = _MODE.fullmatch(text)
    if match is None:
        return int(text, 0)
    name, numbers = match["name"], match["numbers"].split(",")
    if name == "BITMASK_PERM":
        return _bit_mask(numbers[0].strip('" '))
    values = [int(number, 0) for number in numbers]
    match name:
        case "QUAD_PERM":
            return _QUADS | sum(value << 2 * place for place, value in enumerate(values))
        case "SWAP":
            return values[0] << 10 | 0x1F
        case "REVERSE":
            return (values[0] - 1) << 10 | 0x1F
        case "BROADCAST":
            return values[1] << 5 | (32 - values[0])
        case "ROTATE":
            return _ROTATIONS.start | values[0] << 10 | values[1] << 5
        case _:
            raise site.code.refused(f"the pattern {name}")


def _bit_mask(digits: str) -> int:
    """`01pip`: what becomes of each bit of the number, the highest first."""
    kept = added = turned = 0
    for digit in digits:
        kept = kept << 1 | (digit in "pi")
        added = added << 1 | (digit == "1")
        turned = turned << 1 | (digit == "i")
    return turned << 10 | added << 5 | kept


def _swizzle_lane(site: Site, mode: int) -> Operand:
    code, own = site.code, site.code.lane()
    if mode >= _ROTATIONS.stop:
        raise code.refused("the pattern FFT")
    if mode in _ROTATIONS:
        distance, kept = mode >> 5 & 31, mode & 31
        step = Immediate(-distance & 31 if mode >> 10 & 1 else distance)
        moved = code.compute("add.u32", 32, own, step)
        within = code.compute("and.b32", 32, moved, Immediate(31 & ~kept))
        stays = code.compute("and.b32", 32, own, Immediate(kept | _GROUP))
        return code.compute("or.b32", 32, stays, within)
    if mode & _QUADS:
        place = code.compute("and.b32", 32, own, Immediate(3))
        shift = code.compute("shl.b32", 32, place, Immediate(1))
        chosen = code.compute("shr.u32", 32, Immediate(mode & 0xFF), shift)
        within = code.compute("and.b32", 32, chosen, Immediate(3))
        first = code.compute("and.b32", 32, own, Immediate(0xFFFFFFFC))
        return code.compute("or.b32", 32, first, within)
    within = code.compute("and.b32", 32, own, Immediate(mode & 31))
    within = code.compute("or.b32", 32, within, Immediate(mode >> 5 & 31))
    within = code.compute("xor.b32", 32, within, Immediate(mode >> 10 & 31))
    first = code.compute("and.b32", 32, own, Immediate(_GROUP))
    return code.compute("or.b32", 32, first, within)


# ---- permutations of registers ----


def _of_rows(turned: int, site: Site) -> None:
    """`v_permlane16_b32` and `x16`: scalars hold the place that each lane of a row reads.

    `turned` is 16 where that is in the other row of two. `op_sel` says whether lanes that take no
    part are read, and whether they are zero.
    """
    code = site.code
    flags = site.instruction.modifiers.get("op_sel", "[0,0]").strip("[]").split(",")
    reads_all, is_zero = (flag == "1" for flag in flags[:2])
    place = code.compute("and.b32", 32, code.lane(), Immediate(_LAST))
    is_upper = code.compute("setp.ge.u32", 1, place, Immediate(_ROW // 2))
    chosen = code.compute("selp.b32", 32, site.integer(3), site.integer(2), is_upper)
    within = code.compute("and.b32", 32, place, Immediate(_ROW // 2 - 1))
    shift = code.compute("shl.b32", 32, within, Immediate(2))
    chosen = code.compute("and.b32", 32, code.compute("shr.u32", 32, chosen, shift), Immediate(15))
    first = code.compute("and.b32", 32, code.lane(), Immediate(0xFFFFFFFF - _LAST))
    other = code.compute("xor.b32", 32, first, Immediate(turned))
    lane = code.compute("or.b32", 32, other, chosen)
    found: Operand = _read(site, site.integer(1), lane)
    if not reads_all:
        otherwise = Immediate(0) if is_zero else code.word(site.operands[0])
        found = code.compute("selp.b32", 32, found, otherwise, takes_part(code, lane))
    code.set_vector(site.operands[0], found)


def _of_halves(site: Site) -> None:
    """`v_permlane64_b32`: lanes of the other 32; nothing moves where there are no more."""
    code = site.code
    turned = Immediate(32 if code.is_wide else 0)
    lane = code.compute("xor.b32", 32, code.lane(), turned)
    code.set_vector(site.operands[0], _read(site, site.integer(1), lane))


PERMUTATIONS: Mapping[str, Lowering] = {
    "ds_bpermute_b32": _pulled,
    "ds_permute_b32": _pushed,
    "ds_swizzle_b32": _swizzled,
    "v_permlane16_b32": partial(_of_rows, 0),
    "v_permlanex16_b32": partial(_of_rows, _ROW),
    "v_permlane64_b32": _of_halves,
}
