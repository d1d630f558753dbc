"""Operations across lanes as LLVM IR: the twin of `warp_opcodes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernelcast.simcore.isa.numerics.float_order import FloatOrder
from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "GROUP",
    "WarpEmission",
    "emit_active",
    "emit_ballot",
    "emit_elect",
    "emit_match_all",
    "emit_match_any",
    "emit_nothing",
    "emit_read_lane",
    "emit_shuffle_source",
    "emit_vote_all",
    "emit_vote_any",
    "emit_vote_uniform",
    "emit_whole_ballot",
    "float_reduction_emission",
    "lane_numbers",
    "reduction_emission",
    "shuffle_emission",
    "shuffle_source",
    "spread_words",
]

GROUP = 32
"""The lanes that PTX calls a warp."""
Operand = tuple[str, int | None]
"""A vector with a value for each lane, and the value where it is one known constant."""
WarpEmission = Callable[..., tuple[str, ...]]
"""(code, type, scratch, participants, *operands) -> results, vectors of `code.lanes` lanes.

The same as the entry's `WarpMeaning`. `scratch` points to 16 bytes a lane.
"""
_LOW, _SEGMENT_AT = 31, 8


def shuffle_source(mode: str, lane: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """The lane of its group that each lane reads, and whether that lies in its segment.

    The pseudocode of the PTX manual for `shfl`, on NumPy integers.
    """
    offset, clamp, segment = b & _LOW, c & _LOW, (c >> _SEGMENT_AT) & _LOW
    lowest = lane & segment
    limit = lowest | (clamp & ~segment)
    if mode == "up":
        source = lane - offset
        inside = source >= limit
    else:
        places = {
            "down": lane + offset,
            "bfly": lane ^ offset,
            "idx": lowest | (offset & ~segment),
        }
        source = places[mode]
        inside = source <= limit
    return np.where(inside, source, lane), inside


def lane_numbers(code: LaneCode) -> str:
    """A lane's number within its group, as a constant vector of i32."""
    return f"<{', '.join(f'i32 {lane % GROUP}' for lane in range(code.lanes))}>"


def _shuffled(code: LaneCode, kind: str, a: str, b: str, lanes: Sequence[int]) -> str:
    chosen = ", ".join(f"i32 {lane}" for lane in lanes)
    return code.op(f"shufflevector {kind} {a}, {kind} {b}, <{code.lanes} x i32> <{chosen}>")


def spread_words(code: LaneCode, mask: str) -> str:
    """A mask of all lanes, as an integer, to the word of its group in each lane."""
    width = code.lanes
    kind = f"<{width // GROUP} x i32>"
    words = code.op(f"bitcast i{width} {mask} to {kind}")
    chosen = ", ".join(f"i32 {lane // GROUP}" for lane in range(width))
    return code.op(f"shufflevector {kind} {words}, {kind} poison, <{width} x i32> <{chosen}>")


def _held(code: LaneCode, predicate: str) -> str:
    """The lanes of the group where the predicate holds, in each lane."""
    kind = f"i{code.lanes}"
    return spread_words(code, code.op(f"bitcast {code.type('i1')} {predicate} to {kind}"))


