"""Operands, statements and control bits as the disassembler and the bytes have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.sass.text.control import control_of
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    DescriptorOperand,
    ImmediateOperand,
    LabelOperand,
    MemoryOperand,
    NameOperand,
    RegisterOperand,
    SassOperand,
    parse_operand,
)
from kernelcast.ptx_frontend.sass.text.statements import read_listing

R2, R4, UR6 = (RegisterOperand("R", 2), RegisterOperand("R", 4), RegisterOperand("UR", 6))
SCALED = RegisterOperand("R", 2, "", False, ("X4",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R2", R2),
        ("RZ", RegisterOperand("R", None)),
        ("-RZ", RegisterOperand("R", None, "-")),
        ("~R2.reuse", RegisterOperand("R", 2, "~")),
        ("!UPT", RegisterOperand("UP", None, "!")),
        ("-|R2|", RegisterOperand("R", 2, "-", True)),
        ("|R2.H0_H0|", RegisterOperand("R", 2, "", True, ("H0_H0",))),
        ("R2.64.reuse", RegisterOperand("R", 2, "", False, ("64",))),
        ("B0", RegisterOperand("B", 0)),
        ("0x1f", ImmediateOperand("0x1f", 31)),
        ("-0x8", ImmediateOperand("-0x8", -8)),
        ("1.5", ImmediateOperand("1.5", None)),
        ("+INF ", ImmediateOperand("+INF", None)),
        ("-1.0000000031710768509e-30", ImmediateOperand("-1.0000000031710768509e-30", None)),
        ("c[0x0][0x160]", ConstantOperand(0, 0x160)),
        ("-c[0x2][0x8]", ConstantOperand(2, 8, None, None, "-")),
        ("c[0x3][R2+0x10]", ConstantOperand(3, 16, R2)),
        ("c[UR6][0x4]", ConstantOperand(0, 4, None, UR6)),
        ("|c[0x0][0x160]|", ConstantOperand(0, 0x160, None, None, "", True)),
        ("[R2]", MemoryOperand(R2, None, 0)),
        (
            "[R2.X4+UR6+-0x10]",
            MemoryOperand(RegisterOperand("R", 2, "", False, ("X4",)), UR6, -16, 4),
        ),
        (
            "desc[UR6][R2.64+0x8]",
            MemoryOperand(RegisterOperand("R", 2, "", False, ("64",)), None, 8, 1, True, UR6),
        ),
        ("`(.L_x_3)", LabelOperand(".L_x_3")),
        ("32@lo((k + 0x40))", LabelOperand("k + 0x40", "lo")),
        ("gdesc[UR6].tnspB", DescriptorOperand("gdesc", UR6, 0, ("tnspB",))),
        ("SR_TID.X", NameOperand("SR_TID.X")),
    ],
)
def test_operands(text: str, expected: SassOperand) -> None:
    assert parse_operand(text.strip()) == expected


def test_statements() -> None:
    text = "\n".join(
        (
            '\t.section\t.text.k,"ax",@progbits',
            '\t//## File "k.cu", line 7',
            "        /*0000*/              @!P1 IADD3 R2, P0, R4, c[0x0] [0x160], RZ ;",
            ".L_x_1:",
            '        /*0010*/                   BRX R4 -0x20 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*);',
        )
    )
    code = (5 << 32).to_bytes(16, "little") + bytes(16)
    section = read_listing(text, {"k": code}, "k.cubin")["k"]
    first, second = section.statements
    assert first.guard == RegisterOperand("P", 1, "!")
    assert first.operands[3] == ConstantOperand(0, 0x160)
    assert (first.immediate_word, first.source) == (5, ("k.cu", 7))
    assert section.target(".L_x_1") == 16
    assert second.targets == (".L_x_1", ".L_x_2")
    assert second.operands[:2] == (R4, ImmediateOperand("-0x20", -32))
    with pytest.raises(InputError, match="longer than its code"):
        read_listing(text, {"k": code[:16]}, "k.cubin")


@given(
    stall=st.integers(0, 15),
    yields=st.booleans(),
    written=st.sampled_from((*range(6), None)),
    read=st.sampled_from((*range(6), None)),
    waits=st.sets(st.integers(0, 5)),
    rest=st.integers(0, (1 << 105) - 1),
)
def test_control_bits(
    stall: int, yields: bool, written: int | None, read: int | None, waits: set[int], rest: int
) -> None:
    """Bits 105 to 108 stall, 109 stays, 110 and 113 scoreboards, 116 to 121 those waited for."""
    bits = stall | (not yields) << 4
    bits |= (7 if written is None else written) << 5 | (7 if read is None else read) << 8
    bits |= sum(1 << number for number in waits) << 11
    found = control_of(bits << 105 | rest)
    assert (found.stall_cycles, found.yields) == (stall, yields)
    assert (found.written, found.read, set(found.waits)) == (written, read, waits)
