"""Random SASS over a few registers as text, and what it computes by Python's integers.

No tool is needed: the text is lowered as if the disassembler had printed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend.sass.container.cubin import Cubin, CubinFunction
from kernelcast.ptx_frontend.sass.container.kernel_info import CodeParameter, KernelInfo
from kernelcast.ptx_frontend.sass.lowering.module import lower_cubin
from kernelcast.ptx_frontend.sass.text.statements import read_listing
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["LANES", "TextMaker", "interpreted", "kernel_from"]

LANES, WORDS = 32, 12
"""Threads, and registers that each takes from memory and gives back."""
_M = 0xFFFFFFFF
_PROLOGUE = (
    "S2R R40, SR_TID.X",
    f"IMAD.WIDE R42, R40, {4 * WORDS:#x}, c[0x0][0x160]",
    *(f"LDG.E.128 R{4 * i}, [R42.64+{16 * i:#x}]" for i in range(WORDS // 4)),
    *(f"ISETP.LT.AND P{i}, PT, R{i}, RZ, PT" for i in range(3)),
    "MOV R41, 0x6",
)
_EPILOGUE = (*(f"STG.E.128 [R42.64+{16 * i:#x}], R{4 * i}" for i in range(WORDS // 4)), "EXIT")


def kernel_from(lines: Sequence[str]) -> Kernel:
    """The kernel `k(words, number)` of SASS for sm_80; a line that ends with a colon is a label."""
    text, address = ['\t.section .text.k,"ax",@progbits'], 0
    for line in (*_PROLOGUE, *lines, *_EPILOGUE):
        if line.endswith(":"):
            text.append(line)
            continue
        text.append(f"        /*{address:04x}*/                   {line} ;")
        address += 16
    parameters = [CodeParameter(0, 0, 8), CodeParameter(1, 8, 8)]
    info = KernelInfo(base=0x160, parameter_bytes=16, parameters=parameters)
    function = CubinFunction("k", True, bytes(address), info, 64, 0, 0, 0, {})
    cubin = Cubin("text.cubin", 80, {"k": function}, {}, {}, {}, {})
    module = lower_cubin(cubin, read_listing("\n".join(text), {"k": function.code}, "text.cubin"))
    for reasons in module.rejected.values():
        raise reasons[0]
    return module.kernels["k"]


class TextMaker:
    """Writes programs; registers R0 to R11, predicates P0 to P2, and loops of at most 6 rounds."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._lines: list[str] = []
        self._labels = 0

    def lines(self, count: int) -> list[str]:
        """A program of about so many statements."""
        while count > 0:
            kind = self._random.random()
            if kind < 0.12:
                count -= self._branch(min(count, 6))
            elif kind < 0.2:
                count -= self._loop(min(count, 6))
            elif kind < 0.6:
                count -= self._sum()
            else:
                count -= self._plain()
        return self._lines

    def _add(self, text: str) -> None:
        self._lines.append(text)

    def _register(self) -> str:
        return self._random.choice((*(f"R{i}" for i in range(WORDS)), "RZ"))

    def _target(self) -> str:
        return f"R{self._random.randrange(WORDS)}"

    def _even(self) -> int:
        return 2 * self._random.randrange(WORDS // 2)

    def _predicate(self) -> str:
        return f"P{self._random.randrange(3)}"

    def _guard(self) -> str:
        sign = self._random.choice(("", "!"))
        return self._random.choice(("", "", "", f"@{sign}{self._predicate()} "))

    def _label(self) -> str:
        self._labels += 1
        return f".L_{self._labels}"

    def _branch(self, count: int) -> int:
        label = self._label()
        sign = self._random.choice(("", "!"))
        self._add(f"@{sign}{self._predicate()} BRA `({label})")
        self.lines(self._random.randint(1, count))
        self._add(f"{label}:")
        return count

    def _loop(self, count: int) -> int:
        label = self._label()
        self._add(f"{label}:")
        self.lines(self._random.randint(1, count))
        self._add("IADD3 R41, R41, -0x1, RZ")
        self._add("ISETP.GT.AND P3, PT, R41, RZ, PT")
        self._add(f"@P3 BRA `({label})")
        return count + 2

    def _plain(self) -> int:
        random, guard = self._random, self._guard()
        a, b, p = self._register(), self._register(), self._predicate()
        number = random.choice((0, 1, 3, 0x7FFFFFFF, -1, -8))
        pair = f"R{self._even()}"
        whole = random.choice((f"R{self._even()}", "RZ"))
        comparison = random.choice(("LT", "GE", "EQ", "NE"))
        self._add(
            guard
            + random.choice(
                (
                    f"MOV {self._target()}, {a}",
                    f"MOV {self._target()}, {number:#x}",
                    f"IADD3 {self._target()}, {a}, -{b}, R3",
                    f"SEL {self._target()}, {a}, {b}, {p}",
                    f"ISETP.{comparison}.U32.AND {p}, PT, {a}, {b}, PT",
                    f"ISETP.{comparison}.AND {p}, PT, {a}, {b}, PT",
                    f"IMAD.WIDE {pair}, {a}, {b}, {whole}",
                    f"IMAD.WIDE.U32 {pair}, {a}, 0x8, {whole}",
                    f"IMAD.X {self._target()}, RZ, RZ, {b}, {p}",
                )
            )
        )
        return 1

    def _sum(self) -> int:
        """A sum of two halves; some are no neighbours, and anything may stand in between."""
        random, p = self._random, self._predicate()
        guard = self._guard()
        d, x, y = self._even(), self._even(), self._even()
        if random.random() < 0.1:
            d = min(d + 1, WORDS - 2)
        high = d + 1 if random.random() < 0.9 else random.randrange(WORDS)
        low_half, high_half = random.choice((self._halves, self._shifted_halves))(d, high, x, y, p)
        self._add(guard + low_half)
        extra = random.choice((0, 0, 1, 1, 2))
        for _ in range(extra):
            self._plain()
        self._add((guard if random.random() < 0.9 else self._guard()) + high_half)
        return 2 + extra

    def _halves(self, d: int, high: int, x: int, y: int, p: str) -> tuple[str, str]:
        random = self._random
        a, b, c = f"R{x}", f"R{y}", f"R{random.randrange(WORDS)}"
        number = random.choice((1, 8, 0x7FFFFFF0, -4))
        low, upper = random.choice(
            (
                (f"{a}, {b}", f"R{x + 1}, R{y + 1}"),
                (f"{a}, {b}", f"R{y + 1}, R{x + 1}"),
                (f"{a}, -{b}", f"R{x + 1}, ~R{y + 1}"),
                (f"-{a}, {b}", f"~R{x + 1}, R{y + 1}"),
                (f"{a}, {b}", f"R{x + 1}, ~R{y + 1}"),
                (f"{a}, -{b}", f"R{x + 1}, R{y + 1}"),
                (f"{a}, {number:#x}", f"R{x + 1}, {'RZ' if number > 0 else '-0x1'}"),
                (f"-{a}, {number:#x}", f"RZ, ~R{x + 1}"),
                (f"{a}, {b}", f"R{x + 1}, RZ"),
                (f"{a}, {c}", f"{c}, RZ"),
                (f"{a}, -{c}", f"R{x + 1}, ~RZ"),
                (f"{a}, -RZ", f"R{x + 1}, R{y + 1}"),
                (f"{a}, c[0x0][0x168]", f"R{x + 1}, c[0x0][0x16c]"),
                (f"{a}, {b}", f"~{c}, R{y + 1}"),
            )
        )
        first = f"IADD3 R{d}, {p}, {low}, RZ"
        terms = upper.split(", ")
        if random.random() < 0.3 and terms[1] == "RZ" and not terms[0].startswith("~"):
            return first, f"IMAD.X R{high}, RZ, RZ, {terms[0]}, {p}"
        if random.random() < 0.3 and "~" not in upper and terms[0].startswith("R"):
            return first, f"IMAD.X R{high}, {terms[0]}, 0x1, {terms[1]}, {p}"
        return first, f"IADD3.X R{high}, {upper}, RZ, {p}, !PT"

    def _shifted_halves(self, d: int, high: int, x: int, y: int, p: str) -> tuple[str, str]:
        random = self._random
        shift = random.choice((0, 2, 3, 31))
        b = random.choice((f"R{y}", "c[0x0][0x168]"))
        upper = f"R{y + 1}" if b.startswith("R") else "c[0x0][0x16c]"
        low = f"LEA R{d}, {p}, R{x}, {b}, {shift:#x}"
        other = shift if random.random() < 0.9 else 1
        return low, random.choice(
            (
                f"LEA.HI.X R{high}, R{x}, {upper}, R{x + 1}, {other:#x}, {p}",
                f"LEA.HI.X R{high}, R{x}, {upper}, RZ, {other:#x}, {p}",
                f"LEA.HI.X.SX32 R{high}, R{x}, {upper}, {other:#x}, {p}",
                f"IADD3.X R{high}, R{x + 1}, {upper}, RZ, {p}, !PT",
            )
        )


class _Lane:
    """One thread: its registers by name, predicates among them."""

    def __init__(self, words: Sequence[int], number: int) -> None:
        self.values = {f"R{i}": word for i, word in enumerate(words)}
        self.values |= {f"P{i}": int(words[i] >> 31) for i in range(3)}
        self.values |= {"R41": 6, "P3": 0, "PT": 1}
        self._bank = {"c[0x0][0x168]": number & _M, "c[0x0][0x16c]": number >> 32}

    def word(self, text: str) -> int:
        """An operand; `-` and `~` are both the complement, the caller adds what `-` adds."""
        if text[0] in "-~" and text[1] in "Rc":
            return ~self.word(text[1:]) & _M
        if text == "RZ":
            return 0
        if text[0] == "!":
            return 1 - self.values[text[1:]]
        if text in self._bank:
            return self._bank[text]
        return self.values[text] if text in self.values else int(text, 0) & _M

    def pair(self, text: str) -> int:
        if text == "RZ":
            return 0
        return self.values[text] | self.values[f"R{int(text[1:]) + 1}"] << 32

    def execute(self, name: str, o: Sequence[str]) -> None:
        """One statement, as NVIDIA's manual of binary utilities names it."""
        values, word = self.values, self.word
        if name.startswith(("SHF", "LOP3")) or name == "IMAD":
            values[o[0]] = self._bits(name, o)
        elif name == "MOV":
            values[o[0]] = word(o[1])
        elif name == "SEL":
            values[o[0]] = word(o[1] if word(o[3]) else o[2])
        elif name == "IADD3":
            carry = o[1] if o[1][0] == "P" else None
            total = sum(word(t) + (t[0] == "-" and t[1] == "R") for t in o[-3:])
            values[o[0]] = total & _M
            if carry:
                values[carry] = total >> 32
        elif name == "IADD3.X":
            values[o[0]] = (sum(map(word, o[1:4])) + word(o[4])) & _M
        elif name == "IMAD.X":
            values[o[0]] = (word(o[1]) * word(o[2]) + word(o[3]) + word(o[4])) & _M
        elif name == "LEA":
            total = (word(o[2]) << int(o[4], 0) & _M) + word(o[3])
            values[o[0]], values[o[1]] = total & _M, total >> 32
        elif name.startswith("LEA.HI.X"):
            a, b, shift, p = word(o[1]), word(o[2]), int(o[-2], 0), word(o[-1])
            c = (-(a >> 31) & _M) if name.endswith("SX32") else word(o[3])
            values[o[0]] = (((c << 32 | a) << shift >> 32) + b + p) & _M
        elif name.startswith("IMAD.WIDE"):
            a, b = (word(t) if name.endswith("U32") else _signed(word(t)) for t in o[1:3])
            total = a * b + self.pair(o[3])
            values[o[0]], values[f"R{int(o[0][1:]) + 1}"] = total & _M, total >> 32 & _M
        else:
            values[o[0]] = int(self._holds(name, o))

    def _bits(self, name: str, o: Sequence[str]) -> int:
        """Shifts of {o[3], o[1]} by o[2], truth tables of two words, sums of products."""
        word = self.word
        if name == "IMAD":
            return (word(o[1]) * word(o[2]) + word(o[3])) & _M
        if name == "LOP3.LUT":
            a, b = word(o[1]), word(o[2])
            return {0xC0: a & b, 0xFC: a | b, 0x3C: a ^ b}[int(o[4], 0)]
        wide, amount = word(o[3]) << 32 | word(o[1]), int(o[2], 0)
        if ".S" in name and wide >> 63:
            wide -= 1 << 64
        shifted = wide >> amount if ".R" in name else wide << amount
        return (shifted >> 32 if name.endswith("HI") else shifted) & _M

    def _holds(self, name: str, o: Sequence[str]) -> bool:
        """A comparison of words; with `.EX` of 64 bits, of which o[5] is that of the lower half."""
        order, word = name.split(".")[1], self.word
        a, b = (word(t) if ".U32" in name else _signed(word(t)) for t in o[2:4])
        if name.endswith("EX") and a == b:
            return bool(word(o[5]))
        results = {"LT": a < b, "LE": a <= b, "EQ": a == b, "NE": a != b, "GT": a > b}
        return not a < b if order == "GE" else results[order]


def _signed(value: int) -> int:
    return value - ((value & 0x80000000) << 1)


def interpreted(
    lines: Sequence[str], words: npt.NDArray[np.uint32], number: int
) -> npt.NDArray[np.uint32]:
    """The words of all lanes after the program; `number`: the second argument."""
    labels = {line[:-1]: place for place, line in enumerate(lines) if line.endswith(":")}
    found = words.copy()
    for lane, row in enumerate(words):
        state, place = _Lane([int(word) for word in row], number), 0
        while place < len(lines):
            line = lines[place]
            place += 1
            if line.endswith(":"):
                continue
            if line[0] == "@":
                guard, line = line[1:].split(" ", 1)
                if not state.word(guard):
                    continue
            name, operands = line.split(" ", 1)
            if name == "BRA":
                place = labels[operands[2:-1]]
            else:
                state.execute(name, operands.split(", "))
        found[lane] = [int(state.values[f"R{i}"]) for i in range(words.shape[1])]
    return found
