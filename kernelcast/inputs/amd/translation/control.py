"""Branches, barriers and the end of a kernel as LLVM IR for AMD's GPUs."""

from __future__ import annotations

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.simcore.isa.ir.kernel import BarrierSync, Branch, Exit, Terminator

__all__ = ["block_label", "write_terminator"]


def block_label(index: int) -> str:
    """The label of a basic block."""
    return f"b{index}"


def write_terminator(code: FunctionCode, end: Terminator) -> None:
    """Ends a basic block."""
    if isinstance(end, Exit):
        _exit(code, end)
        return
    if isinstance(end, Branch):
        held = code.condition(end.guard)
        there, otherwise = block_label(end.target), block_label(end.otherwise)
        code.lanes.do(f"br i1 {held}, label %{there}, label %{otherwise}")
        return
    if isinstance(end, BarrierSync):
        _barrier(code, end)
    code.lanes.do(f"br label %{block_label(end.target)}")


def _exit(code: FunctionCode, end: Exit) -> None:
    if end.trap:
        raise NotTranslated("the end of a kernel that has failed")
    code.lanes.do("ret void")


def _barrier(code: FunctionCode, barrier: BarrierSync) -> None:
    """AMD's GPUs have one barrier, of all wavefronts of the work-group."""
    if barrier.is_cluster:
        raise NotTranslated("clusters")
    if barrier.is_counted:
        raise NotTranslated("a barrier of some threads of the thread block")
    code.lanes.do('fence syncscope("workgroup") release')
    code.call("void", "@llvm.amdgcn.s.barrier")
    code.lanes.do('fence syncscope("workgroup") acquire')
