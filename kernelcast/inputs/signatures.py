"""What sources call the parameters of their kernels, and of what type they are.

CUDA C++, HIP and OpenCL C say both; where only compiled code is at hand, mangled names say the
types. Types are those of workload files: `f32`, or none where it is not one of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kernelcast.inputs.cuda.cpp_text import Declaration, Kind, Token, Unbalanced, declarations
from kernelcast.simcore.isa.ir.source_names import parameter_types

__all__ = ["NamedParameter", "declared_elements", "signature_of_symbol", "signatures"]

_KERNEL = frozenset(("__global__", "__kernel", "kernel"))
_QUALIFIERS = frozenset((
    "const", "volatile", "restrict", "__restrict__", "__restrict", "__global", "global",
    "__constant", "constant", "__local", "local", "__private", "__grid_constant__", "read_only",
    "write_only", "read_write", "__read_only", "__write_only", "struct", "typename", "std",
))  # fmt: skip
_SPELLED = {
    "float": "f32", "double": "f64", "half": "f16", "__half": "f16", "_Float16": "f16",
    "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16", "hip_bfloat16": "bf16",
    "bool": "u8", "char": "s8", "signed char": "s8", "unsigned char": "u8", "uchar": "u8",
    "short": "s16", "unsigned short": "u16", "ushort": "u16",
    "int": "s32", "unsigned": "u32", "unsigned int": "u32", "uint": "u32",
    "long": "s64", "unsigned long": "u64", "ulong": "u64", "long long": "s64",
    "unsigned long long": "u64", "size_t": "u64", "ptrdiff_t": "s64",
    **{f"int{bits}_t": f"s{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"u{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip


_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NamedParameter:
    """A parameter as the source has it; `lanes` of a vector type such as `float4`.

    `type` is empty where it is none of a workload's: a struct, or that of a template. `spelled`:
    the source's name of the type, without qualifiers and `*`.
    """

    name: str
    type: str
    lanes: int = 1
    spelled: str = field(default="", compare=False)
    is_pointer: bool = False
    is_const: bool = False


def signatures(text: str) -> dict[str, tuple[NamedParameter, ...]]:
    """The parameters of each kernel of a source by its name, without namespaces.

    Nothing where the source's declarations cannot be told apart, nor of names with two kernels.
    """
    try:
        found = list(_kernels(declarations(text)))
    except Unbalanced:
        return {}
    names = Counter(name for name, _ in found)
    return {name: parameters for name, parameters in found if names[name] == 1}


def declared_elements(source: bytes) -> dict[str, tuple[str, ...]]:
    """What each parameter of a kernel points to; empty for values and for what is not plain.

    For names that hold no types: those of `extern "C"` kernels, and of OpenCL. A parameter with a
    macro of the text in it is not plain. A typedef is a name that means nothing to those who ask.
    """
    text = source.decode("utf-8", "replace")
    macros = set(_MACRO.findall(text))
    return {
        name: tuple(
            item.spelled if item.is_pointer and not macros & set(item.spelled.split()) else ""
            for item in parameters
        )
        for name, parameters in signatures(text).items()
    }


def signature_of_symbol(symbol: str) -> tuple[NamedParameter, ...]:
    """The types that a mangled name tells; parameters have no names then."""
    shown = [text.replace("*", " * ").split() for text in parameter_types(symbol)]
    return tuple(
        _parameter([Token(word, 0, word[0].isalpha()) for word in words], "") for words in shown
    )


def _kernels(
    found: Sequence[Declaration],
) -> Iterator[tuple[str, tuple[NamedParameter, ...]]]:
    for item in found:
        if item.inside:
            yield from _kernels(item.inside)
        if item.kind is Kind.FUNCTION and item.has_body and item.words & _KERNEL:
            opening = _parameters_of(item.head)
            yield item.head[opening - 1].text, tuple(_parsed(item.head[opening + 1 :]))


def _parameters_of(head: Sequence[Token]) -> int:
    """Where the parentheses of a function's parameters open: those that close last."""
    depth, last = 0, 0
    for place, token in enumerate(head):
        if token.text == "(":
            last = place if depth == 0 else last
            depth += 1
        depth -= token.text == ")"
    return last


def _parsed(rest: Sequence[Token]) -> Iterator[NamedParameter]:
    part: list[Token] = []
    depth = 0
    for token in rest:
        if depth == 0 and token.text in ",)":
            if part and [item.text for item in part] != ["void"]:
                yield _named(part)
            if token.text == ")":
                return
            part = []
            continue
        depth += (token.text in "([{<") - (token.text in ")]}>")
        part.append(token)


def _named(part: Sequence[Token]) -> NamedParameter:
    """A declarator: the last word before any value or brackets is the name."""
    texts = [token.text for token in part]
    end = min((texts.index(sign) for sign in "=[" if sign in texts), default=len(texts))
    is_array = "[" in texts
    place = max((n for n in range(end) if part[n].is_word), default=0)
    rest = [*part[:place], *part[place + 1 : end], *([Token("*", 0)] if is_array else [])]
    return _parameter(rest, texts[place])


def _parameter(tokens: Sequence[Token], name: str) -> NamedParameter:
    texts = [token.text for token in tokens]
    words = [text for text in texts if text not in _QUALIFIERS and text not in ("*", "&", "::")]
    if texts.count("*") > 1:  # to pointers, of which a workload has no type
        return NamedParameter(name, "", is_pointer=True)
    spelled = " ".join(words)
    base = spelled.rstrip("0123456789")
    digits = spelled[len(base) :]
    is_vector = (
        spelled not in _SPELLED and base in _SPELLED and digits in ("2", "3", "4", "8", "16")
    )
    integer = " ".join(word for word in words if word != "int") if len(words) > 1 else spelled
    return NamedParameter(
        name,
        _SPELLED.get(base if is_vector else spelled, _SPELLED.get(integer, "")),
        int(digits) if is_vector else 1,
        spelled,
        is_pointer="*" in texts,
        is_const="const" in texts,
    )
