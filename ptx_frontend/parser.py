"""A whole PTX file: module directives, variables and functions."""

from __future__ import annotations

from kernelcast.errors import nearest
from kernelcast.ptx_frontend.declaration_parser import (
    LINKAGES,
    SPACES,
    parameters,
    skip_section,
    variable_declarations,
)
from kernelcast.ptx_frontend.lexer import END, Tokens
from kernelcast.ptx_frontend.source import SourceText
from kernelcast.ptx_frontend.statement_parser import StatementParser
from kernelcast.ptx_frontend.syntax import (
    FileDirective,
    Function,
    ModuleSyntax,
    Performance,
    VariableDeclaration,
)

__all__ = ["parse"]

_MODULE_DIRECTIVES = (".entry", ".func", ".file", ".section", ".alias", ".pragma")
_TRIPLES = (".maxntid", ".reqntid", ".reqnctapercluster")
_COUNTS = (".maxnreg", ".minnctapersm", ".maxnctapersm", ".maxclusterrank")
_FLAGS = (".noreturn", ".explicitcluster", ".blocksareclusters", ".unified")


def parse(source: SourceText) -> ModuleSyntax:
    """The syntax tree of a PTX text; PtxSyntaxError at the first thing that is not PTX."""
    return _ModuleParser(Tokens(source)).module()


class _ModuleParser:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._bodies = StatementParser(tokens)
        self._variables: list[VariableDeclaration] = []
        self._functions: list[Function] = []
        self._files: list[FileDirective] = []

    def module(self) -> ModuleSyntax:
        tokens = self._tokens
        if tokens.next != ".version":
            raise tokens.unexpected("not PTX: expected '.version'")
        tokens.index += 1
        version = tokens.take()
        tokens.expect(".target", "after '.version'")
        target = tokens.name("a target such as 'sm_75'")
        while tokens.accept(","):
            tokens.name("a target option")
        address_size = 64
        if tokens.accept(".address_size"):
            address_size = tokens.integer("32 or 64")
        while tokens.next is not END:
            self._top_level()
        return ModuleSyntax(
            version,
            target,
            address_size,
            tuple(self._variables),
            tuple(self._functions),
            tuple(self._files),
        )

    def _top_level(self) -> None:
        tokens = self._tokens
        start = tokens.index
        while tokens.next[1:] in LINKAGES:
            tokens.index += 1
        text = tokens.next
        if text in (".entry", ".func"):
            self._functions.append(self._function())
        elif text[1:].split("::")[0] in SPACES:
            tokens.index = start
            self._variables.extend(variable_declarations(tokens))
        elif text == ".file":
            self._files.append(self._file())
        elif text == ".section":
            skip_section(tokens)
        elif text in (".pragma", ".alias"):
            while not tokens.accept(";"):
                if tokens.take() is END:
                    raise tokens.unexpected(f"expected ';' after {text!r}")
        elif text[:1] == ".":
            known = (*_MODULE_DIRECTIVES, *(f".{name}" for name in (*SPACES, *LINKAGES)))
            raise tokens.source.error(
                f"unknown directive {text!r}{nearest(text, known)}", tokens.offset, len(text)
            )
        elif text == ";":
            tokens.index += 1
        else:
            raise tokens.unexpected("expected a directive")

    def _function(self) -> Function:
        """`.entry name (...) performance {...}` or `.func (result) name (...) ... {...}`."""
        tokens = self._tokens
        is_entry = tokens.take() == ".entry"
        if not is_entry and tokens.next == "(":
            parameters(tokens)
        at = tokens.offset
        name = tokens.name("the name of a function")
        declared = parameters(tokens) if tokens.next == "(" else ()
        performance = self._performance()
        body = None
        if not tokens.accept(";"):
            body = self._bodies.body(f"the body of {name!r}")
        return Function(at, name, is_entry, declared, performance, body)

    def _performance(self) -> Performance:
        tokens = self._tokens
        sizes: dict[str, tuple[int, int, int]] = {}
        counts: dict[str, int] = {}
        while (text := tokens.next)[:1] == ".":
            if text in _TRIPLES:
                sizes[text] = self._triple()
            elif text in _COUNTS:
                tokens.index += 1
                counts[text] = tokens.integer(f"a number after {text!r}")
            elif text == ".pragma":
                while not tokens.accept(";"):
                    if tokens.take() is END:
                        raise tokens.unexpected("expected ';' after '.pragma'")
            elif text in _FLAGS:
                tokens.index += 1
            else:
                known = (*_TRIPLES, *_COUNTS, *_FLAGS)
                raise tokens.source.error(
                    f"unknown directive {text!r}{nearest(text, known)}", tokens.offset, len(text)
                )
        return Performance(sizes.get(".maxntid"), sizes.get(".reqntid"), counts.get(".maxnreg"))

    def _triple(self) -> tuple[int, int, int]:
        """One to three sizes; the others are 1."""
        tokens = self._tokens
        directive = tokens.take()
        sizes = [tokens.integer(f"a size after {directive!r}")]
        while len(sizes) < 3 and tokens.accept(","):
            sizes.append(tokens.integer(f"a size after {directive!r}"))
        x, y, z = (*sizes, 1, 1)[:3]
        return x, y, z

    def _file(self) -> FileDirective:
        """`.file index "path" {, timestamp, size}`."""
        tokens = self._tokens
        tokens.index += 1
        index = tokens.integer("the index of '.file'")
        path = tokens.next
        if path[:1] != '"':
            raise tokens.unexpected("expected a quoted path")
        tokens.index += 1
        while tokens.accept(","):
            tokens.integer("a number")
        return FileDirective(index, path[1:-1])
