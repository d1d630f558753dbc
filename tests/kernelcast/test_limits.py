"""What asks for too much ends in one clear line, on both engines, through API and command line."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError, LaunchError, LimitExceeded, SourceSpan, WorkloadError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.simcore.host import limits
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.isa.analysis.alignment import known_alignment
from kernelcast.simcore.isa.analysis.control_flow import members
from kernelcast.simcore.isa.analysis.uniformity import launch_constants
from kernelcast.workload.expressions import evaluate, evaluate_integers

Output = Callable[..., str]
BOTH = pytest.mark.parametrize("engine", ["jit", "reference"])
STORE = """.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r1, 1; st.global.u32 [%rd1], %r1;
"""
PRINT = """{ .reg .b64 %a; mov.u64 %a, text; cvta.global.u64 %a, %a;
.param .b64 p0; .param .b64 p1; .param .b32 rv; st.param.b64 [p0], %a; st.param.b64 [p1], %a;
call.uni (rv), vprintf, (p0, p1); }
"""
VPRINTF = ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"


def source(body: str = "", declarations: str = "") -> str:
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        f"{declarations}.visible .entry k(.param .u64 p)\n{{\n{STORE}{body}\nret;\n}}\n"
    )


def kernel(body: str = "", declarations: str = "") -> RunnableKernel:
    return kc.load_ptx(source(body, declarations))["k"]


def refusal(code: RunnableKernel, engine: str, grid: int = 1, block: int = 32) -> str:
    with pytest.raises(KernelcastError) as caught:
        code.run(grid=grid, block=block, args=[np.zeros(64, np.float32)], engine=engine)
    return caught.value.message


def text(characters: str) -> str:
    data = ", ".join(str(byte) for byte in (*characters.encode(), 0))
    return f"{VPRINTF}.global .align 1 .b8 text[{len(characters) + 1}] = {{{data}}};\n"


@BOTH
@pytest.mark.parametrize("size", [1 << 40, 1 << 24])
def test_local_memory_beyond_any_gpu_is_refused(size: int, engine: str) -> None:
    code = kernel(f".local .b8 big[{size}]; mov.u64 %rd2, big; st.local.u32 [%rd2], %r1;")
    assert "no GPU allows more than 524288" in refusal(code, engine, block=1024)


@BOTH
@pytest.mark.parametrize("space", ["global", "const"])
def test_variables_beyond_the_memory_are_refused(space: str, engine: str) -> None:
    code = kernel("mov.u64 %rd2, big;", f".{space} .b8 big[{1 << 50}];\n")
    assert "no memory for the variables of kernel k: 1024 TiB of" in refusal(code, engine)


def test_the_memory_is_what_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    code = kernel("mov.u64 %rd2, big;", f".global .b8 big[{1 << 27}];\n")
    monkeypatch.setenv("KERNELCAST_MEMORY", str(1 << 26))
    assert "128 MiB of 64 MiB that are left (KERNELCAST_MEMORY" in refusal(code, "reference")
    monkeypatch.setenv("KERNELCAST_MEMORY", str(1 << 28))
    code.run(grid=1, block=32, args=[np.zeros(64, np.float32)])


@BOTH
def test_accesses_of_grids_that_do_not_fit_memory(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of a million thread blocks of an access each: 28 bytes an access."""
    monkeypatch.setattr(limits, "_SMALLEST_CHECKED", 1 << 20)
    monkeypatch.setenv("KERNELCAST_MEMORY", str(1 << 21))
    message = refusal(kernel(), engine, grid=250_000)
    assert "no memory for the recorded accesses of kernel k, which a smaller grid has" in message
    kernel().run(grid=10_000, block=32, args=[np.zeros(64, np.float32)], engine=engine)


@pytest.mark.parametrize("align", [1 << 40, 3, 0])
def test_alignments_are_small_powers_of_two(align: int) -> None:
    with pytest.raises(KernelcastError, match=f"power of two up to 65536, got {align}"):
        kc.load_ptx(source(f".shared .align {align} .b8 big[16];"))


@BOTH
@pytest.mark.parametrize("conversion", ["%2000000000d", "%.2000000000f", "%-4096d"])
def test_fields_of_printf_have_a_largest_width(conversion: str, engine: str) -> None:
    assert "characters, more than 4095" in refusal(kernel(PRINT, text(conversion)), engine)


@BOTH
def test_prints_have_a_largest_sum(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "kernelcast.simcore.engine.rules.host_functions.MOST_PRINTED_CHARACTERS"
    monkeypatch.setattr(module, 100)
    code = kernel(PRINT, text("seventeen letters"))
    assert "prints more than 100 characters" in refusal(code, engine)


@BOTH
@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], %r2;", "232448 of shared"),
        ("cp.async.bulk.prefetch.L2.global [%rd1], %r2;", "256 of any buffer"),
    ],
)
def test_copies_in_bulk_fit_where_they_go(instruction: str, message: str, engine: str) -> None:
    body = f"mov.u32 %r2, 0xfffffff0; {instruction}"
    code = kernel(body, ".shared .align 128 .b8 s[1024];\n")
    assert f"4294967280 bytes are more than the {message}" in refusal(code, engine)


@BOTH
def test_launches_have_a_largest_number_of_warps(engine: str) -> None:
    assert "a launch of 2,147,483,647 warps" in refusal(kernel(), engine, grid=2**31 - 1)


