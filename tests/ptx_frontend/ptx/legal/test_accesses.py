"""Orders, scopes, operators and types of loads and stores: by hand, and the vendor's assembler."""

from __future__ import annotations

import itertools
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend import read_ptx

assembler: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "assembler.py")))

HEADER = """.version 8.6
.target sm_100a
.address_size 64
.const .align 16 .b8 constants[64];
.entry k(.param .align 16 .b8 pack[64])
{
.reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>;
"""
LETTERS = {"b8": "h", "f16": "h", "bf16": "h", "u16": "h", "b32": "r", "f16x2": "r", "f32": "r"}
LETTERS |= {"u64": "d", "f64": "d"}
SPACES = ("", "global", "shared::cta", "local", "const")


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("ld.f16 %h0, [%d0];", "type .f16"),
        ("st.global.bf16x2 [%d0], %r0;", "type .bf16x2"),
        ("ldu.shared.b32 %r0, [%d0];", "it is for global memory, not .shared"),
        ("ld.nc.b32 %r0, [%d0];", "modifier '.nc' without .global"),
        ("ld.shared.L1::evict_last.b32 %r0, [%d0];", "a cache hint of .shared memory"),
        ("ld.release.gpu.b32 %r0, [%d0];", "modifier '.release'"),
        ("st.acquire.gpu.b32 [%d0], %r0;", "modifier '.acquire'"),
        ("ld.relaxed.b32 %r0, [%d0];", "modifier '.relaxed' needs a scope"),
        ("ld.gpu.b32 %r0, [%d0];", "modifier '.gpu' without an order"),
        ("ld.volatile.local.b32 %r0, [%d0];", "modifier '.volatile' in .local memory"),
        ("ld.weak.volatile.b32 %r0, [%d0];", "'.volatile' and '.weak' do not stand together"),
        ("ld.volatile.ca.b32 %r0, [%d0];", "'.volatile' and '.ca' do not stand together"),
        ("ld.wb.b32 %r0, [%d0];", "modifier '.wb'"),
        ("st.ca.b32 [%d0], %r0;", "modifier '.ca'"),
        ("ld.mmio.relaxed.gpu.global.b32 %r0, [%d0];", "modifier '.mmio' without .relaxed.sys"),
    ],
)
def test_what_ptx_lacks(statement: str, reason: str) -> None:
    (refusals,) = read_ptx(f"{HEADER}{statement}\nret; }}", "k.ptx").rejected.values()
    assert isinstance(refusals[0], UnsupportedInstruction)
    assert reason in refusals[0].message


def _statement(root: str, *modifiers: str) -> str:
    mnemonic = ".".join((root, *(modifier for modifier in modifiers if modifier)))
    register = f"%{LETTERS[modifiers[-1]]}0"
    return f"{mnemonic} [%d0], {register};" if root == "st" else f"{mnemonic} {register}, [%d0];"


def _statements() -> Iterator[str]:
    orders = ("", "weak", "volatile", "relaxed", "acquire", "release", "mmio.relaxed")
    operators = ("", "ca", "lu", "cv", "wb", "L1::evict_first")
    for root in ("ld", "st"):
        spaces = SPACES[: 5 - (root == "st")]
        for chosen in itertools.product(orders, ("", "gpu", "sys"), SPACES[:4], operators):
            yield _statement(root, *chosen, "b32")
        for space, type_ in itertools.product(spaces, LETTERS):
            yield _statement(root, space, type_)
    for space, type_ in itertools.product(SPACES, LETTERS):
        yield _statement("ldu", space, type_)
        yield _statement("ld", space, "nc", type_)


def test_the_assembler_takes_the_same_accesses(tmp_path: Path) -> None:
    statements = list(_statements())
    legal = assembler.assembled(statements, tmp_path)
    assert len(legal) > 100
    assert assembler.taken(statements) ^ legal == set()
