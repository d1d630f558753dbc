"""Statements of PTX on rows of words, a thread each, on an engine: what values tests start from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

__all__ = ["Words", "run_statements"]

Words = npt.NDArray[np.uint32]

THREADS = 64
_KERNEL = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{{
.reg .pred %p<4>; .reg .b8 %b<4>; .reg .b16 %h<12>; .reg .b32 %r<40>; .reg .b64 %d<12>;
mov.u32 %r31, %ctaid.x; mov.u32 %r32, %tid.x; mad.lo.u32 %r30, %r31, {threads}, %r32;
mul.lo.u32 %r31, %r30, {row_bytes}; mul.lo.u32 %r32, %r30, {out_bytes};
cvt.u64.u32 %d8, %r31; cvt.u64.u32 %d9, %r32;
ld.param.u64 %d10, [data]; add.u64 %d8, %d8, %d10;
ld.param.u64 %d11, [out]; add.u64 %d9, %d9, %d11;
{loads}
{statements}
ret;
}}
"""


def run_statements(statements: Sequence[str], rows: Words, engine: str) -> Words:
    """Results of shape (threads, statements).

    Statements read the words of their row in %r1, %r2, ..., the lower halves in %h1, ...; they
    write %r0, or %h0 or %b0 whose upper bits are left out.
    """
    columns = rows.shape[1]
    loads = [
        f"ld.global.u32 %r{i}, [%d8+{4 * (i - 1)}]; cvt.u16.u32 %h{i}, %r{i};"
        for i in range(1, columns + 1)
    ]
    lines = [
        f"mov.u32 %r0, 0; mov.b16 %h0, 0; {statement} {_stored(statement)} "
        f"st.global.u32 [%d9+{4 * number}], %r0;"
        for number, statement in enumerate(statements)
    ]
    text = _KERNEL.format(
        threads=THREADS,
        row_bytes=4 * columns,
        out_bytes=4 * len(statements),
        loads="\n".join(loads),
        statements="\n".join(lines),
    )
    module = read_ptx(text, "statements.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    groups = -(-len(rows) // THREADS)
    padded = np.resize(rows, (groups * THREADS, columns))
    out = np.zeros((groups * THREADS, len(statements)), np.uint32)
    shape = Launch((groups, 1, 1), (THREADS, 1, 1), (padded, out))
    execute(module.kernels["k"], shape, warp_width=32, engine=engine)
    return out[: len(rows)]


def _stored(statement: str) -> str:
    """Brings a short result into %r0."""
    if " %b0" in statement:
        return "mov.b32 %r0, {%h0, %h0}; cvt.u32.u8 %r0, %b0;"
    return "cvt.u32.u16 %r0, %h0;" if " %h0" in statement else ""
