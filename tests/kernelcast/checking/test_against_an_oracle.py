"""Random kernels with barriers against ten lines that compare each pair of accesses."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.checking.clocks import Clocks, View
from kernelcast.simcore.checking.rules import Order

_THREADS, _BLOCKS, _WORDS = 64, 2, 64
_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a)
{
 .reg .b32 %r<9>; .reg .b64 %rd<4>;
 .shared .align 4 .b8 tile[256];
 ld.param.u64 %rd0, [a];
 mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, tile;
 shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r0;
 bar.sync 0;
"""
_FIRST_LINE = _HEAD.count("\n") + 1


@dataclass(frozen=True)
class Step:
    """An access by each thread to word (thread * step + block * apart + first) mod 64."""

    space: str
    is_write: bool
    step: int
    apart: int
    first: int
    stage: int

    def word(self, block: int, thread: int) -> tuple[int, int]:
        """The thread block whose memory it is, -1 for all, and the word."""
        place = (thread * self.step + block * self.apart + self.first) % _WORDS
        return (-1 if self.space == "global" else block, place)

    @property
    def text(self) -> str:
        code = f"mad.lo.u32 %r4, %r0, {self.step}, {self.first}; "
        code += f"mad.lo.u32 %r4, %r1, {self.apart}, %r4; and.b32 %r4, %r4, 63; "
        if self.space == "shared":
            code += "shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; "
            where = "%r4"
        else:
            code += "mul.wide.u32 %rd1, %r4, 4; add.s64 %rd1, %rd1, %rd0; "
            where = "%rd1"
        mine = "mad.lo.u32 %r6, %r1, 64, %r0; "
        if self.is_write:
            return f"{code}{mine}st.{self.space}.u32 [{where}], %r6;"
        return f"{code}ld.{self.space}.u32 %r5, [{where}];"


def program(seed: int) -> list[Step]:
    draw = random.Random(seed)
    stage, steps = 0, []
    for _ in range(draw.randint(2, 6)):
        stage += draw.random() < 0.5
        steps.append(
            Step(
                draw.choice(("shared", "global")),
                draw.random() < 0.5,
                draw.choice((0, 1, 1, 1, 2, 3, 63)),
                draw.choice((0, 0, 32)),
                draw.choice((0, 0, 1, 5, 32)),
                stage,
            )
        )
    return steps


def source_of(steps: list[Step]) -> str:
    """A step a line; a barrier before each new stage is on the line of its first step."""
    lines, stage = [], 0
    for step in steps:
        lines.append(" bar.sync 0; " * (step.stage - stage) + step.text)
        stage = step.stage
    return _HEAD + "\n".join(lines) + "\n ret;\n}\n"


def racing_pairs(steps: list[Step]) -> set[frozenset[int]]:
    """Numbers of steps that race, each with itself or another."""
    threads = [(block, thread) for block in range(_BLOCKS) for thread in range(_THREADS)]
    found = set()
    for (i, one), (j, other) in combinations_with_replacement(enumerate(steps), 2):
        if not (one.is_write or other.is_write) or one.space != other.space:
            continue
        by_word: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for who in threads:
            by_word.setdefault(one.word(*who), []).append(who)
        for who in threads:
            for before in by_word.get(other.word(*who), ()):
                is_ordered = before == who or (before[0] == who[0] and one.stage != other.stage)
                if not is_ordered:
                    found.add(frozenset((i, j)))
    return found


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.drawn(12)
def test_races_are_those_of_the_oracle(seed: int) -> None:
    steps = program(seed)
    kernel = kc.load_ptx(source_of(steps)).only_kernel()
    report = kc.check(
        kernel, args=[np.zeros(_WORDS, np.uint32)], grid=_BLOCKS, block=_THREADS, schedules=2
    )
    found = set()
    for finding in report.findings:
        assert "race" in finding.kind.value
        sides = (finding.first, finding.second)
        lines = [side.span.line for side in sides if side is not None and side.span is not None]
        found.add(frozenset(line - _FIRST_LINE for line in lines))
    expected = racing_pairs(steps)
    assert found <= expected
    assert bool(found) == bool(expected)


GPU, BLOCK = Order(True, is_narrow=False), Order(True, is_narrow=True)


def after(write: Order, read: Order, *, fences: bool = False, same_block: bool = False) -> bool:
    """Whether a thread that reads a flag knows what the one that wrote it had done before."""
    clocks, place = Clocks(), (0, 64)
    first = View(1, 0, now=5, floor=0)
    second = View(40, 0 if same_block else 1, now=1, floor=0)
    if fences:
        clocks.fence(first, GPU)
    clocks.write(first, place, write, goes_on=False)
    clocks.read(second, place, read)
    if fences:
        clocks.fence(second, GPU)
    return clocks.knows(40, second.thread_block, 1, 0, 5)


RELEASE, ACQUIRE = Order(True, releases=True), Order(True, acquires=True)
NARROW_RELEASE = Order(True, releases=True, is_narrow=True)
NARROW_ACQUIRE = Order(True, acquires=True, is_narrow=True)


def test_clocks_follow_the_memory_model() -> None:
    assert after(RELEASE, ACQUIRE)
    assert after(GPU, GPU, fences=True)
    assert not after(GPU, GPU)
    assert not after(RELEASE, GPU)
    assert not after(GPU, ACQUIRE)
    assert not after(NARROW_RELEASE, ACQUIRE)
    assert not after(RELEASE, NARROW_ACQUIRE)
    assert after(NARROW_RELEASE, NARROW_ACQUIRE, same_block=True)
    assert not after(BLOCK, GPU, fences=True)


def test_a_read_and_write_at_once_hands_on_what_was_released() -> None:
    clocks, place = Clocks(), (0, 64)
    clocks.write(View(1, 0, 5, 0), place, RELEASE, goes_on=False)
    clocks.write(View(70, 1, 3, 0), place, GPU, goes_on=True)
    clocks.read(View(200, 2, 1, 0), place, ACQUIRE)
    assert clocks.knows(200, 2, 1, 0, 5)
    clocks.write(View(70, 1, 3, 0), place, GPU, goes_on=False)
    clocks.read(View(300, 3, 1, 0), place, ACQUIRE)
    assert not clocks.knows(300, 3, 1, 0, 5)
