"""C++ as tokens and declarations: as much as is needed to tell device code from host code.

The preprocessor is not run: its lines stand between declarations, whichever of their branches
would be taken. Offsets are those of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["Declaration", "Kind", "Token", "Unbalanced", "declarations", "tokens"]

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|\\\r?\n)
    |(?P<directive>(?<![^\n])[ \t]*\#(?:\\\r?\n|/\*.*?\*/|//[^\n]*|[^\n])*)
    |(?P<text>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
        |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
    |(?P<word>[A-Za-z_$]\w*)
    |(?P<number>\.?\d(?:'?[\w.]|[eEpP][+-])*)
    |(?P<sign>::|->|.)""",
    re.DOTALL | re.VERBOSE,
)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_TYPES = ("struct", "class", "union")
_NOT_FUNCTIONS = frozenset((
    "alignas", "__align__", "__attribute__", "__declspec", "decltype", "__launch_bounds__",
    "__cluster_dims__", "__block_size__", "asm", "static_assert", "requires", "noexcept",
    "explicit",
))  # fmt: skip
"""Words before parentheses that are not those of a function's parameters."""
_QUALIFIERS = ("const", "volatile", "noexcept", "override", "final", "mutable", "try")
"""What may stand between a function's parameters and its body."""
_ACCESS = ("public", "private", "protected")


class Unbalanced(ValueError):
    """Brackets that do not match, as branches of the preprocessor may leave them."""


@dataclass(frozen=True, slots=True)
class Token:
    """Words, numbers, texts and signs; `start` is its offset."""

    text: str
    start: int
    is_word: bool = False

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)


class Kind(Enum):
    """What is declared."""

    FUNCTION = auto()
    TYPE = auto()
    SCOPE = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Declaration:
    """`head`: its tokens but those within braces. A type and a scope have declarations `inside`."""

    kind: Kind
    head: tuple[Token, ...]
    end: int
    inside: tuple[Declaration, ...] = ()
    has_body: bool = False

    @property
    def start(self) -> int:
        """Where its first token begins."""
        return self.head[0].start

    @property
    def words(self) -> frozenset[str]:
        """The words of its head."""
        return frozenset(token.text for token in self.head if token.is_word)


def tokens(text: str, *, of_first_branches: bool = False) -> Iterator[Token]:
    """What is neither space nor comment nor a line of the preprocessor.

    `of_first_branches`: without what stands between `#else` or `#elif` and `#endif`.
    """
    skipped: list[bool] = []
    for found in _TOKEN.finditer(text):
        if found.lastgroup == "directive":
            _branch(found[0], skipped)
        elif found.lastgroup != "space" and not (of_first_branches and any(skipped)):
            yield Token(found[0], found.start(), found.lastgroup == "word")


def _branch(directive: str, skipped: list[bool]) -> None:
    """Follows the branches of the preprocessor: one entry for each that is open."""
    word = _DIRECTIVE.match(directive)
    if word is None:
        return
    if word[1].startswith("if"):
        skipped.append(False)
    elif skipped and word[1].startswith("el"):
        skipped[-1] = True
    elif skipped and word[1] == "endif":
        skipped.pop()


def declarations(text: str, complete: frozenset[str] = frozenset()) -> tuple[Declaration, ...]:
    """The declarations of a file, in their order; of first branches where all do not match.

    `complete`: macros with parameters that make whole definitions, which no semicolon ends.
    Unbalanced where brackets do not match.
    """
    try:
        return _Reader(tuple(tokens(text)), complete).all()
    except Unbalanced:
        return _Reader(tuple(tokens(text, of_first_branches=True)), complete).all()


