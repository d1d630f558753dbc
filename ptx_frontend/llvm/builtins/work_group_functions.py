"""Work-group functions (OpenCL 2.0, 6.13.15): every work-item gets a value of all of them.

Sub-groups scan within themselves and leave their totals in local memory, from where each work-item
takes those of the sub-groups before its own, or of all, in ascending order. So sums of
floating-point numbers depend on the width of warps, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.builtins.lane_exchange import (
    Combination,
    Scan,
    exclusive,
    inclusive_scan,
    lane_number,
    last_lane,
    special,
)
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register, Special, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["WORK_GROUP_FUNCTIONS"]

_MOST_WARPS = 128
"""The most warps of a work-group: 1024 work-items in warps of 8."""
_SLOT_BYTES = 8
_SCRATCH = "%work-group scratch"
_OPERATIONS = (
    *("add", "mul", "min", "max", "and", "or", "xor"),
    *("logical_and", "logical_or", "logical_xor"),
)
_THREAD = (Special.TID_X, Special.TID_Y, Special.TID_Z)


def _scratch(call: BuiltinCall) -> SymbolAddress:
    """Local memory that all these functions of a kernel use; a barrier stands on either side."""
    if call.site.share is None:
        raise call.refused("there is no local memory")
    return call.site.share(_SCRATCH, _MOST_WARPS * _SLOT_BYTES, _SLOT_BYTES)


def _slot(call: BuiltinCall, number: Operand) -> Register:
    """The address of the place of a sub-group."""
    base = call.code.in_register(_scratch(call), 64)
    return call.code.compute("mad.wide.u32", 64, number, Immediate(_SLOT_BYTES), base)


def _store(call: BuiltinCall, type_: ScalarType, place: Operand, value: Operand) -> None:
    address = call.code.address(AddressSpace.SHARED, place)
    call.code.store(ScalarType.named(f"b{type_.bits}"), address, (value,))


def _load(call: BuiltinCall, type_: ScalarType, place: Operand) -> Register:
    found = call.code.register(max(16, type_.bits))
    address = call.code.address(AddressSpace.SHARED, place)
    call.code.load(ScalarType.named(f"b{type_.bits}"), address, (found,))
    return found


def _where(call: BuiltinCall, predicate: Register) -> tuple[int, int]:
    """Goes on where the predicate holds; the basic blocks of the body and after it."""
    inside, after = call.code.new_block(), call.code.new_block()
    call.code.branch(predicate, inside, after)
    call.code.place(inside)
    return inside, after


def _broadcast(call: BuiltinCall) -> Value:
    """(value, id) or (value, x, y), (value, x, y, z)."""
    call.expect(2, 3, 4)
    code, type_ = call.code, call.element()
    value = call.site.arguments[0].parts[0]
    chosen: Register | None = None
    for argument, which in zip(call.site.arguments[1:], _THREAD, strict=False):
        wanted = argument.parts[0]
        if argument.type != call.site.arguments[1].type or len(argument.parts) != 1:
            raise call.refused("its places are of different types")
        own: Operand = special(call, which)
        bits = 64 if _is_wide(call) else 32
        if bits == 64:
            own = code.compute("cvt.u64.u32", 64, own)
        same = code.compute(f"setp.eq.u{bits}", 1, own, wanted)
        chosen = same if chosen is None else code.compute("and.pred", 1, chosen, same)
    assert chosen is not None
    _, after = _where(call, chosen)
    _store(call, type_, _scratch(call), value)
    code.place(after)
    code.barrier()
    found = _load(call, type_, _scratch(call))
    code.barrier()
    return call.value(found)


def _is_wide(call: BuiltinCall) -> bool:
    """Whether places are of 64 bits: `size_t`."""
    element = call.parameters[1].element
    return element is not None and element.bits == 64


def _collective(scan: Scan, operation: str) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        combination = Combination(call, operation, call.element())
        if combination.type.is_float and operation not in ("add", "mul", "min", "max"):
            raise call.refused(f"of {combination.type.ptx_name}")
        value = combination.widened(call.site.arguments[0].parts[0])
        within = inclusive_scan(combination, value)
        _leave_total(combination, within)
        own = special(call, Special.WARPID)
        if scan is Scan.REDUCE:
            found = _totals(combination, special(call, Special.NWARPID))
        else:
            if scan is Scan.EXCLUSIVE:
                within = exclusive(combination, within)
            found = combination.of(_totals(combination, own), within)
        call.code.barrier()
        return call.value(combination.narrowed(found))

    return lower


def _leave_total(combination: Combination, scanned: Register) -> None:
    """The last work-item of each sub-group stores what that amounts to."""
    call, code = combination.call, combination.call.code
    is_last = code.compute("setp.eq.u32", 1, lane_number(call), last_lane(call))
    _, after = _where(call, is_last)
    _store(call, combination.wide, _slot(call, special(call, Special.WARPID)), scanned)
    code.place(after)
    code.barrier()


def _totals(combination: Combination, count: Register) -> Register:
    """Emits the combined totals of the first `count` sub-groups."""
    call, code, type_ = combination.call, combination.call.code, combination.wide
    result, number = code.register(max(16, type_.bits)), code.register(32)
    code.move(result, combination.identity)
    code.move(number, Immediate(0))
    head, body, after = code.new_block(), code.new_block(), code.new_block()
    code.place(head)
    code.branch(code.compute("setp.lt.u32", 1, number, count), body, after)
    code.place(body)
    total = _load(call, type_, _slot(call, number))
    code.move(result, combination.of(result, total))
    code.assign("add.u32", number, number, Immediate(1))
    code.jump(head)
    code.place(after)
    return result


WORK_GROUP_FUNCTIONS: Mapping[str, Handler] = {
    "work_group_broadcast": _broadcast,
    **{
        f"work_group_{scan.value}_{operation}": _collective(scan, operation)
        for scan in Scan
        for operation in _OPERATIONS
    },
}
