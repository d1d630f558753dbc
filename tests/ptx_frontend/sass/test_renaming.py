"""Registers of instructions of every class, against a walk over all that their fields hold."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.sass.passes.renaming import renamed, with_registers
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.ir import kernel as ir
from kernelcast.simcore.isa.ir.changed_instructions import changed
from kernelcast.simcore.isa.ir.kernel import Address, Guard, Instruction, Register
from kernelcast.simcore.isa.types import AddressSpace

KINDS = [*typing.get_args(ir.Straight), *typing.get_args(ir.Terminator)]
MORE = 100
"""How far the indices of new registers are from those of old ones."""


def made(kind: type[Instruction]) -> Instruction:
    """An instruction with a register in every place that may hold one."""
    numbers = iter(range(MORE))

    def register() -> Register:
        return Register(next(numbers), 32, "%r")

    def value(kind_of_value: str) -> Any:
        if "BulkOperand" in kind_of_value:
            return ()
        if kind_of_value.startswith("tuple"):
            return (register(), register()) if "Scalar" not in kind_of_value else ()
        if "Guard" in kind_of_value:
            return Guard(register(), negated=True)
        if "Address" in kind_of_value:
            return Address(AddressSpace.GLOBAL, register(), 4)
        return register() if "Register" in kind_of_value or "Operand" in kind_of_value else None

    given = {item.name: value(str(item.type)) for item in fields(kind)}
    place = {"pc": 3, "mnemonic": "add", "span": SourceSpan("a.ptx", 1)}
    return kind(**{**given, **place})


def walked(value: Any) -> Iterator[Register]:
    """All registers within a value."""
    if isinstance(value, Register):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from walked(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from walked(getattr(value, field.name))


def moved(register: Register) -> Register:
    return Register(register.index + MORE, register.bits, register.name)


@pytest.mark.parametrize("kind", KINDS)
def test_all_registers_are_known_and_renamed(kind: type[Instruction]) -> None:
    instruction = made(kind)
    assert set(reads(instruction)) | set(writes(instruction)) == set(walked(instruction))
    assert not set(reads(instruction)) & set(writes(instruction))
    whole = with_registers(instruction, moved, moved)
    assert list(walked(whole)) == [moved(register) for register in walked(instruction)]
    partly = with_registers(instruction, moved, None)
    assert writes(partly) == writes(instruction)
    assert reads(partly) == tuple(map(moved, reads(instruction)))
    for register in reads(instruction):
        one = renamed(instruction, {register.index: moved(register)})
        expected = [moved(r) if r == register else r for r in walked(instruction)]
        assert list(walked(one)) == expected
    assert renamed(instruction, {2 * MORE: moved(Register(0, 32, ""))}) is instruction


@pytest.mark.parametrize("kind", KINDS)
def test_other_fields_are_those_of_a_replacement(kind: type[Instruction]) -> None:
    instruction = made(kind)
    other = changed(instruction, pc=7, is_part=True)
    assert other == replace(instruction, pc=7, is_part=True)
    assert type(other) is kind
    assert instruction.pc == 3
