"""The body of a function: declarations, labels, instructions and scopes."""

from __future__ import annotations

import re

from kernelcast.errors import nearest
from kernelcast.ptx_frontend.ptx.text.declaration_parser import (
    LINKAGES,
    PROTOTYPES,
    SPACES,
    labelled_directive,
    register_declaration,
    skip_section,
    variable_declarations,
)
from kernelcast.ptx_frontend.ptx.text.lexer import (
    END,
    STATEMENT,
    Tokens,
    is_name,
    is_whole_directive,
)
from kernelcast.ptx_frontend.ptx.text.operand_parser import OperandParser
from kernelcast.ptx_frontend.ptx.text.statement_memo import StatementMemo
from kernelcast.ptx_frontend.ptx.text.syntax import (
    InstructionStatement,
    LabelStatement,
    LocationStatement,
    Operand,
    PragmaStatement,
    Scope,
    Statement,
)
from kernelcast.simcore.host.deadline import check_time
from kernelcast.simcore.host.limits import kernel_excess

__all__ = ["StatementParser"]

_DIRECTIVES = (".reg", ".loc", ".pragma", ".section", *(f".{space}" for space in SPACES))
_LOCATION_NUMBERS = re.compile(r"\d+")
_DEEPEST_SCOPE = 100
_STATEMENTS_PER_LOOK = 1024
_STATEMENTS_PER_INSTRUCTION = 4
"""Compilers write a label and two places in the source before an instruction, at most."""


class StatementParser:
    """Reads bodies off `tokens`."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._operands = OperandParser(tokens)
        self._memo = StatementMemo(tokens)
        self._depth = 0

    def body(self, what: str) -> tuple[Statement, ...]:
        """`{ ... }`; `what` names it when the text ends too early."""
        tokens = self._tokens
        tokens.expect("{", f"to open {what}")
        statements: list[Statement] = []
        while True:
            text = tokens.texts[tokens.index]
            if not len(statements) % _STATEMENTS_PER_LOOK:
                check_time(f"reading {tokens.source.path}")
                self._check_length(len(statements), what)
            if text is STATEMENT:
                statements.append(self._memo.instruction())
            elif is_name(text):
                self._name_statement(statements)
            elif text == "@":
                self._guarded(statements)
            elif text == "}":
                tokens.index += 1
                return tuple(statements)
            elif text == "{":
                statements.append(self._scope(what))
            elif text[:1] == ".":
                self._directive(statements)
            elif text == ";":
                tokens.index += 1
            elif text is END:
                raise tokens.unexpected(f"expected '}}' to close {what}")
            else:
                raise tokens.unexpected("expected an instruction")

    def _check_length(self, statements: int, what: str) -> None:
        """Gives up long before the end of a body that the lowering would refuse anyhow."""
        excess = kernel_excess(statements // _STATEMENTS_PER_INSTRUCTION, 0)
        if excess:
            message = f"{statements:,} statements in {what}: {excess}"
            raise self._tokens.source.error(message, self._tokens.offset)

    def _scope(self, what: str) -> Scope:
        tokens = self._tokens
        at = tokens.offset
        if self._depth == _DEEPEST_SCOPE:
            raise tokens.source.error(f"scopes nested more than {_DEEPEST_SCOPE} deep", at)
        self._depth += 1
        name = what.removeprefix("the ").removeprefix("a scope of ")
        scope = Scope(at, self.body(f"a scope of {name}"))
        self._depth -= 1
        return scope

    def _name_statement(self, statements: list[Statement]) -> None:
        """Parses a statement that begins with a name: a label, or an instruction without guard."""
        tokens = self._tokens
        at = tokens.offsets[tokens.index]
        if tokens.texts[tokens.index + 1] != ":":
            self._instruction(statements, at, None, False)
            return
        name = tokens.take()
        tokens.index += 1
        if tokens.next in PROTOTYPES:
            statements.append(labelled_directive(tokens, name, at))
        else:
            statements.append(LabelStatement(at, name))

    def _guarded(self, statements: list[Statement]) -> None:
        tokens = self._tokens
        at = tokens.offset
        tokens.index += 1
        negated = tokens.accept("!")
        guard = tokens.name("a predicate after '@'")
        if not is_name(tokens.next):
            raise tokens.unexpected("expected an instruction after the guard")
        self._instruction(statements, at, guard, negated)

    def _instruction(
        self, statements: list[Statement], at: int, guard: str | None, negated: bool
    ) -> None:
        tokens = self._tokens
        texts = tokens.texts
        offsets = tokens.offsets
        mnemonic = texts[tokens.index]
        tokens.index += 1
        while texts[tokens.index][:1] == ".":
            mnemonic += tokens.take()
        operands: list[Operand] = []
        positions: list[int] = []
        operand = self._operands.operand
        if texts[tokens.index] != ";":
            while True:
                if texts[tokens.index] in ("}", END):
                    raise tokens.unexpected(f"expected an operand or ';' after {mnemonic!r}")
                positions.append(offsets[tokens.index])
                operands.append(operand())
                if texts[tokens.index] != ",":
                    break
                tokens.index += 1
        if texts[tokens.index] != ";":
            raise tokens.missing(";", f"after {mnemonic!r}")
        tokens.index += 1
        statements.append(
            InstructionStatement(at, mnemonic, tuple(operands), tuple(positions), guard, negated)
        )

    def _directive(self, statements: list[Statement]) -> None:
        tokens = self._tokens
        text = tokens.next
        if text == ".reg":
            statements.append(register_declaration(tokens))
        elif text[:4] == ".loc" and (len(text) == 4 or is_whole_directive(text)):
            statements.append(self._location())
        elif text == ".pragma":
            statements.append(self._pragma())
        elif text[:8] == ".section" and (len(text) == 8 or is_whole_directive(text)):
            skip_section(tokens)
        elif text[1:] in SPACES or text[1:] in LINKAGES:
            statements.extend(variable_declarations(tokens))
        else:
            raise tokens.source.error(
                f"unknown directive {text!r}{nearest(text, _DIRECTIVES)}", tokens.offset, len(text)
            )

    def _pragma(self) -> PragmaStatement:
        """`.pragma "string"{, "string"};`, whatever it asks for."""
        tokens = self._tokens
        at, begin = tokens.offset, tokens.index
        tokens.skip_past(";", "after '.pragma'")
        return PragmaStatement(at, " ".join(tokens.texts[begin + 1 : tokens.index - 1]))

    def _location(self) -> LocationStatement:
        """`.loc file line column {, function_name label {+ n}, inlined_at file line column}`."""
        tokens = self._tokens
        at = tokens.offset
        text = tokens.next
        tokens.index += 1
        if is_whole_directive(text):
            file, line, column = map(int, _LOCATION_NUMBERS.findall(text)[:3])
            return LocationStatement(at, file, line, column)
        file, line, column = (
            tokens.integer(f"the {what} of '.loc'") for what in ("file", "line", "column")
        )
        while tokens.accept(","):
            attribute = tokens.name("an attribute of '.loc'")
            if attribute == "function_name":
                tokens.name("a label after 'function_name'")
                if tokens.accept("+"):
                    tokens.integer("an offset after '+'")
            elif attribute == "inlined_at":
                for what in ("file", "line", "column"):
                    tokens.integer(f"the {what} of 'inlined_at'")
            else:
                raise tokens.source.error(f"unknown attribute {attribute!r} of '.loc'", at)
        return LocationStatement(at, file, line, column)
