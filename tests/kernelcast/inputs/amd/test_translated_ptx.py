"""PTX as machine code of AMD's GPUs: results, roundings, lanes, barriers, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import UnsupportedInstruction
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.amd.translated_ptx import amd_code
from kernelcast.inputs.amd.translation import memory, module_text
from kernelcast.inputs.amd.translation.loop_entries import gates_of
from kernelcast.simcore.isa.ir.kernel import Store
from kernelcast.simcore.launch.launch import Argument
from tests.drawn_cases import ALL_CASES
from tests.ptx_frontend.amdgcn.random_programs import LANES, compared

EXAMPLES = Path(__file__).parents[4] / "examples"
SAMPLE = 4
HEADER = """.version 8.0
.target sm_75
.address_size 64
"""
FRAME = (
    HEADER
    + """.visible .entry k(.param .u64 out, .param .u64 in) {{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<6>; .reg .f32 %f<4>; .reg .f64 %g<4>;
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1; mul.wide.u32 %d3, %r1, {size};
add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
{body}
ret;
}}
"""
)


def written(tmp_path: Path, body: str, size: int = 4) -> RunnableKernel:
    file = tmp_path / "k.ptx"
    file.write_text(FRAME.format(body=body, size=size))
    return kc.load(file)["k"]


def executed(
    kernel: RunnableKernel, values: npt.NDArray[Any], device: str = "mi210", block: int = 64
) -> npt.NDArray[Any]:
    out = np.zeros_like(values)
    trace = kernel.run(
        grid=values.size // block, block=block, args=[out, values], devices=[device], code="native"
    )
    assert trace.code.startswith("gfx")
    return out


@pytest.mark.parametrize(
    ("device", "name"), [("mi210", "gfx90a"), ("rx-7900-xtx", "gfx1100"), ("r9-nano", "gfx803")]
)
def test_ptx_is_executed_as_machine_code_and_says_so(device: str, name: str) -> None:
    kernel = kc.load(EXAMPLES / "saxpy" / "saxpy.ptx")["saxpy"]
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    for code in ("native", "auto"):
        y[:] = 1
        trace = kernel.run(grid=4, block=256, args=[1000, 2.0, x, y], devices=[device], code=code)
        assert trace.code == name
        assert np.array_equal(y, 2 * x + 1)
        told = f"PTX was translated to {name} machine code by LLVM"
        assert any(told in note for note in trace.profile(device).assumptions)
    assert (
        kernel.run(grid=4, block=256, args=[1000, 2.0, x, y], devices=[device], code="source").code
        == "source"
    )


def test_machine_code_tells_the_line_of_the_ptx() -> None:
    kernel = kc.load(EXAMPLES / "saxpy" / "saxpy.ptx")["saxpy"].kernel
    machine = amd_code(kernel).amd_kernel("saxpy", "gfx90a")
    lines = {
        item.origin.line
        for item in machine.instructions
        if item.mnemonic.startswith("v_fmac_f32") and item.origin is not None
    }
    (fused,) = (item for item in kernel.instructions if item.mnemonic.startswith("fma"))
    assert lines == {fused.span.line}


def test_what_is_refused_is_named_and_the_estimate_stays_on_the_source(tmp_path: Path) -> None:
    body = "bar.sync 1, 32; ld.global.u32 %r5, [%d2]; st.global.u32 [%d1], %r5;"
    kernel = written(tmp_path, body)
    values = np.arange(32, dtype=np.uint32)
    out = np.zeros(32, np.uint32)
    run = partial(kernel.run, grid=1, block=32, args=[out, values], devices=["mi210"])
    trace = run(code="auto")
    assert trace.code == "source"
    notes = trace.profile("mi210").assumptions
    why = "is not translated for AMD's GPUs: a barrier of some threads of the thread block"
    assert any("no machine code" in note and why in note for note in notes)
    with pytest.raises(UnsupportedInstruction, match="a barrier of some threads"):
        run(code="native")


# ---- roundings ----

TINY = {"f32": 2.0**-149, "f64": 5e-324}
OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def rounded(exact: Fraction, near: Any, mode: str) -> Any:
    """The number next to an exact one on the side that the mode says, from one close to it."""
    kind = type(near)
    if not np.isfinite(near):
        near = kind(np.copysign(np.finfo(kind).max, near))
    low = near if side(near, exact) <= 0 else np.nextafter(near, kind(-np.inf))
    high = low if side(low, exact) == 0 else np.nextafter(low, kind(np.inf))
    if mode == "rm" or (mode == "rz" and exact > 0):
        return low
    return high


def side(number: Any, exact: Fraction) -> int:
    """-1, 0 or 1: whether a number is below an exact one, equal to it, or above."""
    if np.isinf(number):
        return int(np.sign(number))
    found = Fraction(float(number))
    return (found > exact) - (found < exact)


def operands(kind: str) -> npt.NDArray[Any]:
    """Numbers of all sizes, among them subnormal ones and those whose results are."""
    random = np.random.default_rng(11)
    dtype, most = (np.float32, 127) if kind == "f32" else (np.float64, 1023)
    values = random.normal(size=256) * 2.0 ** random.integers(-40, 40, 256)
    values[:64] = random.normal(size=64) * 2.0 ** random.integers(-most // 2 - 20, -most // 2, 64)
    values[64:96] = random.normal(size=32) * 2.0 ** (most - 1)
    values[96:112] = TINY[kind] * random.integers(1, 1000, 16)
    return values.astype(dtype)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("mode", ["rz", "rp", "rm"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_directed_roundings_are_exact(kind: str, mode: str, name: str, tmp_path: Path) -> None:
    register, size = ("%f", 4) if kind == "f32" else ("%g", 8)
    body = (
        f"ld.global.{kind} {register}1, [%d2]; ld.global.{kind} {register}2, [%d2+{256 * size}];"
        f"{name}.{mode}.{kind} {register}3, {register}1, {register}2;"
        f"st.global.{kind} [%d1], {register}3;"
    )
    kernel = written(tmp_path, body, size)
    first, second = operands(kind), np.roll(operands(kind), 37)[::-1]
    out = np.zeros_like(first)
    kernel.run(
        grid=4,
        block=64,
        args=[out, np.concatenate([first, second])],
        devices=["mi210"],
        code="native",
    )
    with np.errstate(all="ignore"):
        near = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name](
            first, second
        )
        expected = [
            rounded(OPERATIONS[name](Fraction(float(a)), Fraction(float(b))), value, mode)
            for a, b, value in zip(first, second, near, strict=True)
        ]
    assert np.array_equal(out, np.array(expected, out.dtype))


def fused_operands() -> list[npt.NDArray[np.float64]]:
    """Three numbers each: of all sizes, whose product and addend nearly cancel, zeros."""
    first, second = operands("f64"), np.roll(operands("f64"), 37)[::-1].copy()
    with np.errstate(all="ignore"):
        third = -first * second * (1 + 2.0**-50 * np.random.default_rng(12).integers(-4, 5, 256))
    third[::5] = operands("f64")[::5]
    third[np.isinf(third)] = 1.0
    zeros = np.array([0.0, -0.0])
    first[248:], second[248:] = np.resize(zeros, 8), np.resize([3.0, 3.0, 1e-300], 8)
    third[248:] = np.resize([0.0, 0.0, 0.0, -0.0, 5e-324], 8)
    first[246:248], second[246:248], third[246:248] = (2.0, 0.5), (-3.0, 4.0), (6.0, -2.0)
    return [first, second, third]


@pytest.mark.parametrize("mode", ["rz", "rp", "rm"])
def test_directed_roundings_of_fused_doubles_are_exact(mode: str, tmp_path: Path) -> None:
    loads = "".join(f"ld.global.f64 %g{n + 1}, [%d2+{n * 256 * 8}]; " for n in range(3))
    body = f"{loads}fma.{mode}.f64 %g1, %g1, %g2, %g3; st.global.f64 [%d1], %g1;"
    kernel = written(tmp_path, body, 8)
    given = fused_operands()
    out, exact = np.zeros(256), np.zeros(256)
    arguments: list[Argument] = [out, np.concatenate(given)]
    kernel.run(grid=4, block=64, args=arguments, devices=["mi210"], code="native")
    for place, numbers in enumerate(zip(*given, strict=True)):
        a, b, c = (Fraction(float(number)) for number in numbers)
        total = a * b + c
        try:
            near = np.float64(float(total))
        except OverflowError:
            near = np.float64(np.inf if total > 0 else -np.inf)
        with np.errstate(over="ignore"):
            exact[place] = rounded(total, near, mode)
        if total == 0:
            product = numbers[0] * numbers[1]
            is_plus = not np.signbit(product) and not np.signbit(numbers[2])
            both = np.signbit(product) and np.signbit(numbers[2])
            exact[place] = -0.0 if both or (mode == "rm" and not is_plus) else 0.0
        elif exact[place] == 0:
            exact[place] = np.copysign(0.0, float(total > 0) - 0.5)
    assert np.array_equal(out.view(np.uint64), exact.view(np.uint64))


# ---- lanes and barriers ----


@pytest.mark.parametrize("device", ["mi210", "rx-7900-xtx"])
def test_a_wavefront_of_64_lanes_is_two_warps(device: str, tmp_path: Path) -> None:
    body = """ld.global.u32 %r5, [%d2]; shfl.sync.bfly.b32 %r6, %r5, 17, 31, 0xffffffff;
