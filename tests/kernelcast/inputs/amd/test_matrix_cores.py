"""Every product that CDNA's matrix cores make, as LLVM IR and as machine code, beside NumPy.

Which element lies where is written here again, from the formulas that AMD's examples give for the
lanes of A and B and of the results, and for double precision from what programs found on GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.amd.generated_code import GeneratedCode
from kernelcast.simcore.device.file import load_device
from kernelcast.traces.amd_opcodes import amd_instruction

Array = npt.NDArray[Any]
_LANES = 64
_OLD, _BOTH, _NEW, _NEWEST = (
    *(("gfx908", "gfx90a"), ("gfx90a", "gfx942"), ("gfx942",), ("gfx950",)),
)


@dataclass(frozen=True)
class Form:
    """A function of LLVM, the types of its arguments, and where it is machine code."""

    name: str
    """The end of `llvm.amdgcn.mfma.` and what follows."""
    size: tuple[int, int, int]
    """m, k and blocks."""
    given: str
    """A or B in a lane."""
    type: Any
    architectures: tuple[str, ...]

    @property
    def sum(self) -> tuple[str, Any]:
        """The type of sums in LLVM IR and in NumPy."""
        of_llvm = {"f32": "float", "f64": "double", "i32": "i32"}[self.name[:3]]
        return of_llvm, {"f32": np.float32, "f64": np.float64, "i32": np.int32}[self.name[:3]]

    @property
    def results(self) -> int:
        m, _, blocks = self.size
        return m * m * blocks // _LANES

    @property
    def per_lane(self) -> int:
        m, k, blocks = self.size
        return m * k * blocks // _LANES

    def text(self, broadcast: Sequence[int]) -> str:
        """A kernel that makes one product of what its lanes load."""
        of_sum, count = self.sum[0], self.results
        sums = of_sum if count == 1 else f"<{count} x {of_sum}>"
        controls = ", ".join(f"i32 {number}" for number in broadcast)
        pointer, given = "ptr addrspace(1)", f"{self.given} %va, {self.given} %vb"
        return f"""
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare {sums} @llvm.amdgcn.mfma.{self.name}({self.given}, {self.given}, {sums}, i32, i32, i32)
define amdgpu_kernel void @multiply({pointer} %a, {pointer} %b, {pointer} %c) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %pa = getelementptr {self.given}, {pointer} %a, i32 %lane
  %pb = getelementptr {self.given}, {pointer} %b, i32 %lane
  %pc = getelementptr {sums}, {pointer} %c, i32 %lane
  %va = load {self.given}, {pointer} %pa
  %vb = load {self.given}, {pointer} %pb
  %vc = load {sums}, {pointer} %pc
  %d = call {sums} @llvm.amdgcn.mfma.{self.name}({given}, {sums} %vc, {controls})
  store {sums} %d, {pointer} %pc
  ret void
}}
"""

    def place(self, i: int, k: int, block: int) -> tuple[int, int]:
        """The lane of element (i, k) of A, or (k, i) of B, and its number there."""
        m, _, blocks = self.size
        return i + m * (block + blocks * (k // self.per_lane)), k % self.per_lane

    def result_place(self, i: int, j: int, block: int) -> tuple[int, int]:
        """The lane of element (i, j) of the results, and its number there."""
        m = self.size[0]
        if self.name == "f64.4x4x4f64":
            return 16 * i + 4 * block + j, 0
        if self.name == "f64.16x16x4f64":
            return 16 * (i % 4) + j, i // 4
        blocks_at_once = max(1, _LANES // (m * m // 4))
        groups = _LANES // blocks_at_once // m
        lane = j + m * (i // 4 % groups + groups * (block % blocks_at_once))
        above = i // (4 * groups) + m // (4 * groups) * (block // blocks_at_once)
        return lane, i % 4 + 4 * above


def _forms() -> Iterator[Form]:
    halves = {count: f"<{count} x half>" for count in (4, 8)}
    shorts = {count: f"<{count} x i16>" for count in (2, 4)}
    small = ((32, 2), (16, 4), (4, 16))
    for m, blocks in small:
        yield Form(f"f32.{m}x{m}x1f32", (m, 1, blocks), "float", np.float32, _BOTH)
        yield Form(f"f32.{m}x{m}x4f16", (m, 4, blocks), halves[4], np.float16, _BOTH)
        name = f"f32.{m}x{m}x4bf16.1k"
        yield Form(name, (m, 4, blocks), shorts[4], ml_dtypes.bfloat16, _BOTH)
        name = f"f32.{m}x{m}x2bf16"
        yield Form(name, (m, 2, blocks), shorts[2], ml_dtypes.bfloat16, _OLD)
        yield Form(f"i32.{m}x{m}x4i8", (m, 4, blocks), "i32", np.int8, _BOTH)
    for m, k in ((32, 8), (16, 16)):
        yield Form(f"f32.{m}x{m}x{k // 4}f32", (m, k // 4, 1), "float", np.float32, _BOTH)
        yield Form(f"f32.{m}x{m}x{k}f16", (m, k, 1), halves[4], np.float16, _BOTH)
        name = f"f32.{m}x{m}x{k}bf16.1k"
        yield Form(name, (m, k, 1), shorts[4], ml_dtypes.bfloat16, _BOTH)
        name = f"f32.{m}x{m}x{k // 2}bf16"
        yield Form(name, (m, k // 2, 1), shorts[2], ml_dtypes.bfloat16, _OLD)
        yield Form(f"i32.{m}x{m}x{k}i8", (m, k, 1), "i32", np.int8, _OLD)
        yield Form(f"i32.{m}x{m}x{2 * k}.i8", (m, 2 * k, 1), "i64", np.int8, _NEW)
        name = f"f32.{m}x{m}x{k // 2}.xf32"
        yield Form(name, (m, k // 2, 1), "<2 x float>", np.float32, _NEW)
        name = f"f32.{m}x{m}x{2 * k}"
        yield Form(f"{name}.f16", (m, 2 * k, 1), halves[8], np.float16, _NEWEST)
        yield Form(f"{name}.bf16", (m, 2 * k, 1), "<8 x bfloat>", ml_dtypes.bfloat16, _NEWEST)
        yield Form(f"i32.{m}x{m}x{4 * k}.i8", (m, 4 * k, 1), "<4 x i32>", np.int8, _NEWEST)
    yield Form("f64.16x16x4f64", (16, 4, 1), "double", np.float64, _BOTH)
    yield Form("f64.4x4x4f64", (4, 4, 4), "double", np.float64, _BOTH)


FORMS = {form.name: form for form in _forms()}


def runnable(tmp_path: Path, form: Form, *broadcast: int) -> Iterator[tuple[str, Any]]:
    """The kernel as LLVM IR, and as machine code of each architecture."""
    file = tmp_path / "k.ll"
    file.write_text(form.text((*broadcast, 0, 0, 0)[:3]))
    module = kc.load(file)
    yield "source", module["multiply"]
    assert isinstance(module.native, GeneratedCode)
    for architecture in form.architectures:
        code = module.native.code("multiply", architecture).assembly
        (opcode,) = [line.split()[0] for line in code.splitlines() if "v_mfma" in line]
        instruction = amd_instruction(opcode)
        assert instruction is not None
        m, k, blocks = form.size
        assert instruction.tensor_operations == 2 * m * m * k * blocks // _LANES
        yield architecture, RunnableKernel(module.native.amd_kernel("multiply", architecture))


def matrices(form: Form) -> tuple[Array, Array, Array]:
    """A, B and C of each block: integers so small that every order of the sums is the same."""
    m, k, blocks = form.size
    random = np.random.default_rng(len(form.name))
    a, b = (random.integers(-8, 9, (blocks, *size)).astype(form.type) for size in ((m, k), (k, m)))
    return a, b, random.integers(-99, 99, (blocks, m, m)).astype(form.sum[1])


def in_lanes(form: Form, matrix: Array) -> Array:
    """A, or B turned, as lanes hold it."""
    found = np.zeros((_LANES, form.per_lane), matrix.dtype)
    for (block, i, k), value in np.ndenumerate(matrix):
        found[form.place(i, k, block)] = value
    return found


def results_in_lanes(form: Form, matrix: Array) -> Array:
    found = np.zeros((_LANES, form.results), matrix.dtype)
    for (block, i, j), value in np.ndenumerate(matrix):
        found[form.result_place(i, j, block)] = value
    return found


def check(kernel: Any, a: Array, b: Array, c: Array, wanted: Array) -> None:
    for engine in ("reference", "jit"):
        found = c.copy()
        given = [array.view(np.uint8).reshape(-1) for array in (a, b)]
        kernel.run(grid=1, block=_LANES, args=[*given, found], engine=engine, warp_width=_LANES)
        assert np.array_equal(found, wanted)


@pytest.mark.drawn(12)
@pytest.mark.parametrize("name", FORMS)
def test_products(tmp_path: Path, name: str) -> None:
    form = FORMS[name]
    a, b, c = matrices(form)
    wanted = (a.astype(np.float64) @ b.astype(np.float64) + c).astype(c.dtype)
    given = in_lanes(form, a), in_lanes(form, b.transpose(0, 2, 1)), results_in_lanes(form, c)
    for _, kernel in runnable(tmp_path, form):
        check(kernel, *given, results_in_lanes(form, wanted))


@pytest.mark.parametrize("name", ["f64.16x16x4f64", "f64.4x4x4f64", "f32.16x16x4f32"])
def test_products_that_are_added_to_a_constant(tmp_path: Path, name: str) -> None:
    """The number 1 of the width of the sums, which is no register."""
    form = FORMS[name]
    a, b, c = matrices(form)
    count, of_llvm = form.results, form.sum[0]
    sums = of_llvm if count == 1 else f"<{count} x {of_llvm}>"
    ones = "1.0" if count == 1 else f"<{', '.join([f'{of_llvm} 1.0'] * count)}>"
    file = tmp_path / "k.ll"
    file.write_text(form.text((0, 0, 0)).replace(f"{sums} %vc,", f"{sums} {ones},"))
    loaded = kc.load(file)
    assert isinstance(loaded.native, GeneratedCode)
    assert " 1.0" in loaded.native.code("multiply", "gfx90a").assembly
    wanted = results_in_lanes(form, (a.astype(np.float64) @ b + 1).astype(c.dtype))
    given = in_lanes(form, a), in_lanes(form, b.transpose(0, 2, 1)), results_in_lanes(form, c)
    kernel = RunnableKernel(loaded.native.amd_kernel("multiply", "gfx90a"))
    for chosen in (loaded["multiply"], kernel):
        check(chosen, *given, wanted)


@pytest.mark.parametrize(
    ("name", "size", "which"),
    [("f32.32x32x1f32", 1, 1), ("f32.16x16x4f16", 1, 0), ("i32.4x4x4i8", 3, 5)],
)
def test_blocks_that_read_the_a_of_another(
    tmp_path: Path, name: str, size: int, which: int
) -> None:
    """`cbsz` and `abid`: 2^cbsz blocks read that of one among them."""
    form = FORMS[name]
    a, b, c = matrices(form)
    read = (np.arange(form.size[2]) >> size << size) + which
    wanted = (a[read].astype(np.float64) @ b.astype(np.float64) + c).astype(c.dtype)
    given = in_lanes(form, a), in_lanes(form, b.transpose(0, 2, 1)), results_in_lanes(form, c)
    for _, kernel in runnable(tmp_path, form, size, which):
        check(kernel, *given, results_in_lanes(form, wanted))


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("pattern", "lanes"),
    [(1, (32, 0)), (2, (32, 32)), (4, (16, 0)), (5, (16, 16)), (6, (16, 32)), (7, (16, 48))],
)
def test_lanes_that_all_read_b_from(tmp_path: Path, pattern: int, lanes: tuple[int, int]) -> None:
    form = FORMS["f32.32x32x1f32"]
    a, b, c = matrices(form)
    many, first = lanes
    of_b = in_lanes(form, b.transpose(0, 2, 1))
    read = of_b[first + np.arange(_LANES) % many, 0].reshape(2, 1, 32)
    wanted = a @ read + c
    given = in_lanes(form, a), of_b, results_in_lanes(form, c)
    for _, kernel in runnable(tmp_path, form, 0, 0, pattern):
        check(kernel, *given, results_in_lanes(form, wanted))


def test_lanes_that_go_round_are_refused(tmp_path: Path) -> None:
    form = FORMS["f32.32x32x1f32"]
    with pytest.raises(kc.KernelcastError, match="go round"):
        list(runnable(tmp_path, form, 0, 0, 3))


_LOOP = """
target triple = "amdgcn-amd-amdhsa"
declare {sums} @llvm.amdgcn.{name}({given}, {given}, {sums}{controls})
define amdgpu_kernel void @many(ptr addrspace(1) %to, i32 %count) #0 {{
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
{phis}
{products}
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %count
  br i1 %again, label %loop, label %end
