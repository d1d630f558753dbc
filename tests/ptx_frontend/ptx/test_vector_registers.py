"""Registers that are vectors, moves of several elements, special registers as vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace

Array = npt.NDArray[Any]
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<24>; .reg .b64 %rd<8>;
mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [out]; mad.wide.u32 %rd1, %r0, 16, %rd0;
{body}
ret;
}}
"""


def module_of(body: str) -> Module:
    return read_ptx(KERNEL.format(body=body), "k.ptx")


def run(body: str, engine: str, block: tuple[int, int, int] = (4, 1, 1)) -> tuple[Array, Trace]:
    """Four words for each thread of the last thread block."""
    module = module_of(body)
    for reasons in module.rejected.values():
        raise reasons[0]
    out = np.zeros((int(np.prod(block)), 4), np.uint32)
    return out, execute(module.kernels["k"], Launch((1, 1, 1), block, (out,)), engine=engine)


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("name", ["tid", "ntid", "ctaid", "nctaid"])
def test_special_registers_are_vectors(name: str, engine: str) -> None:
    body = f"""mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mad.lo.u32 %r3, %r2, 3, %r1;
    mad.lo.u32 %r3, %r3, 2, %r0; mad.wide.u32 %rd1, %r3, 16, %rd0;
    mov.v4.u32 {{%r4, %r5, %r6, %r7}}, %{name}; st.global.v4.u32 [%rd1], {{%r4, %r5, %r6, %r7}};"""
    out, _ = run(body, engine, (2, 3, 2))
    z, y, x = (part.ravel() for part in np.indices((2, 3, 2)))
    zero = np.zeros_like(x)
    wanted = {
        "tid": (x, y, z, zero),
        "ntid": (zero + 2, zero + 3, zero + 2, zero),
        "ctaid": (zero,) * 4,
        "nctaid": (zero + 1, zero + 1, zero + 1, zero),
    }
    np.testing.assert_array_equal(out, np.stack(wanted[name], axis=1))


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_elements_have_names_of_axes_and_colours(engine: str) -> None:
    body = """.reg .v4 .u32 v, w<2>; mov.u32 v.x, 1; mov.u32 v.g, 2; mov.u32 v.z, 3;
    mov.u32 v.a, %r0; mov.v4.u32 w1, v; add.u32 w1.r, w1.x, w1.w; st.global.v4.u32 [%rd1], w1;"""
    out, _ = run(body, engine)
    assert out.tolist() == [[1 + i, 2, 3, i] for i in range(4)]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_move_reads_all_before_it_writes(engine: str) -> None:
    """A move of a vector is one instruction."""
    body = """mov.u32 %r1, 10; mov.u32 %r2, 20; mov.u32 %r3, 30; mov.u32 %r4, 40;
    mov.v4.b32 {%r1, %r2, %r3, %r4}, {%r4, %r1, %r2, %r3}; st.global.v4.u32 [%rd1],
    {%r1, %r2, %r3, %r4};"""
    out, trace = run(body, engine)
    assert out.tolist() == [[40, 10, 20, 30]] * 4
    assert [r.mnemonic for r in trace.instructions if r.is_source].count("mov.v4.b32") == 1


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_vector_is_halves_of_one_value(engine: str) -> None:
    body = """.reg .v2 .b32 w; .reg .v2 .f32 f; mov.u32 w.x, 7; mov.u32 w.y, 9; mov.b64 %rd2, w;
    mov.b64 f, %rd2; @!%p1 mov.v2.f32 f, {f.y, f.x}; st.global.b64 [%rd1], %rd2;
    st.global.v2.f32 [%rd1+8], f;"""
    out, _ = run(body, engine)
    assert out.tolist() == [[7, 9, 9, 7]] * 4


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("mov.v4.u64 {%rd1, %rd2, %rd3, %rd4}, {%rd1, %rd2, %rd3, %rd4};", "not supported"),
        ("mov.v2.f16 {%h1, %h2}, {%h3, %h4};", "not supported"),
        ("mov.f16 %h1, %h2;", "none of PTX"),
        ("mov.v2.tf32 {%r1, %r2}, {%r3, %r4};", "not supported"),
        ("mov.v4.u32 {%r1, %r2, %r3}, %tid;", "takes 4 elements"),
        ("mov.v2.u32 {%r1, %r2}, %tid;", "is a vector of 4 elements"),
        (".reg .v2 .u32 w; mov.u32 w.z, 1;", "no register 'w.z'"),
        (".reg .v2 .u32 w; .reg .u32 w;", "declared twice"),
        (".reg .v4 .pred w;", "registers of type .v4.pred are not supported"),
    ],
)
def test_what_vectors_cannot_do(body: str, reason: str) -> None:
    with pytest.raises(KernelcastError, match=reason):
        raise next(iter(module_of(body).rejected.values()))[0]
