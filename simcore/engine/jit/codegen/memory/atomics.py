"""Atomics of a warp as LLVM IR: lane by lane in ascending order, or all lanes summed up first.

Shared memory belongs to one worker, so plain reads and writes do there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, starmap

from kernelcast.simcore.engine.jit.codegen.runtime_functions import lane_loop
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.isa.ir.kernel import Atomic
from kernelcast.simcore.isa.ir.mbarrier_words import (
    EXPECTED_SHIFT,
    MOST_ARRIVALS,
    PENDING_SHIFT,
    PHASE_SHIFT,
    TRANSACTION_BITS,
    TRANSACTION_SHIFT,
)
from kernelcast.simcore.isa.ir.mbarrier_words import OPERATION as MBARRIER
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.llvm.atomics import atomic_name
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "AtomicCode",
    "AtomicKind",
    "advanced_word",
]

_COMMUTING = ("add", "min", "max", "and", "or", "xor")
_BRAIN = (ScalarType.BF16, ScalarType.BF16X2)
_HALVES = (ScalarType.F16, ScalarType.F16X2, *_BRAIN)
_NUMBERS = (ScalarType.F32, ScalarType.F64)
_TRIED = (
    *(("add", type_) for type_ in _BRAIN),
    *((operation, type_) for operation in ("min", "max") for type_ in (*_HALVES, *_NUMBERS)),
)
"""What LLVM's atomics may lack: the new value is tried until nobody was faster."""
_FLOATS = {16: "half", 32: "float", 64: "double"}


@dataclass(frozen=True, slots=True)
class AtomicKind:
    """`is_private`: no other worker sees the memory; `keeps_old`: somebody reads what was there."""

    operation: str
    type: ScalarType
    is_private: bool
    keeps_old: bool

    @property
    def function(self) -> str:
        """The name of its lane function."""
        sharing = "private" if self.is_private else "global"
        result = "old" if self.keeps_old else "new"
        return f"@atomic_lanes_{self.operation}_{self.type.ptx_name}_{sharing}_{result}"

    @property
    def can_be_summed(self) -> bool:
        """Whether the order of lanes at one address changes nothing but who saw what."""
        return not self.type.holds_floats and self.operation in _COMMUTING


