"""Instructions over other registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from kernelcast.simcore.isa.ir.kernel import Address, Guard, Instruction, Register

__all__ = ["renamed", "with_registers"]

AnyInstruction = TypeVar("AnyInstruction", bound=Instruction)
_WRITTEN = ("destination", "destinations")
_Naming = Callable[[Register], Register]


def renamed(instruction: AnyInstruction, names: Mapping[Register, Register]) -> AnyInstruction:
    """The instruction that reads other registers where `names` has some."""
    if not names:
        return instruction
    return with_registers(instruction, lambda register: names.get(register, register), None)


def with_registers(
    instruction: AnyInstruction, read: _Naming, written: _Naming | None
) -> AnyInstruction:
    """The instruction over the registers that it reads and writes under other names."""
    changes: dict[str, Any] = {}
    assert is_dataclass(instruction)
    for item in fields(instruction):
        naming = written if item.name in _WRITTEN else read
        value = getattr(instruction, item.name)
        new = value if naming is None else _over(value, naming)
        if new is not value:
            changes[item.name] = new
    return replace(instruction, **changes) if changes else instruction


def _over(value: Any, naming: _Naming) -> Any:
    """A field's value over new registers; the same object where there are none in it."""
    if isinstance(value, Register):
        return naming(value)
    if isinstance(value, Guard):
        register = naming(value.register)
        return value if register is value.register else Guard(register, value.negated)
    if isinstance(value, Address) and isinstance(value.base, Register):
        base = naming(value.base)
        return value if base is value.base else Address(value.space, base, value.offset)
    if isinstance(value, tuple) and any(isinstance(item, Register) for item in value):
        new = tuple(_over(item, naming) for item in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    return value