def _of_lane(code: LaneCode, kind: str, value: str, lane: int) -> str:
    """Emits, in each lane, the value of lane `lane` of its group."""
    places = [place // GROUP * GROUP + lane for place in range(code.lanes)]
    return _shuffled(code, kind, value, "poison", places)


def shuffle_emission(mode: str) -> WarpEmission:
    """A fixed permutation where the operands are constants, else through memory."""

    def emit(
        code: LaneCode,
        type_: ScalarType,
        scratch: str,
        participants: str,
        a: Operand,
        b: Operand,
        c: Operand,
    ) -> tuple[str, ...]:
        lane_type = LLVM_TYPES[type_]
        kind = code.type(lane_type)
        if b[1] is not None and c[1] is not None:
            numbers = np.arange(code.lanes) % GROUP
            found, within = shuffle_source(mode, numbers, b[1], c[1])
            first = np.arange(code.lanes) // GROUP * GROUP
            value = _shuffled(code, kind, a[0], "poison", (first + found).tolist())
            source = f"<{', '.join(f'i32 {lane}' for lane in found.tolist())}>"
            inside = f"<{', '.join(f'i1 {str(flag).lower()}' for flag in within.tolist())}>"
        else:
            source, inside = emit_shuffle_source(code, mode, lane_numbers(code), b[0], c[0])
            value = _gathered(code, lane_type, scratch, a[0], source)
        gives = code.cast("trunc", "i32", code.binary("lshr", "i32", participants, source), "i1")
        return code.select(lane_type, gives, value, a[0]), inside

    return emit


def emit_shuffle_source(code: LaneCode, mode: str, lane: str, b: str, c: str) -> tuple[str, str]:
    """`shuffle_source` in LLVM: the lane that is read, and whether it lies within the segment.

    `lane`: the number of each lane among its 32.
    """

    def do(name: str, one: str, other: str) -> str:
        return code.binary(name, "i32", one, other)

    low = code.splat("i32", _LOW)
    offset, clamp = do("and", b, low), do("and", c, low)
    segment = do("and", do("lshr", c, code.splat("i32", _SEGMENT_AT)), low)
    outside = do("xor", segment, low)
    lowest = do("and", lane, segment)
    limit = do("or", lowest, do("and", clamp, outside))
    match mode:
        case "up":
            source = do("sub", lane, offset)
        case "down":
            source = do("add", lane, offset)
        case "bfly":
            source = do("xor", lane, offset)
        case _:
            source = do("or", lowest, do("and", offset, outside))
    inside = do("icmp sge" if mode == "up" else "icmp sle", source, limit)
    return code.select("i32", inside, source, lane), inside


def _gathered(code: LaneCode, lane_type: str, scratch: str, value: str, source: str) -> str:
    """Each lane reads the lane `source` of its group."""
    first = f"<{', '.join(f'i32 {lane // GROUP * GROUP}' for lane in range(code.lanes))}>"
    return _picked(code, lane_type, scratch, value, code.binary("or", "i32", source, first))


def _picked(code: LaneCode, lane_type: str, scratch: str, value: str, place: str) -> str:
    """Each lane reads the lane `place` of the warp."""
    width, kind = code.lanes, code.type(lane_type)
    code.do(f"store {kind} {value}, ptr {scratch}, align 64")
    pointers = code.op(f"getelementptr {lane_type}, ptr {scratch}, <{width} x i32> {place}")
    size = int(lane_type[1:]) // 8
    name = f"@llvm.masked.gather.{code.mangle(lane_type)}.v{width}p0"
    flags = code.type("i1")
    code.declarations[name] = f"declare {kind} {name}(<{width} x ptr>, {flags}, {kind})"
    return code.op(
        f"call {kind} {name}(<{width} x ptr> align {size} {pointers}, "
        f"{flags} splat (i1 true), {kind} poison)"
    )


def emit_vote_all(
    code: LaneCode, _type: ScalarType, _scratch: str, participants: str, a: Operand
) -> tuple[str, ...]:
    """Emits `vote.all`: whether the predicate holds in all participants."""
    held = code.binary("and", "i32", _held(code, a[0]), participants)
    return (code.binary("icmp eq", "i32", held, participants),)


def emit_vote_any(
    code: LaneCode, _type: ScalarType, _scratch: str, participants: str, a: Operand
) -> tuple[str, ...]:
    """Emits `vote.any`: whether the predicate holds in any participant."""
    held = code.binary("and", "i32", _held(code, a[0]), participants)
    return (code.binary("icmp ne", "i32", held, code.splat("i32", 0)),)


def emit_vote_uniform(
    code: LaneCode, _type: ScalarType, _scratch: str, participants: str, a: Operand
) -> tuple[str, ...]:
    """Emits `vote.uni`: whether the predicate is equal in all participants."""
    held = code.binary("and", "i32", _held(code, a[0]), participants)
    everywhere = code.binary("icmp eq", "i32", held, participants)
    nowhere = code.binary("icmp eq", "i32", held, code.splat("i32", 0))
    return (code.binary("or", "i1", everywhere, nowhere),)


def emit_ballot(
    code: LaneCode, _type: ScalarType, _scratch: str, participants: str, a: Operand
) -> tuple[str, ...]:
    """Emits `vote.ballot`: one bit for each participant where the predicate holds."""
    return (code.binary("and", "i32", _held(code, a[0]), participants),)


def emit_match_any(
    code: LaneCode, type_: ScalarType, _scratch: str, participants: str, a: Operand
) -> tuple[str, ...]:
    """Emits `match.any`: for each lane the participants that hold its value."""
    lane_type = LLVM_TYPES[type_]
    kind, zero = code.type(lane_type), code.splat("i32", 0)
    found = zero
    for lane in range(GROUP):
        other = _of_lane(code, kind, a[0], lane)
        same = code.binary("icmp eq", lane_type, a[0], other)
        bit = code.select("i32", same, code.splat("i32", 1 << lane), zero)
        found = code.binary("or", "i32", found, bit)
    return (code.binary("and", "i32", found, participants),)


def emit_match_all(
    code: LaneCode, type_: ScalarType, scratch: str, participants: str, a: Operand
) -> tuple[str, ...]:
    """Emits `match.all`: the participants and true where all hold one value, else 0 and false."""
    (same,) = emit_match_any(code, type_, scratch, participants, a)
    agree = code.binary("icmp eq", "i32", same, participants)
    return code.select("i32", agree, participants, code.splat("i32", 0)), agree


def reduction_emission(name: str, identity: Callable[[ScalarType], int]) -> WarpEmission:
    """Lane after lane, since each lane may take part with others than its neighbour."""

    def emit(
        code: LaneCode, type_: ScalarType, _scratch: str, participants: str, a: Operand
    ) -> tuple[str, ...]:
        lane_type = LLVM_TYPES[type_]
        kind = code.type(lane_type)
        nothing = code.splat(lane_type, identity(type_))
        result = nothing
        for lane in range(GROUP):
            moved = code.binary("lshr", "i32", participants, code.splat("i32", lane))
            taken = code.cast("trunc", "i32", moved, "i1")
            value = code.select(lane_type, taken, _of_lane(code, kind, a[0], lane), nothing)
            result = _combined(code, name, type_, result, value)
        return (result,)

    return emit


def float_reduction_emission(order: FloatOrder, of_words: WarpEmission) -> WarpEmission:
    """Takes f32 too, by words of the same order."""

    def emit(
        code: LaneCode, type_: ScalarType, scratch: str, participants: str, a: Operand
    ) -> tuple[str, ...]:
        if not type_.is_float:
            return of_words(code, type_, scratch, participants, a)
        keys = (order.emit_keys(code, a[0]), None)
        chosen = of_words(code, ScalarType.U32, scratch, participants, keys)
        return (order.emit_numbers(code, chosen[0]),)

    return emit


def _combined(code: LaneCode, name: str, type_: ScalarType, a: str, b: str) -> str:
    lane_type = LLVM_TYPES[type_]
    if name not in ("min", "max"):
        return code.binary(name, lane_type, a, b)
    kind = code.type(lane_type)
    prefix = "s" if type_.is_signed else "u"
    return code.intrinsic(f"{prefix}{name}", lane_type, [(kind, a), (kind, b)])


def emit_active(
    _code: LaneCode, _type: ScalarType, _scratch: str, participants: str
) -> tuple[str, ...]:
    """Emits `activemask`: the participants themselves."""
    return (participants,)


def emit_elect(
    code: LaneCode, _type: ScalarType, _scratch: str, participants: str
) -> tuple[str, ...]:
    """The lowest lane leads."""
    kind = code.type("i32")
    name = f"@llvm.cttz.{code.mangle('i32')}"
    code.declarations[name] = f"declare {kind} {name}({kind}, i1)"
    leader = code.op(f"call {kind} {name}({kind} {participants}, i1 false)")
    return leader, code.binary("icmp eq", "i32", leader, lane_numbers(code))


def emit_nothing(
    _code: LaneCode, _type: ScalarType, _scratch: str, _participants: str
) -> tuple[str, ...]:
    """Emits nothing, for operations that only synchronise lanes."""
    return ()


def emit_read_lane(
    code: LaneCode,
    type_: ScalarType,
    scratch: str,
    participants: str,
    a: Operand,
    lane: Operand,
) -> tuple[str, ...]:
    """Every lane reads one of the whole warp; its own where that one does not take part."""
    lane_type = LLVM_TYPES[type_]
    kind = code.type(lane_type)
    source = code.binary("and", "i32", lane[0], code.splat("i32", code.lanes - 1))
    value = _picked(code, lane_type, scratch, a[0], source)
    moved = code.binary("lshr", "i64", participants, code.cast("zext", "i32", source, "i64"))
    gives = code.cast("trunc", "i64", moved, "i1")
    return (code.op(f"select {code.type('i1')} {gives}, {kind} {value}, {kind} {a[0]}"),)


def emit_whole_ballot(
    code: LaneCode, _type: ScalarType, _scratch: str, participants: str, a: Operand
) -> tuple[str, ...]:
    """The lower and the upper word of the mask of the lanes where the predicate holds."""
    mask = code.op(f"bitcast {code.type('i1')} {a[0]} to i{code.lanes}")
    if code.lanes < 64:
        mask = code.op(f"zext i{code.lanes} {mask} to i64")
    kind = code.type("i64")
    single = code.op(f"insertelement {kind} poison, i64 {mask}, i32 0")
    spread = code.op(
        f"shufflevector {kind} {single}, {kind} poison, <{code.lanes} x i32> zeroinitializer"
    )
    held = code.binary("and", "i64", spread, participants)
    upper = code.binary("lshr", "i64", held, code.splat("i64", 32))
    return code.cast("trunc", "i64", held, "i32"), code.cast("trunc", "i64", upper, "i32")
