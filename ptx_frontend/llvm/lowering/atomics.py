"""`atomicrmw`, `cmpxchg` and `fence`. The memory of the engines is sequentially consistent."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.llvm.lowering.arithmetic import masked, minimum
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.scope import Site, space_of
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.types import (
    IrType,
    PointerType,
    ScalarIrType,
    StructType,
)
from kernelcast.simcore.isa.ir.kernel import Address, Operand, Register
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["ATOMIC_INSTRUCTIONS", "retried"]

_DIRECT = {
    "add": ("add", "u"),
    "sub": ("add", "u"),
    "and": ("and", "b"),
    "or": ("or", "b"),
    "xor": ("xor", "b"),
    "xchg": ("exch", "b"),
    "max": ("max", "s"),
    "min": ("min", "s"),
    "umax": ("max", "u"),
    "umin": ("min", "u"),
    "uinc_wrap": ("inc", "u"),
    "udec_wrap": ("dec", "u"),
    "fadd": ("add", "f"),
    "fsub": ("add", "f"),
}
"""Operations of `atomicrmw` as ours, with the kind of number; sub and fsub add the negative."""
_RETRIED_FLOATS = {
    "fmin": "min",
    "fmax": "max",
}
_RETRIED_NANS = {"fminimum": "min", "fmaximum": "max"}
_RETRIED_INTEGERS = ("nand", "usub_cond", "usub_sat")


def retried(
    code: Code, address: Address, type_: ScalarIrType, new: Callable[[Register], Operand]
) -> Register:
    """The new value, from the old one, is tried until nobody was faster; gives the old value."""
    width, raw = type_.register_bits, ScalarType.named(f"b{type_.bits}")
    old, seen = code.register(width), code.register(width)
    code.load(raw, address, (old,), volatile=True)
    again, done = code.new_block(), code.new_block()
    code.place(again)
    code.atomic("cas", raw, address, old, new(old), destination=seen)
    is_done = code.compute(f"setp.eq.u{width}", 1, seen, old)
    code.move(old, seen)
    code.branch(is_done, done, again)
    code.place(done)
    return old


def _number(type_: IrType, what: str) -> ScalarIrType:
    """A pointer is changed as a number."""
    if isinstance(type_, PointerType):
        return ScalarIrType.I64
    if not isinstance(type_, ScalarIrType) or type_ is ScalarIrType.I1:
        raise IrProblem(f"{what} of type {type_} is not supported")
    return type_


def _update(site: Site) -> None:
    site.cursor.accept("volatile")
    name = site.cursor.take().text
    pointer, value = site.operand(), site.next_operand()
    type_ = _number(value.type, f"atomicrmw {name}")
    address = site.code.address(space_of(pointer.type), pointer.parts[0])
    (number,) = value.parts
    if name in _DIRECT:
        old = _direct(site.code, name, type_, address, number)
    elif name in _RETRIED_FLOATS and type_.is_float:
        form = f"{_RETRIED_FLOATS[name]}.{type_.float_name}"
        old = retried(
            site.code, address, type_, lambda old: site.code.compute(form, type_.bits, old, number)
        )
    elif name in _RETRIED_NANS and type_.is_float:
        form = _RETRIED_NANS[name]
        old = retried(
            site.code, address, type_, lambda old: minimum(site.code, form, type_, old, number)
        )
    elif name in _RETRIED_INTEGERS and not type_.is_float:
        old = retried(
            site.code, address, type_, lambda old: _combined(site.code, name, type_, old, number)
        )
    else:
        raise IrProblem(f"atomicrmw {name} of type {value.type} is not supported")
    site.result(value.type, (old,))


def _direct(
    code: Code, name: str, type_: ScalarIrType, address: Address, number: Operand
) -> Register:
    operation, kind = _DIRECT[name]
    bits, width = type_.bits, type_.register_bits
    if (kind == "f") != type_.is_float and name != "xchg":
        raise IrProblem(f"atomicrmw {name} of type {type_} is not supported")
    if name == "sub":
        number = masked(code, code.compute(f"neg.s{width}", width, number), type_)
    elif name == "fsub":
        number = code.compute(f"neg.{type_.float_name}", bits, number)
    old = code.register(width)
    named = type_.float_name if kind == "f" else f"{kind}{bits}"
    code.atomic(operation, ScalarType.named(named), address, number, destination=old)
    return masked(code, old, type_) if kind == "s" else old


def _combined(
    code: Code, name: str, type_: ScalarIrType, old: Register, number: Operand
) -> Operand:
    width = type_.register_bits
    if name == "nand":
        both = code.compute(f"and.b{width}", width, old, number)
        return masked(code, code.compute(f"not.b{width}", width, both), type_)
    if name == "usub_sat":
        larger = code.compute(f"max.u{width}", width, old, number)
        return code.compute(f"sub.u{width}", width, larger, number)
    less = code.compute(f"sub.u{width}", width, old, number)
    is_enough = code.compute(f"setp.ge.u{width}", 1, old, number)
    return code.compute(f"selp.b{width}", width, less, old, is_enough)


def _exchange(site: Site) -> None:
    """`cmpxchg` gives the old value and whether it was the expected one."""
    site.cursor.skip_words("weak", "volatile")
    pointer, expected, new = site.operand(), site.next_operand(), site.next_operand()
    type_ = _number(new.type, "cmpxchg")
    code, width = site.code, type_.register_bits
    old = code.register(width)
    address = code.address(space_of(pointer.type), pointer.parts[0])
    raw = ScalarType.named(f"b{type_.bits}")
    code.atomic("cas", raw, address, expected.parts[0], new.parts[0], destination=old)
    same = code.compute(f"setp.eq.u{width}", 1, old, expected.parts[0])
    site.result(StructType((new.type, ScalarIrType.I1)), (old, same))


def _fence(site: Site) -> None:
    site.code.fence()


ATOMIC_INSTRUCTIONS = {
    "atomicrmw": _update,
    "cmpxchg": _exchange,
    "fence": _fence,
}
"""How each of these instructions is lowered, by opcode."""
