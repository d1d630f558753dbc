"""Machine code for AMD's GPUs, executed: the results are those of the IR that it was made of."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, LaunchError
from kernelcast.execution.code import AMD_EXECUTED
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.amd.generated_code import GeneratedCode
from kernelcast.ptx_frontend.amdgcn.code_image import read_image
from kernelcast.ptx_frontend.amdgcn.encoding import instruction_bytes, padded
from kernelcast.ptx_frontend.amdgcn.text import read_kernel
from kernelcast.simcore.launch.launch import Argument
from kernelcast.simcore.profile.metric_names import Naming, metrics
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.traces.trace import ResourceNeeds
from tests.kernelcast.inputs.hip.suite import CASES, Case, loaded

IR = """target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %i, ptr addrspace(1) %p
  ret void
}
"""
OPENCL = """__kernel void k(__global float *a, __global const float *b, int n) {
  __local float t[64];
  int i = get_global_id(0);
  t[get_local_id(0)] = b[i] * n;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = t[63 - get_local_id(0)] + get_global_size(0);
}
"""
EXAMPLES = Path(__file__).parents[4] / "examples"
NOT_BIT_EQUAL = ("softmax", "attention_tile")
"""Kernels with `expf`: LLVM makes it of `v_exp_f32` and products, the IR run rounds correctly."""


ORDERED_OTHERWISE = ("fir", "attention_tile")
"""Kernels of which LLVM, which makes code twice, writes text in another order than objects."""
MATRIX_PRODUCT = "matrix_core_product"


def lanes_of(architecture: str) -> int:
    """Lanes of a wavefront as LLVM compiles for it: 32 on RDNA."""
    return 32 if architecture.startswith("gfx1") else 64


def machine_kernel(case: Case, architecture: str) -> RunnableKernel:
    module = loaded(case.file)
    assert isinstance(module.native, GeneratedCode)
    (symbol,) = (name for name in module if case.entry in name)
    return RunnableKernel(module.native.amd_kernel(symbol, architecture))


NO_MATRIX_CORES = ("gfx803", "gfx1030", "gfx1100", "gfx1201")
ROUNDED_TWICE = (
    *("star5_2d", "convolution2d", "fir", "multiply", "kmeans_assign", "nbody", "fft512"),
    "layernorm",
)
"""Kernels with fused products and sums, which LLVM leaves apart for gfx803."""


@pytest.mark.drawn(4)
@pytest.mark.parametrize("architecture", AMD_EXECUTED)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.entry)
def test_results_are_those_of_the_ir(case: Case, architecture: str) -> None:
    if architecture in NO_MATRIX_CORES and case.entry == MATRIX_PRODUCT:
        with pytest.raises(CompilationError, match="Cannot select: intrinsic"):
            machine_kernel(case, architecture)
        return
    kernel = machine_kernel(case, architecture)
    found = case.run({case.entry: kernel}, engine="jit", warp_width=lanes_of(architecture))
    case.check(found)
    source = case.run(loaded(case.file), engine="jit", warp_width=lanes_of(architecture))
    for name, value in source.items():
        is_near = case.entry in NOT_BIT_EQUAL
        is_near |= architecture == "gfx803" and case.entry in ROUNDED_TWICE
        assert is_near or np.array_equal(found[name], value), name


@pytest.mark.drawn(6)
@pytest.mark.parametrize("architecture", ["gfx90a", "gfx1030", "gfx1100"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.entry)
def test_both_engines_find_the_same_bits(case: Case, architecture: str) -> None:
    if architecture in NO_MATRIX_CORES and case.entry == MATRIX_PRODUCT:
        return
    kernel = machine_kernel(case, architecture)
    lanes = lanes_of(architecture)
    one, other = (
        case.run({case.entry: kernel}, engine=name, warp_width=lanes)
        for name in ("jit", "reference")
    )
    assert all(np.array_equal(value, other[name]) for name, value in one.items())


def run(entry: str, code: str, device: str = "mi210") -> kc.KernelTrace:
    case = next(case for case in CASES if case.entry == entry)
    arguments = list(case.arguments().values())
    return loaded(case.file)[entry].run(
        grid=case.grid, block=case.block, args=arguments, devices=[device], code=code
    )


def test_machine_code_is_executed_unless_the_source_is_asked_for() -> None:
    assert run("vector_add", "native").code == "gfx90a"
    assert run("vector_add", "auto").code == "gfx90a"
    assert run("vector_add", "source").code == "source"
    assert run("vector_add", "auto", "rx-6900-xt").code == "gfx1030"
    assert run("vector_add", "native", "rx-7900-xtx").code == "gfx1100"
    with pytest.raises(LaunchError, match=r"machine code of .*B580.* is not read"):
        run("vector_add", "native", "arc-b580")


def test_each_instruction_of_the_machine_counts_as_one() -> None:
    """All four work-groups execute the code in one line; one wavefront leaves out its middle."""
    module = loaded("arrays")
    assert isinstance(module.native, GeneratedCode)
    text = module.native.code("vector_add", "gfx90a").assembly
    body = text[text.index("\nvector_add:") :].partition(".Lfunc_end")[0]
    opcodes = re.findall(r"^\t([sv]_\w+|global_\w+)", body, re.MULTILINE)
    mix = instruction_mix(run("vector_add", "native").data, Counting.PLAIN)
    found = {row.opcode: row.warp for row in mix.rows}
    assert sorted(found) == sorted(set(opcodes))
    assert found["global_store_dword"] == 16
    assert found["s_cbranch_execz"] == 16
    assert found["v_add_f32_e32"] == 16


def test_llvm_ir_for_amd_is_executed_as_machine_code(tmp_path: Path) -> None:
    file = tmp_path / "k.ll"
    file.write_text(IR)
    out = np.zeros(64, np.uint32)
    trace = kc.load(file)["k"].run(grid=1, block=64, args=[out], devices=["mi210"], code="native")
    assert trace.code == "gfx90a"
    assert out.tolist() == list(range(64))


GEOMETRY = """__kernel void k(__global float *out, __global const float *in) {
  int i = get_global_id(0);
  float3 v = (float3)(in[i], in[i] + 1, 2), w = (float3)(3, in[i], -1);
  out[4 * i] = dot(v, w);
  out[4 * i + 1] = length(v);
  out[4 * i + 2] = distance(v, w);
  out[4 * i + 3] = erfc(in[i]);
}
"""


def test_geometry_and_erfc_of_opencl(tmp_path: Path) -> None:
    file = tmp_path / "k.cl"
    file.write_text(GEOMETRY)
    x = np.linspace(-2, 3, 64, dtype=np.float32)
    out = np.zeros(256, np.float32)
    kc.load(file)["k"].run(grid=1, block=64, args=[out, x], devices=["mi210"], code="native")
    wide = x.astype(np.float64)
    v = np.stack([wide, wide + 1, np.full(64, 2.0)])
    w = np.stack([np.full(64, 3.0), wide, np.full(64, -1.0)])
    expected = [
        (v * w).sum(axis=0),
        np.linalg.norm(v, axis=0),
        np.linalg.norm(v - w, axis=0),
        [math.erfc(value) for value in wide],
    ]
    assert np.allclose(out.reshape(64, 4).T, expected, rtol=1e-5, atol=1e-6)


def test_estimates_tell_of_functions_that_are_ours(tmp_path: Path) -> None:
    file = tmp_path / "k.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void k(float *x) { x[threadIdx.x] = erff(x[threadIdx.x]); }\n'
        'extern "C" __global__ void plain(float *x) { x[threadIdx.x] += 1.0f; }\n'
    )
    for name, told in (("k", True), ("plain", False)):
        x: list[Argument] = [np.zeros(64, np.float32)]
        trace = kc.load(file)[name].run(grid=1, block=64, args=x, devices=["mi210"], code="native")
        notes = trace.profile("mi210").assumptions
        assert any("a library of ours" in note and "erf" in note for note in notes) is told


def test_opencl_is_executed_as_machine_code(tmp_path: Path) -> None:
    """Local memory from its end on: addresses of 32 bits wrap around."""
    file = tmp_path / "k.cl"
    file.write_text(OPENCL)
    a, b = np.zeros(256, np.float32), np.arange(256, dtype=np.float32)
    trace = kc.load(file)["k"].run(
        grid=4, block=64, args=[a, b, 3], devices=["mi210"], code="native"
    )
    assert trace.code == "gfx90a"
    wanted = (3 * b).reshape(4, 64)[:, ::-1].ravel() + 256
    assert np.array_equal(a, wanted)


LOCAL_ARRAYS = """__kernel void k(__global int *a, __local int *t, int step, __local int *u) {
  __local int own[4];
  int i = get_local_id(0), n = get_local_size(0);
  own[i % 4] = 0;
  t[i] = a[i] + step;
  u[i] = 2 * a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = t[n - 1 - i] + u[(i + 1) % n] + own[i % 4];
}
"""


@pytest.mark.parametrize("device", ["r9-nano", "mi210", "rx-7900-xtx"])
def test_local_memory_as_an_argument(tmp_path: Path, device: str) -> None:
    """Two arrays behind the kernel's own: the machine code gets their places as words."""
    file = tmp_path / "k.cl"
    file.write_text(LOCAL_ARRAYS)
    given = np.arange(64, dtype=np.int32) ** 2
    for engine in ("jit", "reference"):
        a = given.copy()
        arguments: list[Argument] = [a, 256, 5, 256]
        trace = kc.load(file)["k"].run(
            grid=1, block=64, args=arguments, devices=[device], code="native", engine=engine
        )
        assert np.array_equal(a, given[::-1] + 5 + 2 * np.roll(given, -1))
        assert trace.data.resources.shared_bytes == 16 + 2 * 256


