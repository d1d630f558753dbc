"""Reads the first line of a function: `define ... @name(...) ... {`."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.llvm.text.cursor import Cursor, IrProblem
from kernelcast.ptx_frontend.llvm.text.syntax import IrBlock, IrFunction, IrParameter
from kernelcast.ptx_frontend.llvm.text.tokens import TokenKind
from kernelcast.ptx_frontend.llvm.text.types import IrType, VoidType

__all__ = ["FunctionHeader", "is_kernel_line", "read_attributes", "read_header"]

_KERNEL_CONVENTIONS = ("spir_kernel", "amdgpu_kernel")
_TYPES = (
    "ptr",
    "void",
    "half",
    "bfloat",
    "float",
    "double",
    "label",
    "metadata",
    "token",
    "target",
)


@dataclass(frozen=True, slots=True)
class FunctionHeader:
    """What the first line of a function says."""

    name: str
    line: int
    is_kernel: bool
    result: IrType
    parameters: tuple[IrParameter, ...]
    attachments: dict[str, str]
    first_label: str
    """What branches call the first basic block if it has no name."""

    def check(self) -> None:
        """Raises IrProblem for parameters that no kernel can have."""
        for parameter in self.parameters:
            if isinstance(parameter.type, VoidType):
                raise IrProblem(f"parameters of type {parameter.type} are not supported")

    def function(self, blocks: tuple[IrBlock, ...]) -> IrFunction:
        """The function with this header and these basic blocks."""
        return IrFunction(
            self.name,
            self.line,
            self.is_kernel,
            self.result,
            self.parameters,
            blocks,
            self.attachments,
        )


def is_kernel_line(line: str) -> bool:
    """Whether a line defines a kernel, even one that cannot be read."""
    return any(f" {word} " in line.partition("@")[0] for word in _KERNEL_CONVENTIONS)


def read_header(cursor: Cursor, line: int) -> FunctionHeader:
    """Reads the line up to the opening brace; IrProblem where it is malformed."""
    cursor.expect("define")
    is_kernel = False
    while not _begins_type(cursor):
        if cursor.at_end:
            raise IrProblem("a function without a type", False)
        if cursor.peek(1).text == "(" and cursor.peek().kind is TokenKind.WORD:
            cursor.take()
            cursor.skip_group()
            continue
        is_kernel |= cursor.take().text in _KERNEL_CONVENTIONS
    result = cursor.type()
    name = cursor.name()
    parameters, unnamed = _parameters(cursor)
    attachments: dict[str, str] = {}
    while not cursor.at_end:
        token = cursor.take()
        if token.kind is TokenKind.METADATA and cursor.peek().kind is TokenKind.METADATA:
            attachments[token.text] = cursor.take().text
    return FunctionHeader(name, line, is_kernel, result, parameters, attachments, str(unnamed))


def _begins_type(cursor: Cursor) -> bool:
    token = cursor.peek()
    if token.kind is TokenKind.LOCAL or token.text in ("<", "[", "{", *_TYPES):
        return True
    return token.kind is TokenKind.WORD and token.text[0] == "i" and token.text[1:].isdecimal()


def _parameters(cursor: Cursor) -> tuple[tuple[IrParameter, ...], int]:
    """The parameters and how many of them have no name."""
    cursor.expect("(")
    found: list[IrParameter] = []
    unnamed = 0
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        if cursor.accept("..."):
            raise IrProblem("functions with any number of arguments are not supported")
        type_ = cursor.type()
        attributes = read_attributes(cursor)
        name = cursor.name() if cursor.peek().kind is TokenKind.LOCAL else str(unnamed)
        unnamed += name.isdecimal()
        found.append(IrParameter(name, type_, attributes.by_value, attributes.by_reference))
    return tuple(found), unnamed


@dataclass(slots=True)
class Attributes:
    """Attributes of a parameter or argument: what `byval` copies, and the alignment it promises.

    `by_reference`: what `byref` points to.
    """

    by_value: IrType | None = None
    by_reference: IrType | None = None
    align: int = 1


def read_attributes(cursor: Cursor) -> Attributes:
    """Takes all attributes that come next."""
    found = Attributes()
    while cursor.peek().kind in (TokenKind.WORD, TokenKind.STRING):
        token = cursor.peek()
        if cursor.peek(1).text == "(":
            if token.text in ("byval", "byref"):
                cursor.take()
                cursor.take()
                pointee = cursor.type()
                cursor.expect(")")
                if token.text == "byval":
                    found.by_value = pointee
                else:
                    found.by_reference = pointee
                continue
            if token.text not in _WITH_VALUES:
                break
            cursor.take()
            cursor.skip_group()
        elif token.text == "align":
            cursor.take()
            found.align = cursor.integer()
        elif token.text in _ATTRIBUTES or token.kind is TokenKind.STRING:
            cursor.take()
            if cursor.accept("="):
                cursor.take()
        else:
            break
    return found


_WITH_VALUES = (
    *("captures", "dereferenceable", "dereferenceable_or_null", "nofpclass", "range", "sret"),
    *("inalloca", "preallocated", "elementtype", "align", "memory", "initializes"),
    "alignstack",
)
_ATTRIBUTES = (
    *("noundef", "nonnull", "readonly", "readnone", "writeonly", "nocapture", "noalias"),
    *("signext", "zeroext", "inreg", "immarg", "returned", "nofree", "nest", "noext"),
    *("swiftself", "swifterror", "swiftasync", "writable", "dead_on_unwind", "allocalign"),
    *("allocptr", "dead_on_return", "nocreateundeforpoison"),
)
