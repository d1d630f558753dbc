"""A kernel of AMD's machine code in the intermediate representation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.amdgcn.code_object import KernelMetadata
from kernelcast.ptx_frontend.amdgcn.encoding import instruction_bytes, padded
from kernelcast.ptx_frontend.amdgcn.lowering.argument_places import ArgumentPlaces
from kernelcast.ptx_frontend.amdgcn.lowering.clamped import (
    CLAMPED,
    is_clamped_number,
    lower_clamped_number,
)
from kernelcast.ptx_frontend.amdgcn.lowering.control import BARRIERS, lower_control
from kernelcast.ptx_frontend.amdgcn.lowering.exchanges.dpp import is_dpp, with_first_operand
from kernelcast.ptx_frontend.amdgcn.lowering.generations import (
    has_ids_apart,
    has_own_group_registers,
    is_rdna,
    plain_name,
)
from kernelcast.ptx_frontend.amdgcn.lowering.indexed_registers import is_indexed, lower_indexed
from kernelcast.ptx_frontend.amdgcn.lowering.memory.accesses import (
    MEMORY,
    Arguments,
    lower_scalar_load,
)
from kernelcast.ptx_frontend.amdgcn.lowering.partial_results import lower_part, writes_part
from kernelcast.ptx_frontend.amdgcn.lowering.scalars.plain import (
    MASK_OPCODES,
    SCALAR,
    SCC_READERS,
    SCC_WRITERS,
)
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.ptx_frontend.amdgcn.lowering.together import lower_together
from kernelcast.ptx_frontend.amdgcn.lowering.vector import MASK_OPERANDS, VECTOR
from kernelcast.ptx_frontend.amdgcn.lowering.writer import Writer, register_names
from kernelcast.ptx_frontend.amdgcn.machine_facts import machine_code
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction, AsmKernel
from kernelcast.simcore.isa.ir.kernel import (
    Guard,
    Immediate,
    Kernel,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.ir.parameters import Symbol
from kernelcast.simcore.isa.types import WINDOWS, AddressSpace

__all__ = ["lowered_kernel"]

_ALIGNED = 16
"""Bytes that constants are aligned to: no access is wider."""
_USER_REGISTERS = (
    ("private_segment_buffer", 4),
    ("dispatch_ptr", 2),
    ("queue_ptr", 2),
    ("kernarg_segment_ptr", 2),
    ("dispatch_id", 2),
    ("flat_scratch_init", 2),
    ("private_segment_size", 1),
)
"""Scalar registers that hold something at the start, in this order (LLVM's AMDGPU usage guide)."""
_OF_OWN_MEMORY = ("private_segment_buffer", "flat_scratch_init")
"""Where the memory of work-items lies: here each has its own, which begins at zero."""
_THREADS = (Special.NTID_X, Special.NTID_Y, Special.NTID_Z)
_GROUPS = (Special.NCTAID_X, Special.NCTAID_Y, Special.NCTAID_Z)
_THREAD = (Special.TID_X, Special.TID_Y, Special.TID_Z)
_GROUP = (Special.CTAID_X, Special.CTAID_Y, Special.CTAID_Z)
_ID_BITS = 10
_OF_CONSTANT = 4
"""Where the constant of an instruction lies."""
_ENDS = ("s_cbranch", "s_branch", "s_endpgm", "s_trap")
_VECTOR = ("v_", "ds_", "global_", "flat_", "buffer_", "scratch_")
_APERTURES = {192: AddressSpace.LOCAL, 196: AddressSpace.SHARED}
"""Where code that has no registers for it finds the upper words of flat addresses."""
_LANES, _NARROW_LANES = 64, 32


def lowered_kernel(
    code: AsmKernel, source: Kernel, metadata: KernelMetadata, architecture: str
) -> Kernel:
    """The kernel as its machine code computes.

    `source`: the same kernel as LLVM IR, for its parameters and variables. UnsupportedInstruction
    for an instruction that is not executed.
    """
    code = replace(code, instructions=tuple(padded(code.instructions, architecture)))
    found = _KernelLowering(code, source, metadata, architecture).kernel()
    return replace(found, machine=machine_code(found, code.instructions, metadata, architecture))


class _KernelLowering:
    def __init__(
        self, code: AsmKernel, source: Kernel, metadata: KernelMetadata, architecture: str
    ) -> None:
        self._architecture = architecture
        self._assembly, self._source, self._metadata = code, source, metadata
        span = code.instructions[0].span if code.instructions else SourceSpan(source.name, 1, 1)
        is_narrow = code.settings.get("wavefront_size32", 0)
        self._code = Writer(span, _NARROW_LANES if is_narrow else _LANES)
        self._code.keeps_halves = is_rdna(architecture)
        self._code.mask_names = frozenset(_mask_names(self._code, code.instructions))
        self._code.variables = frozenset((*source.symbols, *code.constants))
        self._code.last_vector = _last_vector(code.instructions)
        self._places = ArgumentPlaces(self._code, code.instructions)
        self._code.argument_at = self._places.distance
        self._code.is_in_arguments = self._places.is_computed
        end = max((p.offset + p.size for p in source.parameters), default=0)
        self._arguments = Arguments(end, self._size_word)

    def kernel(self) -> Kernel:
        code = self._code
        self._enter()
        labels = [label for item in self._assembly.instructions for label in item.labels]
        blocks = {label: code.builder.new(label) for label in labels}
        address = counter = 0
        for number, instruction in enumerate(self._assembly.instructions):
            for label in instruction.labels:
                code.builder.place(blocks[label])
            self._places.arrive(instruction.labels)
            code.behind_counter = address + _OF_CONSTANT - counter
            address += instruction_bytes(instruction, self._architecture)
            if instruction.opcode == "s_getpc_b64":
                counter = address
            try:
                self._lower(instruction, number, blocks)
            except (ArithmeticError, LookupError, TypeError, ValueError):
                raise code.refused("its operands are none that are known") from None
        shared = [s for s in self._source.symbols.values() if s.space.value == "shared"]
        symbols = {s.name: s for s in self._source.symbols.values() if s not in shared}
        for name, content in self._assembly.constants.items():
            if name in code.addressed:
                size = len(content)
                symbols[name] = Symbol(name, AddressSpace.GLOBAL, size, _ALIGNED, 0, content)
        return replace(
            self._source,
            blocks=code.builder.finish(),
            registers=tuple(code.file.registers),
            symbols=symbols,
            shared_bytes=self._metadata.shared_bytes,
            local_bytes=self._metadata.scratch_bytes,
            compiled_registers=(),
        )

    def _lower(self, instruction: AsmInstruction, number: int, blocks: dict[str, int]) -> None:
        code = self._code
        instruction = _renamed(instruction, self._architecture)
        opcode = instruction.opcode
        code.begin(instruction)
        site = Site(code, instruction, self._is_scc_read(number))
        is_vector = opcode.startswith(_VECTOR) and opcode not in SCALAR
        code.guard = Guard(code.exec, negated=False) if is_vector else None
        all_lanes = code.exec
        if is_dpp(instruction):
            site = replace(site, instruction=with_first_operand(code, instruction))
            assert code.guard is not None
            code.exec = code.guard.register
        if lower_control(site, blocks) or lower_scalar_load(site, self._arguments_of(instruction)):
            pass
        elif instruction.partner is not None:
            lower_together(site, VECTOR)
        elif is_indexed(site):
            lower_indexed(site)
        elif (clamped := CLAMPED.get(opcode)) is not None and "clamp" in instruction.modifiers:
            clamped(site)
        elif (lower := SCALAR.get(opcode) or VECTOR.get(opcode) or MEMORY.get(opcode)) is not None:
            _lower_by_table(site, lower)
        else:
            raise code.refused("it is not executed")
        code.guard, code.exec = None, all_lanes
        if opcode not in BARRIERS and not opcode.startswith(_ENDS):
            code.finish()
        self._places.follow(instruction)
        self._places.leave(instruction)
        if opcode == "s_mov_b64" and set(code.names(instruction.operands[1])) & code.own_memory:
            code.own_memory.add(code.names(instruction.operands[0])[0])

    def _arguments_of(self, instruction: AsmInstruction) -> Arguments | None:
        """The arguments of the launch where a scalar load reads from them."""
        first = self._places.distance(instruction.operands[1]) if instruction.operands[1:] else None
        return None if first is None else replace(self._arguments, first=first)

    def _is_scc_read(self, number: int) -> bool:
        """Whether an instruction reads the condition before another one sets it."""
        for instruction in self._assembly.instructions[number + 1 :]:
            opcode = plain_name(instruction.opcode, self._architecture)
            if opcode in SCC_READERS:
                return True
            if instruction.labels or opcode in SCC_WRITERS:
                return False
        return False

    # ---- what registers hold at first ----

    def _enter(self) -> None:
        code, settings = self._code, self._assembly.settings
        everyone = Immediate(1)
        code.unguarded("mov.pred", code.exec, everyone)
        code.set_mask("exec", everyone)
        code.unguarded("mov.u32", code.lane(), SpecialRegister(Special.LANEID))
        number = 0
        for name, count in _USER_REGISTERS:
            if not settings.get(f"user_sgpr_{name}", 0):
                continue
            if name == "private_segment_buffer":
                code.own_memory.add(f"s{number}")
            if name in _OF_OWN_MEMORY:
                for register in range(number, number + count):
                    code.set_scalar(f"s{register}", [Immediate(0)])
            if name == "kernarg_segment_ptr":
                code.set_scalar(f"s[{number}:{number + 1}]", [Immediate(0), Immediate(0)])
                self._places.known[f"s{number}", f"s{number + 1}"] = 0
            number += count
        number += settings.get("user_sgpr_kernarg_preload_length", 0)
        number = max(number, settings.get("user_sgpr_count", 0))
        has_own = has_own_group_registers(self._architecture)
        if has_own:
            self._enter_groups()
        for axis, special in zip("xyz", _GROUP, strict=True):
            if settings.get(f"system_sgpr_workgroup_id_{axis}", 0) and not has_own:
                code.set_scalar(f"s{number}", [self._special(special)])
                number += 1
        if settings.get("system_sgpr_private_segment_wavefront_offset", 0):
            code.set_scalar(f"s{number}", [Immediate(0)])
        self._enter_threads(settings.get("system_vgpr_workitem_id", 0))

    def _enter_groups(self) -> None:
        """The numbers of the work-group in registers of their own, y and z as halves of one."""
        code = self._code
        code.set_scalar("ttmp9", [self._special(_GROUP[0])])
        upper = code.compute("shl.b32", 32, self._special(_GROUP[2]), Immediate(16))
        both = code.compute("or.b32", 32, self._special(_GROUP[1]), upper)
        code.set_scalar("ttmp7", [both])

    def _enter_threads(self, last_axis: int) -> None:
        """The numbers of the work-item: ten bits each of one register, or a register each."""
        code = self._code
        if has_ids_apart(self._architecture):
            for axis in range(last_axis + 1):
                code.unguarded("mov.b32", code.word(f"v{axis}"), self._special(_THREAD[axis]))
            return
        packed: Operand = self._special(_THREAD[0])
        for axis in range(1, last_axis + 1):
            moved = code.compute(
                "shl.b32", 32, self._special(_THREAD[axis]), Immediate(_ID_BITS * axis)
            )
            packed = code.compute("or.b32", 32, packed, moved)
        code.unguarded("mov.b32", code.word("v0"), packed)

    def _special(self, which: Special) -> Register:
        register = self._code.register(32)
        self._code.unguarded("mov.u32", register, SpecialRegister(which))
        return register

    def _size_word(self, distance: int) -> Operand:
        """A word of what lies behind the arguments: work-groups, then sizes of one, in halves."""
        code = self._code
        if distance in (0, 4, 8):
            return self._special(_GROUPS[distance // 4])
        if distance == 12:
            high = code.compute("shl.b32", 32, self._special(_THREADS[1]), Immediate(16))
            return code.compute("or.b32", 32, self._special(_THREADS[0]), high)
        if distance == 16:
            return self._special(_THREADS[2])
        if distance == 20:
            return Immediate(0)  # no work-group is smaller than the others
        if distance in _APERTURES:
            return Immediate(WINDOWS[_APERTURES[distance]] >> 32)
        raise code.refused(f"what lies {distance} bytes behind the arguments")


def _lower_by_table(site: Site, lower: Lowering) -> None:
    """Lowers an instruction with what is done to its result on the way."""
    if is_clamped_number(site):
        lower_clamped_number(site, lower)
        return
    site.check_modifiers()
    if writes_part(site):
        lower_part(site, lower)
    else:
        lower(site)


def _mask_names(code: Writer, instructions: Sequence[AsmInstruction]) -> Iterator[str]:
    """The first registers of what is a mask of lanes for some instruction."""
    yield "exec_lo"
    yield "vcc_lo"
    if not code.is_wide:
        yield from _narrow_masks(instructions)
        return
    for instruction in instructions:
        if instruction.opcode in MASK_OPCODES:
            yield from _lower_names(code, instruction.operands)
        elif instruction.opcode in MASK_OPERANDS or "_co_" in instruction.opcode:
            yield from _lower_names(code, [text for text in instruction.operands if "s[" in text])
        elif instruction.opcode.startswith("v_cmp"):
            yield from _lower_names(code, instruction.operands[:1])


def _narrow_masks(instructions: Sequence[AsmInstruction]) -> Iterator[str]:
    """Single scalar registers that are masks of 32 lanes: results, and what is read as one."""
    for instruction in instructions:
        opcode, operands = instruction.opcode, instruction.operands
        found: tuple[str, ...] = ()
        if opcode.startswith("v_cmp"):
            found = operands[:1]
        elif opcode.startswith(("v_cndmask", "v_div_fmas", "v_mad_", "v_div_scale")):
            found = operands[1:]
        elif "_co_" in opcode:
            found = (operands[1], *operands[4:])
        yield from (text for text in found if text.startswith("s"))


def _last_vector(instructions: Sequence[AsmInstruction]) -> int:
    """The highest number of a vector register that an instruction names."""
    names = (name for i in instructions for text in i.operands for name in register_names(text))
    return max(
        (int(name[1:]) for name in names if name.startswith("v") and name[1:].isdigit()), default=0
    )


def _renamed(instruction: AsmInstruction, architecture: str) -> AsmInstruction:
    """The instruction by the name that the tables have for it."""
    partner = instruction.partner
    return replace(
        instruction,
        opcode=plain_name(instruction.opcode, architecture),
        partner=None if partner is None else _renamed(partner, architecture),
    )


def _lower_names(code: Writer, operands: Sequence[str]) -> Iterator[str]:
    for text in operands:
        names = code.names(text)
        if len(names) == 2:
            yield names[0]
