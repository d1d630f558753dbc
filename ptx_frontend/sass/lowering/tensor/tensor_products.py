"""Products in tensor memory of sm_100a: UTCHMMA, UTCIMMA, UTCQMMA, UTCOMMA, and UTCBAR.

`a, b, tmem[d], tmem[metadata], idesc[UR][, scales or masks], adds[, shift]` (found by compiling
each form). A and B are descriptors, A may be an address. The instruction descriptor stands in the
register behind that of the metadata; it says whether UTCHMMA is of `f16` or `tf32` and whether A is
sparse: the statement does not. `tmem[UR]` behind it are the scales of A and B, a register each, and
a plain register the first of the masks of lanes, or with `.WS` the descriptor of zero columns.
What is said of collector buffers (`A_KEEP`, `B_REUSE`, `BUFFER2`, ...) changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelcast.ptx_frontend.sass.lowering.memory_access.addresses import address_of
from kernelcast.ptx_frontend.sass.lowering.once_per_warp import once
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.lowering.tensor.tensor_memory import (
    append_operation,
    described_pair,
    tensor_address,
)
from kernelcast.ptx_frontend.sass.text.operands import (
    DescriptorOperand,
    ImmediateOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.ir.kernel import Address, Guard, Immediate, Operand
from kernelcast.simcore.isa.matrix.tensor_memory import ProductKind, TensorProduct
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []

_WORD, _PAIR, _PREDICATE = ScalarType.U32, ScalarType.U64, ScalarType.PRED
_KINDS = {
    "UTCHMMA": ProductKind.F16,
    "UTCIMMA": ProductKind.I8,
    "UTCQMMA": ProductKind.F8F6F4,
    "UTCOMMA": ProductKind.MXF4NVF4,
}
_SCALED = {ProductKind.F8F6F4: ProductKind.MXF8F6F4, ProductKind.MXF4NVF4: ProductKind.MXF4NVF4}
_BUFFERS = ("BUFFER0", "BUFFER1", "BUFFER2", "BUFFER3")
_OF_A, _OF_B = ("A_KEEP", "A_REUSE"), ("B_KEEP", "B_REUSE", *_BUFFERS)
_MASKS = (4, 8)
"""How many registers masks take, of one thread block and of a pair."""
_MOST_RANKS = 16
_ARRIVAL = Immediate(mbarrier_words.change(arrivals=1))


@dataclass(slots=True)
class _Gathered:
    """The sources of a product."""

    values: list[Operand] = field(default_factory=list)
    types: list[ScalarType] = field(default_factory=list)

    def add(self, type_: ScalarType, *values: Operand) -> None:
        self.values += values
        self.types += [type_] * len(values)


@lowers(*_KINDS)
def lower_product(site: Site) -> None:
    """Lowers a product that one thread asks for."""
    is_pair, is_stationary = site.take("2CTA"), site.take("WS")
    operands = list(site.operands)
    shift = _shift(site, operands)
    adds = site.predicate(operands.pop())
    if len(operands) not in (5, 6):
        raise site.refuse("its operands")
    more = operands[5] if len(operands) > 5 else None
    in_tensor_memory = _is_address(operands[0])
    sources = _sources(site, operands, adds)
    kind, is_scaled = _KINDS[site.statement.opcode], _is_address(more)
    if is_scaled or kind.is_scaled:
        if kind not in _SCALED or not is_scaled or is_stationary:
            raise site.refuse("scales")
        kind = _SCALED[kind]
    has_more = more is not None and not is_scaled
    _add_rest(site, sources, more, is_pair=is_pair, is_stationary=is_stationary)
    product = TensorProduct(
        kind,
        f"sm_{site.architecture}a",
        in_tensor_memory,
        _blocks(site, kind),
        shift,
        has_masks=has_more and not is_stationary,
        is_pair=is_pair,
        is_stationary=is_stationary,
        has_zero_columns=has_more and is_stationary,
        is_described=True,
    )
    with once(site):
        append_operation(site, product, (), sources.values, sources.types)


def _is_address(operand: SassOperand | None) -> bool:
    return isinstance(operand, DescriptorOperand) and operand.kind == "tmem"


def _shift(site: Site, operands: list[SassOperand]) -> int:
    """How often D is divided by two, which stands last if at all."""
    operand = operands[-1]
    if not isinstance(operand, ImmediateOperand):
        return 0
    operands.pop()
    if operand.value is None:
        raise site.refuse("what D is divided by")
    return operand.value


def _blocks(site: Site, kind: ProductKind) -> int:
    """How many scales a row of A has."""
    if not kind.is_scaled:
        return 0
    if kind is ProductKind.MXF8F6F4:
        return 1
    return 4 if site.take("4X") else 2


def _sources(site: Site, operands: list[SassOperand], adds: Operand) -> _Gathered:
    """D, A, B, the instruction descriptor, whether D is added, the metadata."""
    a, b, d, metadata, descriptor = operands[:5]
    gathered = _Gathered()
    gathered.add(_WORD, tensor_address(site, d))
    if _is_address(a):
        gathered.add(_WORD, _kept_address(site, a))
    else:
        gathered.add(_PAIR, described_pair(site, a, _OF_A))
    gathered.add(_PAIR, described_pair(site, b, _OF_B))
    gathered.add(_WORD, _descriptor(site, descriptor, metadata))
    gathered.add(_PREDICATE, adds)
    gathered.add(_WORD, tensor_address(site, metadata))
    return gathered


def _kept_address(site: Site, a: SassOperand) -> Operand:
    """The address of A, of which buffers may keep a part."""
    assert isinstance(a, DescriptorOperand)
    if any(part not in _OF_A for part in a.parts):
        raise site.refuse(f"an address with '.{a.parts[0]}'")
    return tensor_address(site, DescriptorOperand(a.kind, a.register, a.offset))


def _descriptor(site: Site, operand: SassOperand, metadata: SassOperand) -> Operand:
    if not isinstance(operand, DescriptorOperand) or operand.kind != "idesc":
        raise site.refuse("a product without an instruction descriptor")
    if operand.register is None or operand.offset or operand.parts:
        raise site.refuse("its instruction descriptor")
    return site.word(operand.register)


def _add_rest(
    site: Site,
    gathered: _Gathered,
    operand: SassOperand | None,
    *,
    is_pair: bool,
    is_stationary: bool,
) -> None:
    """Scales, masks, or which columns of B are zero."""
    if operand is None:
        return
    if isinstance(operand, DescriptorOperand):
        register = operand.register
        if register is None or operand.offset or operand.parts:
            raise site.refuse("its scales")
        gathered.add(_WORD, *site.words(register, 2))
    elif is_stationary:
        gathered.add(_PAIR, site.pair(operand))
    else:
        gathered.add(_WORD, *site.words(operand, _MASKS[is_pair]))


@lowers("UTCBAR")
def lower_commit(site: Site) -> None:
    """`[mbarrier], URZ[, ranks]`: what was asked for is done; an arrival once for the warp."""
    site.ignore("2CTA")  # the products of a pair, which are done as well
    is_multicast = site.take("MULTICAST")
    given = site.operand(1)
    if not isinstance(given, RegisterOperand) or given.number is not None:
        raise site.refuse("its second operand")
    ranks = site.word(site.operand(2)) if is_multicast else None
    place = address_of(site, site.operand(0), AddressSpace.SHARED)
    with once(site):
        if ranks is None:
            operation = mbarrier_words.OPERATION
            site.atomic(operation, ScalarType.B64, place, _ARRIVAL, is_main=True)
        else:
            _arrive_at_many(site, place, ranks)


def _arrive_at_many(site: Site, place: Address, ranks: Operand) -> None:
    """Arrives at the mbarriers of one place in the thread blocks that a mask of ranks names."""
    assert place.base is not None
    whole = site.compute("add.u32", 32, place.base, Immediate(place.offset & 0xFFFFFFFF))
    within = site.compute("and.b32", 32, whole, Immediate(OFFSET_MASK))
    site.fence()
    chosen = site.guard
    assert chosen is not None
    for rank in range(_MOST_RANKS):
        bit = site.compute("and.b32", 32, ranks, Immediate(1 << rank))
        named = site.compute("setp.ne.u32", 1, bit, Immediate(0))
        there = site.compute("or.b32", 32, within, Immediate(rank + 1 << OFFSET_BITS))
        both = site.compute("and.pred", 1, chosen.register, named)
        site.guard = Guard(both, negated=False)
        address = Address(AddressSpace.SHARED, there, 0)
        site.atomic(mbarrier_words.OPERATION, ScalarType.B64, address, _ARRIVAL)
        site.guard = chosen
