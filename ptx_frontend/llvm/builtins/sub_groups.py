"""Sub-group functions: of OpenCL 2.1, the `cl_khr_subgroup` extensions and Intel's.

A sub-group is a warp of the run. Functions that all work-items must call together combine
neighbours at distance 1, 2, 4, ...; those for work-items that went different ways go lane after
lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.llvm.builtins.ballots import BALLOTS
from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import (
    Combination,
    Scan,
    ballot,
    exclusive,
    inclusive_scan,
    lane_number,
    last_lane,
    lowest_bit,
    read_lane,
    sequential_scan,
    special,
)
from kernelcast.ptx_frontend.llvm.builtins.sub_group_rows import SUB_GROUP_ROWS
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.text.types import parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register, Special

__all__ = ["SUB_GROUP_FUNCTIONS"]

_OPERATIONS = ("add", "mul", "min", "max", "and", "or", "xor")
_LOGICAL = ("logical_and", "logical_or", "logical_xor")

_Lane = Callable[[BuiltinCall, Operand], Operand]
"""(call, second argument) -> the lane that is read."""


def _number(which: Special) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        return call.value(special(call, which))

    return lower


def _size(call: BuiltinCall) -> Value:
    return call.value(call.compute("add.u32", 32, last_lane(call), Immediate(1)))


def _barrier(call: BuiltinCall) -> None:
    """Lowers a sub-group barrier: lanes go together, so that it only orders their accesses."""
    call.code.fence()


def _truth(call: BuiltinCall, predicate: Operand) -> Value:
    """The truth in the type of the result, int or bool."""
    bits = call.result_element.bits
    if bits == 1:
        return call.value(predicate)
    return call.value(call.select(max(16, bits), predicate, Immediate(1), Immediate(0)))


def _predicate(call: BuiltinCall) -> Operand:
    """The argument as a predicate."""
    argument = call.site.arguments[0]
    bits = register_bits(parts_of(argument.type)[0])
    if bits == 1:
        return argument.parts[0]
    return call.compute(f"setp.ne.u{bits}", 1, argument.parts[0], Immediate(0))


def _any(call: BuiltinCall) -> Value:
    low, high = ballot(call, _predicate(call))
    held = call.compute("or.b32", 32, low, high)
    return _truth(call, call.compute("setp.ne.u32", 1, held, Immediate(0)))


def _nowhere(call: BuiltinCall, predicate: Operand) -> Operand:
    low, high = ballot(call, predicate)
    held = call.compute("or.b32", 32, low, high)
    return call.compute("setp.eq.u32", 1, held, Immediate(0))


def _all(call: BuiltinCall) -> Value:
    return _truth(call, _nowhere(call, call.compute("not.pred", 1, _predicate(call))))


def _all_equal(call: BuiltinCall) -> Value:
    """A NaN equals nothing."""
    call.expect(1)
    (argument,) = call.site.arguments
    first, kind = _first_lane(call), call.element()
    differs: Operand = Immediate(0)
    for part, type_ in zip(argument.parts, parts_of(argument.type), strict=True):
        bits = register_bits(type_)
        read = read_lane(call, part, bits, first)
        form = f"setp.neu.{kind.ptx_name}" if kind.is_float else f"setp.ne.u{bits}"
        differs = call.compute("or.pred", 1, differs, call.compute(form, 1, part, read))
    return _truth(call, _nowhere(call, differs))


def _first_lane(call: BuiltinCall) -> Register:
    """The lowest lane that takes part."""
    return lowest_bit(call, ballot(call, Immediate(1)))


def _elect(call: BuiltinCall) -> Value:
    return _truth(call, call.compute("setp.eq.u32", 1, _first_lane(call), lane_number(call)))


def _reading(lane: _Lane, count: int = 2) -> Handler:
    """(value, number): the value of another lane."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(count)
        argument = call.site.arguments[0]
        number = call.site.arguments[1].parts[0] if count > 1 else Immediate(0)
        source = lane(call, number)
        kinds = parts_of(argument.type)
        parts = [
            read_lane(call, part, register_bits(kind), source)
            for part, kind in zip(argument.parts, kinds, strict=True)
        ]
        return call.value(*parts)

    return lower


def _moved(mnemonic: str) -> _Lane:
    """The number of the own lane plus, minus or xor the argument."""

    def lane(call: BuiltinCall, number: Operand) -> Operand:
        return call.compute(mnemonic, 32, lane_number(call), number)

    return lane


def _itself(_call: BuiltinCall, number: Operand) -> Operand:
    return number


