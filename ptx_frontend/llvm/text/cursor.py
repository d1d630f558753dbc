"""Reads tokens one after the other, and the types among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.llvm.text.tokens import Token, TokenKind
from kernelcast.ptx_frontend.llvm.text.types import (
    ArrayType,
    IntegerIrType,
    IrType,
    PointerType,
    ScalarIrType,
    StructType,
    VectorType,
    VoidType,
)

__all__ = ["Cursor", "IrProblem", "ModuleTypes"]

_SCALARS = {type_.spelling: type_ for type_ in ScalarIrType}
_OBJECT_SPACES = {"spirv.Image": 1, "spirv.SampledImage": 1, "spirv.Sampler": 2}
_MOST_BITS = 128
_END = Token(TokenKind.PUNCTUATION, "", 0)


class IrProblem(Exception):  # carried to whoever knows the line
    """What is wrong with an instruction; `is_unsupported` when it is good IR."""

    def __init__(self, reason: str, is_unsupported: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_unsupported = is_unsupported


@dataclass(frozen=True, slots=True)
class ModuleTypes:
    """What a module calls types: `named` gives the type of a name, None where it has none.

    `spaces`: the numbers that its target gives address spaces, and those of OpenCL for them.
    """

    named: Callable[[str], IrType | None]
    spaces: Mapping[int, int]

    def space(self, number: int) -> int:
        """The address space as OpenCL numbers it."""
        return self.spaces.get(number, number)


class Cursor:
    """A place in a sequence of tokens."""

    def __init__(self, tokens: Sequence[Token], types: ModuleTypes) -> None:
        self._tokens = tokens
        self._next = 0
        self.types = types

    def peek(self, ahead: int = 0) -> Token:
        """A token to come; an empty one past the end."""
        position = self._next + ahead
        return self._tokens[position] if position < len(self._tokens) else _END

    def take(self) -> Token:
        """Takes the next token."""
        token = self.peek()
        self._next += 1
        return token

    def accept(self, *texts: str) -> str:
        """The next token if it is a word or sign among `texts`, else nothing."""
        token = self.peek()
        if token.text in texts and token.kind in (TokenKind.WORD, TokenKind.PUNCTUATION):
            self._next += 1
            return token.text
        return ""

    def expect(self, text: str) -> None:
        """Takes the next token, which must be `text`; IrProblem otherwise."""
        if not self.accept(text):
            raise IrProblem(f"expected {text!r}, found {self.peek().text!r}", False)

    def name(self) -> str:
        """Takes a local or global name; IrProblem for anything else."""
        token = self.take()
        if token.kind not in (TokenKind.LOCAL, TokenKind.GLOBAL):
            raise IrProblem(f"expected a name, found {token.text!r}", False)
        return token.text

    def integer(self) -> int:
        """Takes an integer; IrProblem for anything else."""
        token = self.take()
        try:
            return int(token.text)
        except ValueError:
            raise IrProblem(f"expected a number, found {token.text!r}", False) from None

    def skip_words(self, *texts: str) -> list[str]:
        """Flags and attributes among `texts`; those with something in parentheses too."""
        found: list[str] = []
        while word := self.accept(*texts):
            found.append(word)
            if self.peek().text == "(":
                self.skip_group()
        return found

    def skip_group(self) -> None:
        """What stands in brackets, nested ones included."""
        depth = 0
        while True:
            token = self.take()
            if token.kind is TokenKind.PUNCTUATION:
                depth += {"(": 1, "[": 1, "{": 1, "<": 1}.get(token.text, 0)
                depth -= {")": 1, "]": 1, "}": 1, ">": 1}.get(token.text, 0)
            if depth <= 0 or token is _END:
                return

    @property
    def at_end(self) -> bool:
        """Whether no token is left."""
        return self._next >= len(self._tokens)

    def type(self) -> IrType:
        """A type; IrProblem for one that kernels here cannot have."""
        token = self.take()
        if token.kind is TokenKind.LOCAL:
            return self._named(token.text)
        match token.text:
            case "ptr":
                return self._pointer()
            case "<" if self.accept("{"):
                fields = self._fields()
                self.expect(">")
                return StructType(fields, is_packed=True)
            case "<":
                return self._vector()
            case "[":
                return self._array()
            case "{":
                return StructType(self._fields())
            case "void" | "label" | "metadata" | "token":
                return VoidType(token.text)
            case "target":
                return self._target_type()
        if token.text in _SCALARS:
            return _SCALARS[token.text]
        if token.text[:1] == "i" and token.text[1:].isdecimal():
            bits = int(token.text[1:])
            if 0 < bits <= _MOST_BITS:
                return IntegerIrType(bits)
        raise IrProblem(f"type {token.text!r} is not supported")

    def _named(self, name: str) -> IrType:
        known = self.types.named(name)
        if known is None:
            raise IrProblem(f"no type %{name}", False)
        return known

    def _pointer(self) -> PointerType:
        return PointerType(self.address_space())

    def address_space(self) -> int:
        """The number in `addrspace(1)` as OpenCL has it; without the word the target's default."""
        if not self.accept("addrspace"):
            return self.types.space(0)
        self.expect("(")
        space = self.integer()
        self.expect(")")
        return self.types.space(space)

    def _sized(self) -> tuple[int, IrType]:
        if self.peek().text == "vscale":
            raise IrProblem("vectors of scalable size are not supported")
        count = self.integer()
        self.expect("x")
        return count, self.type()

    def _vector(self) -> VectorType:
        count, element = self._sized()
        self.expect(">")
        if not isinstance(element, ScalarIrType | PointerType):
            raise IrProblem(f"vectors of {element} are not supported")
        return VectorType(element, count)

    def _array(self) -> ArrayType:
        count, element = self._sized()
        self.expect("]")
        return ArrayType(element, count)

    def _fields(self) -> tuple[IrType, ...]:
        """Reads the fields of a structure up to and with its closing brace."""
        fields: list[IrType] = []
        while not self.accept("}"):
            if fields:
                self.expect(",")
            fields.append(self.type())
        return tuple(fields)

    def _target_type(self) -> IrType:
        """Reads a type of the target, such as `target("spirv.Image", ...)`.

        It is opaque, but for images and samplers, which are pointers to compilers that have no such
        types.
        """
        self.expect("(")
        name = self.take().text
        while not self.accept(")"):
            if self.at_end:
                raise IrProblem("expected ')'", False)
            self.take()
        space = _OBJECT_SPACES.get(name.strip('"'))
        return VoidType(f"target({name})") if space is None else PointerType(space)