class AtomicCode:
    """Writes atomics of the warp function whose addresses were checked; knows what they call."""

    def __init__(self, warp: WarpCode) -> None:
        self._warp = warp
        self._kinds: dict[str, AtomicKind] = {}
        self._unchecked: dict[str, str] = {}
        self._operations: set[tuple[str, ScalarType]] = set()

    def functions(self) -> str:
        """IR of the functions that the atomics call."""
        lanes = (_lane_function(kind, self._warp.width) for kind in self._kinds.values())
        tried = starmap(_tried_function, (how for how in _TRIED if how in self._operations))
        return "\n".join((*tried, *self._unchecked.values(), *lanes))

    def unchecked(self, atomic: Atomic) -> str:
        """The name of the function that finds each lane's address by itself."""
        name = f"@atomic_{atomic.operation}_{atomic.type.ptx_name}"
        self._unchecked[name] = _unchecked(name, atomic.operation, atomic.type)
        self._operations.add((atomic.operation, atomic.type))
        return name

    def by_lane(self, kind: AtomicKind, host: str, distances: str, mask: str) -> None:
        """One lane after another, at i64 distances from a host address.

        Operands are in %staging and %staging2, old values replace the first ones.
        """
        warp, code = self._warp, self._warp.scalar
        self._kinds[kind.function] = kind
        self._operations.add((kind.operation, kind.type))
        code.do(f"store <{warp.width} x i64> {distances}, ptr %places")
        code.do(
            f"call void {kind.function}(ptr {host}, ptr %places, {warp.mask_type} {mask}, "
            f"ptr %staging, ptr %staging2)"
        )

    def total(self, kind: AtomicKind, place: str, operand: str, mask: str) -> None:
        """All lanes at one host address: one atomic of what they add up to."""
        warp, code, vector = self._warp, self._warp.scalar, self._warp.vector
        operation, type_ = kind.operation, kind.type
        lane = _memory_type(operation, type_)
        nothing = vector.splat(lane, _identity(operation, type_))
        if mask != FULL:
            operand = vector.select(lane, warp.mask_vector(mask), operand, nothing)
        short = operation
        if operation in ("min", "max"):
            short = ("s" if type_.is_signed else "u") + operation
        operands = [(vector.type(lane), operand)]
        name = f"vector.reduce.{short}"
        total = code.intrinsic(name, lane, operands, vector.mangle(lane))
        if kind.is_private:
            old = _private(code, operation, type_, place, [total])
        else:
            old = _locked(code, operation, type_, place, [total])
        if kind.keeps_old:
            before = self._running(kind, operand, nothing)
            seen = _combined(vector, operation, type_, warp.broadcast(old, lane), before)
            code.do(f"store {vector.type(lane)} {seen}, ptr %staging")

    def _running(self, kind: AtomicKind, operand: str, nothing: str) -> str:
        """Emits an exclusive scan: for each lane what the lanes below it add up to."""
        vector, step = self._warp.vector, 1
        of = vector.type(_memory_type(kind.operation, kind.type))
        found = self._shifted(operand, nothing, of, 1)
        while step < vector.lanes:
            moved = self._shifted(found, nothing, of, step)
            found = _combined(vector, kind.operation, kind.type, found, moved)
            step *= 2
        return found

    def _shifted(self, value: str, fill: str, kind: str, by: int) -> str:
        """Every lane takes the value of the lane `by` places below it."""
        width = self._warp.width
        chosen = ", ".join(f"i32 {i - by if i >= by else width}" for i in range(width))
        return self._warp.scalar.op(
            f"shufflevector {kind} {value}, {kind} {fill}, <{width} x i32> <{chosen}>"
        )


def _memory_type(operation: str, type_: ScalarType) -> str:
    """The LLVM type that an operation works on."""
    if (operation, type_) in _TRIED:
        return f"i{type_.bits}"
    if type_ is ScalarType.F16X2:
        return "<2 x half>"
    if type_.is_float and operation not in ("exch", "cas"):
        return _FLOATS[type_.bits]
    return f"i{type_.bits}"


def _identity(operation: str, type_: ScalarType) -> int:
    """The operand that changes nothing, as raw bits."""
    bits, signed = type_.bits, type_.is_signed
    ones = (1 << bits) - 1
    if operation == "and":
        return ones
    if operation == "min":
        return ones >> 1 if signed else ones
    if operation == "max":
        return 1 << (bits - 1) if signed else 0
    return 0


def _combined(code: LaneCode, operation: str, type_: ScalarType, a: str, b: str) -> str:
    """operation(a, b), with as many lanes as `code` has."""
    lane = _memory_type(operation, type_)
    if operation in ("min", "max"):
        relation = ("s" if type_.is_signed else "u") + ("lt" if operation == "min" else "gt")
        return code.select(lane, code.binary(f"icmp {relation}", lane, a, b), a, b)
    return code.binary("fadd" if type_.holds_floats else operation, lane, a, b)


def _locked(
    code: LaneCode, operation: str, type_: ScalarType, place: str, operands: list[str]
) -> str:
    """One atomic at a host address that other workers may use too; the old value."""
    if operation == MBARRIER:  # lies in shared memory, whatever its address
        return _private(code, operation, type_, place, operands)
    lane = _memory_type(operation, type_)
    if (operation, type_) in _TRIED:
        name = f"@{operation}_{type_.ptx_name}"
        return code.op(f"call {lane} {name}(ptr {place}, {lane} {operands[0]})")
    if operation == "cas":
        pair = code.op(
            f"cmpxchg ptr {place}, {lane} {operands[0]}, {lane} {operands[1]} seq_cst seq_cst"
        )
        return code.op(f"extractvalue {{ {lane}, i1 }} {pair}, 0")
    name = atomic_name(operation, type_)
    return code.op(f"atomicrmw {name} ptr {place}, {lane} {operands[0]} seq_cst")


