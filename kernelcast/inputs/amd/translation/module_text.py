"""One kernel as a module of LLVM IR for AMD's GPUs.

The parameters lie in memory as PTX lays them out, since the kernel takes them as one piece; every
register is a stack slot, of which LLVM makes values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kernelcast.inputs.amd.translation.atomics import write_atomic
from kernelcast.inputs.amd.translation.computations import write_compute
from kernelcast.inputs.amd.translation.control import (
    VOTES,
    block_label,
    entry_of_votes,
    gate_slot,
    has_votes,
    write_gates,
    write_result,
    write_terminator,
    write_vote,
)
from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.exchanges import write_exchange
from kernelcast.inputs.amd.translation.function_code import FunctionCode, slot
from kernelcast.inputs.amd.translation.loop_entries import gates_of
from kernelcast.inputs.amd.translation.memory import (
    ARGUMENTS,
    OWN_MEMORY,
    address_value,
    symbol_name,
    write_fence,
    write_load,
    write_store,
)
from kernelcast.inputs.amd.translation.places import special_value
from kernelcast.inputs.amd.translation.source_places import FUNCTION_PLACE, SourcePlaces
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierResult,
    BarrierVote,
    Compute,
    Fence,
    Instruction,
    Kernel,
    Load,
    Store,
    Symbol,
    WarpOperation,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["WRITERS", "translated"]

_HEADER = (
    'target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32'
    "-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128"
    '-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"\n'
    'target triple = "amdgcn-amd-amdhsa"\n'
)
"""The sizes of addresses (LLVM's AMDGPU usage guide)."""
_MOST_THREADS = 1024
_ARGUMENT_ALIGNMENT = 16
WRITERS: dict[type[Instruction], Callable[[FunctionCode, Any], None]] = {
    Compute: write_compute,
    Load: write_load,
    Store: write_store,
    Atomic: write_atomic,
    Fence: write_fence,
    WarpOperation: write_exchange,
    BarrierVote: write_vote,
    BarrierResult: write_result,
}
"""What writes each kind of instruction."""
_OTHERS = {
    "BarrierArrive": "a barrier of some threads of the thread block",
    "BulkCopy": "a copy in bulk",
    "ClusterArrive": "clusters",
    "HostCall": "a function of the host",
    "TensorMemoryOperation": "tensor memory",
}


def translated(kernel: Kernel) -> str:
    """The module's text; UnsupportedInstruction, naming the instruction, where there is none."""
    code = FunctionCode(kernel, special_value, address_value)
    gates = gates_of([block.successors for block in kernel.blocks])
    places = SourcePlaces(kernel)
    for block in kernel.blocks:
        code.lines.append(f"{block_label(block.index)}:")
        for instruction in (*block.body, block.terminator):
            first = len(code.lines)
            with code.translating(instruction):
                if instruction is block.terminator:
                    write_terminator(code, block.terminator, gates)
                else:
                    _write(code, instruction)
            places.mark(code.lines, first, instruction)
    write_gates(code, gates)
    variables = [_variable(symbol) for symbol in kernel.symbols.values()]
    parts = (
        _HEADER,
        *(text for text in variables if text),
        *([VOTES] if has_votes(kernel) else ()),
        _definition(kernel),
        "entry:",
        *_entry(kernel, set(gates.values())),
        *code.lines,
        "}",
        *code.declarations.values(),
        *places.nodes(),
        "",
    )
    return "\n".join(parts)


def _write(code: FunctionCode, instruction: Instruction) -> None:
    writer = WRITERS.get(type(instruction))
    if writer is None:
        raise NotTranslated(_OTHERS[type(instruction).__name__])
    writer(code, instruction)


def _definition(kernel: Kernel) -> str:
    size = kernel.parameter_bytes
    parameter = (
        f"ptr addrspace(4) byref([{size} x i8]) align {_ARGUMENT_ALIGNMENT} {ARGUMENTS}"
        if size
        else ""
    )
    threads = kernel.required_threads or kernel.max_threads
    most = _MOST_THREADS
    if threads is not None:
        most = threads[0] * threads[1] * threads[2]
    return (
        f"define amdgpu_kernel void @{kernel.name}({parameter}) "
        f'"amdgpu-flat-work-group-size"="1,{most}" {FUNCTION_PLACE} {{'
    )


def _entry(kernel: Kernel, gates: set[int]) -> Iterator[str]:
    for gate in gates:
        yield f"  {gate_slot(gate)} = alloca i32, align 4, addrspace(5)"
    for register in kernel.registers:
        kind = f"i{register.bits}"
        yield f"  {slot(register)} = alloca {kind}, align 4, addrspace(5)"
    if kernel.local_bytes:
        yield (
            f"  {OWN_MEMORY} = alloca [{kernel.local_bytes} x i8], align "
            f"{_ARGUMENT_ALIGNMENT}, addrspace(5)"
        )
    for register in kernel.registers:
        zero = "false" if register.bits == 1 else "0"
        yield f"  store i{register.bits} {zero}, ptr addrspace(5) {slot(register)}, align 4"
    yield from entry_of_votes(kernel)
    yield f"  br label %{block_label(0)}"


def _variable(symbol: Symbol) -> str:
    """The declaration of a variable; contents come from the launch."""
    kind, name = f"[{symbol.size} x i8]", symbol_name(symbol)
    match symbol.space:
        case AddressSpace.LOCAL:
            return ""
        case AddressSpace.SHARED:
            linkage = "internal" if symbol.size else "external"
            content = " poison" if symbol.size else ""
            return f"{name} = {linkage} addrspace(3) global {kind}{content}, align {symbol.align}"
        case AddressSpace.CONST:
            return f"{name} = external hidden addrspace(4) global {kind}, align {symbol.align}"
    return f"{name} = external hidden addrspace(1) global {kind}, align {symbol.align}"
