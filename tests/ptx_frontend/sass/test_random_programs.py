"""Random kernels do as machine code what their PTX does; wrong entries of the table are noticed.

`make fuzz` runs thousands of them, of all architectures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kernelcast.ptx_frontend.sass.lowering import table
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from tests.ptx_frontend.sass.native_programs import needs_tools
from tests.ptx_frontend.sass.random_programs import ARCHITECTURES, differences, programs

SAMPLE, BATCH = 6, 8


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_machine_code_does_what_ptx_does(architecture: str) -> None:
    needs_tools(architecture)
    first = 100 * ARCHITECTURES.index(architecture)
    assert differences(programs(first, SAMPLE), (architecture,), ("reference",)) == []


def test_machine_code_does_it_when_compiled() -> None:
    needs_tools("sm_80")
    assert differences(programs(2000, 2), ("sm_80",), ("jit",)) == []


def _without_carry(site: Site) -> None:
    if "X" in site.statement.modifiers:
        site.operands[-2] = RegisterOperand("P", None, "!")


def _in_another_order(site: Site) -> None:
    first = 1 if isinstance(site.operands[0], RegisterOperand) and site.is_predicate(0) else 0
    a, c = first + 1, first + 3
    site.operands[a], site.operands[c] = site.operands[c], site.operands[a]


def _with_opposite_predicate(site: Site) -> None:
    chosen = site.operands[3]
    assert isinstance(chosen, RegisterOperand)
    site.operands[3] = replace(chosen, sign="" if chosen.sign else "!")


def _to_the_other_side(site: Site) -> None:
    other = {"L": "R", "R": "L"}
    site._left = [other.get(name, name) for name in site._left]


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("opcode", "spoil"),
    [
        ("IADD3", _without_carry),
        ("LOP3", _in_another_order),
        ("SEL", _with_opposite_predicate),
        ("SHF", _to_the_other_side),
    ],
)
def test_a_wrong_entry_is_noticed(
    monkeypatch: pytest.MonkeyPatch, opcode: str, spoil: Callable[[Site], None]
) -> None:
    needs_tools("sm_80")
    entry = table.SASS_OPCODES[opcode]

    def wrong(site: Site) -> None:
        spoil(site)
        entry.lower(site)

    monkeypatch.setitem(table._TABLE, opcode, replace(entry, lower=wrong))
    found = differences(programs(0, BATCH), ("sm_80",), ("reference",))
    assert any(not difference.what.startswith("refused") for difference in found)
