"""Copies in bulk: UBLKCP, UBLKRED, UBLKPF of runs of bytes, UTMALDG and its like of tensors.

Operands stand in neighbouring uniform registers, of which the first is printed (found by compiling
each form for sm_90a and sm_100a). Of a load into shared memory: the place, the mbarrier, then the
coordinates; of a store from it: the place, then the coordinates. A map or a place in global memory
is a pair. A last register holds the size in pieces of 16 bytes, or the offsets of an im2col copy,
in its lower half, and a mask in its upper one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelcast.ptx_frontend.sass.lowering.once_per_warp import once
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import MemoryOperand, RegisterOperand
from kernelcast.simcore.isa.ir.bulk_operations import (
    CHUNK_BYTES,
    BulkDirection,
    BulkOperand,
    BulkOperation,
    BulkSide,
    TensorMode,
)
from kernelcast.simcore.isa.ir.kernel import BulkCopy, Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["REDUCTIONS", "named_register"]

_DIMENSIONS = {f"{count}D": count for count in range(1, 6)}
_MODES = {
    "IM2COL": TensorMode.IM2COL,
    "GATHER4": TensorMode.ROWS,
    "SCATTER4": TensorMode.ROWS,
}
_ROWS = 5
"""Coordinates of four rows: one of the columns, four of rows."""
REDUCTIONS = {
    name.upper(): name for name in ("add", "min", "max", "inc", "dec", "and", "or", "xor")
}
_TYPES = {"S32": "s32", "U64": "u64", "S64": "s64", "F16": "f16", "BF16": "bf16"} | {
    "F32": "f32",
    "F64": "f64",
}
_ENDS = {
    ("S", "G"): BulkDirection.LOAD,
    ("G", "S"): BulkDirection.STORE,
    ("S", "S"): BulkDirection.EXCHANGE,
}
_PARTS: dict[str, tuple[BulkDirection, tuple[BulkOperand, ...]]] = {
    "UTMALDG": (BulkDirection.LOAD, (BulkOperand.DESTINATION, BulkOperand.MBARRIER)),
    "UTMASTG": (BulkDirection.STORE, (BulkOperand.SOURCE,)),
    "UTMAREDG": (BulkDirection.STORE, (BulkOperand.SOURCE,)),
    "UTMAPF": (BulkDirection.PREFETCH, ()),
}
"""What a copy of a tensor does, and the registers before its coordinates."""
_OFFSET_BITS = {1: 16, 2: 8, 3: 5}
"""Bits of an offset of an im2col copy, by how many there are."""


@dataclass(slots=True)
class _Gathered:
    """The operands of a copy, and what they are."""

    site: Site
    kinds: list[BulkOperand] = field(default_factory=list)
    values: list[Operand] = field(default_factory=list)

    def add(self, kind: BulkOperand, value: Operand) -> None:
        self.kinds.append(kind)
        self.values.append(value)

    def shared(self, kind: BulkOperand, register: RegisterOperand) -> None:
        """A place in shared memory as 64 bits."""
        self.add(kind, self.site.compute("cvt.u64.u32", 64, self.site.word(register)))

    def half(self, kind: BulkOperand, word: Operand, *, is_upper: bool) -> None:
        """Half a register."""
        if is_upper:
            word = self.site.compute("shr.u32", 32, word, Immediate(16))
        self.add(kind, self.site.compute("cvt.u16.u32", 16, word))

    def write(self, operation: BulkOperation) -> None:
        """Both sides of the copy, once a warp; prefetches have one."""
        sides = (BulkSide.COPY, BulkSide.ARRIVAL)
        is_prefetch = operation.direction is BulkDirection.PREFETCH
        with once(self.site):
            for side in sides[:1] if is_prefetch else sides:
                self.site.builder.append(
                    BulkCopy(
                        **self.site.fields("cp.async.bulk", is_main=side is BulkSide.COPY),
                        operation=operation,
                        side=side,
                        operands=tuple(self.kinds),
                        sources=tuple(self.values),
                    )
                )


def named_register(site: Site, position: int) -> RegisterOperand:
    """The first register of a group, which stands in brackets."""
    operand = site.operand(position)
    register = operand.uniform if isinstance(operand, MemoryOperand) else None
    if register is None or register.number is None:
        raise site.refuse("a group of registers that is none")
    if isinstance(operand, MemoryOperand) and operand.offset:
        raise site.refuse("a group of registers with an offset")
    return RegisterOperand(register.file, register.number)


def _behind(register: RegisterOperand, distance: int) -> RegisterOperand:
    return RegisterOperand(register.file, (register.number or 0) + distance)


def _last(site: Site, position: int) -> Operand | None:
    """The register that holds halves; a descriptor of a policy, which changes nothing, is none."""
    for operand in site.operands[position:]:
        if isinstance(operand, RegisterOperand):
            return site.word(operand)
    return None


def _direction(site: Site) -> BulkDirection:
    ends = [m for m in site.statement.modifiers if m in ("S", "G")]
    site.take("S", "G")
    found = _ENDS.get((ends[0], ends[1])) if len(ends) == 2 else None
    if found is None:
        raise site.refuse("from and to where")
    return found


@lowers("UBLKCP", "UBLKRED")
def lower_run(site: Site) -> None:
    """`[to], [from], size`: a run of bytes, which a reduction works on as elements."""
    direction = _direction(site)
    reduction, element = "", None
    if site.statement.opcode == "UBLKRED":
        site.ignore("RN")
        reduction = site.choose(REDUCTIONS, "")
        if not reduction:
            raise site.refuse("what it does with elements")
        element = _element(site, reduction)
    is_multicast, is_masked = site.take("MULTICAST"), site.take("DST_G_BYTE_MASK")
    to, source = named_register(site, 0), named_register(site, 1)
    last = _last(site, 2)
    if last is None:
        raise site.refuse("a copy without a size")
    gathered = _Gathered(site)
    _end(gathered, BulkOperand.DESTINATION, to, direction.destination)
    _end(gathered, BulkOperand.SOURCE, source, direction.source)
    gathered.add(BulkOperand.SIZE, _bytes(site, last))
    if direction.destination == "shared":
        gathered.shared(BulkOperand.MBARRIER, _behind(to, 1))
    if is_multicast:
        gathered.half(BulkOperand.THREAD_BLOCKS, last, is_upper=True)
    if is_masked:
        gathered.half(BulkOperand.BYTE_MASK, last, is_upper=True)
    gathered.write(BulkOperation(direction, reduction=reduction, element=element))


def _element(site: Site, reduction: str) -> ScalarType:
    """What a reduction works on; without a modifier u32, of bits as well."""
    name = site.choose(_TYPES, "u32")
    if reduction in ("and", "or", "xor"):
        name = {"u32": "b32", "u64": "b64"}.get(name, name)
    return ScalarType.named(name)


def _end(gathered: _Gathered, kind: BulkOperand, register: RegisterOperand, space: str) -> None:
    if space == "shared":
        gathered.shared(kind, register)
    else:
        gathered.add(kind, gathered.site.pair(register))


def _bytes(site: Site, word: Operand) -> Operand:
    pieces = site.compute("and.b32", 32, word, Immediate(0xFFFF))
    return site.compute("mul.lo.u32", 32, pieces, Immediate(CHUNK_BYTES))


@lowers("UBLKPF")
def lower_prefetch_of_run(site: Site) -> None:
    """`[from], size`."""
    if not site.take("L2"):
        raise site.refuse()
    source, size = named_register(site, 0), _last(site, 1)
    if size is None:
        raise site.refuse("a prefetch without a size")
    gathered = _Gathered(site)
    gathered.add(BulkOperand.SOURCE, site.pair(source))
    gathered.add(BulkOperand.SIZE, _bytes(site, size))
    gathered.write(BulkOperation(BulkDirection.PREFETCH))


@lowers("UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF")
def lower_tensor_copy(site: Site) -> None:
    """`[place, coordinates], [map][, offsets and thread blocks]`."""
    dimensions = site.choose(_DIMENSIONS, 0)
    mode = site.choose(_MODES, TensorMode.TILE)
    reduction = ""
    direction, before = _PARTS[site.statement.opcode]
    site.ignore("L2")
    if site.statement.opcode == "UTMAREDG":
        reduction = site.choose(REDUCTIONS, "")
        if not reduction:
            raise site.refuse("what it does with elements")
    is_multicast, is_of_pair = site.take("MULTICAST"), site.take("2CTA")
    gathered = _Gathered(site)
    first = named_register(site, 0)
    count = _ROWS if mode is TensorMode.ROWS else dimensions
    # the order of PTX's operands: the place, map and coordinates, then the mbarrier
    if direction is BulkDirection.LOAD:
        gathered.shared(BulkOperand.DESTINATION, first)
    gathered.add(BulkOperand.TENSOR_MAP, site.pair(named_register(site, 1)))
    for index in range(count):
        word = site.word(_behind(first, len(before) + index))
        gathered.add(BulkOperand.COORDINATE, word)
    for index, kind in enumerate(before):
        if kind is not BulkOperand.DESTINATION:
            gathered.shared(kind, _behind(first, index))
    _halves(gathered, site, mode, dimensions, is_multicast=is_multicast)
    operation = BulkOperation(direction, dimensions, mode, reduction, None, is_of_pair)
    gathered.write(operation)


def _halves(
    gathered: _Gathered, site: Site, mode: TensorMode, dimensions: int, *, is_multicast: bool
) -> None:
    """What the last register holds: offsets below, the mask of thread blocks above."""
    is_store = site.statement.opcode in ("UTMASTG", "UTMAREDG")
    offsets = dimensions - 2 if mode is TensorMode.IM2COL and not is_store else 0
    if not (offsets or is_multicast):
        return
    word = _last(site, 2)
    if word is None:
        raise site.refuse("a copy without offsets or thread blocks")
    for index in range(offsets):
        bits = _OFFSET_BITS[offsets]
        moved = site.compute("shr.u32", 32, word, Immediate(bits * index))
        part = site.compute("and.b32", 32, moved, Immediate((1 << bits) - 1))
        gathered.half(BulkOperand.OFFSET, part, is_upper=False)
    if is_multicast:
        gathered.half(BulkOperand.THREAD_BLOCKS, word, is_upper=True)


@lowers("UTMACCTL", "UTMACMDFLUSH")
def lower_order_of_copies(site: Site) -> None:
    """The copies so far are a group, or a map is fetched or read anew: nothing is computed."""
    site.ignore("IV", "PF", "IVALL")
    site.fence()
