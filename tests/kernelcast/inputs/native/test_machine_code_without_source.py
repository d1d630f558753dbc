"""Machine code that has no source form: it is never asked for, and nothing advises it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError, ModelNotApplicable, TraceFormatError
from tests.kernelcast.inputs.native.test_machine_code_files import cubin

_WORKLOAD = """
[kernel]
source = "k.cubin"
entry = "k"

[launch]
grid = [1]
block = [32]

[[args]]
name = "p"
type = "s32[32]"
init = "uniform"
seed = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A workload whose kernel is machine code of sm_80."""
    (tmp_path / "k.cubin").write_bytes(cubin("k", 7))
    path = tmp_path / "k.toml"
    path.write_text(_WORKLOAD)
    return path


def _trace(file: Path, **options: Any) -> kc.KernelTrace:
    x = np.arange(32, dtype=np.int32)
    kernel = kc.load(file.with_name("k.cubin"))["k"]
    return kernel.run(grid=1, block=32, args=[x], devices=["a100-40gb"], **options)


@pytest.mark.parametrize("command", ["run", "mix", "estimate", "profile"])
def test_its_source_form_is_refused(
    file: Path, error: Callable[..., str], output: Callable[..., str], command: str
) -> None:
    devices = ("--device", "a100-40gb") if command in ("estimate", "profile") else ()
    said = error(command, str(file), *devices, "--code", "source")
    assert "k is machine code of sm_80 and has no source form" in said
    assert len(said.strip().splitlines()) == 1
    assert output(command, str(file), *devices)  # KERNELCAST_CODE=source is but a default


def test_it_is_refused_in_python(file: Path) -> None:
    with pytest.raises(LaunchError, match="no source form"):
        _trace(file, code="source")
    assert _trace(file, code="native").code == "sm_80"


def test_no_hint_advises_it(file: Path) -> None:
    trace = _trace(file)
    with pytest.raises(ModelNotApplicable, match=r"machine code of sm_80$"):
        kc.estimate(trace.profile("a100-40gb"), model="mpd-cpd")


def test_a_file_holds_one_code(tmp_path: Path, error: Callable[..., str]) -> None:
    cubin("k", 1)
    saxpy = Path(__file__).resolve().parents[4] / "examples" / "saxpy" / "saxpy.toml"
    given = ("--device", "a100-40gb", "--device", "h100-pcie")
    target = tmp_path / "t.parquet"
    said = error("trace", str(saxpy), "-o", str(target), *given, "--code", "native")
    assert "a100-40gb runs sm_80" in said
    assert "h100-pcie runs sm_90" in said
    devices = ["a100-40gb", "h100-pcie"]
    trace = kc.load_workload(saxpy).run("small", devices=devices, code="native")
    with pytest.raises(TraceFormatError, match="one code, the trace has sm_80 and sm_90"):
        kc.save_trace(trace, target)
    assert not target.exists()


def test_devices_of_one_code_share_a_file(tmp_path: Path, output: Callable[..., str]) -> None:
    cubin("k", 1)
    saxpy = Path(__file__).resolve().parents[4] / "examples" / "saxpy" / "saxpy.toml"
    target = tmp_path / "t.parquet"
    given = ("--size", "small", "--device", "a100-40gb")
    for more, code in (("a100-80gb", "native"), ("h100-pcie", "source")):
        output("trace", str(saxpy), "-o", str(target), *given, "--device", more, "--code", code)
        assert kc.load_trace(target).code == ("sm_80" if code == "native" else "source")
