"""How work-items of a sub-group, which is a warp, see each other's values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, float_bits
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.text.types import parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register, Special, SpecialRegister
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "Combination",
    "Scan",
    "ballot",
    "bit_of",
    "exclusive",
    "highest_bit",
    "inclusive_scan",
    "lane_number",
    "last_lane",
    "linear_threads",
    "lowest_bit",
    "read_lane",
    "read_value",
    "sequential_scan",
    "special",
]

_DISTANCES = (1, 2, 4, 8, 16, 32)
_NARROWEST_WARP = 8
_WIDE = (Special.CLOCK64, Special.GLOBALTIMER)


class Scan(Enum):
    """What a work-item gets of a combination: all values, those up to its own, those before."""

    REDUCE = "reduce"
    INCLUSIVE = "scan_inclusive"
    EXCLUSIVE = "scan_exclusive"


@dataclass(frozen=True, slots=True)
class Combination:
    """`operation` of two values: add, mul, min, max, and, or, xor, or `logical_and` and its kin.

    `type` is that of OpenCL; values are combined as `wide`, integers in at least 32 bits.
    """

    call: BuiltinCall
    operation: str
    type: ScalarType

    @property
    def wide(self) -> ScalarType:
        """The type that lanes exchange: integers take at least 32 bits."""
        if not self.type.is_integer or self.type.bits >= 32:
            return self.type
        return ScalarType.S32 if self.type.is_signed else ScalarType.U32

    @property
    def identity(self) -> Immediate:
        """What leaves the other value as it is."""
        type_, name = self.wide, self.operation.removeprefix("logical_")
        ones = (1 << type_.bits) - 1
        if type_.is_float:
            numbers = {"add": 0.0, "mul": 1.0, "min": float("inf"), "max": -float("inf")}
            return float_bits(type_, numbers[name])
        if name in ("min", "max"):
            # of the type of OpenCL, sign-extended
            top = (1 << (self.type.bits - self.type.is_signed)) - 1
            bottom = -(1 << (self.type.bits - 1)) if self.type.is_signed else 0
            return Immediate((top if name == "min" else bottom) & ones)
        if name == "and":
            return Immediate(1 if self.operation.startswith("logical") else ones)
        return Immediate(int(name == "mul"))

    def widened(self, value: Operand) -> Register:
        """An argument as it is combined."""
        call, type_, wide = self.call, self.type, self.wide
        if self.operation.startswith("logical"):
            is_set = call.code.compute(f"setp.ne.u{wide.bits}", 1, value, Immediate(0))
            return call.code.compute(
                f"selp.b{wide.bits}", wide.bits, Immediate(1), Immediate(0), is_set
            )
        if wide is not type_:
            return call.code.compute(f"cvt.{wide.ptx_name}.{type_.ptx_name}", wide.bits, value)
        return call.code.in_register(value, wide.bits)

    def narrowed(self, value: Operand) -> Operand:
        """The value in the type of the function's result."""
        if self.wide is self.type:
            return value
        narrow = self.call.compute(f"cvt.u16.u{self.wide.bits}", 16, value)
        return self.call.compute("and.b16", 16, narrow, Immediate((1 << self.type.bits) - 1))

    def of(self, first: Operand, second: Operand) -> Register:
        """`first` is of the work-item that comes first."""
        type_, name = self.wide, self.operation.removeprefix("logical_")
        if name in ("and", "or", "xor"):
            mnemonic = f"{name}.b{type_.bits}"
        elif name in ("min", "max") or type_.is_float:
            mnemonic = f"{name}.{type_.ptx_name}"
        else:
            mnemonic = f"{'mul.lo' if name == 'mul' else name}.u{type_.bits}"
        return self.call.code.compute(mnemonic, type_.bits, first, second)


def special(call: BuiltinCall, which: Special) -> Register:
    """Emits the read of a special register."""
    register = call.code.register(64 if which in _WIDE else 32)
    call.code.move(register, SpecialRegister(which))
    return register


def lane_number(call: BuiltinCall) -> Register:
    """Emits the number of the lane in its warp."""
    return special(call, Special.LANEID)


def linear_threads(call: BuiltinCall) -> Register:
    """The size of the work-group, 32 bits."""
    x, y, z = (special(call, which) for which in (Special.NTID_X, Special.NTID_Y, Special.NTID_Z))
    plane = call.code.compute("mul.lo.u32", 32, x, y)
    return call.code.compute("mul.lo.u32", 32, plane, z)


def last_lane(call: BuiltinCall) -> Register:
    """The highest lane of the sub-group that is a work-item: the last sub-group may be smaller."""
    code, width = call.code, special(call, Special.WARP_WIDTH)
    first = code.compute("mul.lo.u32", 32, special(call, Special.WARPID), width)
    left = code.compute("sub.u32", 32, linear_threads(call), first)
    size = code.compute("min.u32", 32, left, width)
    return code.compute("sub.u32", 32, size, Immediate(1))


def read_lane(call: BuiltinCall, value: Operand, bits: int, lane: Operand) -> Register:
    """The value of a lane, modulo the width of warps; `bits` are those of its register."""
    code = call.code
    if bits == 16:
        wide = code.compute("cvt.u32.u16", 32, value)
        return code.compute("cvt.u16.u32", 16, read_lane(call, wide, 32, lane))
    found = code.register(bits)
    type_ = ScalarType.named(f"b{bits}")
    code.exchange(WARP_OPCODES["lane.read"], (found,), (value, lane), type_=type_)
    return found


