"""Compiled code has the stack that it needs, or the kernel is refused with the number."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernelcast.errors import ExecutionError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.runtime import run as jit_run
from kernelcast.simcore.engine.jit.runtime.stack_threads import end_idle_threads
from kernelcast.simcore.host.llvm import compile_module
from kernelcast.simcore.host.stack_frames import frame_bytes
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

REGISTERS = 90
STEPS = 1500


def _body() -> str:
    """Keeps so many values by lane that unoptimized code takes far more than 128 KiB."""
    start = "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;"
    start += "ld.global.u32 %r2, [%rd2];"
    steps = (
        f"mad.lo.u32 %r{3 + i % REGISTERS}, %r{3 + (7 * i + 1) % REGISTERS}, %r2, %r1;"
        for i in range(STEPS)
    )
    total = (f"add.u32 %r2, %r2, %r{3 + i};" for i in range(REGISTERS))
    return start + "".join(steps) + "".join(total) + "st.global.u32 [%rd2], %r2; ret;"


def _expected(words: int) -> list[int]:
    found = []
    for lane in range(words):
        held, factor = [0] * REGISTERS, lane + 1
        for i in range(STEPS):
            held[i % REGISTERS] = held[(7 * i + 1) % REGISTERS] * factor + lane
        found.append((factor + sum(held)) % (1 << 32))
    return found


def run_with_small_stacks(kernel: Kernel) -> None:
    """Runs the kernel like a program whose own threads have 128 KiB."""
    out = np.arange(1, 33, dtype=np.uint32)
    threading.stack_size(1 << 17)
    vars(jit_run)["LARGE_IR"] = 0  # nothing is optimized
    execute(kernel, Launch((1, 1, 1), (32, 1, 1), (out,)), engine="jit")
    assert out.tolist() == _expected(32)
    assert threading.stack_size() == 1 << 17


def test_small_stacks_of_the_process_do_not_matter() -> None:
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from kernelcast.ptx_frontend import read_ptx
from test_stacks import _body, run_with_small_stacks
text = '''.version 8.0\\n.target sm_75\\n.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<200>; .reg .b64 %rd<9>;
''' + _body() + '}}'
run_with_small_stacks(read_ptx(text, 'k.ptx').kernels['k'])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_kernel_that_takes_too_much_is_refused_with_the_number(
    compile_ptx: Callable[..., Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = compile_ptx("ret;")
    launch = Launch((1, 1, 1), (32, 1, 1), (np.zeros(1, np.uint32),))
    monkeypatch.setattr(jit_run._CompiledKernel, "stack_bytes", 1 << 30)
    with pytest.raises(ExecutionError, match="takes 1,073,741,824 bytes of stack"):
        execute(kernel, launch, engine="jit")


def test_a_process_without_room_for_a_stack_says_so(
    compile_ptx: Callable[..., Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    end_idle_threads()

    class NoRoom(threading.Thread):
        def start(self) -> None:
            if threading.stack_size():
                raise RuntimeError("can't start new thread")
            super().start()

    monkeypatch.setattr(threading, "Thread", NoRoom)
    launch = Launch((1, 1, 1), (32, 1, 1), (np.zeros(1, np.uint32),))
    with pytest.raises(ExecutionError, match="more than this process can have"):
        execute(compile_ptx("ret;"), launch, engine="jit")


def test_frames_are_read_from_first_instructions() -> None:
    x86 = b"\x55\x48\x89\xe5\x41\x57\x48\x81\xe4\x00\xff\xff\xff\x48\x81\xec\x00\x7b\x08\x00"
    inside = b"\x90" * 15 + b"\x48\x81\xec\xff\xff\xff\x7f"  # does not begin a function
    assert frame_bytes(x86, "x86_64") == 0x87B00
    assert frame_bytes(b"\x90" * 16 + x86 + b"\xc3" * 12 + x86, "x86_64") == 2 * 0x87B00
    assert frame_bytes(x86 + b"\xc3" * 12 + inside, "x86_64") == 0x87B00
    words = (
        0xD14007FF,  # sub sp, sp, #1, lsl #12
        0xD10083FF,  # sub sp, sp, #32
        0xD1400BE9,  # sub x9, sp, #2, lsl #12
        0xD10043E0,  # sub x0, sp, #16: an address
        0x914007FF,  # add sp, sp, #1, lsl #12
    )
    arm = b"".join(word.to_bytes(4, "little") for word in words)
    assert frame_bytes(arm, "aarch64") == 4096 + 32 + 8192


@pytest.mark.parametrize("optimization", [0, 2])
def test_the_frame_of_compiled_code_holds_its_variables(optimization: int) -> None:
    module = compile_module(
        """declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define i8 @run(i64 %at) {
  %room = alloca [100000 x i8]
  call void @llvm.memset.p0.i64(ptr %room, i8 1, i64 100000, i1 true)
  %place = getelementptr i8, ptr %room, i64 %at
  %value = load volatile i8, ptr %place
  ret i8 %value
}""",
        optimization,
    )
    assert 100_000 <= module.stack_bytes <= 101_000
