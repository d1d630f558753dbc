"""`wmma.load` and `wmma.store`: fragments whose lanes hold neighbouring words of memory."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.legal.matrix_forms import (
    WMMA_REGISTERS,
    shape_of,
    wmma_layout_is_fixed,
)
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.matrix.products import fragment_destinations, fragment_sources
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import Fragment, Order, Role, contiguous
from kernelcast.simcore.isa.matrix.operations import wmma_accumulator
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["lower_wmma_access"]

_WIDEST_BYTES = 16
_SPACES = {
    "global": AddressSpace.GLOBAL,
    "shared": AddressSpace.SHARED,
    "shared::cta": AddressSpace.SHARED,
}
_ACCUMULATORS = {
    "f16": ("f16",),
    "f32": ("f16", "bf16", "tf32"),
    "f64": ("f64",),
    "s32": ("s8", "s4", "b1"),
}
"""The formats of C and D, and of A in the shapes that they have."""


@dataclass(frozen=True, slots=True)
class _Form:
    """What a mnemonic says; `order` along which elements are neighbours in memory."""

    fragment: Fragment
    role: Role
    order: Order
    space: AddressSpace

    @property
    def is_strided(self) -> bool:
        """Whether a lane's elements are not neighbours in memory: accumulators in columns."""
        return self.role is Role.ACCUMULATOR and self.order is Order.COLUMN

    @property
    def line(self) -> int:
        """Elements of a row or column as they lie in memory."""
        f = self.fragment
        return f.columns if self.order is Order.ROW else f.rows


