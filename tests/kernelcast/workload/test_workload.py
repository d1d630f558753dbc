"""Workload files: what they say, how they run, and one clear line for each mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError, WorkloadError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
WORKLOADS = sorted(EXAMPLES.glob("*/*.toml"), key=lambda path: path.name)

SCALE = """.version 8.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor)
{
    .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [x];
    ld.param.f32 %f1, [factor];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    mul.wide.s32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd3], %f3;
    ret;
}
"""
WORKLOAD = """[kernel]
source = "scale.ptx"
[sizes.full]
n = 1024
[sizes.small]
n = 64
[launch]
grid = ["n / block.x"]
block = [32]
repeats = 3
[[args]]
name = "x"
type = "f32[n]"
init = "ones"
[[args]]
name = "factor"
type = "f32"
value = "n / 2"
[check]
reference = "reference.py:scale"
rtol = 1e-6
"""
REFERENCE = """
def scale(inputs, sizes):
    return {"x": inputs["x"] * sizes["n"] / 2}
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """(old, new) -> path of the workload above with a replacement."""

    def write_files(old: str = "", new: str = "", reference: str = REFERENCE) -> Path:
        assert old in WORKLOAD
        (tmp_path / "scale.ptx").write_text(SCALE)
        (tmp_path / "reference.py").write_text(reference)
        path = tmp_path / "w.toml"
        path.write_text(WORKLOAD.replace(old, new) if old else WORKLOAD + new)
        return path

    return write_files


def test_first_size_is_the_default(write: Write) -> None:
    workload = kc.load_workload(write())
    assert workload.size() == {"n": 1024}
    assert workload.size("small") == {"n": 64}
    assert workload.run().data.grid == (32, 1, 1)
    assert workload.run("small").data.grid == (2, 1, 1)


def test_run_writes_the_buffers(write: Write) -> None:
    workload = kc.load_workload(write())
    x, factor = workload.make_arguments("small")
    trace = workload.run("small", arguments=(x, factor))
    assert isinstance(x, np.ndarray)
    assert (x == 32).all()
    assert trace.repeats == 3


def test_check_passes_and_fails(write: Write) -> None:
    assert kc.load_workload(write()).run_check("small").passed
    wrong = REFERENCE.replace("/ 2", "/ 2 + (inputs['x'].cumsum() == 7)")
    result = kc.load_workload(write(reference=wrong)).run_check("small")
    (comparison,) = result.comparisons
    assert not result.passed
    assert comparison.mismatches == 1
    assert comparison.absolute_error == 1.0
    assert comparison.relative_error == pytest.approx(1 / 33)


def test_check_sees_a_nan(write: Write) -> None:
    reference = "def scale(inputs, sizes):\n    return {'x': inputs['x'] * float('nan')}\n"
    result = kc.load_workload(write(reference=reference)).run_check("small")
    assert result.comparisons[0].mismatches == 64


def test_opencl_sizes_count_threads(write: Write) -> None:
    path = write('grid = ["n / block.x"]\nblock = [32]', "global_size = ['n']\nlocal_size = [16]")
    data = kc.load_workload(path).run("small").data
    assert (data.grid, data.thread_block) == ((4, 1, 1), (16, 1, 1))


def test_opencl_sizes_have_their_own_names_in_expressions(write: Write) -> None:
    path = write(
        'grid = ["n / block.x"]\nblock = [32]',
        "global_size = 'ceil(n / local_size.x) * local_size.x'\nlocal_size = 16",
    )
    assert kc.load_workload(path).run("small").data.grid == (4, 1, 1)


def test_a_single_launch_may_be_an_array_of_tables(write: Write) -> None:
    assert kc.load_workload(write("[launch]", "[[launch]]")).run("small").data.grid == (2, 1, 1)


