"""Scripts that print tables of errors: of a GPU, and of what parts of the model change."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.errors import KernelcastError
from kernelcast.execution.code import Code
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.validation.measured import MEASURED
from kernelcast.validation.measured_times import read_measured

ablation: Any = importlib.import_module("ablation")
errors_of_gpu: Any = importlib.import_module("errors_of_gpu")
H200 = load_device("h200")


def report(*times: tuple[str, float, float]) -> dict[str, Any]:
    """Kernels with what is predicted and measured; error bars reach to twice the prediction."""
    rows = [
        {
            "kernel": kernel,
            "predicted_s": predicted,
            "measured_s": measured,
            "time_low_s": predicted,
            "time_high_s": 2 * predicted,
            "error": predicted / measured - 1,
        }
        for kernel, predicted, measured in times
    ]
    metric = "dram__sectors_read.sum"
    counters = [
        {"metric": metric, "measured": 2000.0, "error": 0.0},
        {"metric": metric, "measured": 2000.0, "error": -0.1},
        {"metric": metric, "measured": 10.0, "error": 9.0},
    ]
    return {"rows": rows, "counters": counters}


def test_errors_are_told_by_kind_beside_those_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = report(
        ("gemm/a full", 9e-6, 1e-5), ("gemm/b full", 8e-6, 1e-5), ("fft/c full", 3e-5, 1e-5)
    )
    before = report(
        ("gemm/a full", 5e-6, 1e-5), ("gemm/b full", 5e-6, 1e-5), ("fft/c full", 1e-5, 1e-5)
    )
    files = [tmp_path / "now.json", tmp_path / "before.json"]
    for file, content in zip(files, (now, before), strict=True):
        file.write_text(json.dumps(content))
    errors_of_gpu.main([str(files[0]), "--before", str(files[1])])
    lines = capsys.readouterr().out.splitlines()
    assert "| DRAM sectors read | 2 | 1 | 5.0% | 50% | 10% |" in lines
    assert "| all | 3 | +56.7% | 76.7% | 20.0% | 2 | 2 | 33.3% |" in lines
    assert "| gemm | 2 | -15.0% | 15.0% | 15.0% | 2 | 2 | 50.0% |" in lines
    assert "| fft/c | 30 us | 10 us | +200.0% | +0.0% |" in lines


def test_a_device_with_all_parts_is_the_device() -> None:
    assert ablation.reduced(H200, ablation.PARTS) == H200
    bare = ablation.reduced(H200, ())
    assert bare.timing.dispatch_cycles == bare.timing.dram_queue_cycles == 0.0
    assert bare.constant.pass_cycles == 1.0
    assert ablation.reduced(H200, ("dispatch",)).timing.dispatch_cycles > 0.0
    with pytest.raises(KernelcastError, match="no timing facts"):
        ablation.reduced(replace(H200, timing=None), ())


def test_steps_end_with_the_whole_device() -> None:
    """Reads of the constant cache take twice as long with the last part only."""
    reads = micro_kernel([Step(Pipeline.CONSTANT, (9,), (i,)) for i in range(8)], 2000, 32, 132)
    case = ablation.Case("h200", "k", "small", 1e-5)
    found = ablation.errors(case, lambda case, code: reads)
    assert len(found) == 3 + len(ablation.PARTS)
    times = [1.0 + error for error in found.values()]
    assert times[-1] == pytest.approx(2 * times[-2], rel=0.02)
    first, *_, last = list(ablation.table([found, dict.fromkeys(found, 0.0)]))[2:]
    assert first.startswith("| as the PTX is written | 2 |")
    assert last.startswith("| and passes of the constant cache | 2 |")


def test_a_code_that_cannot_run_says_why() -> None:
    def kernel(case: Any, code: Code) -> TimedKernel:
        raise KernelcastError("not for this code")

    found = ablation.errors(ablation.Case("h200", "k", "small", 1.0), kernel)
    assert str(found) == "h200: k small: not for this code"


def test_cases_are_those_that_were_measured() -> None:
    of_file = list(ablation.cases("v100-sxm2-published", 3))
    rows = read_measured(MEASURED / "v100-sxm2-published.json").rows
    assert [(case.device, case.measured_s) for case in of_file] == [
        ("v100-sxm2", row.kernel_s) for row in rows
    ]
    of_set = list(ablation.cases("lattice-boltzmann", 1))
    assert len(of_set) == 36  # three kernels on twelve GPUs
    assert {tuple(case.sizes) for case in of_set} == {("width", "height", "depth")}