def _tried_function(operation: str, type_: ScalarType) -> str:
    """Combines with what is at a host address; returns what was there."""
    numbers = count()
    code = LaneCode(1, [], {}, lambda: f"%t{next(numbers)}")
    lane = _memory_type(operation, type_)
    values = [code.cast("bitcast", lane, name, type_) for name in ("%old", "%mine")]
    result = OPCODES[operation].emit(code, Context(type_, type_, frozenset()), *values)
    assert isinstance(result, str)
    new = code.cast("bitcast", type_, result, lane)
    body, name = "\n".join(code.lines), f"{operation}_{type_.ptx_name}"
    return f"""define internal {lane} @{name}(ptr %place, {lane} %mine) noinline {{
entry:
  %first = load atomic {lane}, ptr %place monotonic, align {type_.bytes}
  br label %try
try:
  %old = phi {lane} [ %first, %entry ], [ %seen, %try ]
{body}
  %pair = cmpxchg ptr %place, {lane} %old, {lane} {new} seq_cst seq_cst
  %seen = extractvalue {{ {lane}, i1 }} %pair, 0
  %done = extractvalue {{ {lane}, i1 }} %pair, 1
  br i1 %done, label %end, label %try
end:
  ret {lane} %old
}}
"""


def _private(
    code: LaneCode, operation: str, type_: ScalarType, place: str, operands: list[str]
) -> str:
    """Emits the operation without atomicity, at an address that nobody else uses."""
    if (operation, type_) in _TRIED:
        return _locked(code, operation, type_, place, operands)
    lane, mine = _memory_type(operation, type_), operands[0]
    old = code.op(f"load {lane}, ptr {place}")
    match operation:
        case "exch":
            new = mine
        case "cas":
            same = code.binary("icmp eq", lane, old, mine)
            new = code.select(lane, same, operands[1], old)
        case "inc":
            at_end = code.binary("icmp uge", lane, old, mine)
            new = code.select(lane, at_end, "0", code.binary("add", lane, old, "1"))
        case "mbarrier":
            new = advanced_word(code, old, mine)
        case "dec":
            less = code.binary("sub", lane, old, "1")
            new = code.select(lane, code.binary("icmp uge", lane, less, mine), mine, less)
        case _:
            new = _combined(code, operation, type_, old, mine)
    code.do(f"store {lane} {new}, ptr {place}")
    return old


def _unchecked(name: str, operation: str, type_: ScalarType) -> str:
    """Writes an atomic for each active lane in ascending order, wherever its address is."""
    numbers = count()
    code = LaneCode(1, [], {}, lambda: f"%t{next(numbers)}")
    lane = _memory_type(operation, type_)
    operands = [code.op(f"load {lane}, ptr %mine")]
    if operation == "cas":
        operands.append(code.op(f"load {lane}, ptr %mine2"))
    old = _locked(code, operation, type_, "%host", operands)
    code.do(f"store {lane} {old}, ptr %mine")
    return lane_loop(name, True, "\n".join(code.lines))


