"""`kc.load` of LLVM IR: text and bitcode, old and new, from the command line too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import InputError, IrSyntaxError, SpirvError, UnsupportedInstruction

OLD_TEXT = """; typed pointers, and a name of debug information that LLVM has changed since
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512"
target triple = "spir64-unknown-unknown"

define spir_kernel void @saxpy(float addrspace(1)* nocapture %y,
    float addrspace(1)* nocapture readonly %x, float %a, i32 %n) !dbg !4 {
  %1 = tail call spir_func i64 @_Z13get_global_idj(i32 0)
  %2 = trunc i64 %1 to i32
  %3 = icmp slt i32 %2, %n
  br i1 %3, label %4, label %11

; <label>:4:
  %5 = sext i32 %2 to i64
  %6 = getelementptr inbounds float, float addrspace(1)* %x, i64 %5
  %7 = load float, float addrspace(1)* %6, align 4
  %8 = getelementptr inbounds float, float addrspace(1)* %y, i64 %5
  %9 = load float, float addrspace(1)* %8, align 4
  %10 = tail call float @llvm.fmuladd.f32(float %a, float %7, float %9)
  store float %10, float addrspace(1)* %8, align 4
  br label %11

; <label>:11:
  ret void
}

declare spir_func i64 @_Z13get_global_idj(i32)
declare float @llvm.fmuladd.f32(float, float, float)
!llvm.module.flags = !{!1}
!llvm.dbg.cu = !{!2}
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3)
!3 = !DIFile(filename: "k.cl", directory: "/d")
!4 = distinct !DISubprogram(name: "saxpy", file: !3, line: 3, type: !5, unit: !2)
!5 = !DISubroutineType(cc: DW_CC_LLVM_OpenCLKernel, types: !6)
!6 = !{null}
"""
MODERN_TEXT = OLD_TEXT.replace("DW_CC_LLVM_OpenCLKernel", "DW_CC_LLVM_DeviceKernel")

WORKLOAD = """[kernel]
source = "saxpy.bc"
[sizes.full]
n = 60
[launch]
grid = [2]
block = [32]
[[args]]
name = "y"
type = "f32[64]"
[[args]]
name = "x"
type = "f32[64]"
[[args]]
name = "a"
type = "f32"
value = "2"
[[args]]
name = "n"
type = "s32"
value = "n"
"""


def write(folder: Path, suffix: str) -> Path:
    file = folder / f"saxpy{suffix}"
    if suffix == ".ll":
        file.write_text(OLD_TEXT)
    else:
        file.write_bytes(llvm.parse_assembly(MODERN_TEXT).as_bitcode())
    return file


@pytest.mark.parametrize("suffix", [".ll", ".bc", ".unusual"])
@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_a_file_runs(tmp_path: Path, suffix: str, engine: str) -> None:
    """Bitcode is known by its first bytes, whatever the file is called."""
    y, x = np.arange(64, dtype=np.float32), np.full(64, 3, np.float32)
    kernel = kc.load(write(tmp_path, suffix)).only_kernel()
    kernel.run(grid=2, block=32, args=[y, x, 2.0, 60], engine=engine)
    wanted = np.arange(64, dtype=np.float32)
    wanted[:60] += 6
    assert np.array_equal(y, wanted)


def test_a_profile_and_an_estimate(tmp_path: Path) -> None:
    y, x = np.zeros(1024, np.float32), np.ones(1024, np.float32)
    kernel = kc.load(write(tmp_path, ".bc"))["saxpy"]
    trace = kernel.run(grid=8, block=128, args=[y, x, 2.0, 1024])
    profile = trace.profile(kc.device("gtx-480"))
    assert profile.traffic.dram_read_transactions == 2 * 4096 / 32
    assert kc.estimate(profile).time_s > 0


def test_the_name_of_a_file_that_is_no_module(tmp_path: Path) -> None:
    file = tmp_path / "wrong.ll"
    file.write_text("kernel void f() {}")
    with pytest.raises(IrSyntaxError, match=r"wrong\.ll"):
        kc.load(file)
    with pytest.raises(InputError, match="cannot read"):
        kc.load(tmp_path / "missing.ll")
    with pytest.raises(InputError, match="for no architecture"):
        kc.load(write(tmp_path, ".ll"), arch="sm_70")


def test_a_place_in_the_text_of_a_module(tmp_path: Path) -> None:
    file = tmp_path / "bad.ll"
    file.write_text(OLD_TEXT.replace("tail call float", "frobnicate float"))
    with pytest.raises(IrSyntaxError) as caught:
        kc.load(file)
    assert caught.value.span is not None
    assert caught.value.span.line == 18
    assert str(file) in caught.value.span.place


def test_a_kernel_that_is_not_supported_says_where(tmp_path: Path) -> None:
    file = tmp_path / "odd.ll"
    call = "tail call float @llvm.fmuladd.f32(float %a, float %7, float %9)"
    file.write_text(OLD_TEXT.replace(call, 'call float asm "nop", "=r,r"(float %7)'))
    with pytest.raises(UnsupportedInstruction, match="asm") as caught:
        kc.load(file)["saxpy"]
    assert caught.value.span is not None
    assert "call float asm" in caught.value.span.text


def test_the_command_line_counts_in_terms_of_llvm(
    tmp_path: Path, output: Callable[..., str]
) -> None:
    write(tmp_path, ".bc")
    (tmp_path / "saxpy.toml").write_text(WORKLOAD)
    rows = json.loads(output("mix", str(tmp_path / "saxpy.toml"), "--json"))["mix"]
    counts = {row["opcode"]: row["thread"] for row in rows}
    assert counts["load global (4 bytes)"] == 2 * 60
    assert counts["call llvm.fmuladd.f32()"] == 60
    assert counts["icmp"] == 64


@pytest.mark.parametrize("producer", ["translator", "llvm"])
def test_spirv_is_known_by_its_first_bytes(tmp_path: Path, producer: str) -> None:
    data = Path(__file__).parents[3] / "ptx_frontend" / "data" / f"spirv_tour_{producer}.spv"
    for name in ("kernels.spv", "kernels.bin"):
        (tmp_path / name).write_bytes(data.read_bytes())
        x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
        kc.load(tmp_path / name)["saxpy"].run(grid=2, block=32, args=[y, x, 2.0, 60])
        assert y.tolist() == [2 * i + 1 for i in range(60)] + [1] * 4
    (tmp_path / "broken.spv").write_bytes(data.read_bytes()[:50])
    with pytest.raises(SpirvError, match="byte"):
        kc.load(tmp_path / "broken.spv")
