"""Instructions over other registers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from kernelcast.simcore.isa.analysis.control_flow import reads
from kernelcast.simcore.isa.ir.changed_instructions import changed
from kernelcast.simcore.isa.ir.kernel import Address, Guard, Instruction, Register

__all__ = ["renamed", "with_registers"]

AnyInstruction = TypeVar("AnyInstruction", bound=Instruction)
_WRITTEN = ("destination", "destinations")
_HOLDS_REGISTERS = re.compile(r"\b(Register|Operand|Address|Guard)\b")
_Naming = Callable[[Register], Register]


def renamed(instruction: AnyInstruction, names: Mapping[int, Register]) -> AnyInstruction:
    """The instruction that reads other registers where `names` has some, by their indices."""
    if not any(register.index in names for register in reads(instruction)):
        return instruction
    return with_registers(instruction, lambda register: names.get(register.index, register), None)


def with_registers(
    instruction: AnyInstruction, read: _Naming, written: _Naming | None
) -> AnyInstruction:
    """The instruction over the registers that it reads and writes under other names."""
    changes: dict[str, Any] = {}
    kind = type(instruction)
    for name in _FIELDS.get(kind) or _fields(kind):
        naming = written if name in _WRITTEN else read
        value = getattr(instruction, name)
        if naming is not None and value is not None:
            new = _over(value, naming)
            if new is not value:
                changes[name] = new
    return changed(instruction, **changes) if changes else instruction


_FIELDS: dict[type[Instruction], tuple[str, ...]] = {}
"""What `_fields` has found so far."""


def _fields(kind: type[Instruction]) -> tuple[str, ...]:
    """The fields that may hold registers, by what they are annotated with."""
    found = tuple(item.name for item in fields(kind) if _HOLDS_REGISTERS.search(str(item.type)))
    _FIELDS[kind] = found
    return found


def _over(value: Any, naming: _Naming) -> Any:
    """A field's value over new registers; the same object where there are none in it."""
    if isinstance(value, tuple):
        new = tuple([naming(item) if isinstance(item, Register) else item for item in value])
        return new if any(a is not b for a, b in zip(new, value, strict=True)) else value
    if isinstance(value, Register):
        return naming(value)
    if isinstance(value, Guard):
        register = naming(value.register)
        return value if register is value.register else Guard(register, value.negated)
    if isinstance(value, Address) and isinstance(value.base, Register):
        base = naming(value.base)
        return value if base is value.base else Address(value.space, base, value.offset)
    return value
