"""The body of a function: declarations, labels, instructions and scopes."""

from __future__ import annotations

from kernelcast.errors import nearest
from kernelcast.ptx_frontend.declaration_parser import (
    LINKAGES,
    SPACES,
    register_declaration,
    skip_prototype,
    skip_section,
    variable_declarations,
)
from kernelcast.ptx_frontend.lexer import END, Tokens, is_name
from kernelcast.ptx_frontend.operand_parser import OperandParser
from kernelcast.ptx_frontend.syntax import (
    InstructionStatement,
    LabelStatement,
    LocationStatement,
    Operand,
    Scope,
    Statement,
)

__all__ = ["StatementParser"]

_PROTOTYPES = (".callprototype", ".branchtargets", ".calltargets")
_DIRECTIVES = (".reg", ".loc", ".pragma", ".section", *(f".{space}" for space in SPACES))


class StatementParser:
    """Reads bodies off `tokens`."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._operands = OperandParser(tokens)

    def body(self, what: str) -> tuple[Statement, ...]:
        """`{ ... }`; `what` names it when the text ends too early."""
        tokens = self._tokens
        tokens.expect("{", f"to open {what}")
        statements: list[Statement] = []
        while True:
            text = tokens.texts[tokens.index]
            if is_name(text):
                self._name_statement(statements)
            elif text == "@":
                self._guarded(statements)
            elif text == "}":
                tokens.index += 1
                return tuple(statements)
            elif text == "{":
                at = tokens.offset
                statements.append(Scope(at, self.body(f"a scope of {what.removeprefix('the ')}")))
            elif text[:1] == ".":
                self._directive(statements)
            elif text == ";":
                tokens.index += 1
            elif text is END:
                raise tokens.unexpected(f"expected '}}' to close {what}")
            else:
                raise tokens.unexpected("expected an instruction")

    def _name_statement(self, statements: list[Statement]) -> None:
        """A label, or an instruction without guard."""
        tokens = self._tokens
        at = tokens.offsets[tokens.index]
        if tokens.texts[tokens.index + 1] != ":":
            self._instruction(statements, at, None, False)
            return
        name = tokens.take()
        tokens.index += 1
        if tokens.next in _PROTOTYPES:
            skip_prototype(tokens)
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
        elif text == ".loc":
            statements.append(self._location())
        elif text == ".pragma":
            while not tokens.accept(";"):
                if tokens.take() is END:
                    raise tokens.unexpected("expected ';' after '.pragma'")
        elif text == ".section":
            skip_section(tokens)
        elif text[1:] in SPACES or text[1:] in LINKAGES:
            statements.extend(variable_declarations(tokens))
        else:
            raise tokens.source.error(
                f"unknown directive {text!r}{nearest(text, _DIRECTIVES)}", tokens.offset, len(text)
            )

    def _location(self) -> LocationStatement:
        """`.loc file line column {, function_name label {+ n}, inlined_at file line column}`."""
        tokens = self._tokens
        at = tokens.offset
        tokens.index += 1
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
