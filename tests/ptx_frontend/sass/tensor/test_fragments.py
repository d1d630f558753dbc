"""LDSM, STSM and MOVM against the statements that they were assembled from."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs

_WORDS = 4


def _named(letter: str, count: int) -> str:
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def _old() -> list[tuple[str, int]]:
    """Statements, and how many registers they load; stores load none."""
    found = [("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;", 1)]
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            name = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            found.append((f"{name} {_named('d', count)}, [%row+512];", count))
    return found


def _stores(form: str, counts: tuple[int, ...] = (1, 2, 4)) -> list[tuple[str, int]]:
    return [
        (f"stmatrix.sync.aligned.{form.format(count)} [%row], {_named('a', count)};", 0)
        for count in counts
    ]


def _bytes() -> list[tuple[str, int]]:
    found = []
    for type_ in ("b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"):
        for count in (1, 2):
            name = f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{type_}"
            found.append((f"{name} {_named('d', 2 * count)}, [%row];", 2 * count))
    name = "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32"
    found.append((f"{name} {_named('d', 4)}, [%row];", 4))
    return found


_STORES = [*_stores("m8n8.x{}.shared.b16"), *_stores("m8n8.x{}.trans.shared.b16")]


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("architecture", "statements"),
    [
        ("sm_75", _old()),
        ("sm_90", [*_old(), *_STORES]),
        ("sm_120a", [*_old()[:3], *_bytes(), *_stores("m16n8.x{}.trans.shared.b8")]),
    ],
)
def test_matrices_move_as_in_ptx(architecture: str, statements: list[tuple[str, int]]) -> None:
    lines, written = [], 0
    for text, count in statements:
        lines.append(text)
        if not count:
            lines += ["bar.sync 0;", f"ld.shared.v4.b32 {_named('d', _WORDS)}, [%row];"]
        for i in range(count or _WORDS):
            lines.append(f"st.global.b32 [%out+{128 * written}], %d{i};")
            written += 1
        if not count:
            lines += ["bar.sync 0;", "st.shared.v4.b32 [%row], {0, 0, 0, 0};", "bar.sync 0;"]
    text = f""".version 8.8
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1) {{
.reg .b64 %in, %out, %at; .reg .b32 %t, %row, %a<4>, %d<4>; .shared .align 128 .b8 tile[1024];
ld.param.u64 %in, [p0]; ld.param.u64 %out, [p1]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 16;
add.u64 %in, %in, %at; mul.wide.u32 %at, %t, 4; add.u64 %out, %out, %at;
mov.u32 %row, tile; mad.lo.u32 %row, %t, 16, %row; ld.global.v4.b32 {_named("a", 4)}, [%in];
st.shared.v4.b32 [%row], {_named("a", 4)}; st.shared.v4.b32 [%row+512], {_named("a", 4)};
bar.sync 0;
{chr(10).join(lines)}
ret;
}}
"""
    given = np.random.default_rng(5).integers(1, 1 << 32, 128, dtype=np.uint32)
    launch = Launch((1, 1, 1), (32, 1, 1), (given, np.zeros(32 * written, np.uint32)))
    wanted = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")[1]
    kernel = machine_kernel(text, architecture)
    for engine in ENGINES:
        np.testing.assert_array_equal(outputs(kernel, launch, engine)[1], wanted)
