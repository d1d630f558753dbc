"""Branches, barriers, waits and the end of a wavefront."""

from __future__ import annotations

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

__all__ = ["ENDING", "WAITS", "lower_control"]

WAITS = frozenset(("s_waitcnt", "s_nop", "s_sleep", "s_setprio", "s_code_end", "s_inst_prefetch"))
"""Instructions that only say when others are issued."""
ENDING = frozenset(("s_branch", "s_endpgm", "s_barrier"))
_CONDITIONAL = "s_cbranch_"


def lower_control(site: Site, blocks: Mapping[str, int]) -> bool:
    """Lowers a branch, a barrier or the end; False for anything else."""
    code, opcode = site.code, site.opcode
    if opcode in WAITS:
        return True
    if opcode == "s_barrier":
        following = code.builder.new()
        sync = BarrierSync(**code.counted("", is_main=True), barrier=0, target=following)
        code.builder.end_and_continue(sync, following)
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


def _condition(code: Writer, name: str) -> Operand:
    if name in ("scc0", "scc1"):
        return code.scc if name == "scc1" else code.compute("not.pred", 1, code.scc)
    mask, relation = name[:-1].removesuffix("n"), "ne" if name.endswith("nz") else "eq"
    low, high = code.names(mask)
    both = code.compute("or.b32", 32, code.word(low), code.word(high))
    return code.compute(f"setp.{relation}.u32", 1, both, Immediate(0))
