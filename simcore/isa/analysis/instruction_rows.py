"""A kernel's static instructions as the rows of a trace's instruction table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from kernelcast.errors import SourceSpan
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.counting_rules import native_counting
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.bulk_operations import CHUNK_BYTES, BulkDirection, BulkSide
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    BulkCopy,
    ClusterArrive,
    Compute,
    Exit,
    Fence,
    HostCall,
    Immediate,
    Instruction,
    Kernel,
    Load,
    Register,
    Store,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.ir.machine_code import MachineInstruction
from kernelcast.simcore.isa.ir.mbarrier_words import MBARRIER_WAIT, is_mbarrier_look
from kernelcast.simcore.isa.matrix.tensor_memory import TensorProduct
from kernelcast.simcore.isa.opcodes.columns import Expansion
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import Unit
from kernelcast.traces.amd_opcodes import AmdKind, amd_instruction
from kernelcast.traces.sass_opcodes import sass_instruction
from kernelcast.traces.trace import InstructionRow

__all__ = ["COMMIT_GROUP", "WAIT_GROUP", "basic_block_of_each_pc", "instruction_rows"]

COMMIT_GROUP, WAIT_GROUP = "commit_group", "wait_group"
"""What opcodes of rows are called, the latter with the number of groups that are not waited for."""
_LONGEST_TEXT = 400
_SASS_COMMIT = "LDGDEPBAR"
_TENSOR = Unit.TENSOR.value
_NOWHERE = SourceSpan("", 0)
_USUAL_ACCURACY = {Expansion.ROUNDED: "rn", Expansion.APPROXIMATED: "approx"}
"""The accuracy, by expansion, of what is one instruction here and several in native code."""


@once_per_kernel
def instruction_rows(kernel: Kernel) -> tuple[InstructionRow, ...]:
    """One row per instruction, in the order of pc."""
    native = native_counting(kernel)
    block_of = basic_block_of_each_pc(kernel).tolist()
    rows = []
    for instruction in kernel.instructions:
        kind, name, unit, flops = _classify(instruction)
        facts = _facts(kernel, instruction)
        unit_name = unit.value
        if facts is not None:
            name = name if _tells_of_order(name) else facts.opcode
            kind, unit_name = _machine_kind(instruction.mnemonic, kind, unit_name)
            flops = _flops(instruction.mnemonic, flops)
        space, cache, access_bytes = _access(instruction)
        origin = instruction.origin or _NOWHERE
        tensor_type, tensor_operations = _tensor_work(kernel, instruction)
        is_product = isinstance(instruction, TensorMemoryOperation)
        if facts is not None and unit_name == _TENSOR and not tensor_operations:
            tensor_type, tensor_operations = _machine_product(instruction.mnemonic)
            is_product = True
        if is_product and not tensor_type.startswith("int"):
            flops = tensor_operations
        rows.append(
            InstructionRow(
                pc=instruction.pc,
                opcode=name,
                mnemonic=instruction.mnemonic,
                unit=unit_name,
                flops=flops,
                kind=kind,
                basic_block=block_of[instruction.pc],
                space=space,
                access_bytes=access_bytes,
                cache=cache,
                is_native=instruction.pc not in native.folded,
                merged_into=native.merged_into.get(instruction.pc, instruction.pc),
                file=instruction.span.file,
                line=instruction.span.line,
                origin_file=origin.file,
                origin_line=origin.line,
                is_source=not (instruction.is_added or instruction.is_part),
                is_part=instruction.is_part,
                reads=_numbers(reads(instruction)) if facts is None else facts.reads,
                writes=_numbers(writes(instruction)) if facts is None else facts.writes,
                operand_kind=_operand_kind(instruction),
                tensor_type=tensor_type,
                tensor_operations=tensor_operations,
                sequence=_sequence(instruction) if kernel.machine is None else "",
                special_register="" if facts is None else facts.special_register,
                control=None if facts is None else facts.control,
                text=_shown(instruction.span.text if facts is None else facts.text),
                ptx_line=0 if facts is None else facts.ptx_line,
                ptx_text="" if facts is None else _shown(facts.ptx_text),
            )
        )
    return tuple(rows)


def _shown(text: str) -> str:
    """A line of code with single blanks, without what no terminal must obey, and not too long."""
    letters = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(letters.split())[:_LONGEST_TEXT]


def _facts(kernel: Kernel, instruction: Instruction) -> MachineInstruction | None:
    """What machine code says of the instruction; None for a source form and for parts."""
    return None if kernel.machine is None else kernel.machine.instructions.get(instruction.pc)


def _tells_of_order(name: str) -> bool:
    """Whether a name says more than an opcode: what groups and mbarriers are waited for."""
    return name in (COMMIT_GROUP, MBARRIER_WAIT) or name.startswith(WAIT_GROUP)


def _machine_kind(mnemonic: str, kind: str, unit: str) -> tuple[str, str]:
    """What machine code does and which unit executes it: both are in its name."""
    described = sass_instruction(mnemonic)
    if described is not None:
        return described.kind if kind == "compute" else kind, described.unit
    of_amd = amd_instruction(mnemonic)
    if of_amd is not None and of_amd.kind is AmdKind.MATRIX:
        return kind, _TENSOR
    return kind, unit


def _flops(mnemonic: str, counted: int) -> int:
    """Operations of a lane of machine code that does what is counted once several times."""
    found = amd_instruction(mnemonic)
    if found is None:
        return counted
    return counted * found.results if found.flops is None else found.flops


def _machine_product(mnemonic: str) -> tuple[str, int]:
    """Type and operations of one lane of a product that is many instructions here."""
    found = amd_instruction(mnemonic)
    return ("", 0) if found is None else (found.tensor_type, found.tensor_operations)


def _numbers(registers: Iterable[Register]) -> tuple[int, ...]:
    """Each register once, in the order of the operands."""
    return tuple(dict.fromkeys(register.index for register in registers))


def _operand_kind(instruction: Instruction) -> str:
    if not isinstance(instruction, Compute):
        return ""
    is_constant = any(isinstance(source, Immediate) for source in instruction.sources)
    kind = "float" if instruction.type.holds_floats else "int"
    return f"{kind}_{'const' if is_constant else 'reg'}"


def _sequence(instruction: Instruction) -> str:
    """A divisor that is known takes no division: compilers have replaced it before."""
    if not isinstance(instruction, Compute):
        return ""
    usual = _USUAL_ACCURACY.get(instruction.opcode.expansion)
    if usual is None:
        return ""
    name, type_ = instruction.opcode.name, instruction.type.ptx_name
    if instruction.type.is_integer:
        return "" if isinstance(instruction.sources[1], Immediate) else f"{name}.{type_}"
    found = instruction.modifiers
    accuracy = next((item for item in ("approx", "full") if item in found), usual)
    flush = ".ftz" if accuracy != "rn" and "ftz" in found else ""
    return f"{name}.{accuracy}{flush}.{type_}"


def _tensor_work(kernel: Kernel, instruction: Instruction) -> tuple[str, int]:
    """Type and operations of one lane. Few kernels have products."""
    if isinstance(instruction, TensorMemoryOperation):
        from kernelcast.simcore.isa.analysis.static_products import (
            static_operation,
            static_product,
        )
        from kernelcast.simcore.isa.matrix.tensor_work import product_work

        product, stated = static_product(kernel, instruction), static_operation(kernel, instruction)
        if product is None or stated is None:
            return "", 0
        return product_work(product, is_sparse=stated[0].is_sparse)
    if not isinstance(instruction, WarpOperation) or instruction.opcode.unit is not Unit.TENSOR:
        return "", 0
    from kernelcast.simcore.isa.matrix.tensor_work import tensor_work

    return tensor_work(instruction.opcode)


def basic_block_of_each_pc(kernel: Kernel) -> npt.NDArray[np.intp]:
    """The index of the basic block that holds each instruction of the source."""
    found = np.zeros(len(kernel.instructions), np.intp)
    for basic_block in kernel.blocks:
        for instruction in (*basic_block.body, basic_block.terminator):
            if instruction.mnemonic:  # jumps that the front end adds have none, and no pc
                found[instruction.pc] = basic_block.index
    return found


def _classify(instruction: Instruction) -> tuple[str, str, Unit, int]:
    """(kind, opcode name, unit, floating-point operations per lane)."""
    match instruction:
        case Compute():
            context = Context(instruction.type, instruction.source_type, instruction.modifiers)
            opcode = instruction.opcode
            return "compute", opcode.name, opcode.unit(context), opcode.flops_of(context)
        case Load():
            name = f"ld.{instruction.address.space.value}"
            if is_mbarrier_look(instruction):
                name = MBARRIER_WAIT
            return "load", name, Unit.LOAD_STORE, 0
        case Store():
            return "store", f"st.{instruction.address.space.value}", Unit.LOAD_STORE, 0
        case Atomic():
            name = f"atom.{instruction.address.space.value}.{instruction.operation}"
            return "atomic", name, Unit.LOAD_STORE, 0
        case Fence():
            return "fence", _fence_name(instruction), Unit.LOAD_STORE, 0
        case WarpOperation():
            exchange = instruction.opcode
            return "warp", exchange.name, exchange.unit, exchange.flops
        case _:
            return _classify_other(instruction)


def _fence_name(fence: Fence) -> str:
    """Asynchronous operations are put into groups and waited for under names of their own."""
    if fence.groups_left is not None:
        return f"{WAIT_GROUP}.{fence.groups_left}"
    names = fence.mnemonic.split(".")
    return COMMIT_GROUP if COMMIT_GROUP in names or names[0] == _SASS_COMMIT else "membar"


def _classify_other(instruction: Instruction) -> tuple[str, str, Unit, int]:
    """(group, mnemonic, unit, flops) of barriers, bulk copies, calls and terminators."""
    match instruction:
        case HostCall():
            return "call", f"call.{instruction.function.value}", Unit.CONTROL, 0
        case BarrierArrive():
            return "barrier", "bar.arrive", Unit.BARRIER, 0
        case BarrierVote() | BarrierResult():
            return "vote", "bar.red", Unit.BARRIER, 0
        case ClusterArrive():
            return "barrier", "barrier.cluster.arrive", Unit.BARRIER, 0
        case BulkCopy():
            return _bulk_kind(instruction), "cp.async.bulk", Unit.LOAD_STORE, 0
        case TensorMemoryOperation():
            is_product = isinstance(instruction.operation, TensorProduct)
            unit = Unit.TENSOR if is_product else Unit.LOAD_STORE
            return "tensor memory", instruction.mnemonic, unit, 0
        case BarrierSync():
            return "barrier", "bar.sync", Unit.BARRIER, 0
        case Exit():
            return "exit", "trap" if instruction.trap else "ret", Unit.CONTROL, 0
        case _:
            return "branch", "bra", Unit.CONTROL, 0


def _bulk_kind(copy: BulkCopy) -> str:
    """What the accesses of this side do to memory."""
    direction = copy.operation.direction
    if copy.side is BulkSide.COPY:
        is_read = direction is not BulkDirection.STORE
        return "load" if is_read else ("atomic" if copy.operation.reduction else "store")
    return "load" if direction is BulkDirection.STORE else "store"


def _access(instruction: Instruction) -> tuple[str, str, int]:
    """(space, cache operator, bytes that a lane moves)."""
    match instruction:
        case Load():
            size = instruction.type.bytes * len(instruction.destinations)
            cache = "cv" if instruction.volatile else instruction.cache
            return instruction.address.space.value, cache, size
        case Store():
            size = instruction.type.bytes * len(instruction.sources)
            return instruction.address.space.value, instruction.cache, size
        case Atomic():
            return instruction.address.space.value, "", instruction.type.bytes
        case BulkCopy():
            return instruction.operation.space(instruction.side), "cg", CHUNK_BYTES
        case _:
            return "", "", 0
