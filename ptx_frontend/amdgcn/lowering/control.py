"""Branches, barriers, waits and the end of a wavefront."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelcast.ptx_frontend.amdgcn.lowering.site import Site
from kernelcast.ptx_frontend.amdgcn.lowering.writer import Writer
from kernelcast.simcore.isa.ir.kernel import (
    BarrierSync,
    Branch,
    Exit,
    Guard,
    Immediate,
    Jump,
    Operand,
)

__all__ = ["BARRIERS", "ENDING", "WAITS", "lower_control"]

WAITS = frozenset(
    (
        *("s_waitcnt", "s_nop", "s_sleep", "s_setprio", "s_code_end", "s_inst_prefetch"),
        *("s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_lgkmcnt", "s_waitcnt_expcnt"),
        *("s_waitcnt_depctr", "s_delay_alu", "s_clause", "s_set_inst_prefetch_distance"),
        *("buffer_gl0_inv", "buffer_gl1_inv", "buffer_inv", "buffer_wbl2", "buffer_invl2"),
        *("buffer_wbinvl1", "buffer_wbinvl1_vol", "s_dcache_inv", "s_icache_inv"),
        *("global_inv", "global_wb", "global_wbinv", "s_barrier_signal"),
        *(f"s_wait_{name}cnt" for name in ("load", "store", "ds", "km", "sample", "bvh", "exp")),
        *("s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt", "s_wait_alu"),
    )
)
"""Instructions that only say when others are issued, or what caches keep: memory here is one."""
_OF_SCRATCH = "hwreg(HW_REG_FLAT_SCR_"
"""Registers of the hardware that say where the memory of work-items lies, which begins at zero."""
_MODE = re.compile(r"hwreg\(HW_REG_MODE, (?P<first>\d+), \d+\), (?P<value>\w+)")
_SUBNORMAL, _TO_NEAREST = range(4, 8), "0"
"""Bits of the mode that say what subnormal numbers are, and the rounding that holds."""
_RELEASED = "sendmsg(MSG_DEALLOC_VGPRS)"
"""The message of a wavefront that needs its registers no more."""
BARRIERS = frozenset(("s_barrier", "s_barrier_wait"))
"""Where a wavefront waits; RDNA 4 tells before that it has come (`s_barrier_signal`)."""
ENDING = frozenset(("s_branch", "s_endpgm", *BARRIERS))
_CONDITIONAL = "s_cbranch_"


def lower_control(site: Site, blocks: Mapping[str, int]) -> bool:
    """Lowers a branch, a barrier or the end; False for anything else."""
    code, opcode = site.code, site.opcode
    text = site.instruction.span.text
    if opcode in WAITS or (opcode == "s_sendmsg" and _RELEASED in text):
        return True
    if opcode == "s_setreg_b32" and _OF_SCRATCH in text:
        return True
    if opcode == "s_denorm_mode" or (opcode == "s_setreg_imm32_b32" and _is_usual_mode(text)):
        return True
    if opcode in BARRIERS:
        following = code.builder.new()
        sync = BarrierSync(**code.counted("", is_main=True), barrier=0, target=following)
        code.builder.end_and_continue(sync, following)
        return True
    if opcode == "s_trap":
        _trap(code)
        return True
    if opcode == "s_endpgm":
        code.builder.end(Exit(**code.counted("", is_main=True)))
        code.builder.place(code.builder.new())
        return True
    if opcode == "s_branch":
        target = blocks[site.operands[0]]
        code.builder.end(Jump(**code.counted("", is_main=True), target=target))
        code.builder.place(code.builder.new())
        return True
    if not opcode.startswith(_CONDITIONAL):
        return False
    predicate = _condition(code, opcode.removeprefix(_CONDITIONAL))
    register = code.compute("mov.pred", 1, predicate)
    otherwise = code.builder.new()
    branch = Branch(
        **code.counted("", is_main=True),
        guard=Guard(register, negated=False),
        target=blocks[site.operands[0]],
        otherwise=otherwise,
    )
    code.builder.end_and_continue(branch, otherwise)
    return True


def _is_usual_mode(text: str) -> bool:
    """Whether a mode is set that holds here: rounding to nearest, or what subnormal numbers are.

    Divisions set the latter around themselves; subnormal numbers are kept here.
    """
    mode = _MODE.search(text)
    if mode is None:
        return False
    first = int(mode["first"])
    is_rounding = first < _SUBNORMAL.start
    return first in _SUBNORMAL or (is_rounding and mode["value"] == _TO_NEAREST)


def _trap(code: Writer) -> None:
    """The lanes that take part have failed."""
    failed, following = code.builder.new(), code.builder.new()
    guard = Guard(code.exec, negated=False)
    branch = Branch(**code.counted(""), guard=guard, target=failed, otherwise=following)
    code.builder.end_and_continue(branch, failed)
    trap = Exit(**code.counted("", is_main=True), trap=True, reason="the kernel executed s_trap")
    code.builder.end(trap)
    code.builder.place(following)


def _condition(code: Writer, name: str) -> Operand:
    if name in ("scc0", "scc1"):
        return code.scc if name == "scc1" else code.compute("not.pred", 1, code.scc)
    mask, relation = name[:-1].removesuffix("n"), "ne" if name.endswith("nz") else "eq"
    both = code.compute("or.b32", 32, *code.mask_words(mask))
    return code.compute(f"setp.{relation}.u32", 1, both, Immediate(0))
