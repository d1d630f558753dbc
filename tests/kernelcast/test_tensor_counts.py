"""Tensor operations in counts, mixes, profiles and stored traces; sums without rounding."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kernelcast as kc
from kernelcast.cli import app
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.isa.tensor_types import TensorType
from kernelcast.simcore.profile.metric_names import Naming, metrics

FORMS = [
    # (instruction, registers of D, A, B; type of D; type of the count; M x N x K)
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, "f32", "fp16", 16 * 8 * 16),
    ("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, "b32", "fp16_fp16", 16 * 8 * 8),
    ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, "f32", "bf16", 16 * 8 * 16),
    ("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, "f32", "tf32", 16 * 8 * 4),
    ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, "f64", "fp64", 8 * 8 * 4),
    ("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 4, 4, 2, "s32", "int8", 16 * 8 * 32),
    ("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 2, 1, 1, "s32", "int4", 8 * 8 * 32),
    ("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, "s32", "b1", 1 << 15),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, "f32", "fp8", 16 * 8 * 32),
]
HEAD = ".version 8.4\n.target sm_89\n.address_size 64\n.visible .entry k(.param .u64 c) {\n"


def product(form: str, d: int, a: int, b: int, kind: str, metadata: str = "") -> str:
    inputs = "b64" if kind == "f64" else "b32"
    zero = {"f32": "0f00000000", "f64": "0d0000000000000000"}.get(kind, "0")
    none = "0d0000000000000000" if kind == "f64" else "0"
    names = [
        ", ".join(f"%{x}{n}" for n in range(count))
        for x, count in zip("dab", (d, a, b), strict=True)
    ]
    inputs = "f64" if kind == "f64" else inputs
    lines = [
        f".reg .{kind} %d<{d}>; .reg .{inputs} %a<{a}>; .reg .{inputs} %b<{b}>; .reg .b32 %m;",
        *(f"mov.{kind} %d{n}, {zero};" for n in range(d)),
        *(f"mov.{inputs} %a{n}, {none};" for n in range(a)),
        *(f"mov.{inputs} %b{n}, {none};" for n in range(b)),
        "mov.b32 %m, 0x44444444;",
        f"{form} {{{names[0]}}}, {{{names[1]}}}, {{{names[2]}}}, {{{names[0]}}}{metadata};",
        "ret; }",
    ]
    return HEAD + "\n".join(lines)


def run(text: str, warps: int = 3) -> kc.KernelTrace:
    return kc.load_ptx(text)["k"].run(grid=5, block=32 * warps, args=[np.zeros(8, np.float32)])


@pytest.mark.parametrize("form", FORMS, ids=[form[5] for form in FORMS])
def test_a_product_counts_its_multiply_adds(
    form: tuple[str, int, int, int, str, str, int],
) -> None:
    type_, multiply_adds = form[5:]
    trace = run(product(*form[:5]))
    expected = {type_: 2.0 * multiply_adds * 5 * 3}
    assert trace.profile("a100-80gb").instructions.tensor_operations == expected
    for counting in Counting:
        assert instruction_mix(trace.data, counting).tensor_operations == expected
    counts = trace.profile("a100-80gb").instructions
    assert counts.fp32 == counts.fp64 == counts.fma32 == counts.fma64 == 0.0


def test_sparse_products_have_a_type_of_their_own() -> None:
    form = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    trace = run(product(form, 4, 4, 4, "f32", ", %m, 0x0"), 1)
    found = trace.profile("a100-80gb").instructions.tensor_operations
    assert found == {"fp16 sparse": 2.0 * 16 * 8 * 32 * 5}


def test_profiles_name_them_as_nsight_compute_does() -> None:
    profile = run(product(*FORMS[0][:5]), 1).profile("a100-80gb")
    found = {item.name: item.value for item in metrics(profile, Naming.NCU)}
    assert found["sm__ops_path_tensor_src_fp16_dst_fp32.sum"] == 2.0 * 2048 * 5
    assert TensorType.FP16_FP16.metric == "src_fp16_dst_fp16"
    assert TensorType.B1.metric == "src_int1"


def test_kernels_without_products_count_none() -> None:
    trace = run(HEAD + ".reg .f32 %f<2>; mov.f32 %f0, 0f00000000; add.f32 %f1, %f0, %f0; ret; }")
    assert trace.profile("a100-80gb").instructions.tensor_operations == {}
    assert instruction_mix(trace.data).tensor_operations == {}


def test_stored_traces_keep_them(tmp_path: Path) -> None:
    trace = run(product(*FORMS[0][:5]))
    kc.save_trace(trace, tmp_path / "k.parquet")
    stored = kc.load_trace(tmp_path / "k.parquet")
    assert stored.data.instructions == trace.data.instructions
    assert instruction_mix(stored.data).tensor_operations == {"fp16": 2.0 * 2048 * 15}


def test_mix_prints_them(tmp_path: Path) -> None:
    path = workload(tmp_path)
    found = CliRunner().invoke(app, ["mix", str(path), "--json"])
    assert json.loads(found.output)["tensor_operations"] == {"fp16": 2.0 * 2048}
    assert "tensor operations: 4,096 fp16" in CliRunner().invoke(app, ["mix", str(path)]).output


CANCELLING = (
    HEAD
    + """
.reg .f32 %d<4>; .reg .b32 %x; .reg .b64 %rd<3>; .reg .b32 %t;
mov.b32 %x, 0x14006800;  // halves 2048 and 2^-10
mov.f32 %d0, 0fCC000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;  // -2^25
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  {%d0, %d1, %d2, %d3}, {%x, %x, %x, %x}, {%x, %x}, {%d0, %d1, %d2, %d3};
ld.param.u64 %rd1, [c]; mov.u32 %t, %tid.x; mul.wide.u32 %rd2, %t, 4; add.s64 %rd1, %rd1, %rd2;
st.global.f32 [%rd1], %d0; ret; }
"""
)
EXACT = 8 * 2.0**-20
"""Eight products of 2048 squared cancel with the accumulator, eight of 2^-10 squared are left."""


def workload(folder: Path) -> Path:
    (folder / "k.ptx").write_text(CANCELLING)
    (folder / "reference.py").write_text(
        "import numpy as np\n\ndef exact(inputs, sizes):\n"
        f"    return {{'c': np.full(32, {EXACT!r}, np.float32)}}\n"
    )
    path = folder / "k.toml"
    path.write_text(
        """
[kernel]
source = "k.ptx"
[launch]
grid = [1]
block = [32]
[[args]]
name = "c"
type = "f32[32]"
init = "zeros"
[check]
reference = "reference.py:exact"
rtol = 0.0
atol = 0.0
"""
    )
    return path


@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_exact_sums_round_once(engine: str) -> None:
    kernel = kc.load_ptx(CANCELLING)["k"]
    usual, exact = np.ones(32, np.float32), np.ones(32, np.float32)
    kernel.run(grid=1, block=32, args=[usual], engine=engine)
    trace = kernel.run(grid=1, block=32, args=[exact], engine=engine, exact_sums=True)
    assert not usual.any()
    np.testing.assert_array_equal(exact, np.float32(EXACT))
    assert trace.profile(load_device("a100-80gb")).instructions.tensor_operations == {
        "fp16": 4096.0
    }


def test_the_command_line_offers_them(tmp_path: Path) -> None:
    path = str(workload(tmp_path))
    assert CliRunner().invoke(app, ["run", path, "--check"]).exit_code == 1
    assert CliRunner().invoke(app, ["run", path, "--check", "--exact-sums"]).exit_code == 0