def test_local_memory_as_an_argument_of_a_code_object(tmp_path: Path) -> None:
    file = tmp_path / "k.cl"
    file.write_text(LOCAL_ARRAYS)
    native = kc.load(file).native
    assert isinstance(native, GeneratedCode)
    object_file = tmp_path / "k.hsaco"
    object_file.write_bytes(native.code("k", "gfx90a").object)
    given = np.arange(64, dtype=np.int32) ** 2
    a = given.copy()
    kc.load(object_file)["k"].run(grid=1, block=64, args=[a, 256, 5, 256], devices=["mi210"])
    assert np.array_equal(a, given[::-1] + 5 + 2 * np.roll(given, -1))


def test_counts_have_the_names_of_rocprof() -> None:
    """1000 elements are four work-groups of four wavefronts, of which the last store nothing."""
    profile = run("vector_add", "native").profile("mi210")
    found = {item.name: item.value for item in metrics(profile, Naming.ROCPROF)}
    assert found["SQ_WAVES"] == 16
    assert found["SQ_INSTS_VMEM_RD"] == 2 * 16
    assert found["SQ_INSTS_VMEM_WR"] == 16
    assert found["FETCH_SIZE"] * 1024 == pytest.approx(2 * 4 * 1000, abs=128)
    mix = instruction_mix(run("vector_add", "native").data)
    assert mix.classes["VALU"] == found["SQ_INSTS_VALU"]
    assert sum(mix.classes.values()) == mix.warp_instructions


