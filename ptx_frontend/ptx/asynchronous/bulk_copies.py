"""Copies in bulk: plain, with a reduction, and of tensors.

PTX ISA 9.0, "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.tensor".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelcast.ptx_frontend.ptx.asynchronous.peer_addresses import mbarrier_address
from kernelcast.ptx_frontend.ptx.legal.atomics import ATOMIC_TYPES
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import scalar_type
from kernelcast.simcore.isa.ir.bulk_operations import (
    BulkDirection,
    BulkOperand,
    BulkOperation,
    BulkSide,
    TensorMode,
)
from kernelcast.simcore.isa.ir.kernel import Address, BulkCopy, Operand
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["lower_bulk_copy"]

_DIMENSIONS = {f"{count}d": count for count in range(1, 6)}
_MODES = {
    "tile": TensorMode.TILE,
    "im2col": TensorMode.IM2COL,
    "im2col_no_offs": TensorMode.IM2COL,
    "tile::gather4": TensorMode.ROWS,
    "tile::scatter4": TensorMode.ROWS,
}
_SHARED = ("shared::cluster", "shared::cta")
_SPACES = ("global", *_SHARED)
_IGNORED = frozenset(("async", "bulk", "reduce", "tensor", "prefetch", "L2", "noftz")) | {
    *("bulk_group", "mbarrier::complete_tx::bytes", "L2::cache_hint", "multicast::cluster"),
    *("cta_group::1", "cta_group::2", "shared::cta", "shared::cluster", "global"),
}


@dataclass(frozen=True, slots=True)
class _Form:
    """A mnemonic, understood."""

    operation: BulkOperation
    is_multicast: bool
    has_policy: bool
    is_masked: bool


@dataclass(slots=True)
class _Gathered:
    """The operands of a copy, and what they are."""

    code: InstructionParts
    kinds: list[BulkOperand] = field(default_factory=list)
    values: list[Operand] = field(default_factory=list)

    def add(self, kind: BulkOperand, value: Operand) -> None:
        self.kinds.append(kind)
        self.values.append(value)

    def address(self, kind: BulkOperand, index: int, space: AddressSpace) -> None:
        address = self.code.site.address(index, space, 1)
        self.add(kind, self.code.address_register(address))

    def source(self, kind: BulkOperand, index: int, type_: ScalarType) -> None:
        site = self.code.site
        self.add(kind, site.source(site.operands[index], index, type_))


def lower_bulk_copy(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers `cp.async.bulk` and what belongs to it; waits for groups become fences."""
    parts = site.mnemonic.split(".")[1:]
    code = InstructionParts.guarded(site, builder)
    if parts[-1] == "commit_group" or "wait_group" in parts:
        site.expect_operands(1 if "wait_group" in parts else 0)
        code.fence()
        return
    form = _form(site, parts)
    gathered = _Gathered(code)
    if form.operation.dimensions:
        _tensor_operands(gathered, form)
    else:
        _run_operands(gathered, form)
    sides = (BulkSide.COPY, BulkSide.ARRIVAL)
    for side in sides[:1] if form.operation.direction is BulkDirection.PREFETCH else sides:
        is_main = side is BulkSide.COPY
        builder.append(
            BulkCopy(
                **code.fields(site.mnemonic, is_main=is_main),
                operation=form.operation,
                side=side,
                operands=tuple(gathered.kinds),
                sources=tuple(gathered.values),
            )
        )


def _form(site: Site, parts: Sequence[str]) -> _Form:
    spaces = [part for part in parts if part in _SPACES]
    dimensions = [_DIMENSIONS[part] for part in parts if part in _DIMENSIONS]
    modes = [_MODES[part] for part in parts if part in _MODES]
    types = [known for part in parts if (known := scalar_type(part)) is not None]
    reduction = next((part for part in parts if part in ATOMIC_TYPES), "")
    names = _IGNORED | _DIMENSIONS.keys() | _MODES.keys() | {reduction}
    if not (dimensions or reduction) and spaces[:1] == ["global"]:
        names = names | {"cp_mask"}
    foreign = [part for part in parts if part not in names and scalar_type(part) is None]
    is_tensor = "tensor" in parts
    if foreign or is_tensor != bool(dimensions) or ("reduce" in parts) != bool(reduction):
        raise site.refused(f"modifier '.{foreign[0]}'" if foreign else "")
    return _Form(
        BulkOperation(
            _direction(site, spaces, "prefetch" in parts),
            dimensions[0] if dimensions else 0,
            modes[0] if modes else TensorMode.TILE,
            reduction,
            types[0] if types else None,
            "cta_group::2" in parts,
        ),
        "multicast::cluster" in parts,
        "L2::cache_hint" in parts,
        "cp_mask" in parts,
    )


