"""LLVM IR: what a module holds, and errors with their places."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.errors import KernelcastError, UnsupportedInstruction
from kernelcast.ptx_frontend.llvm import read_llvm

shared: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "llvm_kernels.py")))
module = shared.module
compiled = shared.compiled
NESTED = f"[{1 << 62} x " * 300 + "i8" + "]" * 300
"""A type whose size has more digits than Python prints."""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  %x = add i129 1, 2\n  ret void", "type 'i129' is not supported"),
        ("  %x = va_arg ptr null, i32\n  ret void", "instruction 'va_arg' is not supported"),
        ("  call void @unknown()\n  ret void", "unknown"),
        ("  %a = alloca i32, i32 %n\n  ret void", "alloca of a size that is not constant"),
        (f"  %a = alloca {NESTED}\n  ret void", "alloca of more than 1048576 bytes"),
        (f"  store {NESTED} undef, ptr addrspace(3) @tile\n  ret void", "too many elements"),
        ("  store i8 1, ptr addrspace(3) @tile\n  ret void", "@tile does not fit 64 bits"),
        ("  call void %f()\n  ret void", "a call of an address is not supported"),
        ("  call void @again()\n  ret void", "recursion is not supported: again calls itself"),
        ("  %x = load [2 x i24], ptr addrspace(1) %o\n  ret void", "[2 x i24] in memory"),
        ("  %x = load i32, ptr addrspace(1) @far\n  ret void", "declared but not defined"),
        ("  %x = load i32, ptr addrspace(7) null\n  ret void", "addrspace(7)"),
    ],
)
def test_what_is_not_supported_rejects_its_own_kernel_only(body: str, message: str) -> None:
    made = module(
        f"""@far = external addrspace(1) global i32
@tile = internal addrspace(3) global {NESTED} undef
declare void @unknown()
define void @again() {{
  call void @again()
  ret void
}}
define spir_kernel void @bad(ptr addrspace(1) %o, i32 %n) {{
  %f = inttoptr i64 4 to ptr
{body}
}}
define spir_kernel void @good() {{
  ret void
}}
"""
    )
    assert list(made.kernels) == ["good"]
    (error, *_) = made.rejected["bad"]
    assert isinstance(error, UnsupportedInstruction)
    assert message in error.message
    assert error.span is not None
    assert error.span.text.strip()


def test_kernels_that_old_compilers_list() -> None:
    made = module("""define void @k(ptr addrspace(1) %o) {
  ret void
}
!opencl.kernels = !{!0}
!0 = !{ptr @k, !1}
!1 = !{!"kernel_arg_addr_space", i32 1}
""")
    assert list(made.kernels) == ["k"]


def test_the_required_size_of_the_thread_block_and_the_source_line() -> None:
    kernel = compiled("""define spir_kernel void @k() !reqd_work_group_size !9 !dbg !4 {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0), !dbg !8
  ret void, !dbg !8
}
!llvm.module.flags = !{!1}
!llvm.dbg.cu = !{!2}
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !3)
!3 = !DIFile(filename: "k.cl", directory: "/d")
!4 = distinct !DISubprogram(
  name: "k", file: !3, line: 3, type: !5, unit: !2, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(cc: DW_CC_LLVM_OpenCLKernel, types: !6)
!6 = !{null}
!8 = !DILocation(line: 12, column: 5, scope: !4)
!9 = !{i32 8, i32 4, i32 1}
""")
    assert kernel.required_threads == (8, 4, 1)
    origins = [x.origin for x in kernel.instructions if not x.is_added]
    assert [(x.file, x.line, x.column) for x in origins if x] == [("k.cl", 12, 5)] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"define spir_kernel void @k( {", "not LLVM IR"),
        (b'target triple = "spir-unknown-unknown"', "compile for spir64"),
        (b'target datalayout = "e-p:32:32"', "compile for spir64"),
        (b"\xff\xfe\x00", "not LLVM IR"),
    ],
)
def test_what_is_no_module(text: bytes, message: str) -> None:
    with pytest.raises(KernelcastError, match=message):
        read_llvm(text, "bad.ll", is_text=True)


def test_damaged_bitcode_leaves_this_process_alone() -> None:
    with pytest.raises(KernelcastError, match=r"not LLVM IR: bad\.bc"):
        read_llvm(b"BC\xc0\xde" + bytes(range(256)), "bad.bc", is_text=False)


_COPIES = """
import json, os, sys
sys.path[:] = json.loads(sys.argv[1])
from kernelcast.ptx_frontend.llvm import read_llvm
text = b"define spir_kernel void @k() {\\n  ret void\\n}\\n"
show = lambda: print(*read_llvm(text, "k.ll", True).kernels, flush=True)
show()
copy = os.fork()
show()
if copy:
    os.waitpid(copy, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs copies of processes")
def test_a_copy_of_this_process_reads_by_itself() -> None:
    """A copy reads, and leaves the process that reads for the original alone."""
    text = b"define spir_kernel void @k() {\n  ret void\n}\n"
    assert read_llvm(text, "here.ll", is_text=True).kernels
    made = subprocess.run(
        [sys.executable, "-c", _COPIES, json.dumps(sys.path)], capture_output=True, check=True
    )
    assert made.stdout == b"k\nk\nk\n"
