"""Damaged LLVM IR and SPIR-V: reading one gives a module or a KernelcastError, and takes no time.

`python -m tests.ptx_frontend.fuzz_ir COUNT [SEED]` reads COUNT of them on all cores and shows what
escaped.
"""

from __future__ import annotations

import os
import random
import re
import struct
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from multiprocessing import get_context

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.spirv import read_spirv
from tests.ptx_frontend.ir_seeds import TEXTS, bitcode_seeds, spirv_seeds

__all__ = ["Escape", "Fuzzer", "Mutant", "Outcome", "Report", "outcome_of", "run", "run_parallel"]

SLOW_SECONDS = 5.0
"""The limit of this process; LLVM, in its own, has that of `simcore.host.ir_process`."""
_BATCH = 250
_WORD, _HEADER_WORDS = 4, 5
_NUMBERS = ("0", "1", "-1", "7", "65536", str(2**31), str(2**40), str(2**63), "9" * 30, "0x7FF")
_WORDS = (0, 1, 2, 7, 1 << 16, 1 << 31, 0xFFFFFFFF)
_TOKEN = re.compile(r"\s+|[%@!]?[\w.]+|.", re.DOTALL)


class Form(Enum):
    TEXT = "LLVM IR"
    BITCODE = "bitcode"
    SPIRV = "SPIR-V"


@dataclass(frozen=True, slots=True)
class Mutant:
    form: Form
    content: bytes


@dataclass(frozen=True, slots=True)
class Escape:
    """A module that was read too slowly, or not to kernels or a KernelcastError."""

    mutant: Mutant
    reason: str


class Outcome(Enum):
    KERNELS = "kernels"
    REJECTED = "kernels that cannot run"
    REFUSED = "refused"


@dataclass(slots=True)
class Report:
    """How many modules ended how; one escape for each distinct reason."""

    outcomes: Counter[tuple[Form, Outcome]] = field(default_factory=Counter)
    escapes: dict[str, Escape] = field(default_factory=dict)

    def add(self, other: Report) -> None:
        self.outcomes += other.outcomes
        for reason, escape in other.escapes.items():
            self.escapes.setdefault(reason, escape)


