"""Branches, barriers and the end of a kernel as LLVM IR for AMD's GPUs."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.simcore.isa.ir.kernel import BarrierSync, Branch, Exit, Terminator

__all__ = ["block_label", "gate_slot", "write_gates", "write_terminator"]


def block_label(index: int) -> str:
    """The label of a basic block."""
    return f"b{index}"


def gate_slot(gate: int) -> str:
    """The stack slot that says which basic block is behind a gate."""
    return f"%gate{gate}"


def _gate_label(gate: int) -> str:
    return f"g{gate}"


def write_terminator(code: FunctionCode, end: Terminator, gates: Mapping[int, int]) -> None:
    """Ends a basic block; `gates` are in front of some, by their index."""
    if isinstance(end, Exit):
        _exit(code, end)
        return
    if isinstance(end, BarrierSync):
        _barrier(code, end)
    targets = [end.target, end.otherwise] if isinstance(end, Branch) else [end.target]
    ways = [code.label() if target in gates else block_label(target) for target in targets]
    if isinstance(end, Branch):
        held = code.condition(end.guard)
        code.lanes.do(f"br i1 {held}, label %{ways[0]}, label %{ways[1]}")
    else:
        code.lanes.do(f"br label %{ways[0]}")
    for target, way in zip(targets, ways, strict=True):
        if target in gates:
            gate = gates[target]
            code.lines.append(f"{way}:")
            code.lanes.do(f"store i32 {target}, ptr addrspace(5) {gate_slot(gate)}, align 4")
            code.lanes.do(f"br label %{_gate_label(gate)}")


def write_gates(code: FunctionCode, gates: Mapping[int, int]) -> None:
    """The gates: each goes on to the basic block that its slot names."""
    for gate in sorted(set(gates.values())):
        first, *others = sorted(block for block, own in gates.items() if own == gate)
        code.lines.append(f"{_gate_label(gate)}:")
        chosen = code.lanes.op(f"load i32, ptr addrspace(5) {gate_slot(gate)}, align 4")
        cases = " ".join(f"i32 {block}, label %{block_label(block)}" for block in others)
        code.lanes.do(f"switch i32 {chosen}, label %{block_label(first)} [ {cases} ]")


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
