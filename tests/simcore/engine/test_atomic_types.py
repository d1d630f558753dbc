"""Atomics of the types and spellings that compilers write, on both engines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


@pytest.mark.parametrize("instruction", ["atom", "red"])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_pairs_of_halves(run_ptx: Run, instruction: str, space: str) -> None:
    """Every thread adds (1, 0.5): all sums on the way are exact in f16."""
    result = "%r3, " if instruction == "atom" else ""
    place = "%rd1" if space == "global" else "%r4"
    after = "" if space == "global" else "bar.sync 0; ld.shared.b32 %r5, [%r4]; st.b32 [%rd1], %r5;"
    body = f""".shared .align 4 .b8 tile[4]; mov.u32 %r4, tile; ld.param.u64 %rd1, [out];
    mov.u32 %r1, 0x38003c00; {instruction}.{space}.add.noftz.f16x2 {result}[{place}], %r1;
    {after} ret;"""
    out = np.zeros(2, np.float16)
    run_ptx(body, "u64 out", [out], block=96)
    assert out.tolist() == [96.0, 48.0]


@pytest.mark.parametrize(("type_", "one", "words"), [("bf16", "%rs1", 1), ("bf16x2", "%r1", 2)])
def test_sums_of_bf16(run_ptx: Run, type_: str, one: str, words: int) -> None:
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, 0x40003f80; mov.u16 %rs1, 0x3f80;
    red.relaxed.gpu.global.add.noftz.{type_} [%rd1], {one}; ret;"""
    out = np.zeros(2, np.uint16)
    run_ptx(body, "u64 out", [out], block=64)
    sums = (out.astype(np.uint32) << 16).view(np.float32)
    assert sums.tolist() == [64.0, 128.0][:words] + [0.0] * (2 - words)


def test_bf16_in_shared_memory_and_what_was_there(run_ptx: Run) -> None:
    """1, 2, 3, ... as long as bf16 holds them: the values seen are all different."""
    body = """.shared .align 4 .b8 tile[4]; mov.u32 %r4, tile; ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 2; add.s64 %rd1, %rd1, %rd2; mov.u16 %rs1, 0x3f80;
    atom.shared.add.noftz.bf16 %rs2, [%r4], %rs1; st.global.u16 [%rd1], %rs2; ret;"""
    out = np.zeros(96, np.uint16)
    run_ptx(body, "u64 out", [out], block=96)
    seen = (out.astype(np.uint32) << 16).view(np.float32)
    assert sorted(seen.tolist()) == list(range(96))


def test_the_first_to_compare_wins(run_ptx: Run) -> None:
    body = """ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; cvt.u16.u32 %rs1, %r1;
    add.u16 %rs1, %rs1, 5; atom.acq_rel.sys.global.cas.b16 %rs2, [%rd1], 0, %rs1; ret;"""
    out = np.zeros(2, np.uint16)
    run_ptx(body, "u64 out", [out])
    assert out.tolist() == [5, 0]


@pytest.mark.parametrize(
    "load",
    [
        *(f"ld.{order}.{scope}" for order in ("relaxed", "acquire") for scope in ("cta", "sys")),
        *("ld.volatile", "ld.mmio.relaxed.sys", "ld.weak", "ld.relaxed.cluster"),
    ],
)
def test_spellings_of_ordered_accesses(run_ptx: Run, load: str) -> None:
    store = load.replace("ld", "st").replace("acquire", "release")
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2; {load}.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1;
    {store}.global.u32 [%rd1], %r2; ret;"""
    out = np.full(32, 3, np.uint32)
    run_ptx(body, "u64 out", [out])
    assert out.tolist() == [3 + i for i in range(32)]


@pytest.mark.parametrize("count", [2, 4])
def test_atomics_on_vectors_add_each_element(run_ptx: Run, count: int) -> None:
    """Thread t adds t to the first element and t + 1 to the others."""
    names = ", ".join(["%f1", *["%f2"] * (count - 1)])
    olds = ", ".join(f"%f{i + 3}" for i in range(count))
    out = np.zeros(count, np.float32)
    body = f"""mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f2, %f1, 0f3F800000; setp.lt.u32 %p1, %r1, 20;
    @%p1 red.global.add.v{count}.f32 [%rd1], {{{names}}};
    @!%p1 atom.global.v{count}.f32.add {{{olds}}}, [%rd1], {{{names}}}; ret;"""
    trace = run_ptx(body, "u64 out", [out])
    assert out.tolist() == [sum(range(32)) + 32 * (i > 0) for i in range(count)]
    atomics = [row for row in trace.instructions if row.kind == "atomic"]
    assert len(atomics) == 2 * count
    assert sum(row.is_source for row in atomics) == 2