def test_registers_reach_the_trace(write: Write) -> None:
    path = write('source = "scale.ptx"', 'source = "scale.ptx"\nregisters = 24')
    assert kc.load_workload(path).run("small").data.resources.registers == 24
    assert kc.load_workload(path).run("small", registers=40).data.resources.registers == 40


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[kernel]", "[kernal]", "w.toml: kernal is not a known key (did you mean kernel?)"),
        ("source =", "sourse =", "w.toml: kernel.sourse is not a known key (did you mean source"),
        ('source = "scale.ptx"', "", "w.toml: kernel.source is missing"),
        ('source = "scale.ptx"', "source = 3", "w.toml: kernel.source must be a text, got 3"),
        ("n = 1024", "n = 1024\nm = 3", "w.toml: sizes.small names n, the first size names n, m"),
        ("n = 1024", "n = 1.5", "w.toml: sizes.full.n must be an integer, got 1.5"),
        ("repeats = 3", "repeats = 0", "w.toml: launch.repeats must be positive, got 0"),
        ("repeats = 3", "repeets = 3", "w.toml: launch.repeets is not a known key"),
        ("block = [32]", "", "w.toml: launch.block is missing"),
        ("block = [32]", "block = [true]", "w.toml: launch.block: True is not an expression"),
        ("block = [32]", "block = [32]\nlocal_size = [32]", "either grid and block or global_size"),
        ('name = "factor"', 'name = "x"', "two arguments are called 'x'"),
        ("rtol = 1e-6", "rtol = -1", "w.toml: check: tolerances must be finite and not negative"),
        ("rtol = 1e-6", "rtol = nan", "w.toml: check: tolerances must be finite"),
        ("[launch]", "[[launch]]\ngrid = 1\nblock = 1\n[[launch]]", "2 launches in sequence"),
        ("[launch]", "launch = 3\n[other]", "w.toml: other is not a known key"),
        ("[[args]]", "[args]", "w.toml:15: not TOML: Cannot declare"),
        ("n = 64", "n = = 64", "w.toml:6: not TOML"),
        ("", "x = [", "w.toml:22: not TOML"),
    ],
)
def test_bad_file_names_file_and_place(write: Write, old: str, new: str, message: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        kc.load_workload(write(old, new))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"n / block.x"', '"n / block.w"', "no size is called 'block.w'"),
        ('"n / block.x"', '"n / 5"', "not an integer"),
        ('"n / block.x"', '"n - 64"', "w.toml: launch.grid sizes must be positive"),
        ("block = [32]", "block = [1, 1, 1, 1]", "w.toml: launch.block needs one to three sizes"),
        ("block = [32]", "block = [32, 64]", "2048 threads a thread block"),
        ('source = "scale.ptx"', 'source = "scale.ptx"\nentry = "scal"', "did you mean scale"),
        ('[[args]]\nname = "factor"\ntype = "f32"\nvalue = "n / 2"', "", "takes 2 arguments"),
        ('type = "f32"\n', 'type = "f32[n]"\n', "value: a buffer is filled with init"),
    ],
)
def test_bad_launch_is_one_line(write: Write, old: str, new: str, message: str) -> None:
    with pytest.raises((WorkloadError, LaunchError)) as caught:
        kc.load_workload(write(old, new)).run("small")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files(tmp_path: Path, write: Write) -> None:
    with pytest.raises(WorkloadError, match=r"none\.toml: No such file"):
        kc.load_workload(tmp_path / "none.toml")
    with pytest.raises(WorkloadError, match=r"no size 'smal' \(did you mean small"):
        kc.load_workload(write()).run("smal")


def test_check_without_reference(write: Write) -> None:
    path = write('[check]\nreference = "reference.py:scale"\nrtol = 1e-6\n', "")
    with pytest.raises(WorkloadError, match=r"no \[check\]"):
        kc.load_workload(path).run_check()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("def scale(inputs, sizes):\n    return 3\n", "must return arrays by name"),
        ("def scale(inputs, sizes):\n    return {'y': [1]}\n", "'y', which is no buffer"),
        ("def scale(inputs, sizes):\n    return {'x': [1]}\n", "its reference (1,)"),
        ("scale = 3\n", "has no function 'scale'"),
    ],
)
def test_bad_reference(write: Write, reference: str, message: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        kc.load_workload(write(reference=reference)).run_check("small")
    assert message in str(caught.value)


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_examples_compute_what_numpy_computes(path: Path) -> None:
    result = kc.load_workload(path).run_check("small")
    assert result.passed, result.comparisons
    assert sum(item.elements for item in result.comparisons) > 10


def test_all_examples_are_there() -> None:
    names = {path.stem for path in WORKLOADS}
    assert names == {"divergent", "lmsor", "reduction", "saxpy", "sgemm16", "sgemm32", "sor"}
