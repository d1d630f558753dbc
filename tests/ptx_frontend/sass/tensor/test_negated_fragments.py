"""DMMA takes the negations of its fragments over, as the assembler folds them into it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs

_SHAPES = {"sm_80": ("m8n8k4", 1, 1, 2), "sm_90": ("m16n8k16", 8, 4, 4)}
_WORDS = 32


def _ptx(architecture: str) -> str:
    """Four products, each with another fragment negated, the last one with none."""
    shape, *sizes = _SHAPES[architecture]
    lines, place = [], 0
    for letter, size in zip("abc", sizes, strict=True):
        for index in range(size):
            lines.append(f"ld.global.f64 %{letter}{index}, [%p+{8 * place}];")
            lines.append(f"neg.f64 %n{letter}{index}, %{letter}{index};")
            place += 1
    for negated in ("a", "b", "c", ""):
        names = [f"n{letter}" if letter == negated else letter for letter in "abc"]
        groups = [
            "{" + ", ".join(f"%{name}{i}" for i in range(size)) + "}"
            for name, size in zip(("d", *names), (sizes[2], *sizes), strict=True)
        ]
        lines.append(f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {', '.join(groups)};")
        lines += [f"st.global.f64 [%q+{8 * i}], %d{i};" for i in range(sizes[2])]
        lines.append("add.s64 %q, %q, 1024;")
    body = "\n".join(lines)
    registers = ", ".join(f"%{n}<16>" for n in ("a", "b", "c", "d", "na", "nb", "nc"))
    return f"""
.version 8.0
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 given, .param .u64 found) {{
.reg .f64 {registers}; .reg .b64 %p, %q, %w; .reg .b32 %t;
ld.param.u64 %p, [given]; ld.param.u64 %q, [found]; mov.u32 %t, %tid.x;
mul.wide.u32 %w, %t, {8 * _WORDS}; add.s64 %p, %p, %w;
mul.wide.u32 %w, %t, {8 * 4}; add.s64 %q, %q, %w;
{body}
ret;
}}
"""


@pytest.mark.parametrize("architecture", sorted(_SHAPES))
def test_negated_fragments_of_doubles(architecture: str) -> None:
    text = _ptx(architecture)
    given = np.random.default_rng(5).normal(size=32 * _WORDS)
    launch = Launch((1, 1, 1), (32, 1, 1), (given, np.zeros(4 * 128)))
    expected = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")[1]
    run = partial(outputs, machine_kernel(text, architecture), launch)
    for engine in ENGINES:
        assert (run(engine)[1] == expected).all()
    sums = expected.reshape(4, 128)
    assert (sums[0] == sums[1]).all()
    assert (sums[2] == -sums[0]).all()
    assert (sums[3] != sums[2]).any()
