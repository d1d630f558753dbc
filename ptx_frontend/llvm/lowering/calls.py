"""Calls: functions with a body are inlined, all others are built-in or intrinsic."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.llvm.builtins import lower_builtin
from kernelcast.ptx_frontend.llvm.builtins.amd_intrinsics import AMD_PREFIX
from kernelcast.ptx_frontend.llvm.lowering.accesses import MemoryPlace, load_value, store_value
from kernelcast.ptx_frontend.llvm.lowering.call_site import CallSite, Value
from kernelcast.ptx_frontend.llvm.lowering.intrinsics import is_uncounted, lower_intrinsic
from kernelcast.ptx_frontend.llvm.lowering.scope import FunctionScope, Site
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.function_header import Attributes, read_attributes
from kernelcast.ptx_frontend.llvm.text.syntax import IrFunction
from kernelcast.ptx_frontend.llvm.text.tokens import TokenKind
from kernelcast.ptx_frontend.llvm.text.types import (
    IrType,
    ScalarIrType,
    VoidType,
    align_of,
    size_of,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["lower_call"]

_MOST_NESTED = 64
_READ_REGISTER, _OF_LANES = "llvm.read_register.", ("exec", "exec_lo")
_BALLOT = f"{AMD_PREFIX}ballot"
_FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast")
_CONVENTIONS = ("spir_func", "spir_kernel", "amdgpu_kernel", "fastcc", "ccc", "coldcc")
_RESULT_ATTRIBUTES = ("noundef", "signext", "zeroext", "nonnull", "noalias", "inreg")


def lower_call(site: Site, lower_body: Callable[[FunctionScope], None]) -> None:
    """`lower_body` lowers a function that is inlined, from its first basic block on."""
    cursor = site.cursor
    cursor.skip_words(*_FLAGS, *_CONVENTIONS)
    read_attributes(cursor)
    cursor.skip_words("addrspace")
    result = cursor.type()
    if cursor.peek().text == "(":
        cursor.skip_group()  # the type of a function with any number of arguments
    target = cursor.peek()
    if target.kind is not TokenKind.GLOBAL:
        called = "assembly" if target.text == "asm" else "an address"
        raise IrProblem(f"a call of {called} is not supported")
    name = cursor.name()
    if is_uncounted(name):
        return
    if name.startswith(_READ_REGISTER):
        _read_register(site, result)
        return
    arguments, attributes = _arguments(site)
    function = site.scope.kernel.module.functions.get(name)
    if function is not None:
        _inline(site, function, arguments, attributes, lower_body)
        return
    refused = site.scope.kernel.reader.problems.get(name)
    if refused is not None:
        raise refused
    site.code.begin(f"call {name}()")
    _built_in(site, name, arguments, attributes, result)


def _read_register(site: Site, result: IrType) -> None:
    """The lanes that take part: EXEC, what clang makes of a ballot that is true."""
    cursor = site.cursor
    cursor.expect("(")
    cursor.type()
    name = site.scope.kernel.module.metadata.get(cursor.take().text, "")
    if name.strip('!{}"') not in _OF_LANES:
        raise IrProblem(f"register {name} is not supported")
    cursor.expect(")")
    everyone = Value(ScalarIrType.I1, (Immediate(1),))
    site.code.begin(f"call {_BALLOT}()")
    _built_in(site, _BALLOT, (everyone,), [Attributes()], result)


def _arguments(site: Site) -> tuple[tuple[Value, ...], list[Attributes]]:
    """The arguments with their attributes."""
    cursor = site.cursor
    cursor.expect("(")
    found: list[Value] = []
    attributes: list[Attributes] = []
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        type_ = cursor.type()
        if isinstance(type_, VoidType) and type_.name != "void":
            raise IrProblem(f"arguments of type {type_} are not supported")
        attributes.append(read_attributes(cursor))
        found.append(site.argument(type_))
    return tuple(found), attributes


def _built_in(
    site: Site,
    name: str,
    arguments: tuple[Value, ...],
    attributes: list[Attributes],
    result: IrType,
) -> None:
    kernel = site.scope.kernel
    has_value = not isinstance(result, VoidType)
    called = CallSite(
        name,
        arguments,
        result if has_value else None,
        site.code,
        _strings(site, arguments),
        tuple(one.align for one in attributes),
        kernel.required_threads,
        kernel.variables.share,
    )
    lowered = (
        lower_intrinsic(called)
        if name.startswith("llvm.") and not name.startswith(AMD_PREFIX)
        else lower_builtin(called, kernel.variables.allocate)
    )
    if not has_value or not site.instruction.result:
        return
    if lowered is None or len(lowered.parts) != len(site.scope.registers(result)):
        raise IrProblem(f"{name} gives no {result} here")
    site.result(result, lowered.parts)


def _strings(site: Site, arguments: tuple[Value, ...]) -> dict[str, bytes]:
    """What the variables hold whose addresses are arguments."""
    kernel = site.scope.kernel
    names = {
        part.symbol
        for argument in arguments
        for part in argument.parts
        if isinstance(part, SymbolAddress) and part.symbol in kernel.module.globals
    }
    found: dict[str, bytes] = {}
    for name in names:
        variable = kernel.module.globals[name]
        if variable.initial and variable.space in (1, 2):
            found[name] = kernel.variables.contents(name, kernel.reader.types)[0]
    return found


def _inline(
    site: Site,
    function: IrFunction,
    arguments: tuple[Value, ...],
    attributes: list[Attributes],
    lower_body: Callable[[FunctionScope], None],
) -> None:
    scope, code = site.scope, site.code
    callers = (*scope.callers, scope.function.name)
    if function.name in callers:
        raise IrProblem(f"recursion is not supported: {function.name} calls itself")
    if len(callers) > _MOST_NESTED:
        raise IrProblem(f"calls nested deeper than {_MOST_NESTED} are not supported")
    if len(arguments) != len(function.parameters):
        raise IrProblem(f"{function.name} takes {len(function.parameters)} arguments", False)
    inner = FunctionScope(scope.kernel, function, callers)
    span, origin = code.span, code.origin
    for parameter, value, attribute in zip(function.parameters, arguments, attributes, strict=True):
        copied = attribute.by_value
        inner.values[parameter.name] = (
            value if copied is None else _copied(site, function.name, value, copied)
        )
    inner.return_to = code.new_block()
    inner.returned = scope.registers(function.result)
    start = code.new_block()
    code.begin(f"call {function.name}()")
    code.jump(start)
    code.place(start)
    lower_body(inner)
    code.place(inner.return_to)
    code.locate(span, origin)
    if not isinstance(function.result, VoidType):
        site.result(function.result, inner.returned)


def _copied(site: Site, name: str, value: Value, type_: IrType) -> Value:
    """A copy of a struct that a function gets by value."""
    place = site.scope.kernel.variables.allocate(f"{name}.copy", size_of(type_), align_of(type_))
    align = align_of(type_)
    source = MemoryPlace(AddressSpace.LOCAL, value.parts[0], align)
    parts = load_value(site.code, type_, source)
    store_value(site.code, Value(type_, parts), MemoryPlace(AddressSpace.LOCAL, place, align))
    return Value(value.type, (place,))
