"""An installation brings the code of the simulators: launches of users compile nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernelcast import machine_code
from kernelcast.simcore.host import compiled

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("saxpy/saxpy", "sor/sor", "sgemm/sgemm16", "reduction/reduction", "divergent/divergent")
DEVICES = ("gtx-285", "tesla-m2050", "rtx-3090", "mi210", "max-1550")
"""None is among those that the code is made with."""
PROGRAM = """
import sys
from kernelcast.cli import main
for arguments in {calls}:
    assert main(arguments) == 0, arguments
assert "numba" not in sys.modules
"""


@pytest.fixture(scope="module")
def made() -> None:
    """Code of the sources as they are now; `make test` has made it already."""
    subprocess.run([sys.executable, "-m", "kernelcast.machine_code"], check=True, cwd=ROOT)


@pytest.mark.usefixtures("made")
def test_commands_compile_no_simulator_and_import_no_numba(tmp_path: Path) -> None:
    on = [word for name in DEVICES for word in ("--device", name)]
    saxpy, sizes = "examples/saxpy/saxpy.toml", ["--size", "small"]
    calls = [["estimate", f"examples/{name}.toml", *sizes, *on] for name in EXAMPLES]
    calls += [
        ["estimate", saxpy, *sizes, *on, "--engine", "reference"],
        ["estimate", saxpy, *sizes, *on, "--caches", "warm"],
        ["estimate", saxpy, "--device", "rtx-3090", "--sample"],
        ["topdown", saxpy, *sizes, "--device", "v100-pcie"],
        ["whatif", saxpy, *sizes, "--device", "v100-pcie", "--set", "sm.count=40"],
        ["check", saxpy, *sizes],
        ["rank", machine_code._STENCIL, "--device", "mi210", "--vary", "block=product=64"],
    ]
    environment = os.environ | {"KERNELCAST_CACHE": str(tmp_path / "cache")}
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(calls=json.dumps(calls))],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert not [file.name for file in (tmp_path / "cache").glob("compiled-*")]


def half(number: Any) -> Any:
    return number / 2


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the work found each time that it was done."""
    found: list[float] = []
    work = {"a number": lambda: found.append(compiled.compiled(half)(3))}
    monkeypatch.setattr(machine_code, "_WORK", work)
    return found


def test_all_is_made_once(tmp_path: Path, calls: list[float]) -> None:
    for _ in range(2):
        machine_code.make_machine_code(tmp_path / "made")
    assert calls == [1.5]
    assert len(list((tmp_path / "made").glob("compiled-half-*.code"))) == 1


def test_code_of_other_sources_goes(
    tmp_path: Path, calls: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_code.make_machine_code(tmp_path)
    (tmp_path / "compiled-half-old.code").write_bytes(b"old")
    monkeypatch.setattr(machine_code, "_all_sources", lambda: "other")
    machine_code.make_machine_code(tmp_path)
    assert calls == [1.5, 1.5]
    assert len(list(tmp_path.glob("compiled-half-*.code"))) == 1
    assert [file.name for file in tmp_path.glob("made-of-*")] == ["made-of-other"]


def test_a_machine_unlike_most_makes_none(
    tmp_path: Path, calls: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code, "runs_common_code", lambda: False)
    with pytest.raises(RuntimeError, match="few other machines"):
        machine_code.make_machine_code(tmp_path)
    assert not calls
    assert not list(tmp_path.iterdir())
