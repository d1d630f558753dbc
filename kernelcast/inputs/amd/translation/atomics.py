"""Atomics as LLVM IR for AMD's GPUs: relaxed, as those of PTX and of HIP are."""

from __future__ import annotations

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.inputs.amd.translation.memory import pointer
from kernelcast.simcore.isa.ir.kernel import Atomic
from kernelcast.simcore.isa.opcodes.llvm.atomics import atomic_name
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["write_atomic"]

_ON_WORDS = ("add", "and", "or", "xor", "exch", "inc", "dec")
_FLOATS = {32: "float", 64: "double"}


def write_atomic(code: FunctionCode, atomic: Atomic) -> None:
    """One read-modify-write; the old value goes to the destination."""
    kind, name = _operation(atomic)
    bits = atomic.type.bits
    with code.guarded(atomic.guard):
        scope = "workgroup" if atomic.address.space is AddressSpace.SHARED else "agent"
        at = pointer(code, atomic.address)
        values = [code.read_bits(source, bits) for source in atomic.sources]
        if atomic.operation == "cas":
            pair = code.lanes.op(
                f"cmpxchg {at}, i{bits} {values[0]}, i{bits} {values[1]} "
                f'syncscope("{scope}") monotonic monotonic, align {bits // 8}'
            )
            old = code.lanes.op(f"extractvalue {{ i{bits}, i1 }} {pair}, 0")
        else:
            value = code.lanes.cast("bitcast", f"i{bits}", values[0], kind)
            old = code.lanes.op(
                f'atomicrmw {name} {at}, {kind} {value} syncscope("{scope}") monotonic, '
                f"align {bits // 8}"
            )
            old = code.lanes.cast("bitcast", kind, old, f"i{bits}")
        if atomic.destination is not None:
            wide = code.fitted(old, bits, atomic.destination.bits, is_signed=atomic.type.is_signed)
            code.store_register(atomic.destination, wide)


def _operation(atomic: Atomic) -> tuple[str, str]:
    """The LLVM type and the name of an operation."""
    type_, operation = atomic.type, atomic.operation
    kind = f"i{type_.bits}"
    if operation == "cas":
        if type_.bits not in (32, 64):
            raise NotTranslated(f"an exchange of {type_.bits} bits")
        return kind, ""
    if type_.holds_floats and operation != "exch":
        if operation != "add" or not type_.is_float or type_.bits not in _FLOATS:
            raise NotTranslated(f"atomic {operation} of {type_.ptx_name}")
        kind = _FLOATS[type_.bits]
    elif operation not in ("min", "max") and (
        operation not in _ON_WORDS or type_.bits not in (32, 64)
    ):
        raise NotTranslated(f"atomic {operation} of {type_.ptx_name}")
    return kind, atomic_name(operation, type_)
