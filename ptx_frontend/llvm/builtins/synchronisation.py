"""Barriers, votes, fences and copies of a work-group (OpenCL 1.2, 6.12.8 to 6.12.10)."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler, Pointer
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import (
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["SYNCHRONISATION"]

_THREAD = (Special.TID_X, Special.TID_Y, Special.TID_Z)
_THREADS = (Special.NTID_X, Special.NTID_Y, Special.NTID_Z)


def _barrier(call: BuiltinCall) -> None:
    call.code.barrier()


def _fence(call: BuiltinCall) -> None:
    call.code.fence()


def _nothing(_call: BuiltinCall) -> None:
    """A hint."""


def _wait(call: BuiltinCall) -> None:
    """Each thread has copied its share: the copy is complete when all came here."""
    call.code.barrier()


def _special(call: BuiltinCall, which: Special) -> Register:
    register = call.code.register(32)
    call.code.move(register, SpecialRegister(which))
    return register


def _linear_thread(call: BuiltinCall) -> tuple[Register, Register]:
    """The number of the thread in its work-group, and how many there are, 64 bits each."""
    x, y, z = (_special(call, which) for which in _THREAD)
    nx, ny, nz = (_special(call, which) for which in _THREADS)
    row = call.code.compute("mad.lo.u32", 32, z, ny, y)
    number = call.code.compute("mad.lo.u32", 32, row, nx, x)
    plane = call.code.compute("mul.lo.u32", 32, nx, ny)
    count = call.code.compute("mul.lo.u32", 32, plane, nz)
    code = call.code
    return code.compute("cvt.u64.u32", 64, number), code.compute("cvt.u64.u32", 64, count)


def _copy(call: BuiltinCall) -> Value:
    """(destination, source, count, event); strided ones have (..., count, stride, event)."""
    is_strided = "strided" in call.name
    call.expect(5 if is_strided else 4)
    target, source = call.pointer(0), call.pointer(1)
    count = call.site.arguments[2].parts[0]
    stride = call.site.arguments[3].parts[0] if is_strided else Immediate(1)
    # the strided side is the global one
    is_gather = call.parameters[1].space == 1
    steps = (Immediate(1), stride) if is_gather else (stride, Immediate(1))
    _share(call, (target, source), steps, count)
    return Value(call.result, _event(call))


def _event(call: BuiltinCall) -> tuple[Operand, ...]:
    return tuple(Immediate(0) for _ in call.site.fresh(call.result))


def _share(
    call: BuiltinCall,
    places: tuple[Pointer, Pointer],
    steps: tuple[Operand, Operand],
    count: Operand,
) -> None:
    """A loop over every n-th element, from the number of the thread on."""
    code = call.code
    first, threads = _linear_thread(call)
    index = code.register(64)
    code.move(index, first)
    head, body, after = code.new_block(), code.new_block(), code.new_block()
    code.place(head)
    is_left = code.compute("setp.lt.u64", 1, index, code.in_register(count, 64))
    code.branch(is_left, body, after)
    code.place(body)
    _copy_element(call, places, steps, index)
    code.assign("add.u64", index, index, threads)
    code.jump(head)
    code.place(after)


def _copy_element(
    call: BuiltinCall,
    places: tuple[Pointer, Pointer],
    steps: tuple[Operand, Operand],
    index: Register,
) -> None:
    element, count = _copied_element(call, places[0])
    # a vector of three takes the place of four
    stored = 4 if count == 3 else count
    addresses = []
    for place, step in zip(places, steps, strict=True):
        number = call.code.compute("mul.lo.u64", 64, index, step)
        size = Immediate(stored * element.bytes)
        base = call.code.in_register(place.address, 64)
        addresses.append(call.code.compute("mad.lo.u64", 64, number, size, base))
    bits = max(element.bits, 16)
    type_ = ScalarType.named(f"b{element.bits}")
    for part in range(stored):
        offset = part * element.bytes
        moved = call.code.register(bits)
        source = call.code.address(places[1].space, addresses[1], offset)
        call.code.load(type_, source, (moved,))
        target = call.code.address(places[0].space, addresses[0], offset)
        call.code.store(type_, target, (moved,))


def _copied_element(call: BuiltinCall, place: Pointer) -> tuple[ScalarType, int]:
    """The scalar type that the pointer points to, and how many make an element."""
    if place.pointee.element is None:
        raise call.refused("it copies no numbers")
    return place.pointee.element, place.pointee.count


def _vote(reduction: str) -> Handler:
    """Whether the argument of any thread, or of all of them, is not 0."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(1)
        code, argument = call.code, call.site.arguments[0].parts[0]
        predicate = code.compute("setp.ne.u32", 1, argument, Immediate(0))
        found = code.vote(predicate, reduction)
        return call.value(call.select(32, found, Immediate(1), Immediate(0)))

    return lower


SYNCHRONISATION: Mapping[str, Handler] = {
    "barrier": _barrier,
    "work_group_barrier": _barrier,
    "work_group_all": _vote("and"),
    "work_group_any": _vote("or"),
    "mem_fence": _fence,
    "read_mem_fence": _fence,
    "write_mem_fence": _fence,
    "atomic_work_item_fence": _fence,
    "async_work_group_copy": _copy,
    "async_work_group_strided_copy": _copy,
    "wait_group_events": _wait,
    "prefetch": _nothing,
}