def lower_wmma_access(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers `wmma.load` or `wmma.store` to accesses of each lane."""
    form = _understood(site)
    site.expect_operands(2, 3)
    is_load = ".load." in site.mnemonic
    at = 1 if is_load else 0
    types = _register_types(form)
    registers: tuple[Operand | None, ...] = (
        fragment_destinations(site, 0, types) if is_load else fragment_sources(site, 1, types)
    )
    code = InstructionParts(site, builder, None)
    address = site.address(at, form.space, _WIDEST_BYTES)
    stride: Operand = Immediate(form.line * form.fragment.format.bits // _bits(form))
    if len(site.operands) == 3:
        stride = site.source(site.operands[2], 2, ScalarType.B32)
    access = _Access(code, form, is_load)
    if form.is_strided:
        access.strided(address, stride, registers)
    else:
        access.neighbours(address, stride, registers)


def _bits(form: _Form) -> int:
    """Bits of an element; a word of single bits has 32."""
    return 1 if form.fragment.format is ElementFormat.B1 else form.fragment.format.bits


def _register_types(form: _Form) -> list[ScalarType]:
    wide = form.fragment.format.register_bits == 64
    return [ScalarType.B64 if wide else ScalarType.B32] * form.fragment.registers


class _Access:
    """Writes the accesses of one instruction."""

    def __init__(self, code: InstructionParts, form: _Form, is_load: bool) -> None:
        self._code = code
        self._guarded = InstructionParts.guarded(code.site, code.builder)
        self._has_access = False
        self._form = form
        self._is_load = is_load
        fragment = form.fragment
        self._register_bytes = fragment.format.register_bits // 8
        self._lane_bytes = fragment.distinct_registers * self._register_bytes

    def neighbours(
        self, address: Address, stride: Operand, registers: tuple[Operand | None, ...]
    ) -> None:
        """Makes as few accesses of neighbouring words as 16 bytes each allow."""
        form = self._form
        line_bytes = form.line * form.fragment.format.bits // 8
        base = self._lane_address(address, stride, line_bytes // self._lane_bytes)
        count = form.fragment.distinct_registers
        step = max(1, min(count, _WIDEST_BYTES // self._register_bytes))
        for first in range(0, count, step):
            place = Address(form.space, base, first * self._register_bytes)
            self._move(place, registers[first : first + step])
        self._copies(registers, count)

    def _copies(self, registers: tuple[Operand | None, ...], count: int) -> None:
        if not self._is_load:
            return
        for index, copy in enumerate(registers[count:]):
            source = registers[index % count]
            if isinstance(copy, Register) and isinstance(source, Register):
                self._code.assign(f"mov.b{copy.bits}", copy, source)

    def _move(self, place: Address, registers: tuple[Operand | None, ...]) -> None:
        type_ = ScalarType.B64 if self._register_bytes == 8 else ScalarType.B32
        if self._is_load:
            found = tuple(r if isinstance(r, Register) else None for r in registers)
            self._guarded.load(type_, place, found, is_main=self._is_first())
        else:
            held = tuple(r for r in registers if r is not None)
            self._guarded.store(type_, place, held, is_main=self._is_first())

    def _is_first(self) -> bool:
        """Whether the access is the first, which counts as the instruction."""
        is_first, self._has_access = not self._has_access, True
        return is_first

    def _lane_address(self, address: Address, stride: Operand, lanes_per_line: int) -> Register:
        """Where a lane's first element is: lanes follow one another in the lines of memory."""
        code = self._code
        lane = SpecialRegister(Special.LANEID)
        line = code.compute("shr.u32", 32, lane, Immediate(lanes_per_line.bit_length() - 1))
        inside = code.compute("and.b32", 32, lane, Immediate(lanes_per_line - 1))
        along = code.compute("mul.lo.u32", 32, inside, Immediate(self._lane_bytes))
        return self._sum(address, line, self._stride_bytes(stride), along)

    def _stride_bytes(self, stride: Operand) -> Operand:
        bits = _bits(self._form)
        if isinstance(stride, Immediate):
            return Immediate(stride.bits * bits // 8)
        if bits >= 8:
            return self._code.compute("mul.lo.u32", 32, stride, Immediate(bits // 8))
        return self._code.compute("shr.u32", 32, stride, Immediate((8 // bits).bit_length() - 1))

    def _sum(self, address: Address, line: Operand, stride: Operand, along: Operand) -> Register:
        """base + line stride + along."""
        code = self._code
        within = code.compute("mad.lo.u32", 32, line, stride, along)
        wide = code.compute("cvt.u64.u32", 64, within)
        return code.compute("add.u64", 64, code.address_register(address), wide)

    def strided(
        self, address: Address, stride: Operand, registers: tuple[Operand | None, ...]
    ) -> None:
        """Accumulators in columns: a lane's elements are a stride apart."""
        code, fragment = self._code, self._form.fragment
        per_lane = len(fragment.places)
        lanes_per_row = fragment.columns // per_lane
        size = fragment.format.bits // 8
        lane = SpecialRegister(Special.LANEID)
        row = code.compute("shr.u32", 32, lane, Immediate(lanes_per_row.bit_length() - 1))
        inside = code.compute("and.b32", 32, lane, Immediate(lanes_per_row - 1))
        column = code.compute("mul.lo.u32", 32, inside, Immediate(per_lane))
        down = code.compute("mul.lo.u32", 32, row, Immediate(size))
        step = self._stride_bytes(stride)
        place = self._sum(address, column, step, down)
        wide: Operand = step
        if not isinstance(step, Immediate):
            wide = code.compute("cvt.u64.u32", 64, step)
        for index in range(per_lane):
            if index:
                place = code.compute("add.u64", 64, place, wide)
            self._element(Address(self._form.space, place, 0), index, registers)

    def _element(self, place: Address, index: int, registers: tuple[Operand | None, ...]) -> None:
        """One element of a lane; two of f16 share a register."""
        if self._form.fragment.format is not ElementFormat.F16:
            self._move(place, registers[index : index + 1])
            return
        code, register = self._code, registers[index // 2]
        if not self._is_load:
            assert register is not None
            half = code.unpack(register)[index % 2]
            self._guarded.store(ScalarType.B16, place, (half,), is_main=self._is_first())
            return
        half = code.builder.temporary(16)
        self._guarded.load(ScalarType.B16, place, (half,), is_main=self._is_first())
        if index % 2 == 0:
            self._low = half
        elif isinstance(register, Register):
            code.pack(register, self._low, half)


def _understood(site: Site) -> _Form:
    """The form; UnsupportedInstruction for what PTX does not have."""
    _, action, role_name, *parts = site.mnemonic.split(".")
    roles = {"a": Role.A, "b": Role.B, "c": Role.ACCUMULATOR, "d": Role.ACCUMULATOR}
    wrong = site.refused()
    left = [part for part in parts if part not in ("sync", "aligned")]
    space = AddressSpace.GENERIC
    for name, known in _SPACES.items():
        if name in left:
            space = known
            left.remove(name)
    if len(left) != 3 or (action == "store") != (role_name == "d") or role_name not in roles:
        raise wrong
    order, shape_name, format_name = left
    shape, format_ = shape_of(shape_name), ElementFormat.named(format_name)
    if order not in ("row", "col") or shape is None or format_ is None:
        raise wrong
    fragment = _fragment(roles[role_name], format_, shape_name, shape, Order(order))
    if fragment is None:
        raise wrong
    return _Form(fragment, roles[role_name], Order(order), space)


def _fragment(
    role: Role, format_: ElementFormat, shape_name: str, shape: tuple[int, int, int], order: Order
) -> Fragment | None:
    """The layout in registers; None for what PTX does not have."""
    rows, columns, depth = shape
    if role is Role.ACCUMULATOR:
        names = _ACCUMULATORS.get(format_.ptx_name, ())
        is_known = any((name, shape_name) in WMMA_REGISTERS for name in names)
        return wmma_accumulator(format_, rows, columns) if is_known else None
    registers = WMMA_REGISTERS.get((format_.ptx_name, shape_name))
    if registers is None:
        return None
    natural = Order.ROW if role is Role.A else Order.COLUMN
    if wmma_layout_is_fixed(format_) and order is not natural:
        return None
    depth = depth // 32 if format_ is ElementFormat.B1 else depth
    if role is Role.A:
        return contiguous(format_, rows, depth, order, registers[0])
    return contiguous(format_, depth, columns, order, registers[1])
