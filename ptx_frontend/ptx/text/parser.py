"""A whole PTX file: module directives, variables and functions."""

from __future__ import annotations

from kernelcast.errors import PtxSyntaxError, nearest
from kernelcast.ptx_frontend.ptx.text.declaration_parser import (
    LINKAGES,
    SPACES,
    parameters,
    skip_section,
    variable_declarations,
)
from kernelcast.ptx_frontend.ptx.text.lexer import END, Tokens, is_whole_directive
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.statement_parser import StatementParser
from kernelcast.ptx_frontend.ptx.text.syntax import (
    Alias,
    FileDirective,
    Function,
    ModuleSyntax,
    Performance,
    VariableDeclaration,
)

__all__ = ["parse", "parse_tokens"]

_MODULE_DIRECTIVES = (".entry", ".func", ".file", ".section", ".alias", ".pragma")
_TRIPLES = (".maxntid", ".reqntid", ".reqnctapercluster")
_COUNTS = (".maxnreg", ".minnctapersm", ".maxnctapersm", ".maxclusterrank")
_FLAGS = (".noreturn", ".explicitcluster", ".blocksareclusters", ".unified")


def parse(source: SourceText) -> ModuleSyntax:
    """The syntax tree of a PTX text; PtxSyntaxError at the first thing that is not PTX.

    Where whole statements as tokens do not lead to the end, single tokens decide.
    """
    try:
        return parse_tokens(Tokens(source, whole_statements=True))
    except PtxSyntaxError:
        return parse_tokens(Tokens(source))


def parse_tokens(tokens: Tokens) -> ModuleSyntax:
    """The syntax tree of tokens of either kind; PtxSyntaxError when they lead to none."""
    try:
        return _ModuleParser(tokens).module()
    except RecursionError:
        raise tokens.source.error("brackets nested too deeply", tokens.offset) from None


class _ModuleParser:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._bodies = StatementParser(tokens)
        self._variables: list[VariableDeclaration] = []
        self._functions: list[Function] = []
        self._files: list[FileDirective] = []
        self._aliases: list[Alias] = []

    def module(self) -> ModuleSyntax:
        tokens = self._tokens
        if tokens.next != ".version":
            raise tokens.unexpected("not PTX: expected '.version'")
        tokens.index += 1
        version = tokens.next
        if not version[:1].isdecimal():
            raise tokens.unexpected("expected a number after '.version'")
        tokens.index += 1
        tokens.expect(".target", "after '.version'")
        target = tokens.name("a target such as 'sm_75'")
        options = []
        while tokens.accept(","):
            options.append(tokens.name("a target option"))
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
            tuple(self._aliases),
            "debug" in options,
        )

    def _top_level(self) -> None:
        tokens = self._tokens
        start = tokens.index
        linkage = ""
        while tokens.next[1:] in LINKAGES:
            linkage = tokens.take()[1:]
        text = tokens.next
        if text in (".entry", ".func"):
            self._functions.append(self._function(linkage))
        elif text[1:].split("::")[0] in SPACES:
            tokens.index = start
            self._variables.extend(variable_declarations(tokens))
        elif text == ".file":
            self._files.append(self._file())
        elif text[:8] == ".section" and (len(text) == 8 or is_whole_directive(text)):
            skip_section(tokens)
        elif text == ".alias":
            self._aliases.append(self._alias())
        elif text == ".pragma":
            tokens.skip_past(";", "after '.pragma'")
        elif text[:1] == ".":
            known = (*_MODULE_DIRECTIVES, *(f".{name}" for name in (*SPACES, *LINKAGES)))
            raise tokens.source.error(
                f"unknown directive {text!r}{nearest(text, known)}", tokens.offset, len(text)
            )
        elif text == ";":
            tokens.index += 1
        else:
            raise tokens.unexpected("expected a directive")

    def _alias(self) -> Alias:
        """Reads `.alias name, function;`."""
        tokens = self._tokens
        tokens.index += 1
        at = tokens.offset
        name = tokens.name("a name after '.alias'")
        tokens.expect(",", "after the alias")
        function = tokens.name("the name of a function")
        tokens.expect(";", "after '.alias'")
        return Alias(at, name, function)

    def _function(self, linkage: str) -> Function:
        """`.entry name (...) performance {...}` or `.func (result) name (...) ... {...}`."""
        tokens = self._tokens
        is_entry = tokens.take() == ".entry"
        results = parameters(tokens) if not is_entry and tokens.next == "(" else ()
        at = tokens.offset
        name = tokens.name("the name of a function")
        declared = parameters(tokens) if tokens.next == "(" else ()
        performance = self._performance()
        body = None
        if not tokens.accept(";"):
            body = self._bodies.body(f"the body of {name!r}")
        return Function(at, name, is_entry, declared, performance, body, results, linkage)

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
                tokens.skip_past(";", "after '.pragma'")
            elif text in _FLAGS:
                tokens.index += 1
            else:
                known = (*_TRIPLES, *_COUNTS, *_FLAGS)
                raise tokens.source.error(
                    f"unknown directive {text!r}{nearest(text, known)}", tokens.offset, len(text)
                )
        return Performance(
            sizes.get(".maxntid"),
            sizes.get(".reqntid"),
            counts.get(".maxnreg"),
            sizes.get(".reqnctapercluster"),
        )

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
