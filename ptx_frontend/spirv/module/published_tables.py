"""The numbers of the SPIR-V specification and of the OpenCL.std instruction set, from CSV files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files

__all__ = [
    "InstructionForm",
    "ResultForm",
    "capability_names",
    "extended_names",
    "instruction_form",
]


class ResultForm(Enum):
    """Which identifiers stand before the operands of an instruction."""

    NONE = "none"
    RESULT = "result"
    TYPED = "typed"


@dataclass(frozen=True, slots=True)
class InstructionForm:
    """An instruction of the specification: its name, and whether it has a result."""

    name: str
    result: ResultForm


def instruction_form(number: int) -> InstructionForm:
    """Opcodes that no table knows are named by their number."""
    form = _forms().get(number)
    return InstructionForm(f"opcode {number}", ResultForm.NONE) if form is None else form


@cache
def extended_names() -> dict[int, str]:
    """The instructions of OpenCL.std by number."""
    return {int(row["number"]): row["name"] for row in _rows("opencl_std.csv")}


@cache
def capability_names() -> dict[int, str]:
    """Names of capabilities by number, as published."""
    return {int(row["number"]): row["name"] for row in _rows("capabilities.csv")}


@cache
def _forms() -> dict[int, InstructionForm]:
    return {
        int(row["number"]): InstructionForm(row["name"], ResultForm(row["result"]))
        for row in _rows("opcodes.csv")
    }


def _rows(name: str) -> list[dict[str, str]]:
    text = (files(__package__) / name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
