"""Where a thread is and how large its launch is, as AMD's code finds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.simcore.isa.analysis.warp_dependence import numbered_lanes
from kernelcast.simcore.isa.ir.kernel import Special
from kernelcast.simcore.isa.opcodes.warp import GROUP

__all__ = ["SPECIALS", "lane_of_group", "lane_of_wavefront", "special_value"]

_WIDEST = 64
_Value = Callable[[FunctionCode], tuple[str, int]]


def lane_of_wavefront(code: FunctionCode) -> str:
    """The number of the lane in its wavefront, i32."""
    low = code.call("i32", "@llvm.amdgcn.mbcnt.lo", "i32 -1, i32 0", "i32, i32")
    return code.call("i32", "@llvm.amdgcn.mbcnt.hi", f"i32 -1, i32 {low}", "i32, i32")


def lane_of_group(code: FunctionCode) -> str:
    """The number of the lane among the 32 that PTX calls a warp."""
    return code.lanes.binary("and", "i32", lane_of_wavefront(code), str(GROUP - 1))


def _numbered(code: FunctionCode) -> str:
    """`%laneid`: within 32 lanes where lanes exchange values, else within the wavefront."""
    if numbered_lanes(code.kernel, _WIDEST) == GROUP:
        return lane_of_group(code)
    return lane_of_wavefront(code)


def _lane(code: FunctionCode) -> tuple[str, int]:
    return _numbered(code), 32


def _lane_mask(relation: str, code: FunctionCode) -> tuple[str, int]:
    """The lower 32 bits of a mask of lanes; in wavefronts of 64 lanes upper ones have no bit."""
    lanes = code.lanes
    lane = lanes.cast("zext", "i32", _numbered(code), "i64")
    own = lanes.binary("shl", "i64", "1", lane)
    below = lanes.binary("sub", "i64", own, "1")
    if relation in ("eq", "lt"):
        found = own if relation == "eq" else below
    else:
        both = below if relation == "ge" else lanes.binary("or", "i64", below, own)
        found = both if relation == "le" else lanes.binary("xor", "i64", both, "-1")
    return lanes.cast("trunc", "i64", found, "i32"), 32


def _thread(axis: str, code: FunctionCode) -> tuple[str, int]:
    return code.call("i32", f"@llvm.amdgcn.workitem.id.{axis}"), 32


def _thread_block(axis: str, code: FunctionCode) -> tuple[str, int]:
    return code.call("i32", f"@llvm.amdgcn.workgroup.id.{axis}"), 32


def _size(function: str, axis: int, code: FunctionCode) -> tuple[str, int]:
    return code.call("i64", f"@__ockl_get_{function}", f"i32 {axis}", "i32"), 64


def _size_word(code: FunctionCode, axis: int) -> str:
    return code.fitted(*_size("local_size", axis, code), 32)


def _wavefront(code: FunctionCode) -> tuple[str, int]:
    return code.call("i32", "@__kernelcast_wavefront_size"), 32


def _warp(code: FunctionCode) -> tuple[str, int]:
    """The thread's number in its thread block, divided by the lanes of a wavefront."""
    lanes = code.lanes
    number = "0"
    for axis, name in reversed(tuple(enumerate("xyz"))):
        above = lanes.binary("mul", "i32", number, _size_word(code, axis))
        number = lanes.binary("add", "i32", above, _thread(name, code)[0])
    return lanes.binary("udiv", "i32", number, _wavefront(code)[0]), 32


def _warps(code: FunctionCode) -> tuple[str, int]:
    lanes = code.lanes
    threads = _size_word(code, 0)
    for axis in (1, 2):
        threads = lanes.binary("mul", "i32", threads, _size_word(code, axis))
    width = _wavefront(code)[0]
    last = lanes.binary("sub", "i32", lanes.binary("add", "i32", threads, width), "1")
    return lanes.binary("udiv", "i32", last, width), 32


def _constant(value: int, bits: int, _code: FunctionCode) -> tuple[str, int]:
    return str(value), bits


SPECIALS: Mapping[Special, _Value] = {
    **{Special(f"%tid.{axis}"): partial(_thread, axis) for axis in "xyz"},
    **{Special(f"%ctaid.{axis}"): partial(_thread_block, axis) for axis in "xyz"},
    **{
        Special(f"%ntid.{axis}"): partial(_size, "local_size", number)
        for number, axis in enumerate("xyz")
    },
    **{
        Special(f"%nctaid.{axis}"): partial(_size, "num_groups", number)
        for number, axis in enumerate("xyz")
    },
    Special.LANEID: _lane,
    Special.WARPID: _warp,
    Special.NWARPID: _warps,
    Special.WARP_WIDTH: _wavefront,
    **{
        Special(f"%lanemask_{relation}"): partial(_lane_mask, relation)
        for relation in ("eq", "lt", "le", "gt", "ge")
    },
    Special.SMID: partial(_constant, 0, 32),
    Special.NSMID: partial(_constant, 1, 32),
    Special.GRIDID: partial(_constant, 1, 64),
}
"""What gives each special register that AMD's GPUs have something for: (value, bits)."""


def special_value(code: FunctionCode, which: Special) -> tuple[str, int]:
    """A special register: (value, bits)."""
    if which not in SPECIALS:
        raise NotTranslated(f"{which.value} is none of AMD's registers")
    return SPECIALS[which](code)
