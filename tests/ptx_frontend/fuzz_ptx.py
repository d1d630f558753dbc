"""Random texts near PTX: reading one gives a module or a KernelcastError, and takes no time.

`python -m tests.ptx_frontend.fuzz_ptx COUNT [SEED]` reads COUNT of them on all cores and shows what
escaped.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx.text.lexer import Tokens
from kernelcast.ptx_frontend.ptx.text.parser import parse_tokens
from kernelcast.ptx_frontend.ptx.text.source import SourceText

__all__ = ["Escape", "Fuzzer", "escape_of", "run", "trees_differ"]

DATA = Path(__file__).parent / "data"
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
SLOW_SECONDS = 5.0
_BATCH = 500
_NUMBERS = (
    *("0", "1", "-1", "7", "08", "0x", "0xFF", "0b101", "017", "2147483648", "4294967296"),
    *("9223372036854775808", "18446744073709551616", "1" + "0" * 30, "9" * 1200, "1e999", "1.5"),
    *("0f7FC00000", "0f3F80", "0dFFF0000000000000", "WARP_SZ", "1<<63", "(1<<63)<<63", "5/0"),
    *("-9223372036854775809", "0xFFFFFFFFFFFFFFFFFF", "1<<2<<2", "~0", "5%3", "1.", "3U"),
)
_PLAIN_NUMBERS = ("0", "1", "-1", "4", "8", "16", "31", "0xFF", "0f3F800000", "1.5")
_PUNCTUATION = (*tuple("{}[]();,:@!|<>=+-*/%~\"'.$_\n #\\\0é٣"), "//", "/*", "*/", "@@DWARF")
_TYPES = ("pred", "b8", "u16", "s32", "b32", "u64", "f16", "f16x2", "f32", "f64", "bf16", "b128")
_SPACES = (*("global", "shared", "local", "const") * 4, "param", "reg", "shared::cta", "extern")
_NAMES = ("%r1", "%r2", "%rd1", "%rd2", "%p1", "%p2", "%f1", "%rs1", "%fd1", "g", "s", "k", "L")
_OTHERS = ("%tid.x", "%clock64", "%laneid", "_", "f", "x", "%r99", "%", "$", "L2", "proto", "%r01")
_ROOTS = (
    *("add", "sub", "mul.lo", "mad.wide", "div.rn", "rem", "fma.rn", "setp.lt", "selp", "mov"),
    *("cvt.rn.f32", "cvta.to.global", "ld.global", "ld.param", "st.shared.v4", "atom.global.add"),
    *("red.add", "bar.sync", "barrier.sync", "bra", "bra.uni", "call.uni", "ret", "exit", "trap"),
    *("shfl.sync.bfly", "vote.sync.ballot", "membar.gl", "fence.acq_rel.gpu", "prmt", "lop3"),
    *("bfe", "bfi", "popc", "brx.idx", "activemask", "set.eq", "slct", "dp4a.u32", "xyz", "and"),
)


class Fuzzer:
    """Makes texts; the same `seed` makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seeds = list(_kernels())
        self._statements = sorted({line for text in self._seeds for line in _instructions(text)})

    def text(self) -> str:
        """A mutated kernel of a compiler, or one made by the grammar, which may be mutated too."""
        random_ = self._random
        if random_.random() < 0.5:
            text = self._shortened(random_.choice(self._seeds))
        else:
            text = self._module()
            if random_.random() < 0.5:
                return text
        for _ in range(random_.choice((1, 1, 1, 2, 4))):
            text = random_.choice(_MUTATIONS)(random_, text)
        return text

    def _shortened(self, text: str) -> str:
        """Most of the instructions left out, so that one text takes little time."""
        lines = text.split("\n")
        if len(lines) < 35:
            return text
        start = self._random.randrange(20, len(lines) - 10)
        kept = [line for line in lines[start : start + 10] if "bra" not in line]
        return "\n".join(lines[:20] + kept + ["ret;", "}"])

    def _module(self) -> str:
        parts = [HEADER + '.file 1 "x.cu"\n']
        parts += (self._variable() for _ in range(self._random.randrange(3)))
        if self._random.random() < 0.3:
            parts.append(f".func (.param .{self._one(_TYPES)} r) f(.param .b64 a) {self._body(2)}")
        parts.append(f".entry k(.param .{self._one(_TYPES)} x, .param .u64 y) {self._body(6)}")
        return "\n".join(parts)

    def _one(self, choices: tuple[str, ...]) -> str:
        return self._random.choice(choices)

    def _variable(self) -> str:
        size = self._random.choice(("", "", "[4]", "[]", f"[{self._size()}]"))
        initial = self._random.choice(("", "", f" = {self._number()}", f" = {{{self._items()}}}"))
        align = self._random.choice(("", ".align 8 ", f".align {self._size()} "))
        name = self._one(("g", "s", "x", "f"))
        return f".{self._one(_SPACES)} {align}.{self._one(_TYPES)} {name}{size}{initial};"

    def _number(self) -> str:
        return self._one(_NUMBERS if self._random.random() < 0.2 else _PLAIN_NUMBERS)

    def _size(self) -> str:
        return self._one(_NUMBERS if self._random.random() < 0.05 else ("1", "2", "4", "8", "16"))

    def _items(self) -> str:
        makers = (self._number, lambda: "g", lambda: "generic(g)+4", lambda: "0xFF00(s)")
        return ", ".join(self._random.choice(makers)() for _ in range(self._random.randrange(5)))

    def _body(self, statements: int) -> str:
        inner = " ".join(self._statement(2) for _ in range(self._random.randrange(1, statements)))
        registers = "".join(
            f".reg .{kind} %{name}; "
            for kind, name in zip(
                ("pred", "b16", "b32", "b64", "f32", "f64"),
                ("p<9>", "rs<9>", "r<300>", "rd<99>", "f<99>", "fd<99>"),
                strict=True,
            )
        )
        return f"{{\n{registers}\n{inner}\nret; }}"

    def _statement(self, depth: int) -> str:
        chance = self._random.random()
        if chance < 0.05 and depth:
            return f"{{ {self._statement(depth - 1)} {self._statement(depth - 1)} }}"
        if chance < 0.1:
            return f"{self._one(('L', 'L2', 'proto'))}:"
        if chance < 0.15:
            return self._variable()
        if chance < 0.2:
            kind = self._one(("branchtargets L", "calltargets L, f", "callprototype _ ()"))
            return f"proto: .{kind};"
        if chance < 0.25:
            return f"\n.loc 1 1 {self._size()}\n"
        if chance < 0.6:
            return self._near(self._random.choice(self._statements))
        operands = ", ".join(self._operand(2) for _ in range(self._random.randrange(5)))
        guard = self._one(("", "", "", "@%p1 ", "@!%p2 "))
        suffix = self._one(("", f".{self._one(_TYPES)}"))
        return f"{guard}{self._one(_ROOTS)}{suffix} {operands};\n"

    def _near(self, statement: str) -> str:
        """An instruction of a compiler, or one with another operand or type."""
        if self._random.random() < 0.4:
            words = re.findall(r"[\w%$]+", statement)
            old = self._random.choice(words)
            new = self._one(_TYPES) if old in _TYPES else self._operand(1)
            return statement.replace(old, new, 1)
        return statement

    def _operand(self, depth: int) -> str:
        name = self._one(_NAMES)
        other = self._one(_OTHERS)
        inner = self._operand(depth - 1) if depth else name
        forms = (
            *(name, name, name, other, self._number(), f"[{name}]", f"[{name}+{self._size()}]"),
            *(f"{{{name}, {inner}}}", f"{{{inner}}}", f"({inner})", f"!{name}", f"{name}|{other}"),
            *(f"{name}+{self._size()}", f"[{self._size()}]", f"[{name}, {inner}]"),
        )
        return self._one(forms)


