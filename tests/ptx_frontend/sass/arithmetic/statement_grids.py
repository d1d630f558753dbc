"""Many PTX statements in one kernel, each computed for a grid of hard values by every lane.

A statement computes `ra` (32 bits) or `rx` (64 bits) from `a`, `b`, `c`, `d` (32 bits), `x`, `y`,
`z` (64 bits) and the predicates `p` and `q`; other registers of its own it declares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs

__all__ = ["HARD_WORDS", "assert_same_as_ptx", "launch_of", "program"]

HARD_WORDS = (
    *(0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000),
    *(0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF),
)
_BYTES = 48
_THREADS = 256
_HEAD = """
.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{{
    .reg .pred p, q;
    .reg .b32 a, b, c, d, t;
    .reg .b64 x, y, z, from, to, far;
    mov.u32 t, %tid.x;
    ld.param.u64 from, [in];
    ld.param.u64 to, [out];
    mad.wide.u32 from, t, 48, from;
    ld.global.b32 a, [from];
    ld.global.b32 b, [from+4];
    ld.global.b32 c, [from+8];
    ld.global.b32 d, [from+12];
    ld.global.b64 x, [from+16];
    ld.global.b64 y, [from+24];
    ld.global.b64 z, [from+32];
    setp.lt.s32 p, a, b;
    setp.ne.u32 q, c, d;
    mul.wide.u32 far, t, 8;
    add.s64 to, to, far;
"""


def program(statements: Sequence[str], target: str) -> str:
    """A kernel that stores the result of every statement in 64 bits."""
    lines = [_HEAD.format(target=target)]
    for number, statement in enumerate(statements):
        result = "rx" if "rx" in statement else "ra"
        lines.append(f"{{ .reg .b32 ra; .reg .b64 rx; {statement}")
        if result == "ra":
            lines.append("cvt.u64.u32 rx, ra;")
        lines.append(f"st.global.b64 [to+{8 * _THREADS * number}], rx; }}")
    return "\n".join([*lines, "ret; }"])


def launch_of(statements: Sequence[str], seed: int = 0) -> Launch:
    """A launch over hard values and drawn ones."""
    random = np.random.default_rng(seed)
    words = random.choice(np.array(HARD_WORDS, np.uint32), (_THREADS, _BYTES // 4))
    drawn = random.integers(0, 1 << 32, words.shape, np.uint32)
    words = np.where(random.random(words.shape) < 0.3, drawn, words)
    results = np.zeros(len(statements) * _THREADS, np.uint64)
    return Launch((1, 1, 1), (_THREADS, 1, 1), (words, results, 7))


def assert_same_as_ptx(
    statements: Sequence[str], architecture: str, engines: Sequence[str] = ENGINES
) -> None:
    """Machine code gives on engines what PTX gives on the reference engine."""
    target = "sm_90" if architecture in ("sm_100", "sm_120") else architecture
    ptx, launch = program(statements, target), launch_of(statements)
    expected = _results(read_ptx(ptx, "k.ptx").kernels["k"], launch, "reference")
    kernel = machine_kernel(ptx, architecture)
    for engine in engines:
        found = _results(kernel, launch, engine)
        wrong = [
            f"{statement} (lane {lane}: {found[i, lane]:#x}, not {expected[i, lane]:#x})"
            for i, statement in enumerate(statements)
            for lane in np.flatnonzero(found[i] != expected[i])[:1]
        ]
        assert not wrong, f"{architecture}, {engine}: {wrong}"


def _results(kernel: Any, launch: Launch, engine: str) -> npt.NDArray[np.uint64]:
    return outputs(kernel, launch, engine)[1].reshape(-1, _THREADS)
