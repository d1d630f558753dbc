"""Declarations of registers, variables and parameters, and the directives to step over."""

from __future__ import annotations

import re

from kernelcast.errors import nearest
from kernelcast.ptx_frontend.ptx.text.lexer import Tokens, is_name, is_whole_directive
from kernelcast.ptx_frontend.ptx.text.literals import address_offset, constant_expression, number
from kernelcast.ptx_frontend.ptx.text.syntax import (
    Initial,
    Integer,
    LabelledList,
    Prototype,
    RegisterDeclaration,
    SamplerField,
    SymbolReference,
    VariableDeclaration,
)
from kernelcast.simcore.host.limits import MOST_ALIGNMENT

__all__ = [
    "LINKAGES",
    "PROTOTYPES",
    "SPACES",
    "labelled_directive",
    "parameters",
    "register_declaration",
    "skip_section",
    "variable_declarations",
]

SPACES = ("global", "shared", "const", "local", "param")
LINKAGES = ("visible", "extern", "weak", "common")
PROTOTYPES = (".callprototype", ".branchtargets", ".calltargets")
_ABI = (".noreturn", ".abi_preserve", ".abi_preserve_control")
_MOST_ELEMENTS = 1 << 64
_LARGEST_INITIALISED = 1 << 28  # bytes, which are all in memory
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_TYPES = frozenset(
    (
        *(f".{kind}{bits}" for kind in "bus" for bits in (8, 16, 32, 64)),
        *(".pred", ".b128", ".f16", ".f16x2", ".f32", ".f64", ".bf16", ".bf16x2"),
        *(".texref", ".samplerref", ".surfref"),
    )
)


def _type(tokens: Tokens) -> str:
    text = tokens.next
    if text not in _TYPES:
        if text[:1] == ".":
            raise tokens.source.error(
                f"unknown type {text!r}{nearest(text, _TYPES)}", tokens.offset, len(text)
            )
        raise tokens.unexpected("expected a type")
    tokens.index += 1
    return text[1:]


def _variable_name(tokens: Tokens) -> str:
    name = tokens.name("a name")
    if "." in name:
        at = tokens.offsets[tokens.index - 1]
        raise tokens.source.error(f"{name!r} is no name", at, len(name))
    return name


def register_declaration(tokens: Tokens) -> RegisterDeclaration:
    """Reads `.reg .type name, name<count>;`."""
    at = tokens.offset
    tokens.index += 1
    vector = tokens.take()[1:] if tokens.next in _VECTORS else ""
    type_name = _type(tokens)
    names: list[tuple[str, int | None]] = []
    while True:
        name = _variable_name(tokens)
        count = None
        if tokens.accept("<"):
            count = tokens.integer("a register count")
            tokens.expect(">", "after the register count")
        names.append((name, count))
        if not tokens.accept(","):
            break
    if not tokens.accept(";"):
        raise tokens.missing(";", "after the register declaration")
    return RegisterDeclaration(at, type_name, tuple(names), vector)


def variable_declarations(tokens: Tokens) -> list[VariableDeclaration]:
    """Reads `{.linkage} .space {.align n} .type name{[n]} {= ...} {, name ...};`."""
    linkage = ""
    while tokens.next[1:] in LINKAGES:
        linkage = tokens.take()[1:]
    declared = [_variable(tokens, linkage)]
    while tokens.accept(","):
        first = declared[0]
        declared.append(_named(tokens, first.space, first.type, first.align, linkage, None, 1))
    if not tokens.accept(";"):
        raise tokens.missing(";", f"after the declaration of {declared[-1].name!r}")
    return declared


def parameters(tokens: Tokens) -> tuple[VariableDeclaration, ...]:
    """`( .param ..., .param ... )`, also empty; `.reg` parameters of old functions too."""
    tokens.expect("(", "to open the parameters")
    declared: list[VariableDeclaration] = []
    while tokens.next != ")":
        declared.append(_variable(tokens, ""))
        if not tokens.accept(","):
            break
    tokens.expect(")", "to close the parameters")
    return tuple(declared)


def _variable(tokens: Tokens, linkage: str) -> VariableDeclaration:
    space = tokens.next[1:].split("::")[0]
    if space not in (*SPACES, "reg"):
        raise tokens.unexpected("expected a state space such as '.param'")
    tokens.index += 1
    align: int | None = None
    vector = 1
    pointee: str | None = None
    type_name = ""
    while tokens.next[:1] == ".":
        text = tokens.next
        if text in (".align", ".attribute"):
            align = _attribute(tokens, align)
        elif text in _VECTORS:
            tokens.index += 1
            vector = _VECTORS[text]
        elif text == ".ptr":
            pointee = _pointee(tokens)
        else:
            type_name = _type(tokens)
    if not type_name:
        raise tokens.unexpected("expected a type")
    return _named(tokens, space, type_name, align, linkage, pointee, vector)


def _attribute(tokens: Tokens, align: int | None) -> int | None:
    """Steps over `.align n` or `.attribute(...)`; the alignment that holds afterwards."""
    if tokens.take() == ".align":
        return _alignment(tokens)
    tokens.skip_past(")", "after '.attribute'")
    return align


def _alignment(tokens: Tokens) -> int:
    at = tokens.offset
    align = tokens.integer("an alignment")
    if align & (align - 1) or not 1 <= align <= MOST_ALIGNMENT:
        raise tokens.source.error(
            f"an alignment must be a power of two up to {MOST_ALIGNMENT}, got {align}", at
        )
    return align


