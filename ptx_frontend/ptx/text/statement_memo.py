"""Whole-line instructions to syntax: every operand text is read once."""

from __future__ import annotations

import re

from kernelcast.ptx_frontend.ptx.text.lexer import END, LONGEST_NUMBER, Tokens
from kernelcast.ptx_frontend.ptx.text.literals import number
from kernelcast.ptx_frontend.ptx.text.operand_parser import OperandParser
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import (
    AddressOperand,
    InstructionStatement,
    NameOperand,
    Operand,
    VectorOperand,
)

__all__ = ["StatementMemo"]

_NAME = re.compile(r"(?!WARP_SZ$)[A-Za-z_$%][\w$]*(?:\.\w+)*", re.ASCII)
_ADDRESS = re.compile(
    r"\[[ \t]*(?!WARP_SZ\b)([A-Za-z_$%][\w$]*)[ \t]*(?:\+[ \t]*(-?(?:0|[1-9]\d{0,17}))[ \t]*)?\]",
    re.ASCII,
)


class StatementMemo:
    """Turns the STATEMENT tokens of one text into syntax."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._operands: dict[str, Operand] = {}

    def instruction(self) -> InstructionStatement:
        """The instruction that is next; PtxSyntaxError when one of its operands is none."""
        tokens = self._tokens
        index = tokens.index
        at = tokens.offsets[index]
        whole, guard, mnemonic, *texts = tokens.statements[index]
        tokens.index = index + 1
        is_negated = False
        end = len(mnemonic)
        if guard is not None:
            end = whole.index(mnemonic, len(guard) + 1) + len(mnemonic)
            is_negated = guard[0] == "!"
            guard = guard[is_negated:]
        known = self._operands
        operands: list[Operand] = []
        positions: list[int] = []
        for text in texts:
            if text is None:
                break
            # Only white space and a comma stand before it, so the first place is the right one.
            start = whole.index(text, end)
            positions.append(at + start)
            end = start + len(text)
            operand = known.get(text)
            if operand is None:
                operand = known[text] = self._read(text)
            operands.append(operand)
        return InstructionStatement(
            at, mnemonic, tuple(operands), tuple(positions), guard, is_negated
        )

    def _read(self, text: str) -> Operand:
        if len(text) > LONGEST_NUMBER:  # the lexer says where
            return self._read_rarely(text)
        if _NAME.fullmatch(text):
            return NameOperand(text)
        if match := _ADDRESS.fullmatch(text):
            return AddressOperand(match[1], int(match[2] or 0))
        if text[0].isdigit() and (value := number(text)) is not None:
            return value
        if text[0] == "{":
            names = [name.strip(" \t") for name in text[1:-1].split(",")]
            if all(map(_NAME.fullmatch, names)):
                return VectorOperand(tuple(NameOperand(name) for name in names))
        return self._read_rarely(text)

    def _read_rarely(self, text: str) -> Operand:
        tokens = Tokens(SourceText(self._tokens.source.path, f"{text};"))
        operand = OperandParser(tokens).operand()
        tokens.expect(";", "after the operand")
        tokens.expect(END, "after the operand")
        return operand