def _direction(site: Site, spaces: Sequence[str], is_prefetch: bool) -> BulkDirection:
    """Mnemonics name the destination first."""
    match ["global" if space == "global" else "shared" for space in spaces]:
        case ["global"] if is_prefetch:
            return BulkDirection.PREFETCH
        case ["shared", "global"]:
            return BulkDirection.LOAD
        case ["global", "shared"]:
            return BulkDirection.STORE
        case ["shared", "shared"]:
            return BulkDirection.EXCHANGE
    raise site.refused("from and to where")


def _run_operands(gathered: _Gathered, form: _Form) -> None:
    """`{[to],} [from], size{, [mbarrier]}{, thread blocks}{, policy}{, byte mask}`."""
    site, direction = gathered.code.site, form.operation.direction
    has_mbarrier = direction in (BulkDirection.LOAD, BulkDirection.EXCHANGE)
    is_prefetch = direction is BulkDirection.PREFETCH
    options = form.is_multicast + form.has_policy + form.is_masked
    site.expect_operands(3 - is_prefetch + has_mbarrier + options)
    first = 0
    if not is_prefetch:
        space = AddressSpace(direction.destination)
        gathered.address(BulkOperand.DESTINATION, 0, space)
        first = 1
    gathered.address(BulkOperand.SOURCE, first, AddressSpace(direction.source))
    gathered.source(BulkOperand.SIZE, first + 1, ScalarType.U32)
    if has_mbarrier:
        gathered.address(BulkOperand.MBARRIER, first + 2, AddressSpace.SHARED)
    if form.is_multicast:
        gathered.source(BulkOperand.THREAD_BLOCKS, first + 3, ScalarType.U16)
    if form.is_masked:
        gathered.source(BulkOperand.BYTE_MASK, len(site.operands) - 1, ScalarType.U16)


def _tensor_operands(gathered: _Gathered, form: _Form) -> None:
    """Reads the operands of a copy of tensors.

    `[to], [map, {coordinates}], [mbarrier]{, {offsets}}{, thread blocks}{, policy}` for loads,
    `[map, {coordinates}], [from]{, policy}` for stores, and for prefetches without the end.
    """
    site, direction = gathered.code.site, form.operation.direction
    place = 0 if direction in (BulkDirection.STORE, BulkDirection.PREFETCH) else 1
    if len(site.operands) <= place:
        raise site.error(f"{site.mnemonic!r} takes a tensor map and coordinates")
    _tensor(gathered, place)
    following = place + 1
    if direction is BulkDirection.LOAD:
        site.expect_operands(*range(3, 7))
        gathered.address(BulkOperand.DESTINATION, 0, AddressSpace.SHARED)
        told = mbarrier_address(gathered.code, site.address(2, AddressSpace.SHARED, 1))
        gathered.add(BulkOperand.MBARRIER, told)
        following = 3
    elif direction is BulkDirection.STORE:
        site.expect_operands(2, 3)
        gathered.address(BulkOperand.SOURCE, 1, AddressSpace.SHARED)
        following = 2
    if form.operation.mode is TensorMode.IM2COL and "im2col_no_offs" not in site.mnemonic:
        _offsets(gathered, following, form.operation.dimensions - 2)
        following += 1
    if form.is_multicast:
        gathered.source(BulkOperand.THREAD_BLOCKS, following, ScalarType.U16)
        following += 1
    site.expect_operands(following + form.has_policy)


def _tensor(gathered: _Gathered, index: int) -> None:
    site = gathered.code.site
    operand = site.operands[index]
    items = operand.items if isinstance(operand, syntax.BracketOperand) else ()
    if len(items) != 2 or not isinstance(items[1], syntax.VectorOperand):
        raise site.error(f"{site.mnemonic!r} takes a tensor map and coordinates here", index)
    gathered.add(BulkOperand.TENSOR_MAP, _map_address(gathered.code, items[0], index))
    for item in items[1].items:
        gathered.add(BulkOperand.COORDINATE, site.source(item, index, ScalarType.S32))


def _map_address(code: InstructionParts, operand: syntax.Operand, index: int) -> Operand:
    """A generic address; `register + constant` too."""
    if isinstance(operand, syntax.SumOperand):
        register = code.site.names.scope.register(operand.name)
        if register is not None:
            return code.address_register(Address(AddressSpace.GENERIC, register, operand.offset))
    return code.site.source(operand, index, ScalarType.U64)


def _offsets(gathered: _Gathered, index: int, count: int) -> None:
    site = gathered.code.site
    operand = site.operands[index] if index < len(site.operands) else None
    items = operand.items if isinstance(operand, syntax.VectorOperand) else ()
    if len(items) != count:
        raise site.error(f"{site.mnemonic!r} takes {count} offsets, got {len(items)}")
    for item in items:
        gathered.add(BulkOperand.OFFSET, site.source(item, index, ScalarType.U16))