def _kernels() -> Iterator[str]:
    """Every entry of the shipped PTX as a text of its own."""
    for path in sorted(DATA.glob("*.ptx")):
        head, *entries = re.split(r"(?m)^(?=\s*\.visible)", path.read_text())
        yield from (head + entry for entry in entries if ".entry" in entry)


def _instructions(text: str) -> Iterator[str]:
    return (match[1] for match in re.finditer(r"(?m)^\s*((?:@\S+\s+)?[a-z][\w.:]+\s[^;{]*;)", text))


_Mutation = Callable[[random.Random, str], str]


def _flip(random_: random.Random, text: str) -> str:
    if not text:
        return text
    at = random_.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ (1 << random_.randrange(7))) + text[at + 1 :]


def _insert(random_: random.Random, text: str) -> str:
    at = random_.randrange(len(text) + 1)
    return text[:at] + random_.choice(_PUNCTUATION) + text[at:]


def _truncate(random_: random.Random, text: str) -> str:
    return text[: random_.randrange(len(text) + 1)]


def _tokens(text: str) -> list[str]:
    """The text in pieces that are joined again to the same text."""
    return re.findall(r"[\w$%.]+|\s+|.", text)


def _swap(random_: random.Random, text: str) -> str:
    pieces = _tokens(text)
    if pieces:
        first, second = random_.randrange(len(pieces)), random_.randrange(len(pieces))
        pieces[first], pieces[second] = pieces[second], pieces[first]
    return "".join(pieces)


