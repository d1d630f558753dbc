"""Results as digests and drawn elements, and machine code that is compared with them."""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import MetricsError
from kernelcast.inputs.native.tools import toolset
from kernelcast.measuring import cases, measurement
from kernelcast.validation.buffer_results import (
    MOST_ELEMENTS,
    BufferResult,
    ResultComparison,
    buffer_results,
    compared_result,
)
from kernelcast.validation.machine_results import compare_row
from kernelcast.validation.measured_times import (
    Api,
    DeviceFacts,
    MeasuredDevice,
    MeasuredRow,
    read_measured,
)
from tests.validation.executing_accelerator import ExecutingAccelerator

compare_results: Any = importlib.import_module("compare_results")
needs_assembler = pytest.mark.skipif(toolset(80) is None, reason="no assembler; CI has it")
BEFORE = np.arange(100, dtype=np.float32)
AFTER = np.where(BEFORE % 2 == 1, BEFORE + 0.5, BEFORE).astype(np.float32)


def result() -> BufferResult:
    (found,) = buffer_results({"x": BEFORE}, {"x": AFTER})
    return found


def compared(before: Any, after: Any, rtol: float = 0.0, atol: float = 0.0) -> ResultComparison:
    return compared_result(result(), before, after, rtol, atol)


def test_digests_are_of_the_bytes() -> None:
    found = result()
    assert found.before == hashlib.sha256(BEFORE.tobytes()).hexdigest()
    assert found.after == hashlib.sha256(AFTER.tobytes()).hexdigest()
    assert (found.type, found.count, found.is_changed) == ("float32", 100, True)


def test_elements_are_drawn_among_those_that_changed() -> None:
    elements = result().elements
    places = [item.index for item in elements]
    assert len(set(places)) == MOST_ELEMENTS
    assert all(place % 2 == 1 for place in places)
    for item in elements:
        assert item.bits == f"{int(AFTER[item.index : item.index + 1].view(np.uint32)[0]):08x}"


def test_a_buffer_that_nobody_changed_has_none() -> None:
    (found,) = buffer_results({"x": BEFORE}, {"x": BEFORE.copy()})
    assert not found.is_changed
    assert not found.elements


def test_equal_buffers_are_equal() -> None:
    found = compared(BEFORE, AFTER.copy())
    assert (found.is_equal, found.differing, found.worst) == (True, 0, 0.0)
    assert found.verdict == "equal"


def test_one_bit_beside_the_drawn_elements_is_found() -> None:
    other = AFTER.copy()
    other.view(np.uint32)[0] ^= 1  # an even element, which is never drawn
    found = compared(BEFORE, other)
    assert not found.is_equal
    assert (found.differing, found.far) == (0, 0)


def test_drawn_elements_tell_how_far_results_are_apart() -> None:
    place = result().elements[3].index
    other = AFTER.copy()
    other[place] *= np.float32(1.25)
    found = compared(BEFORE, other, rtol=0.1)
    assert (found.differing, found.far, found.worst) == (1, 1, 0.25)
    assert found.verdict == "different: 1 of 16 drawn elements, worst 0.25"
    assert compared(BEFORE, other, rtol=0.3).far == 0


def test_not_a_number_is_far_from_any() -> None:
    other = AFTER.copy()
    other[result().elements[0].index] = np.nan
    found = compared(BEFORE, other, rtol=1e9, atol=1e9)
    assert (found.far, found.worst) == (1, float("inf"))


def test_buffers_that_were_filled_differently_are_not_compared() -> None:
    found = compared(BEFORE + 1, AFTER)
    assert not found.is_filled_alike
    assert found.verdict.startswith("filled differently")


def test_another_shape_is_told() -> None:
    with pytest.raises(MetricsError, match="100 elements float32 where it was measured, 99"):
        compared(BEFORE[:99], AFTER[:99])


# --- measured and executed again ------------------------------------------------------------------

