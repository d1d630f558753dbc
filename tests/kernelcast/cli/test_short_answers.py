"""The default output of every command for every example: short, and nothing that JSON lacks."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.glossary import explained, glossary
from kernelcast.models.interval.shares import SHARES, Group
from kernelcast.simcore.timing.kernel.component import Component

Output = Callable[..., str]
EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(EXAMPLES.glob("*/*.toml"))
COMMANDS = ("estimate", "profile", "topdown", "rank", "mix", "run")
DEVICE = ("--device", "h100-sxm")
MOST_LINES, COLUMNS = 25, 100
THREE = tuple(item for name in ("gtx-960", "h100-sxm", "v100-sxm2") for item in ("--device", name))


def small(file: Path) -> str:
    """The smallest size of a workload."""
    sizes = list(tomllib.loads(file.read_text(encoding="utf-8"))["sizes"])
    return "small" if "small" in sizes else str(sizes[0])


def numbers(record: Any) -> Iterator[float]:
    """All numbers of a record, those in its texts too."""
    match record:
        case dict():
            for name, item in record.items():
                yield from numbers(name)
                yield from numbers(item)
        case list():
            for item in record:
                yield from numbers(item)
        case bool() | None:
            return
        case str():
            yield from map(float, re.findall(r"\d+(?:\.\d+)?", record))
        case int() | float():
            yield float(record)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))


@pytest.mark.drawn(10)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers_in_one_screen(output: Output, command: str, file: Path) -> None:
    device = () if command in ("mix", "run") else DEVICE
    text = output(command, str(file), "--size", small(file), *device)
    lines = text.splitlines()
    assert 0 < len(lines) <= MOST_LINES
    assert all(len(line) <= COLUMNS and line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    "arguments", [("devices",), *(("devices", name) for name in kc.devices()), ("doctor",)]
)
@pytest.mark.drawn(6)
def test_what_is_known_and_there_takes_one_screen(
    output: Output, arguments: tuple[str, ...]
) -> None:
    lines = output(*arguments).splitlines()
    assert 0 < len(lines) <= MOST_LINES
    assert all(len(line) <= COLUMNS for line in lines)


def test_all_values_of_a_device_are_told_when_asked(output: Output) -> None:
    text = " ".join(output("devices", "gtx-480", "-v").split())
    rows = json.loads(output("devices", "gtx-480", "--json"))["values"]
    assert all(row["name"] in text for row in rows)
    assert f"{len(rows)} values" in output("devices", "gtx-480")


@pytest.mark.drawn(4)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_three_gpus_take_twelve_lines(output: Output, file: Path) -> None:
    text = output("estimate", str(file), "--size", small(file), *THREE)
    assert len(text.splitlines()) <= 12


@pytest.mark.parametrize("columns", [80, 200])
def test_other_widths_are_kept_to(
    output: Output, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    file = EXAMPLES / "sor" / "sor.toml"
    lines = output("estimate", str(file), "--size", small(file), *THREE).splitlines()
    assert all(len(line) <= columns for line in lines)
    assert len(lines) <= (20 if columns == 80 else 12)


ANSWERS = {
    "estimate": THREE,
    "profile": DEVICE,
    "topdown": DEVICE,
    "rank": DEVICE,
    "mix": (),
    "whatif": (*DEVICE, "--set", "sm.count=40"),
}
COUNTED = re.compile(r"Caution|and \d+ |\d+ more|not ranked|.* of a core a |.*without a number")
"""Lines of what is left out, whose numbers are those of rows that JSON has."""
FACTORS = {"x": 1.0, " %": 0.01, "%": 0.01, " s": 1.0, " ms": 1e-3, " µs": 1e-6, " ns": 1e-9}
RANGE = re.compile(r"(\d[\d.]*) - (\d[\d.]*) ([mµn]?s)\b")
SHOWN = re.compile(r"(?<![\w.,%:-])(\d[\d,]*(?:\.\d+)?)(x| ?%| [mµn]?s)?(?![\w.,:-])")


@pytest.mark.parametrize("command", ANSWERS)
def test_every_number_of_an_answer_is_in_its_record(output: Output, command: str) -> None:
    """Times, factors, counts and shares, to the digits that are shown."""
    file = EXAMPLES / "sor" / "sor.toml"
    arguments = (command, str(file), "--size", small(file), *ANSWERS[command])
    known = list(numbers(json.loads(output(*arguments, "--json"))))
    text = RANGE.sub(r"\1 \3 \2 \3", output(*arguments))
    lines = text.splitlines()
    shown = [item for line in lines if not COUNTED.match(line) for item in SHOWN.findall(line)]
    assert len(shown) > 8
    for digits, unit in shown:
        plain = digits.replace(",", "")
        half = 0.5 * 10.0 ** -len(plain.partition(".")[2])
        factors = {FACTORS.get(unit, 1.0), 1.0} if "%" in unit or not unit else {FACTORS[unit]}
        near = ((float(plain) * factor, 1.01 * half * factor) for factor in factors)
        assert any(abs(item - value) <= reach for value, reach in near for item in known), (
            digits,
            unit,
        )


def test_more_is_told_when_asked(output: Output) -> None:
    file = EXAMPLES / "saxpy" / "saxpy.toml"
    arguments = ("estimate", str(file), "--size", small(file), *DEVICE)
    short, more, all_of_it = (output(*arguments, *option) for option in ((), ("-v",), ("-vv",)))
    assert more.startswith(short)
    assert "DRAM bandwidth: " in more
    assert "slots per cycle" not in more
    assert "assumed" not in more
    assert "slots per cycle" in all_of_it
    assert "assumed" in all_of_it


def test_a_picture_of_times_has_those_that_are_told(output: Output, tmp_path: Path) -> None:
    """Each GPU executes its own code, in the picture as in the answer."""
    path = tmp_path / "times.svg"
    arguments = ("estimate", str(EXAMPLES / "sor" / "sor.toml"), "--size", "small", *THREE)
    text = output(*arguments, "--model", "interval", "--plot", str(path))
    times = re.findall(r"^(?:gtx|h100|v100)\S*\s+(\S+ µs)", text, re.MULTILINE)
    drawn = path.read_text(encoding="utf-8")
    assert len(times) == 3
    assert all(time in drawn for time in times)


def test_assumptions_of_several_gpus_are_told_once(output: Output) -> None:
    file = EXAMPLES / "saxpy" / "saxpy.toml"
    text = output("estimate", str(file), "--size", small(file), *THREE, "-vv")
    assert text.count("at least 64 threads a thread block") == 1


def test_a_profile_tells_what_is_used_and_more_when_asked(output: Output) -> None:
    file = EXAMPLES / "saxpy" / "saxpy.toml"
    arguments = ("profile", str(file), "--size", small(file), *DEVICE)
    assert "inst_fp_64" not in output(*arguments)
    assert "double-precision instructions" in " ".join(output(*arguments, "-v").split())


def test_all_words_of_an_answer_are_explained() -> None:
    words = [part.value for part in Component]
    words += [share.name for share in SHARES]
    words += [group.value for group in Group]
    words += ["time", "range", "speed-up", "limited by", "without it", "of FLOP/s", "of DRAM"]
    words += ["change", "trust", "caution", "tail", "imbalance", "launch"]
    assert [word for word in words if word not in glossary()] == []


def test_the_docs_have_the_same_words() -> None:
    page = (EXAMPLES.parent / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert [word for word, text in glossary().items() if f"| {word} | {text} |" not in page] == []


def test_a_word_is_explained_without_a_kernel(output: Output) -> None:
    text = output("estimate", "--explain", "DRAM  Bandwidth")
    assert text.split() == explained("DRAM bandwidth").split()
    words = output("estimate", "--explain", "list")
    assert all(word in words for word in glossary())


def test_an_unknown_word_has_neighbours() -> None:
    with pytest.raises(KernelcastError, match=r"no word 'occupance'.*did you mean occupancy"):
        explained("occupance")