class Fuzzer:
    """Makes modules; the same `seed` makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._bitcode, self._spirv = bitcode_seeds(), spirv_seeds()
        self._pieces = [_TOKEN.findall(text) for text in TEXTS]
        self._words: dict[str, list[str]] = {}
        for word in sorted({x for pieces in self._pieces for x in pieces if x.strip()}):
            self._words.setdefault(_kind(word), []).append(word)

    def mutant(self) -> Mutant:
        """A third is text, a fifth bitcode, the rest SPIR-V."""
        form = self._random.choices(tuple(Form), (7, 4, 9))[0]
        if form is Form.TEXT:
            return Mutant(form, self._text())
        seeds = self._bitcode if form is Form.BITCODE else self._spirv
        content = bytearray(self._random.choice(seeds))
        changes = _OF_BYTES if form is Form.BITCODE else _OF_WORDS
        for _ in range(self._random.choice((1, 1, 1, 2, 4))):
            self._random.choice(changes)(self._random, content, self._random.choice(seeds))
        return Mutant(form, bytes(content))

    def _text(self) -> bytes:
        random_ = self._random
        pieces = list(random_.choice(self._pieces))
        for _ in range(random_.choice((1, 1, 1, 2, 4))):
            random_.choice((*[self._replace] * 5, self._swap, self._cut))(pieces)
        content = bytearray("".join(pieces).encode())
        if random_.random() < 0.1:
            _flip(random_, content, b"")
        return bytes(content)

    def _replace(self, pieces: list[str]) -> None:
        """A word by another one of its kind or of any, by a number or by nothing."""
        at = self._random.choice([at for at, piece in enumerate(pieces) if piece.strip()])
        same = self._words[_kind(pieces[at])]
        other = self._words[self._random.choice(sorted(self._words))]
        pool = self._random.choice((same, same, same, same, other, _NUMBERS, ("",)))
        pieces[at] = self._random.choice(pool)

    def _swap(self, pieces: list[str]) -> None:
        words = [at for at, piece in enumerate(pieces) if piece.strip()]
        first, second = self._random.choice(words), self._random.choice(words)
        pieces[first], pieces[second] = pieces[second], pieces[first]

    def _cut(self, pieces: list[str]) -> None:
        """Some pieces left out, or those of another module in their place."""
        start = self._random.randrange(len(pieces))
        end = start + self._random.choice((1, 3, 10, len(pieces)))
        other = self._random.choice(self._pieces)
        put = other[start : start + 12] if self._random.random() < 0.5 else []
        pieces[start:end] = [*put, " "]


def _kind(word: str) -> str:
    """What a word of LLVM IR may be exchanged with and still be read."""
    if re.fullmatch(r"i\d+|float|half|double|ptr|void", word):
        return "type"
    return "number" if word[0].isdigit() else "word" if word[0].isalpha() else word[0]


_Change = Callable[[random.Random, bytearray, bytes], None]


def _flip(random_: random.Random, content: bytearray, _other: bytes) -> None:
    if content:
        content[random_.randrange(len(content))] ^= 1 << random_.randrange(8)


def _truncate(random_: random.Random, content: bytearray, _other: bytes) -> None:
    del content[random_.randrange(len(content) + 1) :]


def _splice(random_: random.Random, content: bytearray, other: bytes) -> None:
    """A stretch of another module in the place of one of this."""
    start, source = random_.randrange(len(content) + 1), random_.randrange(len(other))
    size = random_.choice((1, 4, 16, 100))
    content[start : start + size] = other[source : source + size]


def _starts(content: bytes | bytearray) -> list[int]:
    """Where the instructions of a module of SPIR-V begin, in bytes."""
    found, at = [], _HEADER_WORDS * _WORD
    while at + _WORD <= len(content):
        found.append(at)
        at += max(1, struct.unpack_from("<I", content, at)[0] >> 16) * _WORD
    return found


def _instruction(random_: random.Random, content: bytes | bytearray) -> tuple[int, int]:
    """Begin and end of one; of nothing in a module that has none."""
    starts = _starts(content)
    if not starts:
        return len(content), len(content)
    at = random_.choice(starts)
    return at, at + max(1, struct.unpack_from("<I", content, at)[0] >> 16) * _WORD


def _word(random_: random.Random, content: bytearray, _other: bytes) -> None:
    """A word by another one of the module, or by a remarkable number."""
    count = len(content) // _WORD
    if count > _HEADER_WORDS:
        known = struct.unpack_from("<I", content, random_.randrange(count) * _WORD)[0]
        number = random_.choice((random_.choice(_WORDS), random_.randrange(120), known, known))
        struct.pack_into("<I", content, random_.randrange(count) * _WORD, number)


def _opcode(random_: random.Random, content: bytearray, _other: bytes) -> None:
    """Another opcode for the same operands."""
    at, end = _instruction(random_, content)
    if end <= len(content) and at < end:
        word = struct.unpack_from("<I", content, at)[0]
        struct.pack_into("<I", content, at, word & ~0xFFFF | random_.randrange(1, 400))


def _move(random_: random.Random, content: bytearray, other: bytes) -> None:
    """An instruction of this module or another one, put somewhere else."""
    source = random_.choice((bytes(content), other))
    start, end = _instruction(random_, source)
    target, _ = _instruction(random_, content)
    content[target:target] = source[start:end]


def _drop(random_: random.Random, content: bytearray, _other: bytes) -> None:
    start, end = _instruction(random_, content)
    del content[start:end]


_OF_BYTES: tuple[_Change, ...] = (_flip, _flip, _flip, _truncate, _splice)
_OF_WORDS: tuple[_Change, ...] = (
    *(_word, _word, _opcode, _move, _drop, _flip, _truncate, _splice),
)


def _read(mutant: Mutant) -> Outcome:
    content, is_text = mutant.content, mutant.form is not Form.BITCODE
    if mutant.form is Form.SPIRV:
        content = read_spirv(content, "fuzz").encode()
    module = read_llvm(content, "fuzz", is_text)
    for errors in module.rejected.values():
        for error in errors:
            str(error)
    return Outcome.REJECTED if module.rejected else Outcome.KERNELS


def outcome_of(mutant: Mutant) -> Outcome | Escape:
    """Messages are shown too, for they may fail."""
    start = time.process_time()
    try:
        found = _read(mutant)
    except KernelcastError as error:
        str(error)
        found = Outcome.REFUSED
    except Exception:
        return Escape(mutant, traceback.format_exc(limit=-4))
    seconds = time.process_time() - start
    return Escape(mutant, f"took {seconds:.1f} s") if seconds > SLOW_SECONDS else found


def run(count: int, seed: int) -> Report:
    fuzzer, report = Fuzzer(seed), Report()
    for _ in range(count):
        mutant = fuzzer.mutant()
        found = outcome_of(mutant)
        if isinstance(found, Escape):
            report.escapes.setdefault(found.reason, found)
        else:
            report.outcomes[mutant.form, found] += 1
    return report


def run_parallel(count: int, seed: int, processes: int | None = None) -> Report:
    """Runs batches on so many processes, by default one a core."""
    batches = [(min(_BATCH, count - done), seed + done) for done in range(0, count, _BATCH)]
    report = Report()
    with ProcessPoolExecutor(processes or os.cpu_count(), get_context("spawn")) as pool:
        for part in pool.map(run, *zip(*batches, strict=True)):
            report.add(part)
    return report


def _main(arguments: list[str]) -> int:
    count = int(arguments[0])
    report = run_parallel(count, int(arguments[1]) if len(arguments) > 1 else 1)
    for reason, escape in report.escapes.items():
        sys.stdout.write(f"{reason}\n{escape.mutant.form.value}: {escape.mutant.content!r}\n\n")
    for (form, outcome), number in sorted(report.outcomes.items(), key=str):
        sys.stdout.write(f"{form.value}, {outcome.value}: {number}\n")
    sys.stdout.write(f"{count} modules, {len(report.escapes)} ways to escape\n")
    return 1 if report.escapes else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