shfl.sync.idx.b32 %r7, %r5, 3, 31, 0xffffffff; and.b32 %r8, %r5, 1; setp.eq.u32 %p1, %r8, 1;
vote.sync.ballot.b32 %r8, %p1, 0xffffffff; add.u32 %r6, %r6, %r7; xor.b32 %r6, %r6, %r8;
mov.u32 %r4, %laneid; shl.b32 %r4, %r4, 24; add.u32 %r6, %r6, %r4;
st.global.u32 [%d1], %r6;"""
    values = np.random.default_rng(3).integers(0, 1000, 128).astype(np.uint32)
    groups = values.reshape(-1, 32)
    lane = np.arange(32)
    ballots = ((groups & 1).astype(np.uint64) << lane.astype(np.uint64)).sum(axis=1)
    expected = (groups[:, lane ^ 17] + groups[:, 3:4]) ^ ballots.astype(np.uint32)[:, None]
    expected = expected + (lane << 24).astype(np.uint32)
    found = executed(written(tmp_path, body), values, device)
    assert np.array_equal(found.reshape(-1, 32), expected)


@pytest.mark.parametrize("device", ["mi210", "rx-7900-xtx"])
def test_reductions_at_barriers(device: str, tmp_path: Path) -> None:
    body = """ld.global.u32 %r5, [%d2]; setp.ne.u32 %p1, %r5, 0; bar.red.popc.u32 %r6, 0, %p1;
