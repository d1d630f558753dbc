"""What lanes see of each other: `v_mbcnt`, `v_readfirstlane`, `v_readlane`, and all the rest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.exchanges.matrices import MATRICES
from kernelcast.ptx_frontend.amdgcn.lowering.exchanges.permutations import PERMUTATIONS
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES

__all__ = ["LANES"]

_ONE = Immediate(1)


def _lanes_below(which: int, site: Site) -> None:
    """`v_mbcnt`: how many lanes of a mask are below the own one."""
    code = site.code
    ones = code.compute("shl.b64", 64, _ONE, code.lane())
    below = code.compute("sub.u64", 64, ones, _ONE)
    kept = code.compute("and.b32", 32, site.integer(1), code.halves(below)[which])
    count = code.compute("popc.b32", 32, kept)
    total = site.main("add.u32", 32, count, site.integer(2))
    code.set_vector(site.operands[0], total)


def _first_lane(site: Site) -> None:
    """The value of the lowest lane that takes part; of lane 0 where none does."""
    code = site.code
    turned = code.compute("brev.b64", 64, code.joined(*code.mask_words("exec")))
    first = code.compute("clz.b64", 32, turned)
    first = code.compute("and.b32", 32, first, Immediate(code.lanes - 1))
    _read(site, site.integer(1), first)


def _of_lane(site: Site) -> None:
    _read(site, site.integer(1), site.integer(2))


def _read(site: Site, value: Operand, lane: Operand) -> None:
    found = site.code.register(32)
    guard, site.code.guard = site.code.guard, None
    site.code.exchange(WARP_OPCODES["lane.read"], (found,), (value, lane), is_main=True)
    site.code.guard = guard
    site.code.set_scalar(site.operands[0], [found])


def _write_lane(site: Site) -> None:
    """One lane's word of a vector register, whether the lane takes part or not."""
    code, value = site.code, site.main("mov.b32", 32, site.integer(1))
    lane = site.amount(2, code.lanes)
    is_own = code.compute("setp.eq.u32", 1, code.lane(), lane)
    target = code.word(site.operands[0])
    code.unguarded("selp.b32", target, value, target, is_own)


LANES: Mapping[str, Lowering] = {
    "v_mbcnt_lo_u32_b32": partial(_lanes_below, 0),
    "v_mbcnt_hi_u32_b32": partial(_lanes_below, 1),
    "v_readfirstlane_b32": _first_lane,
    "v_readlane_b32": _of_lane,
    "v_writelane_b32": _write_lane,
    **PERMUTATIONS,
    **MATRICES,
}
