"""`kernelcast support`: which kernels run, in files, folders, by several processes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernelcast.inputs import support as support_module
from kernelcast.inputs.support import FileSupport, Missing, check_file, small_launch
from kernelcast.inputs.support_survey import Survey, find_files, survey
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel

_HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
_GOOD = ".visible .entry good(.param .u64 p) { ret; }\n"
_BAD = """.visible .entry bad(.param .u64 p) {
 .reg .b32 %r<9>;
 frobnicate.b32 %r1, %r2;
 add.s32 %r1, %r1, 1;
 frobnicate.b64 %r1, %r2;
 ret;
}
"""
_SPINS = """.visible .entry spins(.param .u64 p) {
 .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;
 ld.param.u64 %rd, [p];
WAIT: ld.volatile.global.u32 %r, [%rd];
 setp.eq.u32 %p, %r, 0;
 @%p bra WAIT;
 ret;
}
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def make(name: str, text: str) -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


def test_an_unsupported_kernel_hides_no_other(
    write: Callable[..., Path], output: Callable[..., str]
) -> None:
    file = write("k.ptx", _HEAD + _BAD + _GOOD)
    lines = output("support", str(file), status=1).splitlines()
    assert "  good: supported" in lines
    assert "  bad: not supported" in lines
    reasons = [line for line in lines if line.startswith("    ")]
    assert [line.split(": ")[0].strip() for line in reasons] == [f"{file}:6:2", f"{file}:8:2"]
    assert "'frobnicate.b32'" in reasons[0]
    assert "1 of 2 kernels supported (50.0%) in 1 file" in lines


def test_status_0_when_everything_is_supported(
    write: Callable[..., Path], output: Callable[..., str]
) -> None:
    assert "1 of 1 kernel supported (100.0%)" in output(
        "support", str(write("k.ptx", _HEAD + _GOOD))
    )


def test_a_file_that_is_no_ptx_is_reported_with_the_others(
    write: Callable[..., Path], output: Callable[..., str]
) -> None:
    good, broken = write("a.ptx", _HEAD + _GOOD), write("b.ptx", "nonsense")
    found = output("support", str(broken), str(good), status=1)
    assert f"unreadable: {broken}:1:1: not PTX" in found
    assert "  good: supported" in found
    assert "1 of 1 kernel supported (100.0%) in 2 files, 1 of them unreadable" in found


def test_json(write: Callable[..., Path], output: Callable[..., str]) -> None:
    file = write("k.ptx", _HEAD + _BAD + _BAD.replace("bad", "bad2") + _SPINS)
    broken = write("l.ptx", "nonsense")
    record = json.loads(output("support", str(file), str(broken), "--json", status=1))
    assert (record["kernels"], record["supported"], record["unreadable_files"]) == (3, 1, 1)
    assert [item["kernels"] for item in record["reasons"]] == [2, 2]
    first, second = record["files"]
    by_name = {item["name"]: item for item in first["kernels"]}
    assert by_name["spins"] == {
        "name": "spins",
        "supported": True,
        "engine": by_name["spins"]["engine"],
        "code": "source",
        "missing": [],
    }
    assert by_name["bad"]["missing"][0]["place"] == f"{file}:6:2"
    assert second["kernels"] == []
    assert second["unreadable"]["place"] == f"{broken}:1:1"


def test_folders_that_go_meanwhile_are_left_out(
    write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, scandir = write("a.ptx", _HEAD + _GOOD), os.scandir
    gone = file.parent / "gone"
    gone.mkdir()

    def look(folder: str | os.PathLike[str]) -> Any:
        if Path(folder) == gone:
            gone.rmdir()
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", look)
    assert find_files([str(file.parent)]) == [file]


def test_unusable_input(tmp_path: Path, error: Callable[..., str]) -> None:
    assert "no such file" in error("support", str(tmp_path / "nothing.ptx"))
    assert "no .ptx, .fatbin or .cubin files below it" in error("support", str(tmp_path))


def test_folders_and_patterns(write: Callable[..., Path], tmp_path: Path) -> None:
    first, second = write("a/k.ptx", _HEAD), write("b/k.ptx", _HEAD)
    write("b/readme.txt", "")
    assert find_files([str(tmp_path)]) == [first, second]
    assert find_files([str(tmp_path / "**" / "*.ptx")]) == [first, second]
    assert find_files([str(second), str(tmp_path)]) == [second, first]


def test_many_files_by_several_processes(write: Callable[..., Path]) -> None:
    files = [write(f"{n}.ptx", _HEAD + _GOOD.replace("good", f"k{n}")) for n in range(10)]
    files.append(write("broken.ptx", "nonsense"))
    told: list[float] = []
    result = survey(files, processes=2, progress=told.append)
    assert [file.path for file in result.files] == [str(file) for file in files]
    assert (len(result.kernels), result.supported, result.unreadable) == (10, 10, 1)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_a_defect_of_an_engine_is_reported(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(kernel: Kernel, launch: object) -> str:
        if kernel.name == "good":
            raise KeyError("x")
        return "jit"

    monkeypatch.setattr(support_module, "_prepare", fail)
    found = check_file(write("k.ptx", _HEAD + _GOOD + _GOOD.replace("good", "other")))
    good, other = found.kernels
    assert not good.is_supported
    assert good.missing == (Missing("an engine fails to prepare it: KeyError: 'x'"),)
    assert other.is_supported


def test_reasons_are_counted_once_a_kernel_and_sorted() -> None:
    def kernel(name: str, *reasons: str) -> support_module.KernelSupport:
        missing = tuple(Missing(reason, str(i)) for i, reason in enumerate(reasons))
        return support_module.KernelSupport(name, "", missing)

    files = (FileSupport("f", (kernel("a", "y", "x", "y"), kernel("b", "y"), kernel("c", "w"))),)
    assert Survey(files).reasons() == [("y", 2), ("w", 1), ("x", 1)]


def test_the_small_launch_fits_what_the_kernel_asks_for(
    compile_ptx: Callable[..., Kernel],
) -> None:
    for directive, size in (("", 64), (".maxntid 16, 1, 1", 16), (".reqntid 8, 4, 1", 32)):
        kernel = compile_ptx("ret;", "u64 p, u32 n, f32 a, f64 b, u8 c", directives=directive)
        launch = small_launch(kernel)
        assert launch.threads_per_thread_block == size
        execute(kernel, launch)
