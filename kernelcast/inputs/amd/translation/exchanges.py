"""What lanes see of each other: 32 lanes that PTX calls a warp, each half of a wavefront of 64.

A lane reads another one by `ds_bpermute_b32`; masks of a wavefront are cut to the own half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.inputs.amd.translation.places import lane_of_group, lane_of_wavefront
from kernelcast.simcore.isa.ir.kernel import WarpOperation
from kernelcast.simcore.isa.opcodes.llvm.warp import emit_shuffle_source
from kernelcast.simcore.isa.opcodes.warp import GROUP

__all__ = ["EXCHANGES", "write_exchange"]

_Meaning = Callable[[FunctionCode, WarpOperation, str], tuple[str, ...]]


def _own_half(code: FunctionCode, mask: str) -> str:
    """The word of a mask of a wavefront that has the bits of the own 32 lanes."""
    first = code.lanes.binary("and", "i32", lane_of_wavefront(code), str(GROUP))
    moved = code.lanes.binary("lshr", "i64", mask, code.fitted(first, 32, 64))
    return code.fitted(moved, 64, 32)


def _held(code: FunctionCode, predicate: str) -> str:
    """The lanes of the own 32 that are here and where the predicate holds."""
    return _own_half(code, code.call("i64", "@llvm.amdgcn.ballot.i64", f"i1 {predicate}", "i1"))


def _of_lane(code: FunctionCode, words: list[str], lane: str) -> list[str]:
    """Words of the lane with that number among the own 32."""
    lanes = code.lanes
    first = lanes.binary("and", "i32", lane_of_wavefront(code), str(GROUP))
    place = lanes.binary("shl", "i32", lanes.binary("or", "i32", first, lane), "2")
    name, types = "@llvm.amdgcn.ds.bpermute", "i32, i32"
    return [code.call("i32", name, f"i32 {place}, i32 {word}", types) for word in words]


def _shuffle(
    mode: str, code: FunctionCode, operation: WarpOperation, _participants: str
) -> tuple[str, ...]:
    a, b, c = (code.read_bits(source, 32) for source in operation.sources)
    source, inside = emit_shuffle_source(code.lanes, mode, lane_of_group(code), b, c)
    (found,) = _of_lane(code, [a], source)
    return found, inside


def _ballot(code: FunctionCode, operation: WarpOperation, participants: str) -> tuple[str, ...]:
    held = _held(code, code.read_bits(operation.sources[0], 1))
    return (code.lanes.binary("and", "i32", held, participants),)


def _vote(
    name: str, code: FunctionCode, operation: WarpOperation, participants: str
) -> tuple[str, ...]:
    (held,) = _ballot(code, operation, participants)
    nowhere = code.lanes.binary("icmp eq", "i32", held, "0")
    everywhere = code.lanes.binary("icmp eq", "i32", held, participants)
    match name:
        case "all":
            return (everywhere,)
        case "any":
            return (code.lanes.binary("xor", "i1", nowhere, "true"),)
    return (code.lanes.binary("or", "i1", everywhere, nowhere),)


def _words_of(code: FunctionCode, operation: WarpOperation) -> list[str]:
    bits = operation.type.bits
    value = code.read_bits(operation.sources[0], bits)
    if bits == 32:
        return [value]
    upper = code.lanes.binary("lshr", "i64", value, "32")
    return [code.fitted(value, 64, 32), code.fitted(upper, 64, 32)]


def _match_any(code: FunctionCode, operation: WarpOperation, participants: str) -> tuple[str, ...]:
    """Every lane looks at all 32, one after another."""
    own, found, lanes = _words_of(code, operation), "0", code.lanes
    for lane in range(GROUP):
        same = "true"
        for word, other in zip(own, _of_lane(code, own, str(lane)), strict=True):
            equal = lanes.binary("icmp eq", "i32", word, other)
            same = lanes.binary("and", "i1", same, equal)
        bit = lanes.select("i32", same, str(1 << lane), "0")
        found = lanes.binary("or", "i32", found, bit)
    return (lanes.binary("and", "i32", found, participants),)


def _match_all(code: FunctionCode, operation: WarpOperation, participants: str) -> tuple[str, ...]:
    (same,) = _match_any(code, operation, participants)
    agree = code.lanes.binary("icmp eq", "i32", same, participants)
    return code.lanes.select("i32", agree, participants, "0"), agree


_IDENTITIES = {"add": 0, "or": 0, "xor": 0, "and": -1}


def _reduction(
    name: str, code: FunctionCode, operation: WarpOperation, participants: str
) -> tuple[str, ...]:
    """Every lane combines what the participants hold, the lowest first."""
    lanes, type_ = code.lanes, operation.type
    if type_.is_float:
        raise NotTranslated("a reduction of floating-point numbers across lanes")
    function = name
    if name in ("min", "max"):
        function = ("s" if type_.is_signed else "u") + name
        lowest, highest = (-(1 << 31), (1 << 31) - 1) if type_.is_signed else (0, -1)
        nothing = highest if name == "min" else lowest
    else:
        nothing = _IDENTITIES[name]
    own, result = code.read_bits(operation.sources[0], 32), str(nothing)
    for lane in range(GROUP):
        (value,) = _of_lane(code, [own], str(lane))
        bit = lanes.binary("lshr", "i32", participants, str(lane))
        taken = lanes.cast("trunc", "i32", bit, "i1")
        value = lanes.select("i32", taken, value, str(nothing))
        if name in ("min", "max"):
            result = lanes.intrinsic(function, "i32", [("i32", result), ("i32", value)])
        else:
            result = lanes.binary(function, "i32", result, value)
    return (result,)


def _active(_code: FunctionCode, _operation: WarpOperation, participants: str) -> tuple[str, ...]:
    return (participants,)


def _elect(code: FunctionCode, _operation: WarpOperation, participants: str) -> tuple[str, ...]:
    leader = code.lanes.intrinsic("cttz", "i32", [("i32", participants), ("i1", "false")])
    return leader, code.lanes.binary("icmp eq", "i32", leader, lane_of_group(code))


def _wait(code: FunctionCode, _operation: WarpOperation, _participants: str) -> tuple[str, ...]:
    """Lanes of a wavefront go together: only their accesses are ordered."""
    code.lanes.do('fence syncscope("wavefront") seq_cst')
    code.call("void", "@llvm.amdgcn.wave.barrier")
    return ()


EXCHANGES: Mapping[str, _Meaning] = {
    **{f"shfl.{mode}": partial(_shuffle, mode) for mode in ("up", "down", "bfly", "idx")},
    **{f"vote.{name}": partial(_vote, name) for name in ("all", "any", "uni")},
    "vote.ballot": _ballot,
    "match.any": _match_any,
    "match.all": _match_all,
    **{
        f"redux.{name}": partial(_reduction, name)
        for name in ("add", "min", "max", "and", "or", "xor")
    },
    "activemask": _active,
    "elect": _elect,
    "bar.warp": _wait,
}
"""What each operation across lanes becomes: (code, operation, lanes that take part) -> results."""


def write_exchange(code: FunctionCode, operation: WarpOperation) -> None:
    """One operation across the lanes of a warp that come here together."""
    name = operation.opcode.name
    if name not in EXCHANGES:
        raise NotTranslated(f"{name} across lanes")
    with code.guarded(operation.guard):
        participants = _held(code, "true")
        if operation.members is not None:
            members = code.read_bits(operation.members, 32)
            participants = code.lanes.binary("and", "i32", participants, members)
        results = EXCHANGES[name](code, operation, participants)
        types = operation.opcode.result_types(operation.type)
        for register, value, type_ in zip(operation.destinations, results, types, strict=False):
            code.write(register, value, type_)
