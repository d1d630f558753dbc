"""Pipes of machine code against what a GPU counted by pipe and by opcode in the same launches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kernelcast.simcore.profile.machine_counts import PIPES, pipes_of
from kernelcast.validation.measured_times import read_measured

MEASURED = Path(__file__).parents[3] / "validation" / "measured" / "h100-sxm.json"
BY_OPCODE = "sass__inst_executed_per_opcode_with_modifier_all."
BY_REGISTER = ("lsu", "adu")
"""Which of them reads a special register depends on the register, which no count tells."""


@pytest.fixture(scope="module")
def launches() -> list[dict[str, float]]:
    return [dict(row.metrics) for row in read_measured(MEASURED).rows if row.metrics]


def by_pipe(launch: dict[str, float]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, count in launch.items():
        if name.startswith(BY_OPCODE):
            opcode, *modifiers = name.removeprefix(BY_OPCODE).split(".")
            for pipe in pipes_of(opcode, modifiers, 90):
                found[pipe] += int(count)
    return found


def test_opcodes_make_up_the_pipes_of_an_h100(launches: list[dict[str, float]]) -> None:
    assert len(launches) > 100
    for launch in launches:
        found = by_pipe(launch)
        for pipe in set(PIPES) - {*BY_REGISTER, "fp16"}:
            assert found[pipe] == launch[f"smsp__inst_executed_pipe_{pipe}.sum"]
        both = sum(launch[f"smsp__inst_executed_pipe_{pipe}.sum"] for pipe in BY_REGISTER)
        assert sum(found[pipe] for pipe in BY_REGISTER) == both


def test_halves_have_a_pipe_of_their_own_up_to_the_a100() -> None:
    assert [pipes_of("HADD2", (), number) for number in (75, 80)] == [("fp16",)] * 2
    assert [pipes_of("HADD2", (), number) for number in (86, 90)] == [("fma",)] * 2
    assert pipes_of("HFMA2", ("MMA",), 90) == ("tensor",)
