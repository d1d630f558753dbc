"""The kernels of a cubin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kernelcast.errors import SourceSpan, UnsupportedInstruction, nearest
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.sass.container.cubin import Cubin, CubinFunction
from kernelcast.ptx_frontend.sass.lowering.constants import system_shared_bytes
from kernelcast.ptx_frontend.sass.lowering.context import FunctionContext
from kernelcast.ptx_frontend.sass.lowering.control_flow.clusters import other_lowerings
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import FLOW, Flow
from kernelcast.ptx_frontend.sass.lowering.control_flow.shared_calls import call_shared, go_back
from kernelcast.ptx_frontend.sass.lowering.entry_values import EntryValues
from kernelcast.ptx_frontend.sass.lowering.families import SASS_OPCODES
from kernelcast.ptx_frontend.sass.lowering.flow import INSTRUCTION_BYTES, Blocks, Body, body_from
from kernelcast.ptx_frontend.sass.lowering.functions import CallGraph, SharedFunction
from kernelcast.ptx_frontend.sass.lowering.parameters import object_places, parameters_of
from kernelcast.ptx_frontend.sass.lowering.registers import SassRegisters
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.symbols import symbols_of, unlinked
from kernelcast.ptx_frontend.sass.lowering.table import Lowering
from kernelcast.ptx_frontend.sass.lowering.wide_registers import wide_registers
from kernelcast.ptx_frontend.sass.lowering.wide_sums import find_wide_sums
from kernelcast.ptx_frontend.sass.passes.pipeline import improved
from kernelcast.ptx_frontend.sass.text.control import control_of
from kernelcast.ptx_frontend.sass.text.operands import NameOperand
from kernelcast.ptx_frontend.sass.text.register_banks import bank_reads
from kernelcast.ptx_frontend.sass.text.statements import Listing, Section, Statement
from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.ir.kernel import Kernel, Module
from kernelcast.simcore.isa.ir.machine_code import (
    IssueControl,
    MachineCode,
    MachineInstruction,
)

__all__ = ["lower_cubin"]

_MOST_REFUSALS = 100
_MOST_CALLS = 16
"""Calls inside of each other; deeper ones are taken for recursion."""
_VOLTA = 70


def lower_cubin(cubin: Cubin, listing: Listing, source: Module | None = None) -> Module:
    """All kernels of a cubin; what is unsupported refuses its own kernel only.

    `source`: the PTX that it was assembled from, which says more of parameters and places.
    """
    kernels: dict[str, Kernel] = {}
    rejected: dict[str, tuple[Exception, ...]] = {}
    for function in cubin.functions.values():
        if not function.is_entry:
            continue
        known = None if source is None else source.kernels.get(function.name)
        lowering = _KernelLowering(cubin, listing, function, known)
        kernel = lowering.kernel()
        if kernel is None:
            rejected[function.name] = tuple(lowering.refusals)
        else:
            kernels[function.name] = kernel
    return Module(cubin.path, kernels, rejected)


class _KernelLowering:
    """Lowers one entry; `refusals` holds what keeps it from running."""

    def __init__(
        self,
        cubin: Cubin,
        listing: Listing,
        function: CubinFunction,
        source: Kernel | None,
    ) -> None:
        self._cubin = cubin
        self._function = function
        self._parameters = parameters_of(cubin, function, source)
        self._origins = {} if source is None else _origins(source)
        self._ptx_texts = {} if source is None else _ptx_texts(source)
        self.refusals: list[UnsupportedInstruction] = []
        self._section = listing.get(function.name) or Section(function.name)
        self._registers = SassRegisters()
        start = self._span_at(0)
        self._builder = BasicBlockBuilder(start, self._registers.file)
        base = function.info.base
        if base is None and function.info.parameters:
            reason = "the cubin does not say where the parameters are"
            self.refusals.append(UnsupportedInstruction(reason, start))
        self._graph = CallGraph(self._section)
        self._shared: dict[int, SharedFunction] = {}
        self._entry = EntryValues(
            self._builder,
            cubin,
            function,
            base or 0,
            object_places(cubin, function, self._parameters),
            bool(self._graph.shared),
        )
        self._context = FunctionContext(
            self._builder,
            self._registers,
            self._entry,
            cubin.architecture,
            wide_registers(self._section.statements),
        )
        self._others: Mapping[int, Lowering] = {}
        """How statements are lowered that do something else than their opcode says."""
        self._facts: dict[int, MachineInstruction] = {}
        self._depth: list[int] = []
        self._before: Statement | None = None

    def kernel(self) -> Kernel | None:
        """The kernel; None when `refusals` has reasons why it cannot run."""
        if not self._section.statements:
            self._refuse(UnsupportedInstruction("a kernel without code", self._builder.start))
            return None
        for reason in unlinked(self._cubin, self._function):
            self._refuse(UnsupportedInstruction(reason, self._builder.start))
        try:
            self._body(body_from(self._section, 0))
            self._builder.exit()
            self._shared_bodies()
            self._entry.finish()
            return None if self.refusals else self._assembled()
        except UnsupportedInstruction as refusal:
            self._refuse(refusal)
            return None

    def _assembled(self) -> Kernel:
        function, info = self._function, self._function.info
        kernel = Kernel(
            name=function.name,
            blocks=self._builder.finish(),
            registers=tuple(self._registers.file.registers),
            parameters=self._parameters,
            symbols={
                **symbols_of(self._cubin, function, self._entry.symbols),
                **self._entry.own_symbols,
            },
            shared_bytes=function.shared_bytes,
            local_bytes=self._entry.stack_top,
            target=f"sm_{self._cubin.architecture}",
            max_threads=info.most_threads,
            required_threads=info.required_threads,
            max_registers=None,
            required_cluster=info.cluster,
        )
        kernel = improved(kernel, self._registers)
        return replace(kernel, machine=self._machine(kernel))

    def _machine(self, kernel: Kernel) -> MachineCode:
        return MachineCode(
            architecture=kernel.target,
            registers=self._function.registers,
            instructions={
                instruction.pc: self._facts[(instruction.span.line - 1) * INSTRUCTION_BYTES]
                for instruction in kernel.instructions
                if not instruction.is_part
            },
            register_names=self._registers.names,
            system_shared_bytes=system_shared_bytes(
                self._cubin.architecture, self._function.shared_bytes
            ),
            barriers=self._function.info.barriers,
        )

    def _body(self, body: Body, own: SharedFunction | None = None) -> None:
        """Lowers what is reached from the body's entry, whose basic block is placed first."""
        body.blocks = Blocks({start: self._builder.new(f"{start:#x}") for start in body.starts})
        outer = self._context.memory.get(FLOW)
        outer_sums = self._context.wide_sums
        self._context.memory[FLOW] = Flow(
            body, self._call, self._shared_function, self._graph.pointed, own
        )
        self._context.wide_sums = find_wide_sums(body.statements, body.starts)
        outer_others, self._others = self._others, other_lowerings(body, self._cubin.architecture)
        self._builder.fall_into(body.blocks[body.entry])
        for statement in self._watched(body):
            block = body.blocks.get(statement.address)
            if block is not None:
                self._builder.place(block)
            try:
                self._statement(statement)
            except UnsupportedInstruction as refusal:
                self._refuse(refusal)
            except IndexError:  # a listing of another release, or a damaged one
                reason = f"SASS instruction {statement.mnemonic!r} has fewer operands than it needs"
                self._refuse(UnsupportedInstruction(reason, self._span(statement)))
        self._context.memory[FLOW], self._context.wide_sums = outer, outer_sums
        self._others = outer_others

    def _watched(self, body: Body) -> Iterator[Statement]:
        for statement in watched(body.statements, f"reading {self._cubin.path}"):
            excess = self._builder.excess()
            if excess:
                self._refuse(UnsupportedInstruction(excess, self._builder.start))
            if excess or len(self.refusals) >= _MOST_REFUSALS:
                return
            yield statement

    def _call(self, site: Site, address: int) -> None:
        """The function at an address, lowered once more for this call unless it is shared."""
        if address in self._graph.shared:
            call_shared(site, self._shared_function(address))
            return
        if address in self._depth or len(self._depth) >= _MOST_CALLS:
            raise site.refuse("a recursive call")
        self._depth.append(address)
        following = self._builder.new()
        body = body_from(self._section, address)
        body.return_to = following
        self._body(body)
        self._builder.place(following)
        self._depth.pop()

    def _shared_function(self, address: int) -> SharedFunction:
        found = self._shared.get(address)
        if found is None:
            entry, leave = self._builder.new(), self._builder.new()
            found = SharedFunction(address, entry, leave, self._builder.temporary(32))
            self._shared[address] = found
        return found

    def _shared_bodies(self) -> None:
        """Lowers the shared functions that were called, then where they return."""
        done: set[int] = set()
        while not done.issuperset(self._shared):
            address = next(known for known in self._shared if known not in done)
            done.add(address)
            function = self._shared[address]
            self._builder.place(function.entry)
            self._body(body_from(self._section, address), function)
            self._builder.exit()
        for function in self._shared.values():
            self._builder.place(function.leave)
            go_back(self._entry, function)

    def _statement(self, statement: Statement) -> None:
        entry = SASS_OPCODES.get(statement.opcode)
        span = self._span(statement)
        if entry is None:
            hint = nearest(statement.opcode, SASS_OPCODES)
            raise UnsupportedInstruction(
                f"SASS instruction {statement.mnemonic!r} is not supported{hint}", span
            )
        site = Site(self._context, statement, span, self._origin(statement))
        self._others.get(statement.address, entry.lower)(site)
        site.finish()
        self._facts[statement.address] = MachineInstruction(
            address=statement.address,
            opcode=entry.name,
            reads=tuple(site.reads),
            writes=tuple(site.writes),
            ptx_line=statement.ptx_line,
            text=statement.text,
            ptx_text=self._ptx_texts.get(statement.ptx_line, ""),
            control=self._control(statement),
            special_register=_special_register(statement),
        )

    def _control(self, statement: Statement) -> IssueControl | None:
        before, self._before = self._before, statement
        if self._cubin.architecture < _VOLTA:
            return None
        reads = bank_reads(statement, before)
        return control_of(statement.encoding, statement.address, reads)

    def _refuse(self, refusal: UnsupportedInstruction) -> None:
        """Every reason once, at the first place."""
        if all(refusal.message != known.message for known in self.refusals):
            self.refusals.append(refusal)

    def _span_at(self, address: int) -> SourceSpan:
        place = f"{self._cubin.path}[sm_{self._cubin.architecture} {self._function.name}]"
        return SourceSpan(place, address // INSTRUCTION_BYTES + 1)

    def _span(self, statement: Statement) -> SourceSpan:
        """Lines count instructions of the section."""
        return self._span_at(statement.address)

    def _origin(self, statement: Statement) -> SourceSpan | None:
        """The place in the source that is highest: CUDA C++, else PTX."""
        file, line = statement.source
        if line:
            return SourceSpan(file, line)
        if not statement.ptx_line:
            return None
        return self._origins.get(
            statement.ptx_line, SourceSpan(self._cubin.path, statement.ptx_line)
        )


def _origins(source: Kernel) -> dict[int, SourceSpan]:
    """Places in the higher-level source by the lines of the PTX."""
    return {
        instruction.span.line: instruction.origin
        for instruction in source.instructions
        if instruction.origin is not None
    }


def _ptx_texts(source: Kernel) -> dict[int, str]:
    """The lines of the PTX by their numbers."""
    return {item.span.line: item.span.text.strip() for item in source.instructions}


def _special_register(statement: Statement) -> str:
    names = (item.name for item in statement.operands if isinstance(item, NameOperand))
    return next((name for name in names if name.startswith("SR")), "")