FACTS = DeviceFacts("x", "8.0", 1, None, None, None, None, None, None, "2026-01-01")


def measured_row(name: str = "examples/saxpy/saxpy") -> MeasuredRow:
    """The PTX of a workload, executed by the reference engine as if by a GPU."""
    ((_, file),) = cases.find_workloads([name]).items()
    (case,) = cases.cases_of(name, file, ["small"])
    settings = measurement.Settings(warm_up_launches=0, warm_up_s=0.0, repeats=1)
    session = measurement.Session(ExecutingAccelerator(), settings)
    source = case.workload.kernel.source.read_bytes()
    return session.measure(cases.prepare(case), source)


def written(folder: Path, row: MeasuredRow) -> Path:
    path = folder / "gpu.json"
    path.write_text(MeasuredDevice(Api.CUDA, FACTS, 1e-6, (row,)).to_json())
    return path


def wrong(row: MeasuredRow) -> MeasuredRow:
    """The row as a GPU would have left it that computed another y."""
    *others, y = row.results
    bits = tuple(replace(item, bits="7f000000") for item in y.elements)
    return replace(row, results=(*others, replace(y, after="0" * 64, elements=bits)))


@pytest.fixture(scope="module")
def saxpy() -> MeasuredRow:
    return measured_row()


def test_results_are_written_and_read_back(saxpy: MeasuredRow, tmp_path: Path) -> None:
    x, y = saxpy.results
    assert (x.name, x.is_changed, len(x.elements)) == ("x", False, 0)
    assert (y.name, y.is_changed, len(y.elements)) == ("y", True, MOST_ELEMENTS)
    assert read_measured(written(tmp_path, saxpy)).rows == (saxpy,)


@needs_assembler
@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_machine_code_leaves_what_the_ptx_left(
    saxpy: MeasuredRow, tmp_path: Path, engine: str, capsys: Any
) -> None:
    path = written(tmp_path, saxpy)
    assert compare_results.main([str(path), "--engine", engine]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "examples/saxpy/saxpy small: x: equal",
        "examples/saxpy/saxpy small: y: equal",
        "1 of 1 equal, 1 within their tolerance",
    ]


@needs_assembler
def test_other_results_are_found(saxpy: MeasuredRow, tmp_path: Path, capsys: Any) -> None:
    assert compare_results.main([str(written(tmp_path, wrong(saxpy)))]) == 1
    assert "y: different: 16 of 16 drawn elements" in capsys.readouterr().out


@needs_assembler
def test_what_cannot_be_executed_is_told(saxpy: MeasuredRow, tmp_path: Path, capsys: Any) -> None:
    other = replace(saxpy, results=(replace(saxpy.results[0], name="z"),))
    assert compare_results.main([str(written(tmp_path, other))]) == 1
    assert "not executed: the workload has no buffer z" in capsys.readouterr().out


def test_a_file_without_results_has_nothing_to_compare(
    saxpy: MeasuredRow, tmp_path: Path, capsys: Any
) -> None:
    path = written(tmp_path, replace(saxpy, results=()))
    assert compare_results.main([str(path)]) == 2
    assert "has no results of what was asked for" in capsys.readouterr().err


@needs_assembler
def test_the_machine_code_is_that_of_the_measured_architecture(
    saxpy: MeasuredRow, monkeypatch: Any
) -> None:
    from kernelcast.inputs.native.sources import AssembledPtx
    from kernelcast.workload.file import load_workload

    asked: list[int] = []
    kernel = AssembledPtx.kernel

    def spied(self: AssembledPtx, name: str, architecture: int) -> Any:
        asked.append(architecture)
        return kernel(self, name, architecture)

    monkeypatch.setattr(AssembledPtx, "kernel", spied)
    workload = load_workload(cases.find_workloads([saxpy.workload])[saxpy.workload])
    assert compare_row(saxpy, workload, 90).is_equal
    assert asked == [90]
