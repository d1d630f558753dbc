"""Finding the n-th set bit and extending the sign of a field as LLVM IR: twin of `bit_search`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.llvm.logic import shifted_left, shifted_right
from kernelcast.simcore.isa.opcodes.table import Context, Emission

__all__ = ["emit_fns", "szext_emission"]


def emit_fns(code: LaneCode, _context: Context, mask: str, base: str, offset: str) -> str:
    """Emits `fns`: the n-th set bit from a base on, upwards or downwards."""
    kind = code.type("i32")
    zero, one, top = (code.splat("i32", x) for x in (0, 1, 31))

    def op(name: str, x: str, y: str) -> str:
        return code.binary(name, "i32", x, y)

    goes_down, stays = op("icmp slt", offset, zero), op("icmp eq", offset, zero)
    start = op("and", base, top)
    backwards = code.intrinsic("bitreverse", "i32", [(kind, mask)])
    start = code.select("i32", goes_down, op("sub", top, start), start)
    seen = op("lshr", code.select("i32", goes_down, backwards, mask), start)
    seen = code.select("i32", stays, op("and", seen, one), seen)
    upwards = code.select("i32", stays, one, offset)
    wanted = code.select("i32", goes_down, op("sub", zero, offset), upwards)
    found = code.intrinsic("ctpop", "i32", [(kind, seen)])
    position = op("add", start, _position(code, seen, wanted))
    position = code.select("i32", goes_down, op("sub", top, position), position)
    is_missing = op("icmp ugt", wanted, found)
    return code.select("i32", is_missing, code.splat("i32", -1), position)


def _position(code: LaneCode, bits: str, count: str) -> str:
    """Emits the search for the `count`-th set bit, by halving; any value when there are fewer."""
    kind, zero = code.type("i32"), code.splat("i32", 0)
    position = zero
    for width in (16, 8, 4, 2, 1):
        step = code.splat("i32", width)
        part = code.binary("and", "i32", bits, code.splat("i32", (1 << width) - 1))
        low = code.intrinsic("ctpop", "i32", [(kind, part)])
        is_above = code.binary("icmp ugt", "i32", count, low)
        count = code.select("i32", is_above, code.binary("sub", "i32", count, low), count)
        bits = code.select("i32", is_above, code.binary("lshr", "i32", bits, step), bits)
        position = code.binary("add", "i32", position, code.select("i32", is_above, step, zero))
    return position


def szext_emission(clamps: bool) -> Emission:
    """Shifts the field to the top and back."""

    def emit(code: LaneCode, context: Context, a: str, length: str) -> str:
        kind, limit = code.type("i32"), code.splat("i32", 32)
        if clamps:
            length = code.intrinsic("umin", "i32", [(kind, length), (kind, limit)])
        else:
            length = code.binary("and", "i32", length, code.splat("i32", 31))
        amount = code.binary("sub", "i32", limit, length)
        top = shifted_left(code, "i32", a, amount)
        return shifted_right(code, "i32", top, amount, context.type.is_signed)

    return emit
