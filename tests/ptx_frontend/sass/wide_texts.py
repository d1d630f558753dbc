"""Random SASS that computes with 64 bits in halves of any two registers, some of it nearly so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.ptx_frontend.sass.text_programs import WORDS, TextMaker

__all__ = ["WideMaker"]

_Half = tuple[int, int]
"""The registers of a lower and an upper half."""
_TABLES = (0xC0, 0xFC, 0x3C)


class WideMaker(TextMaker):
    """Loops over two 64-bit values; in half of the programs some statements are not theirs."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._wrong = random.choice((0.0, 0.25))
        self._halves_of: list[_Half] = []

    def lines(self, count: int) -> list[str]:
        """A loop of about so many statements, which ends with a look at the values."""
        registers = list(range(WORDS))
        self._random.shuffle(registers)
        self._halves_of = [(registers[2 * i], registers[2 * i + 1]) for i in range(2)]
        self._unused = registers[4:]
        rounds = self._random.choice((0, 0, 1, 2))
        for _ in range(rounds):
            self._add(f"MOV R41, {self._random.randint(1, 6):#x}")
            label = self._label()
            self._add(f"{label}:")
            self._values(max(1, count // rounds))
            self._add("IADD3 R41, R41, -0x1, RZ")
            self._add("ISETP.GT.AND P3, PT, R41, RZ, PT")
            self._add(f"@P3 BRA `({label})")
        if not rounds:
            self._values(self._random.choice((1, 1, count)))
        for low, high in self._halves_of:
            self._add(f"SHF.R.U64 R{low}, R{low}, 0x1, R{high}")
        return self._lines

    def _values(self, count: int) -> None:
        makers: Sequence[Callable[[], list[str]]] = (
            self._right,
            self._left,
            self._product,
            self._logic,
            self._choice,
            self._guarded_choice,
            self._comparison,
            self._test,
            self._copy,
        )
        while count > 0:
            if self._random.random() < self._wrong:
                self._plain()
                count -= 1
                continue
            lines = [self._spoilt(line) for line in self._random.choice(makers)()]
            if self._random.random() < 2 * self._wrong:
                lines.insert(self._random.randrange(len(lines) + 1), "")
            for line in lines:
                if line:
                    self._add(line)
                else:
                    self._plain()
            count -= len(lines)

    def _spoilt(self, line: str) -> str:
        """The statement, now and then over another register."""
        if self._random.random() >= self._wrong:
            return line
        name, *operands = line.split(" ")
        words = operands[:-1] if "WIDE" in name else operands
        places = [i for i, item in enumerate(words) if item.startswith("R")]
        if len(places) > 1:
            place = self._random.choice(places[1:])
            comma = "," if operands[place].endswith(",") else ""
            operands[place] = f"{self._target()}{comma}"
        return " ".join((name, *operands))

    def _pick(self) -> _Half:
        return self._random.choice(self._halves_of)

    def _amount(self) -> str:
        return f"{self._random.choice((1, 1, 7, 31)):#x}"

    def _right(self) -> list[str]:
        low, high = self._pick()
        kind, amount = self._random.choice("US"), self._amount()
        return [
            f"SHF.R.{kind}64 R{low}, R{low}, {amount}, R{high}",
            f"SHF.R.{kind}32.HI R{high}, RZ, {amount}, R{high}",
        ]

    def _left(self) -> list[str]:
        (low, high), amount = self._pick(), self._amount()
        return [
            f"SHF.L.U64.HI R{high}, R{low}, {amount}, R{high}",
            f"SHF.L.U32 R{low}, R{low}, {amount}, RZ",
        ]

    def _product(self) -> list[str]:
        """One half at a time; the pair of the product is one that lies side by side."""
        (a, a_high), (b, b_high) = self._pick(), self._pick()
        low, high = self._pick()
        whole = self._random.choice(
            [r for r in range(0, WORDS, 2) if {r, r + 1} <= set(self._unused)] or [0]
        )
        added = self._random.choice(("RZ", f"R{self._even()}"))
        number = self._random.choice((3, 5, 0x10001))
        if self._random.random() < 0.5:
            return [
                f"IMAD R{self._free()}, R{a_high}, {number:#x}, RZ",
                f"IMAD.WIDE.U32 R{whole}, R{a}, {number:#x}, {added}",
                f"IADD3 R{high}, R{whole + 1}, R{self._held}, RZ",
                f"MOV R{low}, R{whole}",
            ]
        return [
            f"IMAD R{self._free()}, R{a_high}, R{b}, RZ",
            f"IMAD R{self._held}, R{a}, R{b_high}, R{self._held}",
            f"IMAD.WIDE.U32 R{whole}, R{a}, R{b}, {added}",
            f"IADD3 R{high}, R{whole + 1}, R{self._held}, RZ",
            f"MOV R{low}, R{whole}",
        ]

    def _free(self) -> int:
        self._held = self._random.choice(self._unused)
        return self._held

    def _logic(self) -> list[str]:
        (a, a_high), (b, b_high), (c, c_high) = (self._pick() for _ in range(3))
        table = self._random.choice(_TABLES)
        number = self._random.choice((0, 5, 0x80000001))
        words = (f"R{b}", f"R{b_high}")
        if self._random.random() < 0.3:
            words = (f"{number:#x}", f"{number ^ 0xFF:#x}")
        return [
            f"LOP3.LUT R{c}, R{a}, {words[0]}, RZ, {table:#x}, !PT",
            f"LOP3.LUT R{c_high}, R{a_high}, {words[1]}, RZ, {table:#x}, !PT",
        ]

    def _choice(self) -> list[str]:
        (a, a_high), (b, b_high), (c, c_high) = (self._pick() for _ in range(3))
        p = self._predicate()
        first = f"SEL R{c}, R{a}, R{b}, {p}"
        if self._random.random() < 0.5:
            return [first, f"SEL R{c_high}, R{b_high}, R{a_high}, !{p}"]
        return [first, f"SEL R{c_high}, R{a_high}, R{b_high}, {p}"]

    def _guarded_choice(self) -> list[str]:
        (a, a_high), (b, b_high), (c, c_high) = (self._pick() for _ in range(3))
        p, amount = self._predicate(), self._amount()
        return [
            f"SHF.R.U64 R{c}, R{a}, {amount}, R{a_high}",
            f"SEL R{c}, R{b}, R{c}, !{p}",
            f"MOV R{c_high}, R{b_high}",
            f"@{p} SHF.R.U32.HI R{c_high}, RZ, {amount}, R{a_high}",
        ]

    def _comparison(self) -> list[str]:
        (a, a_high), (b, b_high) = self._pick(), self._pick()
        p, q = self._predicate(), self._predicate()
        order = self._random.choice(("LT", "LE", "GT", "GE", "EQ", "NE"))
        kind = self._random.choice(("", ".U32"))
        words = (f"R{b}", f"R{b_high}")
        if self._random.random() < 0.4:
            words = ("0x1", "RZ")
        return [
            f"ISETP.{order}.U32.AND {p}, PT, R{a}, {words[0]}, PT",
            f"ISETP.{order}{kind}.AND.EX {q}, PT, R{a_high}, {words[1]}, PT, {p}",
        ]

    def _test(self) -> list[str]:
        low, _ = self._pick()
        p, free = self._predicate(), self._free()
        number = self._random.choice((1, 0x80000000))
        return [
            f"LOP3.LUT R{free}, R{low}, {number:#x}, RZ, 0xc0, !PT",
            f"ISETP.{self._random.choice(('NE', 'EQ'))}.U32.AND {p}, PT, R{free}, {number:#x}, PT",
        ]

    def _copy(self) -> list[str]:
        (a, a_high), (b, b_high) = self._pick(), self._pick()
        return [f"MOV R{b}, R{a}", f"MOV R{b_high}, R{a_high}"]
