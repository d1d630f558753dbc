"""Branches, barriers and the end of a kernel as LLVM IR for AMD's GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.simcore.isa.ir.kernel import (
    BarrierResult,
    BarrierSync,
    BarrierVote,
    Branch,
    Exit,
    Guard,
    Kernel,
    Terminator,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "VOTES",
    "block_label",
    "entry_of_votes",
    "gate_slot",
    "has_votes",
    "write_gates",
    "write_result",
    "write_terminator",
    "write_vote",
]

VOTES = "@kernelcast.votes = internal addrspace(3) global i32 poison, align 4"
"""The word of shared memory that reductions at barriers add up in."""
VOTE_SLOT = "%vote"
_VOTES = "ptr addrspace(3) @kernelcast.votes"
_ORDER = 'syncscope("workgroup") monotonic, align 4'
_THREAD = 1 << 16
"""What a thread adds for itself, beside 1 where its predicate holds."""


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
        code.call("void", "@llvm.trap")
        code.lanes.do("unreachable")
        return
    code.lanes.do("ret void")


def _barrier(code: FunctionCode, barrier: BarrierSync) -> None:
    """AMD's GPUs have one barrier, of all wavefronts of the work-group."""
    if barrier.is_cluster:
        raise NotTranslated("clusters")
    if barrier.is_counted:
        raise NotTranslated("a barrier of some threads of the thread block")
    _wait_for_all(code)


def _wait_for_all(code: FunctionCode) -> None:
    code.lanes.do('fence syncscope("workgroup") release')
    code.call("void", "@llvm.amdgcn.s.barrier")
    code.lanes.do('fence syncscope("workgroup") acquire')


# ---- reductions at barriers ----


def write_vote(code: FunctionCode, vote: BarrierVote) -> None:
    """Adds up, in a word of shared memory, the threads and those whose predicate holds."""
    held = code.condition(Guard(vote.predicate, vote.negated))
    one = code.lanes.cast("zext", "i1", held, "i32")
    own = code.lanes.binary("or", "i32", one, str(_THREAD))
    code.lanes.do(f"store i32 {own}, ptr addrspace(5) {VOTE_SLOT}, align 4")
    code.lanes.op(f"atomicrmw add {_VOTES}, i32 {own} {_ORDER}")


def write_result(code: FunctionCode, result: BarrierResult) -> None:
    """What the word says, which everybody takes back what was added to when all have read it."""
    lanes = code.lanes
    total = lanes.op(f"load i32, {_VOTES}, align 4")
    _wait_for_all(code)
    own = lanes.op(f"load i32, ptr addrspace(5) {VOTE_SLOT}, align 4")
    lanes.op(f"atomicrmw sub {_VOTES}, i32 {own} {_ORDER}")
    held = lanes.binary("and", "i32", total, str(_THREAD - 1))
    if result.reduction == "popc":
        code.write(result.destination, held, ScalarType.U32)
        return
    threads = lanes.binary("lshr", "i32", total, str(_THREAD.bit_length() - 1))
    if result.reduction == "and":
        found = lanes.binary("icmp eq", "i32", held, threads)
    else:
        found = lanes.binary("icmp ne", "i32", held, "0")
    code.write(result.destination, found, ScalarType.PRED)


def has_votes(kernel: Kernel) -> bool:
    """Whether threads bring something to a barrier."""
    return any(isinstance(item, BarrierVote) for item in kernel.instructions)


def entry_of_votes(kernel: Kernel) -> Iterator[str]:
    """Makes the word zero before anything else; nothing of a kernel without votes."""
    if not has_votes(kernel):
        return
    yield f"  {VOTE_SLOT} = alloca i32, align 4, addrspace(5)"
    yield f"  store i32 0, {_VOTES}, align 4"
    yield '  fence syncscope("workgroup") release'
    yield "  call void @llvm.amdgcn.s.barrier()"
    yield '  fence syncscope("workgroup") acquire'