def test_kernels_too_long_for_native_code_run_on_the_reference_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kernelcast.simcore.engine.jit.runtime.run.MOST_NATIVE_INSTRUCTIONS", 2)
    trace = kernel().run(grid=1, block=32, args=[np.zeros(64, np.float32)], engine="jit")
    assert trace.data.engine == "reference"


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "*".join(["2**2000"] * 9),
        "+".join(["1"] * 200),
        "-" * 300 + "1",
        "1" * 20_000,
        "(" * 5000 + "1" + ")" * 5000,
        "n" + ".n" * 3000,
        "1e400",
        "0x" + "f" * 9000,
    ],
)
def test_expressions_that_are_too_large_are_refused_in_short(expression: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        evaluate(expression, {}, "here")
    assert len(str(caught.value)) < 300


def test_numbers_that_are_too_large_are_refused() -> None:
    with pytest.raises(WorkloadError, match="here: the number is too large"):
        evaluate(1 << 40_000, {}, "here")


def test_what_sums_need_is_allowed() -> None:
    assert evaluate("+".join(["n"] * 100), {"n": 3}, "here") == 300
    assert evaluate_integers("2**60, 0x10", {}, "here") == (1 << 60, 16)


def workload(folder: Path, shape: str = "64", more: str = "") -> str:
    (folder / "k.ptx").write_text(source())
    file = folder / "k.toml"
    file.write_text(
        '[kernel]\nsource = "k.ptx"\n[launch]\ngrid = 1\nblock = 32\n'
        f'{more}[[args]]\nname = "p"\ntype = "f32[{shape}]"\n'
    )
    return str(file)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (", ".join(["1"] * 70), "70 dimensions, more than 64"),
        ("2**60", "no memory for "),
        ("2**70", "no memory for shape"),
        ("1e308 * 10", "no memory for shape"),
        ("2**2000 / 3", "more than any float, not an integer"),
    ],
)
@pytest.mark.parametrize("command", ["run", "mix"])
def test_shapes_of_buffers(
    shape: str, message: str, command: str, tmp_path: Path, error: Output
) -> None:
    printed = error(command, workload(tmp_path, shape))
    assert message in printed
    assert len(printed.strip().splitlines()) == 1


@pytest.mark.parametrize("value", ["1" * 5000, "[" * 5000 + "]" * 5000])
def test_toml_that_python_does_not_take(value: str, tmp_path: Path, error: Output) -> None:
    printed = error("run", workload(tmp_path, more=f"repeats = {value}\n"))
    assert len(printed.strip().splitlines()) == 1


def test_sources_have_a_largest_size(
    tmp_path: Path, error: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workload(tmp_path)
    monkeypatch.setattr(limits, "MOST_SOURCE_BYTES", 1 << 10)
    (tmp_path / "k.ptx").write_text(source("// " + "x" * 1100))
    assert "k.ptx has more than 1 KiB" in error("run", file)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs an endless file")
def test_endless_files_are_not_read_to_their_end(error: Output) -> None:
    assert "/dev/zero: not a regular file but a device" in error("run", "/dev/zero")


def test_the_time_limit_covers_reading(tmp_path: Path, error: Output) -> None:
    with time_limit(0.0), pytest.raises(LimitExceeded, match=r"still reading <ptx> after 0 s"):
        kc.load_ptx(source())
    assert "still reading" in error("run", "--limit-seconds", "0", workload(tmp_path))


def test_the_time_limit_covers_analysis() -> None:
    code = kernel()
    with pytest.raises(LimitExceeded, match=r"still ordering instructions after 0 s"):
        code.run(grid=1, block=32, args=[np.zeros(64)], limits=kc.Limits(seconds=0.0))


@pytest.mark.parametrize(("grid", "steps", "looks"), [(128, 1, 2), (1, 600, 5)])
def test_the_time_limit_covers_runs_without_loops(
    grid: int, steps: int, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference engine looks between batches, and within basic blocks; constants run before."""
    told: list[str] = []
    engine = importlib.import_module("kernelcast.simcore.engine.reference.run")
    monkeypatch.setattr(engine, "check_time", told.append)
    code = kernel("add.u32 %r1, %r1, %r1;" * steps)
    code.run(grid=grid, block=1024, args=[np.zeros(64, np.float32)], engine="reference")
    assert told == ["running"] * looks


def test_inner_limits_do_not_outlast_outer_ones() -> None:
    with time_limit(0.0), time_limit(100.0), pytest.raises(LimitExceeded, match="after 0 s"):
        kc.load_ptx(source())
    kc.load_ptx(source())


def test_analyses_of_code_in_reverse_order_end() -> None:
    """Each round over all instructions would learn of one more register."""
    count = 3000
    parts = [f"L{n}: add.u64 %y{n + 1}, %y{n}, 64; bra.uni L{n + 1};" for n in range(count)]
    body = f".reg .b64 %y<{count + 1}>; mov.u64 %y0, 64; bra.uni L0;\n{chr(10).join(parts[::-1])}"
    code = kernel(f"{body}\nL{count}: st.global.u64 [%rd1], %y{count};").kernel
    with time_limit(60.0):
        constants, alignments = launch_constants(code), known_alignment(code)
    chain = [r.index for r in code.registers if r.name.startswith("%y")]
    assert len(chain) == count + 1
    assert constants.issuperset(chain)
    assert {alignments[index] for index in chain} == {6}


def test_members_of_wide_sets() -> None:
    places = [0, 1, 63, 64, 65, 127, 128, 5000]
    assert list(members(sum(1 << place for place in places))) == places
    assert list(members(0)) == []


def test_long_lines_are_shown_in_part() -> None:
    line = "x" * 5000 + "HERE" + "y" * 5000
    shown = SourceSpan("f", 1, 5001, 4, line).show().splitlines()
    assert max(map(len, shown)) < 200
    assert shown[0][shown[1].index("^") :].startswith("HERE")
    assert shown[1].count("^") == 4


def test_long_messages_are_shortened() -> None:
    message = str(LaunchError("begin" + "x" * 10**6 + "end"))
    assert message.startswith("begin")
    assert message.endswith("end")
    assert len(message) < 1100
