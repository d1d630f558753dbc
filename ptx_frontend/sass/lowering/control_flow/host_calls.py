"""Calls of functions that the vendor's runtime library has: `vprintf`, `malloc` and others.

Their addresses stand in constant bank 4. Each is a variable here that nobody reads, whose address
stands for the function's. Arguments are in the registers from R4 on, pairs where they have 64 bits,
results in R4 and R5. Functions of the driver (`__cuda_syscall_...`), which sm_120 calls to copy in
bulk into another thread block, fail where they are called.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.calls.calls import BUILT_IN, BuiltIn
from kernelcast.ptx_frontend.sass.lowering.control_flow.shared_calls import branch_if_equal
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.symbols import DRIVER_CALLS
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from kernelcast.simcore.isa.ir.kernel import (
    HEAP,
    HostCall,
    HostFunction,
    Jump,
    Operand,
    Register,
    Symbol,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["call_by_name", "call_host", "is_of_host"]

_FIRST_ARGUMENT = 4
_ADDRESS_BYTES = 16
_HEAP_BYTES = 8 << 20
"""What the CUDA runtime gives `malloc` by default."""
_ALLOCATING = (HostFunction.ALLOCATE, HostFunction.FREE)
_NO_FUNCTION = "the kernel called through a pointer that is no function"


def call_host(site: Site, operand: RegisterOperand) -> None:
    """The function whose address a pair of registers holds; any other address fails."""
    entry = site.context.entry
    called = dict.fromkeys(entry.called_symbols)
    known = [name for name in called if is_of_host(name)]
    if not known:
        raise site.refuse("a call of a function outside of the kernel")
    target = site.in_register(site.pair(operand), 64)
    behind = site.builder.new()
    for name in known:
        entry.own_symbols[name] = Symbol(
            name, AddressSpace.GLOBAL, _ADDRESS_BYTES, _ADDRESS_BYTES, 0
        )
        address = site.compute("mov.u64", 64, SymbolAddress(name))
        inside, following = site.builder.new(), site.builder.new()
        branch_if_equal(site, target, address, inside, following)
        site.builder.place(inside)
        _enter(site, name, behind)
        site.builder.place(following)
    failing = site.builder.trap(site.span, _NO_FUNCTION, is_part=True)
    site.builder.end(Jump(**site.counted("bra"), target=failing))
    site.builder.place(behind)


def call_by_name(site: Site, name: str) -> None:
    """A function of the runtime or the driver that the statement names."""
    behind = site.builder.new()
    _enter(site, name, behind)
    site.builder.place(behind)


def is_of_host(name: str) -> bool:
    """Whether the runtime or the driver has the function."""
    return name in BUILT_IN or name.startswith(DRIVER_CALLS)


def _enter(site: Site, name: str, behind: int) -> None:
    """Does what the function does and goes on behind; functions of the driver fail."""
    if name in BUILT_IN:
        _write(site, BUILT_IN[name])
        target = behind
    else:
        reason = f"the kernel called {name!r}, a function of the driver, which no cubin has"
        target = site.builder.trap(site.span, reason, is_part=True)
    site.builder.end(Jump(**site.counted("bra"), target=target))


def _write(site: Site, function: BuiltIn) -> None:
    if function.function in _ALLOCATING:
        site.context.entry.own_symbols[HEAP] = Symbol(
            HEAP, AddressSpace.GLOBAL, _HEAP_BYTES, _ADDRESS_BYTES, 0
        )
    result = None if function.result is None else site.register(function.result.bits)
    site.builder.append(
        HostCall(
            **site.counted("call"),
            function=function.function,
            destination=result,
            sources=_arguments(site, function.types),
            types=function.types,
        )
    )
    if result is None:
        return
    low = site.destination(RegisterOperand("R", _FIRST_ARGUMENT))
    if result.bits == low.bits:
        site.part("mov.b32", low, result)
    else:
        high = site.destination(RegisterOperand("R", _FIRST_ARGUMENT + 1))
        site.part("mov.b64", low, high, result, results=2)


def _arguments(site: Site, types: tuple[ScalarType, ...]) -> tuple[Operand, ...]:
    found: list[Operand] = []
    number = _FIRST_ARGUMENT
    for type_ in types:
        words = type_.bits // 32
        number += number % words
        operand = RegisterOperand("R", number)
        value = site.pair(operand) if words == 2 else site.word(operand)
        if isinstance(value, Register):
            value = site.compute(f"mov.b{value.bits}", value.bits, value)
        found.append(value)
        number += words
    return tuple(found)
