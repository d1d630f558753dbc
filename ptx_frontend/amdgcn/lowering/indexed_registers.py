"""Vector registers whose number is known when the wavefront runs: arrays in registers.

GCN 3, RDNA: `v_movrels_b32` and `v_movreld_b32` add M0 to the number of the source or of the
result (RDNA 3 Instruction Set Architecture, 16.8). GCN 5 and CDNA: moves between
`s_set_gpr_idx_on` and `s_set_gpr_idx_off` add an index to those that it names (AMD Instinct MI200
Instruction Set Architecture, 3.6.3). What lies beyond the last register that the kernel names is
never read or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["INDEXED", "INDEXED_SCALARS", "is_indexed", "lower_indexed"]

_SOURCE, _RESULT = "SRC0", "DST"
_MOVE = "v_mov_b32"
_MODE = re.compile(r"gpr_idx\(([\w,]+)\)")


def is_indexed(site: Site) -> bool:
    """Whether the instruction is among those that add an index to numbers of registers."""
    return site.code.indexed is not None and site.opcode.startswith("v_")


def lower_indexed(site: Site) -> None:
    """Lowers a move between `s_set_gpr_idx_on` and `s_set_gpr_idx_off`; others are refused."""
    assert site.code.indexed is not None
    index, what = site.code.indexed
    if site.opcode != _MOVE:
        raise site.code.refused("registers by an index")
    _moved(site, index, what)


def _moved(site: Site, index: Operand, what: tuple[str, ...]) -> None:
    code = site.code
    value = _read(site, index) if _SOURCE in what else site.number(1)
    value = site.main("mov.b32", 32, value)
    if _RESULT not in what:
        code.set_vector(site.operands[0], value)
        return
    for distance, name in _registers(site, 0):
        is_it = code.compute("setp.eq.u32", 1, index, Immediate(distance))
        code.set_vector(name, code.compute("selp.b32", 32, value, code.word(name), is_it))


def _read(site: Site, index: Operand) -> Operand:
    code = site.code
    found: Operand = code.word(site.operands[1])
    for distance, name in _registers(site, 1):
        is_it = code.compute("setp.eq.u32", 1, index, Immediate(distance))
        found = code.compute("selp.b32", 32, code.word(name), found, is_it)
    return found


def _registers(site: Site, operand: int) -> list[tuple[int, str]]:
    """The registers from that of an operand on, and how far each is from it."""
    (first,) = site.code.names(site.operands[operand])
    number = int(first[1:])
    last = max(number, site.code.last_vector)
    return [(place - number, f"v{place}") for place in range(number, last + 1)]


def _by_m0(what: str, site: Site) -> None:
    _moved(site, site.code.compute("mov.b32", 32, site.code.word("m0")), (what,))


def _begin(site: Site) -> None:
    named = _MODE.search(site.instruction.span.text)
    if named is None:
        raise site.code.refused("its operands")
    what = tuple(named[1].split(","))
    word = site.code.compute("and.b32", 32, site.integer(0), Immediate(0xFF))
    site.code.set_scalar("m0", [site.main("mov.b32", 32, word)])
    site.code.indexed = word, what


def _end(site: Site) -> None:
    site.code.indexed = None


INDEXED: Mapping[str, Lowering] = {
    "v_movrels_b32": partial(_by_m0, _SOURCE),
    "v_movreld_b32": partial(_by_m0, _RESULT),
}
INDEXED_SCALARS: Mapping[str, Lowering] = {"s_set_gpr_idx_on": _begin, "s_set_gpr_idx_off": _end}