def _delete(random_: random.Random, text: str) -> str:
    pieces = _tokens(text)
    start = random_.randrange(len(pieces) + 1)
    del pieces[start : start + random_.choice((1, 1, 1, 3, 10))]
    return "".join(pieces)


def _duplicate(random_: random.Random, text: str) -> str:
    pieces = _tokens(text)
    start = random_.randrange(len(pieces) + 1)
    end = start + random_.choice((1, 2, 10, 40))
    return "".join(pieces[:end] + pieces[start:end] + pieces[end:])


def _replace(random_: random.Random, text: str) -> str:
    pieces = _tokens(text)
    words = [index for index, piece in enumerate(pieces) if piece.strip()]
    if words:
        pool = random_.choice((_NUMBERS, _NAMES, _OTHERS, _ROOTS, _PUNCTUATION))
        pieces[random_.choice(words)] = random_.choice(pool)
    return "".join(pieces)


_MUTATIONS: tuple[_Mutation, ...] = (
    *(_flip, _insert, _truncate, _swap, _delete, _duplicate, _replace, _replace),
)


@dataclass(frozen=True, slots=True)
class Escape:
    """A text that was read too slowly, or not to a module or a KernelcastError."""

    text: str
    reason: str


def escape_of(text: str) -> Escape | None:
    """None when the text is read as it should be; messages are shown too, for they may fail."""
    start = time.process_time()
    try:
        module = read_ptx(text, "fuzz.ptx")
        for errors in module.rejected.values():
            for error in errors:
                str(error)
    except KernelcastError as error:
        str(error)
    except Exception:
        return Escape(text, traceback.format_exc(limit=-4))
    seconds = time.process_time() - start
    return Escape(text, f"took {seconds:.1f} s") if seconds > SLOW_SECONDS else None


def run(count: int, seed: int) -> list[Escape]:
    """The escapes among `count` texts, one for each distinct reason."""
    fuzzer = Fuzzer(seed)
    found: dict[str, Escape] = {}
    for _ in range(count):
        escape = escape_of(fuzzer.text())
        if escape is not None:
            found.setdefault(escape.reason, escape)
    return list(found.values())


def trees_differ(text: str) -> bool:
    """Whether whole statements as tokens lead to another syntax tree than single ones."""
    source = SourceText("fuzz.ptx", text)
    try:
        fast = parse_tokens(Tokens(source, whole_statements=True))
    except KernelcastError:
        return False
    try:
        # not ==, for a NaN differs from itself
        return repr(fast) != repr(parse_tokens(Tokens(source)))
    except KernelcastError:
        return True


def _main(arguments: list[str]) -> int:
    count = int(arguments[0])
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    batches = [(min(_BATCH, count - done), seed + done) for done in range(0, count, _BATCH)]
    found: dict[str, Escape] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for escapes in pool.map(run, *zip(*batches, strict=True)):
            for escape in escapes:
                if found.setdefault(escape.reason, escape) is escape:
                    sys.stdout.write(f"{escape.reason}\n{escape.text}\n{'=' * 80}\n")
    sys.stdout.write(f"{count} texts, {len(found)} ways to escape\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
