"""Sums and products of double precision."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.arithmetic.singles import ROUNDING
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers

__all__: list[str] = []

_NAMES = {"DADD": "add", "DMUL": "mul", "DFMA": "fma"}


@lowers(*_NAMES)
def lower_double(site: Site) -> None:
    """`d, a, b[, c]`, all pairs of registers."""
    name = _NAMES[site.statement.opcode]
    rounding = site.choose(ROUNDING, ".rn")
    count = 3 if name == "fma" else 2
    sources = [site.pair(site.operand(1 + i), "f64") for i in range(count)]
    site.main(f"{name}{rounding}.f64", site.pair_destination(site.operand(0)), *sources)