def test_a_source_has_no_counts_of_instructions_in_rocprof() -> None:
    profile = run("vector_add", "source").profile("mi210")
    found = {item.name for item in metrics(profile, Naming.ROCPROF)}
    assert "FETCH_SIZE" in found
    assert not any(name.startswith("SQ_INSTS") for name in found)


WITH_LOCAL_MEMORY = (
    *("transpose_tiled", "multiply", "kmeans_assign", "nbody", "fft512", "partial_sums", "scan"),
    *("shared_atomics", "bitonic_sort", "softmax", "attention_tile"),
)


def cases_of_code(*left_out: str) -> list[tuple[Case, str]]:
    """Kernels and the architectures that have code of them, but for some kernels."""
    return [
        (case, architecture)
        for case in CASES
        for architecture in AMD_EXECUTED
        if case.entry not in left_out
        and (case.entry != MATRIX_PRODUCT or architecture not in NO_MATRIX_CORES)
    ]


def named(value: Case | str) -> str:
    return value if isinstance(value, str) else value.entry


@pytest.mark.parametrize("architecture", NO_MATRIX_CORES)
def test_a_gpu_without_matrix_cores_has_no_code_of_their_products(architecture: str) -> None:
    (case,) = (case for case in CASES if case.entry == MATRIX_PRODUCT)
    with pytest.raises(CompilationError, match="no code of matrix_core_product"):
        machine_kernel(case, architecture)


@pytest.mark.drawn(6)
@pytest.mark.parametrize(("case", "architecture"), cases_of_code("fir"), ids=named)
def test_code_is_as_long_as_llvm_makes_it(case: Case, architecture: str) -> None:
    """What an assembler puts before aligned instructions counts, too."""
    module = loaded(case.file)
    assert isinstance(module.native, GeneratedCode)
    (symbol,) = (name for name in module if case.entry in name)
    made = module.native.code(symbol, architecture)
    code = read_kernel(made.assembly, symbol, "code")
    (image,) = read_image(made.object).kernels.values()
    assert sum(
        instruction_bytes(item, architecture) for item in padded(code.instructions, architecture)
    ) == len(image.content)


OCCUPANCY = {
    "gfx803": "r9-nano",
    "gfx908": "mi100",
    "gfx90a": "mi210",
    "gfx942": "mi300x",
    "gfx950": "mi355x",
    "gfx1030": "rx-6900-xt",
    "gfx1100": "rx-7900-xtx",
    "gfx1201": "rx-9070-xt",
}


@pytest.mark.drawn(6)
@pytest.mark.parametrize(("case", "architecture"), cases_of_code(*WITH_LOCAL_MEMORY), ids=named)
def test_registers_limit_wavefronts_as_llvm_says(case: Case, architecture: str) -> None:
    """Wavefronts of a SIMD by registers alone, of kernels without local memory."""
    module, device = loaded(case.file), kc.device(OCCUPANCY[architecture])
    assert isinstance(module.native, GeneratedCode)
    (symbol,) = (name for name in module if case.entry in name)
    text = module.native.code(symbol, architecture).assembly
    needed = module.native.resources(symbol, architecture)
    said = re.search(r"^; Occupancy: (\d+)", text, re.MULTILINE)
    assert said is not None
    assert not needed.shared_bytes
    needs = ResourceNeeds(
        0, 0, registers=needed.lane_registers, scalar_registers=needed.scalar_registers
    )
    found = occupancy(needs, LaunchShape((1 << 20, 1, 1), (256, 1, 1)), device)
    assert found.warps_per_sm // device.sm.warp_schedulers == int(said[1])


def test_profiles_have_the_registers_of_the_machine_code() -> None:
    profile = run("star5_2d", "native").profile("mi210")
    assert profile.occupancy is not None
    module = loaded("arrays")
    assert isinstance(module.native, GeneratedCode)
    registers = module.native.resources("star5_2d", "gfx90a").vector_registers
    assert profile.occupancy.registers_per_thread == registers