def _within_cluster(call: BuiltinCall, number: Operand) -> Operand:
    """The lane `number` further in the cluster, from whose end it goes on at its beginning."""
    size = call.site.arguments[2].parts[0]
    code, lane = call.code, lane_number(call)
    mask = code.compute("sub.u32", 32, size, Immediate(1))
    rotated = code.compute("and.b32", 32, code.compute("add.u32", 32, lane, number), mask)
    outside = code.compute("and.b32", 32, lane, code.compute("not.b32", 32, mask))
    return code.compute("or.b32", 32, outside, rotated)


def _intel_shuffle(is_down: bool) -> Handler:
    """(current, next, delta) downwards, (previous, current, delta) upwards: over two sub-groups."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(3)
        first, second, distance = call.site.arguments
        lane, width = lane_number(call), special(call, Special.WARP_WIDTH)
        step = "add.u32" if is_down else "sub.u32"
        source = call.compute(step, 32, lane, distance.parts[0])
        own, other = (first, second) if is_down else (second, first)
        is_inside = call.compute("setp.lt.u32", 1, source, width)
        parts = []
        kinds = parts_of(own.type)
        for part, beyond, kind in zip(own.parts, other.parts, kinds, strict=True):
            bits = register_bits(kind)
            here = read_lane(call, part, bits, source)
            there = read_lane(call, beyond, bits, source)
            parts.append(call.select(bits, is_inside, here, there))
        return call.value(*parts)

    return lower


def _collective(scan: Scan, operation: str) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        combination = _combination(call, operation)
        value = combination.widened(call.site.arguments[0].parts[0])
        found = inclusive_scan(combination, value)
        if scan is Scan.REDUCE:
            found = read_lane(call, found, combination.wide.bits, last_lane(call))
        elif scan is Scan.EXCLUSIVE:
            found = exclusive(combination, found)
        return call.value(combination.narrowed(found))

    return lower


def _combination(call: BuiltinCall, operation: str) -> Combination:
    combination = Combination(call, operation, call.element())
    if combination.type.is_float and operation not in ("add", "mul", "min", "max"):
        raise call.refused(f"of {combination.type.ptx_name}")
    return combination


def _sequential(scan: Scan, operation: str, is_clustered: bool = False) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(2 if is_clustered else 1)
        combination = _combination(call, operation)
        value = combination.widened(call.site.arguments[0].parts[0])
        cluster = call.site.arguments[1].parts[0] if is_clustered else None
        found = sequential_scan(combination, value, scan, cluster)
        return call.value(combination.narrowed(found))

    return lower


_REDUCTIONS = {
    f"sub_group_{scan.value}_{operation}": _collective(scan, operation)
    for scan in Scan
    for operation in (*_OPERATIONS, *_LOGICAL)
}
_NON_UNIFORM = {
    **{
        f"sub_group_non_uniform_{scan.value}_{operation}": _sequential(scan, operation)
        for scan in Scan
        for operation in (*_OPERATIONS, *_LOGICAL)
    },
    **{
        f"sub_group_clustered_reduce_{operation}": _sequential(Scan.REDUCE, operation, True)
        for operation in (*_OPERATIONS, *_LOGICAL)
    },
    "sub_group_non_uniform_any": _any,
    "sub_group_non_uniform_all": _all,
    "sub_group_non_uniform_all_equal": _all_equal,
    "sub_group_non_uniform_broadcast": _reading(_itself),
}
_SHUFFLES = {
    "sub_group_shuffle": _reading(_itself),
    "sub_group_shuffle_xor": _reading(_moved("xor.b32")),
    "sub_group_shuffle_up": _reading(_moved("sub.u32")),
    "sub_group_shuffle_down": _reading(_moved("add.u32")),
    "sub_group_rotate": _reading(_moved("add.u32")),
    "sub_group_clustered_rotate": _reading(_within_cluster, 3),
    "intel_sub_group_shuffle": _reading(_itself),
    "intel_sub_group_shuffle_xor": _reading(_moved("xor.b32")),
    "intel_sub_group_shuffle_down": _intel_shuffle(True),
    "intel_sub_group_shuffle_up": _intel_shuffle(False),
}
SUB_GROUP_FUNCTIONS: Mapping[str, Handler] = {
    "get_sub_group_size": _size,
    "get_max_sub_group_size": _number(Special.WARP_WIDTH),
    "get_num_sub_groups": _number(Special.NWARPID),
    "get_enqueued_num_sub_groups": _number(Special.NWARPID),
    "get_sub_group_id": _number(Special.WARPID),
    "get_sub_group_local_id": _number(Special.LANEID),
    "sub_group_barrier": _barrier,
    "sub_group_any": _any,
    "sub_group_all": _all,
    "sub_group_elect": _elect,
    "sub_group_broadcast": _reading(_itself),
    "sub_group_broadcast_first": _reading(lambda call, _: _first_lane(call), 1),
    **_REDUCTIONS,
    **_NON_UNIFORM,
    **_SHUFFLES,
    **SUB_GROUP_ROWS,
    **BALLOTS,
}
