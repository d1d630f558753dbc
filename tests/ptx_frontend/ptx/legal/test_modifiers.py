"""What PTX has no syntax for is refused: against a list by hand, and the vendor's assembler."""

from __future__ import annotations

import itertools
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, Refusal, compute_form

assembler: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "assembler.py")))
ROUNDINGS = ("", "rn", "rz", "rm", "rp")
LIMITS = ("", "sat", "relu")
FLUSH = ("", "ftz")
FLOATS = {"f16": "h", "f16x2": "r", "bf16": "h", "bf16x2": "r", "f32": "r", "f64": "d"}
INTEGERS = {"u16": "h", "s32": "r", "u64": "d"}
SOURCES = {"add": 2, "sub": 2, "fma": 3, "div": 2, "min": 2, "abs": 1}
SOURCES |= dict.fromkeys(("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "tanh"), 1)


@pytest.mark.parametrize(
    ("mnemonic", "reason"),
    [
        ("add.ftz.bf16", "modifier '.ftz' of 'add' of type .bf16"),
        ("fma.rn.sat.bf16x2", "modifier '.sat' of 'fma' of type .bf16x2"),
        ("add.rz.f16", "modifier '.rz' of 'add' of type .f16"),
        ("add.sat.u32", "modifier '.sat' of 'add' of type .u32"),
        ("add.rn.s32", "modifier '.rn' of 'add' of type .s32"),
        ("not.rn.b32", "modifier '.rn' of 'not' of type .b32"),
        ("fma.f32", "it needs .rn or .rz or .rm or .rp"),
        ("ex2.approx.bf16", "it needs .approx.ftz"),
        ("rcp.approx.f64", "it needs .rn or .rz or .rm or .rp or .approx.ftz"),
        ("max.xorsign.f32", "modifier '.xorsign' of 'max' of type .f32"),
        ("cvt.s32.f32", "it needs .rni or .rzi or .rmi or .rpi"),
        ("cvt.rn.u32.u64", "modifier '.rn' of 'cvt' of type .u32.u64"),
        ("cvt.sat.s64.u32", "modifier '.sat' of 'cvt' of type .s64.u32"),
        ("cvt.rn.e4m3x2.f16x2", "it needs .satfinite"),
        ("cvt.rna.relu.tf32.f32", "modifiers '.rna' and '.relu' do not stand together"),
        ("cvt.rm.relu.f16.f32", "modifiers '.rm' and '.relu' do not stand together"),
        ("cvt.rp.satfinite.bf16.f32", "modifiers '.rp' and '.satfinite' do not stand together"),
        ("cvt.rn.ftz.relu.bf16.f32", "modifiers '.ftz' and '.relu' do not stand together"),
    ],
)
def test_modifiers_that_ptx_lacks(mnemonic: str, reason: str) -> None:
    form = compute_form(mnemonic)
    assert isinstance(form, Refusal)
    assert form.reason == f"instruction {mnemonic!r} is not supported: {reason}"


def _joined(root: str, *modifiers: str) -> str:
    return ".".join((root, *(modifier for modifier in modifiers if modifier)))


def _arithmetic() -> Iterator[tuple[str, str]]:
    """Statements by mnemonic."""
    for root, count in SOURCES.items():
        roundings = (*ROUNDINGS, "approx", "full")
        for chosen in itertools.product(roundings, FLUSH, LIMITS, FLOATS | INTEGERS):
            letter = (FLOATS | INTEGERS)[chosen[-1]]
            operands = ", ".join(f"%{letter}{i}" for i in range(count + 1))
            mnemonic = _joined(root, *chosen)
            yield mnemonic, f"{mnemonic} {operands};"


def _conversions() -> Iterator[tuple[str, str]]:
    kinds = {"u16": "h", "s32": "r", "f16": "h", "bf16": "h", "f32": "r", "f64": "d"}
    for chosen in itertools.product((*ROUNDINGS, "rni"), FLUSH, ("", "sat"), kinds, kinds):
        mnemonic = _joined("cvt", *chosen)
        yield mnemonic, f"{mnemonic} %{kinds[chosen[-2]]}0, %{kinds[chosen[-1]]}1;"


def _limited_conversions() -> Iterator[tuple[str, str]]:
    """What clips, from .f32."""
    kinds = {"f16": "h", "bf16": "h", "tf32": "r"}
    for chosen in itertools.product(
        (*ROUNDINGS, "rna"), FLUSH, ("", "relu"), ("", "sat", "satfinite"), kinds
    ):
        mnemonic = _joined("cvt", *chosen, "f32")
        yield mnemonic, f"{mnemonic} %{kinds[chosen[-1]]}0, %r1;"


@pytest.mark.parametrize("grid", [_arithmetic, _conversions, _limited_conversions])
def test_the_assembler_takes_the_same_modifiers(
    grid: Callable[[], Iterator[tuple[str, str]]], tmp_path: Path
) -> None:
    statements = dict(grid())
    legal = assembler.assembled(statements.values(), tmp_path)
    assert len(legal) > 20
    differing = {
        mnemonic
        for mnemonic, statement in statements.items()
        if isinstance(compute_form(mnemonic), ComputeForm) != (statement in legal)
    }
    assert not differing