def _pointee(tokens: Tokens) -> str:
    """`.ptr {.space} {.align n}`: the space that the pointer points to, empty when any."""
    tokens.index += 1
    space = tokens.take()[1:] if tokens.next[1:] in SPACES else ""
    if tokens.accept(".align"):
        tokens.integer("an alignment")
    return space


def _named(
    tokens: Tokens,
    space: str,
    type_name: str,
    align: int | None,
    linkage: str,
    pointee: str | None,
    vector: int,
) -> VariableDeclaration:
    at = tokens.offset
    name = _variable_name(tokens)
    count: int | None = vector if vector > 1 else None
    while tokens.accept("["):
        size = 0
        if tokens.next != "]":
            size_at = tokens.offset
            value = constant_expression(tokens)
            if not isinstance(value, Integer) or value.value < 0:
                raise tokens.source.error("an array size must be a whole number", size_at)
            size = value.value
        tokens.expect("]", f"after the size of {name!r}")
        count = size if count is None else count * size
        if count > _MOST_ELEMENTS:
            raise tokens.source.error(f"{name!r} does not fit 64 bits of addresses", at, len(name))
    initial = tuple(_initialiser(tokens)) if tokens.accept("=") else ()
    if initial and count == 0:  # of `name[]`, which is as long as what it is set to
        count = len(initial)
    if initial and (count or 1) * _type_bytes(type_name) > _LARGEST_INITIALISED:
        raise tokens.source.error(f"{name!r} is too large for an initialised array", at, len(name))
    return VariableDeclaration(at, space, type_name, name, count, align, initial, linkage, pointee)


def _type_bytes(type_name: str) -> int:
    """The size of a type by the digits of its name, in bytes: at most the true one."""
    digits = re.search(r"\d+", type_name)
    return int(digits[0]) // 8 if digits else 1


def _initialiser(tokens: Tokens) -> list[Initial]:
    """A value, or a list of values and lists; nested lists come out flat."""
    if not tokens.accept("{"):
        return [_initial(tokens)]
    values: list[Initial] = []
    while tokens.next != "}":
        text = tokens.next
        is_single = text[:1].isdigit() and tokens.texts[tokens.index + 1] in (",", "}")
        value = number(text) if is_single else None
        if value is None:
            values.extend(_initialiser(tokens))
        else:
            tokens.index += 1
            values.append(value)
        if not tokens.accept(","):
            break
    tokens.expect("}", "to close the initialiser")
    return values


def _initial(tokens: Tokens) -> Initial:
    """Reads an initial value.

    A number, `name`, `generic(name)` or `mask(name)`, the last three also `+ constant`; of a
    sampler `field = value`.
    """
    at = tokens.offset
    mask: int | None = None
    is_mask = tokens.next[:2] in ("0x", "0X") and tokens.texts[tokens.index + 1] == "("
    if is_mask:
        value = number(tokens.next)
        if not isinstance(value, Integer):
            raise tokens.unexpected("expected a mask for the address")
        mask = value.value
        tokens.index += 2
    elif not is_name(tokens.next) or tokens.next == "WARP_SZ":
        return constant_expression(tokens)
    name = tokens.name("a variable")
    if not is_mask and tokens.accept("="):
        return SamplerField(at, name, tokens.take())
    generic = name == "generic" and tokens.accept("(")
    if generic:
        name = tokens.name("a variable")
        tokens.expect(")", "after 'generic'")
    addend = _addend(tokens)
    if is_mask:
        tokens.expect(")", "after the masked address")
    return SymbolReference(at, name, addend, generic, mask)


def _addend(tokens: Tokens) -> int:
    return address_offset(tokens) if tokens.next in ("+", "-") else 0


def skip_section(tokens: Tokens) -> None:
    """Steps over `.section name { ... }`: debugging information."""
    is_whole = is_whole_directive(tokens.next)
    tokens.index += 1
    if not is_whole:
        tokens.take()
        tokens.expect("{", "to open the section")
        tokens.skip_past("}", "to close the section")


def labelled_directive(tokens: Tokens, name: str, at: int) -> Prototype | LabelledList:
    """One of PROTOTYPES, whose label was `name`."""
    directive = tokens.take()
    if directive == ".callprototype":
        return _prototype(tokens, name, at)
    targets: list[str] = []
    while True:
        targets.append(tokens.name(f"a name after {directive!r}"))
        if not tokens.accept(","):
            break
    if not tokens.accept(";"):
        raise tokens.missing(";", f"after {directive!r}")
    return LabelledList(at, name, tuple(targets), directive == ".calltargets")


def _prototype(tokens: Tokens, name: str, at: int) -> Prototype:
    """Reads `{(results)} _ {(parameters)} {.noreturn} {.abi_preserve n};`."""
    results = parameters(tokens) if tokens.next == "(" else ()
    tokens.name("'_' or a name in '.callprototype'")
    declared = parameters(tokens) if tokens.next == "(" else ()
    while tokens.next in _ABI:
        if tokens.take() != ".noreturn":
            tokens.integer("a number of registers")
    if not tokens.accept(";"):
        raise tokens.missing(";", "after '.callprototype'")
    return Prototype(at, name, results, declared)
