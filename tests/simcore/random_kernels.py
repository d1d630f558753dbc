"""Random kernels in PTX, free of races: every run of one gives the same memory.

`random_kernels.toml` has the statements.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

__all__ = ["BUFFERS", "COMMON", "GRAMMAR", "SHAPES", "KernelMaker", "random_buffers"]

BUFFERS = ("out", "wide", "data", "sums")
"""The arguments that are arrays; `pitch` and `three` follow."""
SHAPES = (
    *(((1, 1, 1), (n, 1, 1)) for n in (8, 32, 33, 64, 100)),
    *(((1, 1, 1), (16, 4, 1)), ((2, 1, 1), (40, 1, 1)), ((2, 2, 1), (7, 5, 1))),
    *(((1, 2, 2), (33, 1, 1)), ((3, 1, 1), (4, 4, 2)), ((1, 3, 1), (8, 1, 3))),
    *(((5, 3, 2), (8, 1, 1)),),
)
REGISTERS = {"h": 3, "r": 6, "d": 4, "f": 3, "g": 3, "p": 4}
WORDS = ("%lin", "%gid", "%tx", "%ty", "%cta", "%three", "%pitch")
NUMBERS = (0, 1, 2, 3, 5, 7, 16, 31, 32, 100, 255, 0x7FFF, 0xFFFF, 0xFFF0)
WIDE_NUMBERS = (*NUMBERS, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0)
NEAR = (0, 5, -1, -7, -20, 0x7FFFFFF0, 0x80000000, -0x7FFFFFF0)
FAR = (0, 0, -(1 << 31), -(1 << 32), 1 << 31, (1 << 31) - 16, 16 - (1 << 31))
GRAMMAR = tomllib.loads((Path(__file__).with_name("random_kernels.toml")).read_text())
COMMON: list[str] = GRAMMAR["common"]
LOADED = {int(size): items for size, items in GRAMMAR["loaded"].items()}


class KernelMaker:
    """Writes the text of one kernel; `made` counts what went into it.

    Registers %r, %d, ... hold any values at any time; %t, %a, %c serve one statement.
    """

    def __init__(self, random: Random, *, knows_lanes: bool = True, exchanges: bool = True) -> None:
        self.random = random
        self.made: Counter[str] = Counter()
        self._lines: list[str] = []
        self._labels = 0
        self._counters: list[str] = []
        self._is_set_up = random.random() < 0.8
        self._returns = random.random() < 0.4
        self._watches = random.random() < 0.3
        self._turns = [random.choice(GRAMMAR["permutations"]) for _ in range(4)]
        self._loaded = dict(LOADED)
        self._simple = {**GRAMMAR["simple"], **(GRAMMAR["needs_set_up"] if self._is_set_up else {})}
        if not knows_lanes:
            del self._simple["lanes"]
        if not (knows_lanes and exchanges):  # between the 32 lanes that PTX calls a warp
            del self._simple["across lanes"]

    def text(self) -> str:
        if self._is_set_up:
            self._add(GRAMMAR["set_up"])
        self._add(GRAMMAR["first_values"])
        self._statements(self.random.randint(1, 7), 3, together=True)
        self._add(GRAMMAR["epilogue"], self._names())
        return "\n".join((GRAMMAR["header"], *self._lines, "DONE: ret;", "}\n"))

    def _add(self, template: str, names: Mapping[str, str] = MappingProxyType({})) -> None:
        while (found := re.search("<([^<>]*)>", template)) is not None:
            filled = self._fill(found[1], names)
            template = template[: found.start()] + filled + template[found.end() :]
        self._lines.append(template)

    def _fill(self, name: str, names: Mapping[str, str]) -> str:
        pick = self.random.choice
        if "|" in name:
            return str(pick(name.split("|")))
        if name in names:
            return names[name]
        if name in REGISTERS:
            return f"%{name}{self.random.randint(1, REGISTERS[name])}"
        if name == "?":
            return str(pick(("", "", "", "@<p> ", "@!<p> ")))
        if name == "w":
            return str(pick(("<r>", "<r>", *WORDS)))
        number = pick(NUMBERS if name == "hi" else WIDE_NUMBERS)
        return str(pick((f"<{name[0]}>", number)))

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _names(self) -> dict[str, str]:
        """What the placeholders of one statement must agree on."""
        pick, randint = self.random.choice, self.random.randint
        size, row, common = pick(tuple(LOADED)), randint(0, 3), randint(0, len(COMMON) - 1)
        far, near = pick(FAR) * size, pick(NEAR) % 2**32
        check = f"setp.le.u64 %c, %a0, {2048 - size}; add.s64 %a0, %a0, %data; "
        skip, operation = self._label(), pick(GRAMMAR["operations"])
        branch = f"@!%c bra {skip}; ld<|.global>.<loaded>, [%a0]; {skip}:"
        load = pick(("@%c ld.global.<loaded>, [%a0];", branch))
        address = f"mad.wide.u32 %a0, %t0, 4, %out; add.s64 %a0, %a0, {1024 * row};"
        return {
            "size": str(size),
            "most": str(1024 // size - 1),
            "few": str(size * randint(0, 7)),
            "loaded": self._loaded[size],
            "near": str(near),
            "far": str(far),
            "checked": check + load,
            "row": f"{self._turns[row]} {address}",
            "mine": "mul.wide.u32 %a0, %gid, 32; add.s64 %a0, %a0, %wide;",
            "operation": operation,
            "found": "<r>" if self._watches else "%seen",
            "operands": "<ri>, <ri>" if operation == "cas.b32" else "<ri>",
            "common": COMMON[common].split()[0],
            "common operand": COMMON[common].split()[1],
            **self._update(COMMON[common]),
            "common at": str(64 * common),
        }

    def _update(self, operation: str) -> dict[str, str]:
        """What was found goes to a register that nobody reads; there is no `red` that exchanges."""
        update = self.random.choice(("atom", "atom" if "exch" in operation else "red"))
        register = "%a3, " if "64" in operation else "%seen, "
        return {"update": update, "old": register if update == "atom" else ""}

    def _statements(self, count: int, depth: int, *, together: bool) -> None:
        """`together`: all threads of the thread block that did not return come here."""
        random = self.random
        for _ in range(count):
            if together and self._is_set_up and random.random() < 0.15:
                self._count("exchange")
                self._add(GRAMMAR["exchange"])
            elif depth and random.random() < 0.4:
                nested = random.choice((self._branch, self._loop, self._tangle))
                nested(depth - 1, together)
            elif self._returns and random.random() < 0.05:
                self._count("return")
                self._add("<@<p> ret;|@!<p> bra DONE;>")
            else:
                self._straight()

    def _straight(self) -> None:
        kind = self.random.choice([kind for kind, forms in self._simple.items() for _ in forms])
        names = self._names()
        if kind == "shared atomic":
            names = {**names, **self._shared_names()}
        self._count(kind)
        self._add(self.random.choice(self._simple[kind]), names)

    def _shared_names(self) -> dict[str, str]:
        number = self.random.randint(0, 7)
        operation, operand = COMMON[number].split()
        return {
            **self._update(operation),
            "common": operation,
            "common operand": operand,
            "bin": f"{16 * number}",
        }

    def _count(self, what: str) -> None:
        self.made[what] += 1

    def _decide(self, *, uniform: bool) -> str:
        """A guard that is the same in all threads of a thread block, or any."""
        if uniform:
            first = self.random.choice(("%cta", "%three", "%pitch", *self._counters))
            self._add(f"setp.<eq|lt|ge|ne>.u32 %c, {first}, <0|1|2|3|5>;")
        elif self.random.random() < 0.3:
            return f"@{self.random.choice(('', '!'))}%p{self.random.randint(1, 4)}"
        else:
            self._add(self.random.choice(GRAMMAR["compare"]), {"to": "%c"})
        return self.random.choice(("@%c", "@!%c"))

    def _branch(self, depth: int, together: bool) -> None:
        uniform, has_else = self.random.random() < 0.4, self.random.random() < 0.5
        self._count("uniform branch" if uniform else "branch")
        otherwise, end = self._label(), self._label()
        self._add(f"{self._decide(uniform=uniform)} bra {otherwise};")
        self._statements(self.random.randint(1, 3), depth, together=together and uniform)
        if has_else:
            self._add(f"bra.uni {end}; {otherwise}:")
            self._statements(self.random.randint(1, 3), depth, together=together and uniform)
            self._add(f"{end}:")
        else:
            self._add(f"{otherwise}:")

    def _loop(self, depth: int, together: bool) -> None:
        """A loop of at most three rounds; some have `break` or `continue` or test at the end."""
        random = self.random
        uniform, leaves, at_end = (random.random() < share for share in (0.5, 0.3, 0.5))
        self._count("uniform loop" if uniform else "loop")
        head, following, end = (self._label() for _ in range(3))
        counter, bound, pointer = f"%n{depth}", f"%m{depth}", f"%q{depth}"
        self._add(f"mov.u32 {bound}, <1|2|3|%three>;" if uniform else f"and.b32 {bound}, <w>, 3;")
        self._add(f"mov.u32 {counter}, 0; and.b32 %t0, <<w>|%three>, 31; mul.wide.u32 %a0, %t0, 8;")
        self._add(f"add.s64 {pointer}, %data, %a0; {head}:")
        if not at_end:
            self._add(f"setp.ge.u32 %c, {counter}, {bound}; @%c bra {end};")
        if uniform:
            self._counters.append(counter)
        self._add(f"<?>ld.global.<u32 <r>|f32 <f>>, [{pointer}+<0|4>];")
        if leaves:
            self._add(f"{self._decide(uniform=False)} bra <{following}|{end}>;")
        together = together and uniform and not leaves
        self._statements(random.randint(1, 3), depth, together=together)
        self._counters = [name for name in self._counters if name != counter]
        self._add(f"{following}: add.u32 {counter}, {counter}, 1;")
        self._add(f"add.s64 {pointer}, {pointer}, <0|8|64>;")
        if at_end:
            self._add(f"setp.lt.u32 %c, {counter}, {bound}; @%c bra {head}; {end}:")
        else:
            self._add(f"bra.uni {head}; {end}:")

    def _tangle(self, _depth: int, _together: bool) -> None:
        """Jumps to and fro between a few labels until the fuel is used up: irreducible flow."""
        self._count("tangle")
        labels = [self._label() for _ in range(self.random.randint(2, 4))]
        end, anywhere = self._label(), "<" + "|".join(labels) + ">"
        self._add("and.b32 %fuel, <<w>|15>, 7; add.u32 %fuel, %fuel, 1;")
        self._add(f"{self._decide(uniform=False)} bra {anywhere};")
        for label in labels:
            self._add(f"{label}:")
            for _ in range(self.random.randint(0, 2)):
                self._straight()
            self._add(f"sub.u32 %fuel, %fuel, 1; setp.eq.u32 %c, %fuel, 0; @%c bra {end};")
            self._add(f"{self._decide(uniform=False)} bra {anywhere};")
            if self.random.random() < 0.5:
                self._add(f"bra {anywhere};")
        self._add(f"bra {labels[0]}; {end}:")


def random_buffers() -> list[npt.NDArray[np.uint8]]:
    """The contents of all buffers before a run."""
    random = np.random.default_rng(5)
    sizes = (4 * 1024, 32 * 256, 2048, 64 * len(COMMON))
    buffers = [random.integers(0, 256, size).astype(np.uint8) for size in sizes]
    buffers[2].view(np.float32)[::5] = random.normal(0, 4, 103)
    return buffers