bar.red.or.pred %p2, 0, %p1; bar.red.and.pred %p3, 0, %p1; selp.u32 %r7, 1000, 0, %p2;
selp.u32 %r8, 2000, 0, %p3; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8;
st.global.u32 [%d1], %r6;"""
    values = np.zeros(300, np.uint32)
    values[[3, 50, 99]] = 7
    values[200:] = 1
    expected = np.repeat([1003, 0, 3100], 100)
    found = executed(written(tmp_path, body), values, device, block=100)
    assert np.array_equal(found, expected)


# ---- control flow, and random kernels ----


def test_loops_with_several_entries_get_a_gate() -> None:
    plain_loop = [[1], [2, 3], [1], []]
    assert gates_of(plain_loop) == {}
    two_entries = [[1, 2], [2], [1, 3], []]
    assert gates_of(two_entries) == {1: 0, 2: 0}
    nested = [[1], [2, 3], [3, 1], [2, 4], []]
    assert gates_of(nested) == {2: 0, 3: 0}


@pytest.mark.parametrize("architecture", LANES)
def test_random_kernels_do_what_their_ptx_does(architecture: str) -> None:
    """`make fuzz` compares thousands of them."""
    count = 100 if ALL_CASES else SAMPLE
    found = [compared(seed, architecture) for seed in range(5000, 5000 + count)]
    assert [item for item in found if item.different] == []
    assert sum(bool(item.refused) for item in found) <= 0.2 * count


def test_random_kernels_do_it_when_compiled() -> None:
    found = compared(5100, "gfx90a", "jit")
    assert (found.refused, found.different) == ("", "")


def test_a_wrong_translation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def displaced(code: Any, store: Any) -> None:
        far = replace(store.address, offset=store.address.offset ^ 4)
        memory.write_store(code, replace(store, address=far))

    writers = {**module_text.WRITERS, Store: displaced}
    monkeypatch.setattr(module_text, "WRITERS", writers)
    assert compared(5200, "gfx90a").different
