"""The sections `[ptx_costs]` of a measured device: what the model `mpd-cpd` reads.

Luo and Suda's Table 1 and the constants of their equations 3 to 5, from chains of dependent
operations, a pointer chase and the measured parallel degrees. No finding tells operations on
constants from those on registers.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.opencl_bench.device_file.basis import DeviceBasis
from kernelcast.opencl_bench.device_file.entry import Entry, Section, assumed, derived
from kernelcast.opencl_bench.device_file.model_parameters import (
    LuoSudaParameters,
    luo_suda_parameters,
)

__all__ = ["ptx_cost_sections"]

_ADD = ("add int", "add float")
_MULTIPLY = ("mul int", "mul float")
_COMPARE = ("min and max", "min and max")
_LOGIC = ("and, or, xor, not", "and, or, xor, not")
_MEASURED = {
    "add": _ADD,
    "subtract": _ADD,
    "multiply": _MULTIPLY,
    "divide": ("div int", "div float"),
    "minimum": _COMPARE,
    "maximum": _COMPARE,
    "bitwise_and": _LOGIC,
    "bitwise_or": _LOGIC,
    "bitwise_xor": _LOGIC,
    "bitwise_not": _LOGIC,
}
"""The costs that stand for each operation, on integers and on floats."""
_ASSUMED = {
    "multiply_add": (_MULTIPLY, "as a multiplication"),
    "negate": (_ADD, "as an addition"),
}
_WHERE = "latency of a chain of dependent operations at the clock of this file"


def ptx_cost_sections(basis: DeviceBasis, max_warps: int) -> Iterator[tuple[str, Section]]:
    """All of them, or none where a finding is missing or the degrees determine no constants."""
    try:
        found = luo_suda_parameters(basis.session.findings, basis.clock_hz, max_warps).values
    except ValueError:
        return
    if found is None:
        return
    yield (
        "ptx_costs",
        {
            "unlisted_cycles": assumed(found.instruction_clocks["add int"], "as an addition"),
            "access_cycles": derived(
                found.memory_clocks,
                f"pointer chase behind all caches, at the clock of this file; {basis.date}",
            ),
        },
    )
    for name, kinds in _MEASURED.items():
        yield f"ptx_costs.{name}", _costs(found, kinds, basis.date, "")
    for name, (kinds, reason) in _ASSUMED.items():
        yield f"ptx_costs.{name}", _costs(found, kinds, basis.date, reason)
    yield "ptx_costs.parallel_degree", _degree(found, basis.date)


def _costs(found: LuoSudaParameters, kinds: tuple[str, str], date: str, reason: str) -> Section:
    section: dict[str, Entry] = {}
    for number, kind in zip(("int", "float"), kinds, strict=True):
        clocks = found.instruction_clocks[kind]
        reference = f"{_WHERE}, {kind}; {date}"
        on_registers = assumed(clocks, reason) if reason else derived(clocks, reference)
        section[f"{number}_const_cycles"] = assumed(clocks, reason or "as on registers")
        section[f"{number}_reg_cycles"] = on_registers
    return section


def _degree(found: LuoSudaParameters, date: str) -> Section:
    degree = found.degree
    reference = f"Luo and Suda, equations 3 to 5; residual {degree.residual:.1%}; {date}"
    constants = {name: derived(float(getattr(degree, name)), reference) for name in "abcd"}
    return {**constants, "m": derived(float(degree.max_warps), "max_warps of [sm]")}
