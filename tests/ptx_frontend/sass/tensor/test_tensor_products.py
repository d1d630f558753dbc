"""Products in tensor memory as machine code against the `tcgen05.mma` they were assembled from."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs
from tests.simcore import tcgen05_program as programs

_COLUMNS = 64
"""How many each product has; there is room for four."""
_RNG = np.random.default_rng(29)
_TILE = _RNG.integers(0, 256, programs.SHARED_BYTES).astype(np.uint8)
_HELD = _RNG.integers(0, 1 << 32, (programs.FILLED, 128)).astype(np.uint32)
_DESCRIPTORS = [
    start >> 4 | (leading >> 4) << 16 | (128 >> 4) << 32 | 1 << 46
    for start, leading in ((256, 2048), (32768, 1024))
]
_ZERO_COLUMNS = 1 << 39 | 2 << 40 | 3 << 48
_SCALES = "[%t+300], [%t+308]"


def _word(a: int, b: int, result: int, more: int = 0) -> int:
    """An instruction descriptor of 128 rows."""
    return result << 4 | a << 7 | b << 10 | _COLUMNS // 8 << 17 | 8 << 24 | more


def _statement(text: str, at: int) -> str:
    name, _, operands = text.partition(" ")
    return f"@%first tcgen05.{name} [%t+{at}], {operands};"


_F16 = "cta_group::1.kind::f16"
_BODIES = {
    "f16": [
        f"mma.{_F16} %rd5, %rd6, %r6, %first",
        f"mma.{_F16} [%t+256], %rd6, %r6, %p3, 3",
        f"mma.{_F16}.collector::a::lastuse %rd5, %rd6, %r6, {{240, %r6, 1, 9}}, %first, 2",
        f"mma.ws.{_F16}.collector::b2::use [%t+260], %rd6, %r6, %first, %rd7",
    ],
    "tf32": [
        "mma.cta_group::1.kind::tf32.collector::a::fill %rd5, %rd6, %r6, %first",
        "mma.cta_group::1.kind::tf32 [%t+256], %rd6, %r6, {1, %r6, 4, 8}, %p3",
        "mma.ws.cta_group::1.kind::tf32 %rd5, %rd6, %r6, %p3, %rd7",
    ],
    "f8f6f4": [
        "mma.cta_group::1.kind::f8f6f4 %rd5, %rd6, %r6, %first",
        "mma.cta_group::1.kind::f8f6f4.collector::a::use [%t+256], %rd6, %r6, %p3",
        "mma.ws.cta_group::1.kind::f8f6f4.collector::b3::fill %rd5, %rd6, %r6, %first",
    ],
    "i8": [
        "mma.cta_group::1.kind::i8 %rd5, %rd6, %r6, %first",
        "mma.cta_group::1.kind::i8 [%t+257], %rd6, %r6, {7, 0, %r6, 7}, %first",
        "mma.ws.cta_group::1.kind::i8 %rd5, %rd6, %r6, %p3",
    ],
    "sparse f16": [
        f"mma.sp.{_F16} %rd5, %rd6, [%t+270], %r6, %first",
        f"mma.sp.{_F16} [%t+256], %rd6, [%t+290], %r6, {{0, %r6, 5, 5}}, %p3",
        f"mma.ws.sp.{_F16} %rd5, %rd6, [%t+299], %r6, %first, %rd7",
    ],
    "sparse tf32": ["mma.sp.cta_group::1.kind::tf32 %rd5, %rd6, [%t+271], %r6, %first"],
    "mxf8f6f4": [
        f"mma.cta_group::1.kind::mxf8f6f4.block_scale %rd5, %rd6, %r6, {_SCALES}, %first",
        f"mma.cta_group::1.kind::mxf8f6f4.block_scale [%t+256], %rd6, %r6, {_SCALES}, %p3",
    ],
    "mxf4": [f"mma.cta_group::1.kind::mxf4.block_scale %rd5, %rd6, %r6, {_SCALES}, %first"],
    "mxf4nvf4": [
        "mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X %rd5, %rd6, %r6, "
        f"{_SCALES}, %first",
    ],
}
"""Statements without D, of which each has columns of its own; they share their descriptors."""
_SPARSE, _E8 = 1 << 2, 1 << 23
_WORDS = {
    "f16": [_word(0, 0, 1), _word(1, 0, 1, 1 << 13), _word(0, 1, 0)],
    "tf32": [_word(2, 2, 1), _word(2, 2, 1, 1 << 14)],
    "f8f6f4": [_word(0, 4, 1), _word(3, 1, 0)],
    "i8": [_word(0, 1, 2), _word(1, 1, 2, 1 << 3)],
    "sparse f16": [_word(0, 0, 1, _SPARSE), _word(1, 1, 1, _SPARSE | 1)],
    "sparse tf32": [_word(2, 2, 1, _SPARSE)],
    "mxf8f6f4": [_word(0, 5, 0, _E8), _word(1, 3, 0, _E8 | 2 << 4 | 1 << 29)],
    "mxf4": [_word(1, 1, 0, _E8)],
    "mxf4nvf4": [_word(1, 1, 0), _word(1, 1, 0, _E8)],
}


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", _BODIES)
def test_products_are_those_of_ptx(name: str) -> None:
    """One machine code; the instruction descriptors are data, and say kind and sparsity."""
    body = "\n".join(_statement(text, _COLUMNS * i) for i, text in enumerate(_BODIES[name]))
    source = programs.described(body)
    kernel = machine_kernel(source, "sm_100a")
    seen = set()
    for index, word in enumerate(_WORDS[name]):
        numbers = np.array([*_DESCRIPTORS, word, _ZERO_COLUMNS], np.uint64)
        ptx, launch = programs.launched(source, _TILE, _HELD, numbers)
        wanted = outputs(ptx, launch, "jit")[0]
        assert all(wanted[:, _COLUMNS * i :][:, :8].any() for i in range(len(_BODIES[name])))
        seen.add(wanted.tobytes())
        for engine in ENGINES[index % 2 :]:
            np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)
    assert len(seen) == len(_WORDS[name])
