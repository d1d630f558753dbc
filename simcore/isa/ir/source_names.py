"""What mangled symbols of C++ say: the name in the source, and what parameters point to."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kernelcast.simcore.isa.ir.element_types import without_qualifiers

__all__ = ["elements_of_symbol", "instance_name", "parameter_types", "source_name"]

_MANGLED = "_Z"
_KEPT_NAMES = 1 << 16


@lru_cache(_KEPT_NAMES)
def source_name(symbol: str) -> str:
    """`_ZN3lib5scaleIfEEvPT_` -> `lib::scale`; a symbol that is not mangled as it is.

    Template arguments and parameter types are left out.
    """
    if not symbol.startswith(_MANGLED):
        return symbol
    import demangle  # most sources have no such names

    try:
        return "::".join(_parts(demangle.parse(symbol, language="itanium"))) or symbol
    except demangle.DemanglingError:
        return symbol


@lru_cache(_KEPT_NAMES)
def instance_name(symbol: str) -> str:
    """`_ZN3lib5scaleIfEEvPT_` -> `lib::scale<float>`: the source name with template arguments."""
    if not symbol.startswith(_MANGLED):
        return symbol
    import demangle

    try:
        node: Any = demangle.parse(symbol, language="itanium")
    except demangle.DemanglingError:
        return symbol
    while node.kind == "decorated":
        node = node.inner
    return str(node.name) if node.kind == "function" else str(node)


def parameter_types(symbol: str) -> tuple[str, ...]:
    """`_Z4add1PKfi` -> `float const*`, `int`; none of a symbol that is not mangled."""
    if not symbol.startswith(_MANGLED):
        return ()
    import demangle

    try:
        node: Any = demangle.parse(symbol, language="itanium")
    except demangle.DemanglingError:
        return ()
    return tuple(str(item) for item in getattr(node, "parameters", ()))


def elements_of_symbol(symbol: str) -> tuple[str, ...]:
    """What each parameter of a mangled C++ name points to, `_Z1kPKfi` -> (`float`, ``).

    Empty for a name that is not mangled.
    """
    return tuple(
        without_qualifiers(text.removesuffix("*")) if text.endswith("*") else ""
        for text in parameter_types(symbol)
    )


def _parts(node: Any) -> list[str]:
    """The namespaces, classes and name of a function or variable."""
    match node.kind:
        case "function":
            return _parts(node.name)
        case "qualified":
            return [part for item in node.parts for part in _parts(item)]
        case "template":
            return _parts(node.base)
        case "decorated":  # a clone that a compiler made, `_Z1kv.isra.0`
            return _parts(node.inner)
        case _:
            return [str(node)]