def read_value(call: BuiltinCall, value: Value, lane: Operand) -> Value:
    """The value of a lane, of as many registers as it takes."""
    kinds = parts_of(value.type)
    parts = (
        read_lane(call, part, register_bits(kind), lane)
        for part, kind in zip(value.parts, kinds, strict=True)
    )
    return call.value(*parts)


def ballot(call: BuiltinCall, predicate: Operand) -> tuple[Register, Register]:
    """The lanes where the predicate holds: lanes 0 to 31, and 32 to 63."""
    low, high = call.code.register(32), call.code.register(32)
    call.code.exchange(WARP_OPCODES["lane.ballot"], (low, high), (predicate,))
    return low, high


def inclusive_scan(combination: Combination, value: Register) -> Register:
    """Emits an inclusive scan in log2 steps: every lane of the sub-group must take part."""
    call, code, bits = combination.call, combination.call.code, combination.wide.bits
    lane, width = lane_number(call), special(call, Special.WARP_WIDTH)
    result, done = code.register(bits), code.new_block()
    code.move(result, value)
    for distance in _DISTANCES:
        if distance >= _NARROWEST_WARP:
            following = code.new_block()
            is_wider = code.compute("setp.gt.u32", 1, width, Immediate(distance))
            code.branch(is_wider, following, done)
            code.place(following)
        source = code.compute("sub.u32", 32, lane, Immediate(distance))
        both = combination.of(read_lane(call, result, bits, source), result)
        has_it = code.compute("setp.ge.u32", 1, lane, Immediate(distance))
        code.assign(f"selp.b{bits}", result, both, result, has_it)
    code.place(done)
    return result


def exclusive(combination: Combination, scanned: Register) -> Register:
    """Emits the exclusive scan from the inclusive one; the first lane gets the identity."""
    call, code, bits = combination.call, combination.call.code, combination.wide.bits
    lane = lane_number(call)
    before = code.compute("sub.u32", 32, lane, Immediate(1))
    found = read_lane(call, scanned, bits, before)
    is_first = code.compute("setp.eq.u32", 1, lane, Immediate(0))
    return code.compute(f"selp.b{bits}", bits, combination.identity, found, is_first)


def sequential_scan(
    combination: Combination, value: Register, scan: Scan, cluster: Operand | None = None
) -> Register:
    """Lane after lane, of those that take part; only within `cluster` neighbours if given."""
    call, code, bits = combination.call, combination.call.code, combination.wide.bits
    low, high = ballot(call, Immediate(1))
    lane, width = lane_number(call), special(call, Special.WARP_WIDTH)
    result, other = code.register(bits), code.register(32)
    code.move(result, combination.identity)
    code.move(other, Immediate(0))
    head, done = code.new_block(), code.new_block()
    code.place(head)
    read = read_lane(call, value, bits, other)
    takes = bit_of(call, (low, high), other)
    if scan is not Scan.REDUCE:
        relation = "le" if scan is Scan.INCLUSIVE else "lt"
        is_before = code.compute(f"setp.{relation}.u32", 1, other, lane)
        takes = code.compute("and.pred", 1, takes, is_before)
    if cluster is not None:
        differ = code.compute("xor.b32", 32, other, lane)
        is_near = code.compute("setp.lt.u32", 1, differ, cluster)
        takes = code.compute("and.pred", 1, takes, is_near)
    code.assign(f"selp.b{bits}", result, combination.of(result, read), result, takes)
    code.assign("add.u32", other, other, Immediate(1))
    code.branch(code.compute("setp.lt.u32", 1, other, width), head, done)
    code.place(done)
    return result


def bit_of(call: BuiltinCall, words: tuple[Operand, Operand], number: Operand) -> Register:
    """Whether bit `number` of two words is set."""
    code = call.code
    is_high = code.compute("setp.ge.u32", 1, number, Immediate(32))
    word = code.compute("selp.b32", 32, words[1], words[0], is_high)
    within = code.compute("and.b32", 32, number, Immediate(31))
    moved = code.compute("shr.u32", 32, word, within)
    bit = code.compute("and.b32", 32, moved, Immediate(1))
    return code.compute("setp.ne.u32", 1, bit, Immediate(0))


def lowest_bit(call: BuiltinCall, words: tuple[Operand, Operand]) -> Register:
    """The number of the lowest bit of two words."""
    code = call.code
    turned = [code.compute("brev.b32", 32, word) for word in words]
    low, high = (code.compute("clz.b32", 32, word) for word in turned)
    above = code.compute("add.u32", 32, high, Immediate(32))
    is_low = code.compute("setp.ne.u32", 1, words[0], Immediate(0))
    return code.compute("selp.b32", 32, low, above, is_low)


def highest_bit(call: BuiltinCall, words: tuple[Operand, Operand]) -> Register:
    """The number of the highest bit of two words."""
    code = call.code
    low, high = (code.compute("clz.b32", 32, word) for word in words)
    below = code.compute("sub.u32", 32, Immediate(31), low)
    above = code.compute("sub.u32", 32, Immediate(63), high)
    is_high = code.compute("setp.ne.u32", 1, words[1], Immediate(0))
    return code.compute("selp.b32", 32, above, below, is_high)