def _lane_function(kind: AtomicKind, width: int) -> str:
    """`void (ptr host, ptr places, mask, ptr data, ptr data2)`: all active lanes, lowest first.

    `places`: i64 distances from `host` by lane, all of them good; old values replace `data`.
    """
    numbers = count()
    code = LaneCode(1, [], {}, lambda: f"%t{next(numbers)}")
    mask = f"i{width}"
    first = "some"
    if kind.is_private:
        first = "start"
        code.lines.append("start:")
        whole = code.op(f"icmp eq {mask} %mask, -1")
        code.do(f"br i1 {whole}, label %all, label %some")
        code.lines.append("all:")
        for lane in range(width):
            _one_lane(code, kind, str(lane))
        code.do("ret void")
    code.lines.append("some:")
    wide = code.op(f"zext {mask} %mask to i64") if width < 64 else "%mask"
    code.do("br label %loop")
    code.lines += [
        "loop:",
        f"  %m = phi i64 [ {wide}, %some ], [ %rest, %lane ]",
        "  %empty = icmp eq i64 %m, 0",
        "  br i1 %empty, label %done, label %lane",
        "lane:",
        "  %l = call i64 @llvm.cttz.i64(i64 %m, i1 true)",
        "  %less = sub i64 %m, 1",
        "  %rest = and i64 %m, %less",
    ]
    _one_lane(code, kind, "%l")
    code.lines += ["  br label %loop", "done:", "  ret void"]
    parameters = f"ptr %host, ptr %places, {mask} %mask, ptr noalias %data, ptr noalias %data2"
    body = "\n".join(code.lines)
    return (
        f"define internal void {kind.function}({parameters}) noinline {{\n"
        f"entry:\n  br label %{first}\n{body}\n}}\n"
    )


def _one_lane(code: LaneCode, kind: AtomicKind, lane: str) -> None:
    where = code.op(f"getelementptr i64, ptr %places, i64 {lane}")
    far = code.op(f"load i64, ptr {where}")
    place = code.op(f"getelementptr i8, ptr %host, i64 {far}")
    of = _memory_type(kind.operation, kind.type)
    mine = code.op(f"getelementptr {of}, ptr %data, i64 {lane}")
    operands = [code.op(f"load {of}, ptr {mine}")]
    if kind.operation == "cas":
        second = code.op(f"getelementptr {of}, ptr %data2, i64 {lane}")
        operands.append(code.op(f"load {of}, ptr {second}"))
    do = _private if kind.is_private else _locked
    old = do(code, kind.operation, kind.type, place, operands)
    if kind.keeps_old:
        code.do(f"store {of} {old}, ptr {mine}")


def advanced_word(code: LaneCode, old: str, added: str) -> str:
    """What `mbarrier_words.advanced` gives for one word."""

    def field(name: str, first: str, second: str, shift: int, bits: int) -> str:
        mask = ((1 << bits) - 1) << shift
        return code.binary("and", "i64", code.binary(name, "i64", first, second), str(mask))

    room = str(64 - TRANSACTION_SHIFT - TRANSACTION_BITS)
    signed = code.binary("ashr", "i64", code.binary("shl", "i64", added, room), room)
    moved = code.binary("and", "i64", signed, str(-(1 << TRANSACTION_SHIFT)))
    counts = code.binary("sub", "i64", added, moved)
    transactions = field("add", old, moved, TRANSACTION_SHIFT, TRANSACTION_BITS)
    bits = MOST_ARRIVALS.bit_length()
    expected = field("add", old, counts, EXPECTED_SHIFT, bits)
    arrived = code.binary("and", "i64", counts, str(-(1 << PENDING_SHIFT)))
    pending = field("add", old, arrived, PENDING_SHIFT, bits)
    phase = code.binary("and", "i64", old, str(-(1 << PHASE_SHIFT)))
    left = code.binary("or", "i64", transactions, pending)
    is_over = code.binary("icmp eq", "i64", left, "0")
    following = code.binary("shl", "i64", expected, str(PENDING_SHIFT - EXPECTED_SHIFT))
    other = code.binary("xor", "i64", phase, str(-(1 << PHASE_SHIFT)))
    pending = code.select("i64", is_over, following, pending)
    phase = code.select("i64", is_over, other, phase)
    counted = code.binary("or", "i64", expected, transactions)
    return code.binary("or", "i64", counted, code.binary("or", "i64", pending, phase))