end:
{stores}
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="1,64" }}
"""
_TIMED = {
    # device -> (function, A and B, sums, width, cycles of a product on a SIMD)
    "mi210": ("mfma.f32.32x32x8f16", "<4 x half>", "<16 x float>", 64, 64),
    "mi300x": ("mfma.f32.32x32x1f32", "float", "<32 x float>", 64, 64),
    "rx-7900-xtx": ("wmma.f32.16x16x16.f16.v8f32.v16f16", "<16 x half>", "<8 x float>", 32, 32),
    "rx-9070-xt": ("wmma.f32.16x16x16.f16.v8f32.v8f16", "<8 x half>", "<8 x float>", 32, 16),
}
"""4,096 multiply-adds at 128 a cycle of a SIMD are 32 cycles: half of the 256 that RDNA 3's compute
unit has, a quarter of the MI210's 512."""


@pytest.mark.drawn(2)
@pytest.mark.parametrize("device", _TIMED)
def test_products_take_their_passes(tmp_path: Path, device: str) -> None:
    name, given, sums, width, cycles = _TIMED[device]
    controls = ", i32 0, i32 0, i32 0" if name.startswith("mfma") else ""
    body = [
        f"  %d{n} = call {sums} @llvm.amdgcn.{name}({given} splat (half 1.0), "
        f"{given} splat (half 1.0), {sums} %c{n}{controls})"
        for n in range(4)
    ]
    text = "\n".join(body).replace("float splat (half 1.0)", "float 1.0")
    file = tmp_path / "many.ll"
    file.write_text(
        _LOOP.format(
            name=name,
            given=given,
            sums=sums,
            controls=controls.replace(" 0", ""),
            phis="\n".join(
                f"  %c{n} = phi {sums} [ zeroinitializer, %entry ], [ %d{n}, %loop ]"
                for n in range(4)
            ),
            products=text,
            stores="\n".join(
                f"  %p{n} = getelementptr {sums}, ptr addrspace(1) %to, i32 {n}\n"
                f"  store {sums} %d{n}, ptr addrspace(1) %p{n}"
                for n in range(4)
            ),
        )
    )
    kernel = kc.load(file)["many"]
    times = []
    for count in (100, 350):
        given_ = [np.zeros(1024, np.float32), count]
        trace = kernel.run(grid=1, block=width, args=given_, devices=[device], code="native")
        times.append(kc.estimate(trace.profile(device), "interval").time_s)
    told = load_device(device)
    found = (times[1] - times[0]) * told.running_clock_hz / 1000
    assert found == pytest.approx(cycles, rel=0.03)  # the loop itself takes a few
