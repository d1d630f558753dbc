"""The one SIMT intermediate representation: what every front end makes and every engine runs.

A `Kernel` is a control-flow graph of `BasicBlock`s over untyped registers. Branches, barriers and
exits end a basic block; every other instruction is straight-line and may carry a guard predicate.
Of a front end's syntax only `Instruction.mnemonic`, for counting, and source spans survive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from kernelcast.errors import SourceSpan
from kernelcast.simcore.isa.ir.bulk_operations import BulkOperand, BulkOperation, BulkSide
from kernelcast.simcore.isa.ir.host_functions import HostFunction
from kernelcast.simcore.isa.ir.machine_code import MachineCode
from kernelcast.simcore.isa.ir.operands import (
    GRID,
    HEAP,
    Address,
    Guard,
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
    SymbolAddress,
)
from kernelcast.simcore.isa.ir.parameters import Parameter, Symbol
from kernelcast.simcore.isa.matrix.tensor_memory import TensorMemoryAction
from kernelcast.simcore.isa.opcodes.table import Opcode
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.traces.trace import SOURCE_CODES

__all__ = [
    "GRID",
    "HEAP",
    "Address",
    "Atomic",
    "BarrierArrive",
    "BarrierResult",
    "BarrierSync",
    "BarrierVote",
    "BasicBlock",
    "Branch",
    "BulkCopy",
    "ClusterArrive",
    "Compute",
    "Exit",
    "Fence",
    "Guard",
    "HostCall",
    "HostFunction",
    "Immediate",
    "Instruction",
    "Jump",
    "Kernel",
    "Load",
    "Module",
    "Operand",
    "Parameter",
    "Register",
    "Special",
    "SpecialRegister",
    "Store",
    "Straight",
    "Symbol",
    "SymbolAddress",
    "TensorMemoryOperation",
    "Terminator",
    "WarpOperation",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What all instructions share. `pc` counts instructions of the kernel from 0.

    `mnemonic` is the instruction as the source spells it (`ld.global.nc.v2.f32`);
    `span` is its place there; `origin` the place in the higher-level source when known (`.loc`).
    `is_added`: only native code has it (docs/counting.md). `is_part`: hardware does it as part of
    another instruction; it counts nowhere, but its access reaches memory.
    """

    pc: int
    mnemonic: str
    span: SourceSpan
    origin: SourceSpan | None = None
    guard: Guard | None = None
    is_added: bool = False
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute(Instruction):
    """destinations = opcode(sources), lane by lane.

    `type` is the instruction type, `source_type` the second type of `cvt` (else equal to `type`).
    `modifiers` change the value and are not in the opcode: `ftz`, `sat`, `approx`, rounding.
    """

    opcode: Opcode
    type: ScalarType
    source_type: ScalarType
    destinations: tuple[Register | None, ...]
    sources: tuple[Operand, ...]
    modifiers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Instruction):
    """Reads `len(destinations)` neighbouring elements of `type`; a None destination is a sink.

    `cache` is the cache operator (`ca`, `cg`, `cs`, `cv`, `nc`, or empty for the default).
    """

    type: ScalarType
    address: Address
    destinations: tuple[Register | None, ...]
    cache: str = ""
    volatile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Store(Instruction):
    """Writes registers or constants to consecutive elements at an address."""

    type: ScalarType
    address: Address
    sources: tuple[Operand, ...]
    cache: str = ""
    volatile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Atomic(Instruction):
    """destination = old value; memory = operation(old, sources). destination None: a reduction."""

    operation: str
    type: ScalarType
    address: Address
    destination: Register | None
    sources: tuple[Operand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence(Instruction):
    """A memory fence: counts as an instruction; the engines' memory is sequentially consistent.

    `groups_left`: how many of the latest groups of asynchronous operations need not be done.
    """

    groups_left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WarpOperation(Instruction):
    """destinations = opcode(sources) across the lanes of a warp that execute it together.

    `members` masks the lanes that must take part (`.sync`, else None); `destinations` may be empty.
    """

    opcode: WarpOpcode
    type: ScalarType
    destinations: tuple[Register | None, ...]
    sources: tuple[Operand, ...]
    members: Operand | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierArrive(Instruction):
    """Counts a warp at a barrier for `count` threads and goes on."""

    number: Operand
    count: Operand


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierVote(Instruction):
    """What a thread brings to the reduction of the barrier that follows."""

    predicate: Register
    negated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierResult(Instruction):
    """destination = `popc`, `and` or `or` of all votes before the barrier just passed."""

    reduction: str
    destination: Register | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkCopy(Instruction):
    """A copy that hardware makes on behalf of each lane. `operands` say what `sources` are."""

    operation: BulkOperation
    side: BulkSide
    operands: tuple[BulkOperand, ...]
    sources: tuple[Operand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterArrive(Instruction):
    """Counts a thread at the barrier of its cluster and goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorMemoryOperation(Instruction):
    """An operation on tensor memory; `types` are those of the sources, which `operation` lists.

    Products are asked for by each lane for itself, the rest by whole warps.
    """

    operation: TensorMemoryAction
    destinations: tuple[Register | None, ...]
    sources: tuple[Operand, ...]
    types: tuple[ScalarType, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCall(Instruction):
    """destination = function(sources), lane by lane; `types` are those of the sources."""

    function: HostFunction
    destination: Register | None
    sources: tuple[Operand, ...]
    types: tuple[ScalarType, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump(Instruction):
    """Ends a basic block, unconditionally."""

    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch(Instruction):
    """Ends a basic block: lanes whose guard holds go to `target`, the others to `otherwise`."""

    guard: Guard
    target: int
    otherwise: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierSync(Instruction):
    """Ends a basic block: waits for every thread of the thread block that has not exited.

    With `count` it waits until so many threads came to the barrier. `number` is given where it is
    computed, then `barrier` is -1. `is_cluster`: for all threads of the cluster to have come by
    (`ClusterArrive`).
    """

    barrier: int
    target: int
    number: Operand | None = None
    count: Operand | None = None
    is_cluster: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether the barrier may open before every thread waits at it."""
        return self.number is not None or self.count is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit(Instruction):
    """Ends a basic block: the lanes are done. `trap` is the failing kind, for `reason`."""

    trap: bool = False
    reason: str = ""


Terminator: TypeAlias = Jump | Branch | BarrierSync | Exit

Straight: TypeAlias = (
    Compute
    | Load
    | Store
    | Atomic
    | Fence
    | WarpOperation
    | BarrierArrive
    | BarrierVote
    | BarrierResult
    | BulkCopy
    | ClusterArrive
    | HostCall
    | TensorMemoryOperation
)
"""The instructions that do not end a basic block."""


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """Straight-line `body`, then `terminator`.

    A terminator that is not in the source (a fall-through, the way round a guarded barrier) has
    `mnemonic == ""` and `pc == -1` and counts nothing. `is_kept_rolled`: begins no unrolled loop.
    """

    index: int
    label: str
    body: tuple[Straight, ...]
    terminator: Terminator
    is_kept_rolled: bool = False

    @property
    def successors(self) -> tuple[int, ...]:
        """Indices of the basic blocks that control may go to next; none after an exit."""
        end = self.terminator
        if isinstance(end, Branch):
            return (end.target, end.otherwise)
        return () if isinstance(end, Exit) else (end.target,)


@dataclass(frozen=True, eq=False)
class Kernel:
    """An entry point, ready to run; `blocks[0]` is the entry, indices are positions.

    A kernel is equal only to itself. Timing leaves one that `is_as_written` in its own order.
    Native code of one that `is_for_debugging` is not optimised (`.target sm_75, debug`).
    """

    name: str
    blocks: tuple[BasicBlock, ...]
    registers: tuple[Register, ...]
    parameters: tuple[Parameter, ...]
    symbols: Mapping[str, Symbol]
    shared_bytes: int
    local_bytes: int
    """Static shared memory per thread block, local memory per thread; bytes."""
    target: str = ""
    max_threads: tuple[int, int, int] | None = None
    required_threads: tuple[int, int, int] | None = None
    max_registers: int | None = None
    required_cluster: tuple[int, int, int] | None = None
    """Thread blocks of a cluster; None where the launch says it."""
    uses_dynamic_shared: bool = False
    is_for_debugging: bool = False
    is_as_written: bool = False
    compiled_registers: tuple[tuple[str, int], ...] = ()
    machine: MachineCode | None = None
    """What is known of it because it is machine code itself; None for a kernel in a source form."""

    @property
    def code(self) -> str:
        """What traces call the code: the architecture of machine code, or that of the source."""
        return self.machine.architecture if self.machine else SOURCE_CODES[self.is_as_written]

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions in the order of their `pc`, implicit jumps left out."""
        found: list[Instruction] = []
        for block in self.blocks:
            found.extend(block.body)
            if block.terminator.mnemonic:
                found.append(block.terminator)
        return tuple(sorted(found, key=lambda instruction: instruction.pc))

    @property
    def parameter_bytes(self) -> int:
        """The size of the kernel's parameter space in bytes."""
        return max((p.offset + p.size for p in self.parameters), default=0)


@dataclass(frozen=True)
class Module:
    """What a source file holds: kernels by name, and why the others cannot run."""

    path: str
    kernels: Mapping[str, Kernel]
    rejected: Mapping[str, tuple[Exception, ...]] = field(default_factory=dict)
    """Kernels that contain something unsupported, with every reason."""