class _Reader:
    """Takes tokens from first to last."""

    def __init__(self, all_tokens: Sequence[Token], complete: frozenset[str]) -> None:
        self._tokens = all_tokens
        self._complete = complete
        self._next = 0

    def all(self) -> tuple[Declaration, ...]:
        """The declarations of the file."""
        found = tuple(self._scope())
        if self._next < len(self._tokens):
            raise Unbalanced("a brace too many")
        return found

    def _scope(self) -> Iterator[Declaration]:
        """The declarations up to the brace that ends their scope, or to the end."""
        while self._next < len(self._tokens) and self._tokens[self._next].text != "}":
            if self._tokens[self._next].text == ";":
                self._next += 1
            else:
                yield self._declaration()

    def _take(self) -> Token:
        if self._next >= len(self._tokens):
            raise Unbalanced("the end within a declaration")
        self._next += 1
        return self._tokens[self._next - 1]

    def _declaration(self) -> Declaration:
        head: list[Token] = []
        inside: tuple[Declaration, ...] = ()
        kind = Kind.OTHER
        while True:
            token = self._take()
            if token.text in "([":
                head += [token, *self._group(token)]
                if len(head) > 1 and head[0].text in self._complete and head[1].text == "(":
                    return Declaration(Kind.OTHER, tuple(head), head[-1].end)
            elif token.text == "{":
                if not head:
                    raise Unbalanced("a brace that begins nothing")
                if _is_member(head, self._tokens[self._next - 2]):
                    self._group(token)
                    continue
                kind = _kind(head) if kind is Kind.OTHER else kind
                if kind in (Kind.SCOPE, Kind.TYPE):
                    inside += tuple(self._scope())
                    end = self._take()
                else:
                    end = self._group(token)[-1]
                if kind is Kind.FUNCTION or kind is Kind.SCOPE:
                    return Declaration(kind, tuple(head), end.end, inside, has_body=True)
            elif token.text in ")]}":
                raise Unbalanced(f"{token.text} without its beginning")
            else:
                if token.text == ";":
                    return Declaration(self._plain(kind, head), tuple(head), token.end, inside)
                head.append(token)
                if token.text == ":" and len(head) == 2 and head[0].text in _ACCESS:
                    return Declaration(Kind.OTHER, tuple(head), token.end)

    def _plain(self, kind: Kind, head: Sequence[Token]) -> Kind:
        """A declaration without a body: of a function where parameters follow a name."""
        if kind is Kind.OTHER and _is_function(head) and "=" not in _outside(head):
            return Kind.FUNCTION
        return kind

    def _group(self, opening: Token) -> list[Token]:
        """The tokens up to the bracket that closes a group, with it."""
        found: list[Token] = []
        waiting = [_CLOSING[opening.text]]
        while waiting:
            token = self._take()
            found.append(token)
            if token.text in _CLOSING:
                waiting.append(_CLOSING[token.text])
            elif token.text in ")]}" and waiting.pop() != token.text:
                raise Unbalanced(f"{token.text} closes what it did not open")
        return found


def _kind(head: Sequence[Token]) -> Kind:
    """What begins with a brace behind these tokens."""
    words = [token.text for token in _without_template(head)]
    if "namespace" in words[:2] or (words[:1] == ["extern"] and len(words) == 2):
        return Kind.SCOPE
    outside = _outside(head)
    if "=" in outside and "operator" not in outside:
        return Kind.OTHER
    if _is_function(head):
        return Kind.FUNCTION
    return Kind.TYPE if any(word in outside for word in _TYPES) else Kind.OTHER


def _is_member(head: Sequence[Token], before: Token) -> bool:
    """Whether a brace gives a member its first value, in a list behind a constructor's colon."""
    is_named = before.text == ">" or (before.is_word and before.text not in _QUALIFIERS)
    return is_named and _is_function(head) and ":" in _outside(head)


def _outside(head: Sequence[Token]) -> list[str]:
    """The texts of tokens that are in no parentheses, nor in the list of a template."""
    found, depth = [], 0
    for token in _without_template(head):
        if token.text in ")]":
            depth -= 1
        if depth == 0:
            found.append(token.text)
        if token.text in "([":
            depth += 1
    return found


def _is_function(head: Sequence[Token]) -> bool:
    """Whether parameters follow a name, or an operator is defined."""
    rest = _without_template(head)
    depth = 0
    for before, token, after in zip(rest, rest[1:], (*rest[2:], None), strict=False):
        if token.text in ")]":
            depth -= 1
        elif token.text in "([":
            if depth == 0 and token.text == "(" and _are_parameters(before, after):
                return True
            depth += 1
        elif token.text == "operator" and depth == 0:
            return True
    return any(token.text == "operator" for token in rest[:1])


def _are_parameters(before: Token, after: Token | None) -> bool:
    is_name = before.is_word and before.text not in _NOT_FUNCTIONS
    return is_name and (after is None or after.text not in "*&")


def _without_template(head: Sequence[Token]) -> Sequence[Token]:
    """The tokens behind `template <...>`."""
    place = 0
    while place < len(head) and head[place].text == "template":
        depth, place = 0, place + 1
        while place < len(head):
            depth += (head[place].text == "<") - (head[place].text == ">")
            place += 1
            if depth == 0:
                break
    return head[place:]
