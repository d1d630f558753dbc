"""The operands of an instruction, as written."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.text.lexer import END, Tokens, is_name
from kernelcast.ptx_frontend.ptx.text.literals import address_offset, constant_expression, number
from kernelcast.ptx_frontend.ptx.text.syntax import (
    AddressOperand,
    BracketOperand,
    GroupOperand,
    Integer,
    NameOperand,
    NegatedOperand,
    Operand,
    OppositeOperand,
    PairOperand,
    SumOperand,
    VectorOperand,
)

__all__ = ["OperandParser"]

_CLOSING = {"[": "]", "{": "}", "(": ")"}
_DEEPEST = 100
_ENDS = frozenset((",", ";", "}", "]", ")"))


class OperandParser:
    """Reads operands off `tokens`; equal one-token operands are shared."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._single: dict[str, Operand] = {}

    def operand(self) -> Operand:
        """One operand; PtxSyntaxError when none stands here."""
        tokens = self._tokens
        text = tokens.texts[tokens.index]
        if text is not END and text not in _CLOSING and tokens.texts[tokens.index + 1] in _ENDS:
            known = self._single.get(text)
            if known is None:
                known = self._one_token(text)
            tokens.index += 1
            return known
        if text == "[":
            return self._address()
        if text == "{":
            return self._vector()
        if text == "(" and not self._is_expression():
            return GroupOperand(self._list("(", ")"))
        if is_name(text) and text != "WARP_SZ":
            return self._named()
        if text == "!":
            tokens.index += 1
            return NegatedOperand(tokens.name("a predicate after '!'"))
        if text == "-" and is_name(tokens.texts[tokens.index + 1]):
            tokens.index += 1
            return OppositeOperand(tokens.take())
        return constant_expression(tokens)

    def _one_token(self, text: str) -> Operand:
        value = number(text)
        if value is None and not is_name(text):
            raise self._tokens.unexpected("expected an operand")
        operand = self._single[text] = NameOperand(text) if value is None else value
        return operand

    def _named(self) -> Operand:
        tokens = self._tokens
        name = tokens.take()
        if tokens.accept("|"):
            return PairOperand(name, tokens.name("a second destination after '|'"))
        if tokens.next in ("+", "-"):
            return SumOperand(name, self._offset())
        return NameOperand(name)

    def _offset(self) -> int:
        """`+ constant`, `+-constant` or `- constant`."""
        tokens = self._tokens
        if tokens.next == "+":
            tokens.index += 1
        known = self._single.get(tokens.next)
        if isinstance(known, Integer) and tokens.texts[tokens.index + 1] == "]":
            tokens.index += 1
            return known.value
        start = tokens.index
        offset = address_offset(tokens)
        if tokens.index == start + 1:
            self._single[tokens.texts[start]] = Integer(offset)
        return offset

    def _address(self) -> Operand:
        tokens = self._tokens
        start = tokens.index
        tokens.index += 1
        base = None
        offset = 0
        if is_name(tokens.next) and tokens.next != "WARP_SZ":
            base = tokens.take()
            if tokens.next in ("+", "-"):
                offset = self._offset()
        elif tokens.next not in _ENDS and tokens.next not in _CLOSING:
            offset = self._offset()
        if tokens.next == ",":
            tokens.index = start
            return BracketOperand(self._list("[", "]"))
        tokens.expect("]", "to close the address")
        # a promise that the address is one of unified memory
        tokens.accept(".unified")
        return AddressOperand(base, offset)

    def _vector(self) -> VectorOperand:
        items = self._list("{", "}")
        if not self._tokens.accept("|"):
            return VectorOperand(items)
        return VectorOperand(items, self._tokens.name("a predicate after '|'"))

    def _list(self, opening: str, closing: str) -> tuple[Operand, ...]:
        tokens = self._tokens
        tokens.expect(opening, "")
        items: list[Operand] = []
        while tokens.next != closing:
            items.append(self.operand())
            if not tokens.accept(","):
                break
        tokens.expect(closing, f"to close '{opening}'")
        return tuple(items)

    def _is_expression(self) -> bool:
        """Whether the parenthesis that is next holds a constant, not what a call passes."""
        tokens = self._tokens
        inner = tokens.index
        while tokens.texts[inner] in ("(", "-", "~"):
            inner += 1
            if inner - tokens.index > _DEEPEST:
                raise tokens.source.error("parentheses nested too deeply", tokens.offset)
        return number(tokens.texts[inner]) is not None and tokens.texts[inner + 1] not in (",", ")")
