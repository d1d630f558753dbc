"""`tcgen05`: tensor memory and its products, done when the instruction is executed.

PTX ISA 9.1, "Tensor Core 5th Generation Family Instructions". What is waited for and ordered is in
order already; `commit` arrives at its mbarrier at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.ptx.legal.tcgen05_forms import (
    copy_form,
    load_reduction,
    product_form,
    register_form,
)
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts, shared_address
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.matrix.products import fragment_destinations, fragment_sources
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Immediate,
    Operand,
    Register,
    TensorMemoryOperation,
)
from kernelcast.simcore.isa.matrix.tensor_memory import (
    Allocation,
    AllocationStep,
    RegisterShape,
    RowShift,
    TensorMemoryAction,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["lower_tcgen05"]

_WORD, _DESCRIPTOR = ScalarType.U32, ScalarType.U64
_MASKS = (4, 8)
"""The lengths of masks: of one thread block, and of a pair."""
_MOST_RANKS = 16
_ARRIVAL = Immediate(mbarrier_words.change(arrivals=1))
_MOST_SHIFT = 15


def lower_tcgen05(site: Site, builder: BasicBlockBuilder, target: str) -> None:
    """Lowers an instruction of `tcgen05` by its name."""
    code = InstructionParts.guarded(site, builder)
    root, *parts = site.mnemonic.split(".")[1:]
    if root in ("alloc", "dealloc", "relinquish_alloc_permit"):
        _allocate(code, AllocationStep(root))
    elif root == "ld" and parts[:1] == ["red"]:
        _load_and_reduce(code)
    elif root in ("ld", "st"):
        _move(code, is_store=root == "st")
    elif root == "cp":
        action = _known(site, copy_form(site.mnemonic))
        site.expect_operands(2)
        sources = (_address(code, 0), site.source(site.operands[1], 1, _DESCRIPTOR))
        _append(code, action, (), sources, (_WORD, _DESCRIPTOR))
    elif root == "shift" and parts in (["cta_group::1", "down"], ["cta_group::2", "down"]):
        site.expect_operands(1)
        shift = RowShift("cta_group::2" in parts)
        _append(code, shift, (), (_address(code, 0),), (_WORD,))
    elif root == "commit":
        _commit(code, parts)
    elif root == "mma":
        _multiply(code, target)
    elif root.startswith(("wait::", "fence::")):
        site.expect_operands(0)
        code.fence()
    else:
        raise site.refused()


def _known(site: Site, form: TensorMemoryAction | Refusal) -> TensorMemoryAction:
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    return form


def _append(
    code: InstructionParts,
    action: TensorMemoryAction,
    destinations: Sequence[Register | None],
    sources: Sequence[Operand],
    types: Sequence[ScalarType],
) -> None:
    site = code.site
    code.builder.append(
        TensorMemoryOperation(
            **site.place(),
            guard=code.guard,
            operation=action,
            destinations=tuple(destinations),
            sources=tuple(sources),
            types=tuple(types),
        )
    )


def _address(code: InstructionParts, index: int) -> Operand:
    """An address in tensor memory, in brackets."""
    operand = code.site.operands[index]
    if not isinstance(operand, syntax.AddressOperand) or operand.base is None:
        raise code.site.error("an address in tensor memory is a register in brackets", index)
    base = code.site.source(syntax.NameOperand(operand.base), index, _WORD)
    if not operand.offset:
        return base
    return code.compute("add.u32", 32, base, Immediate(operand.offset & 0xFFFF_FFFF))


def _allocate(code: InstructionParts, step: AllocationStep) -> None:
    """Lowers `alloc [to], columns`, `dealloc address, columns` and `relinquish_alloc_permit`.

    Each thread block of a pair does it for itself.
    """
    site = code.site
    action = Allocation(step)
    if step is AllocationStep.RELINQUISH:
        site.expect_operands(0)
        _append(code, action, (), (), ())
        return
    site.expect_operands(2)
    columns = site.source(site.operands[1], 1, _WORD)
    if step is AllocationStep.DEALLOCATE:
        address = site.source(site.operands[0], 0, _WORD)
        _append(code, action, (), (address, columns), (_WORD, _WORD))
        return
    found = code.builder.temporary(32)
    place = shared_address(site, 0, _WORD.bytes)
    _append(code, action, (found,), (columns,), (_WORD,))
    code.store(_WORD, place, [found])


def _move(code: InstructionParts, *, is_store: bool) -> None:
    """`ld registers, [address]{, split}`, `st [address]{, split}, registers`."""
    site = code.site
    is_split = RegisterShape.LANES_16_TWICE_32.ptx_name in site.mnemonic.split(".")
    site.expect_operands(2 + is_split)
    split = 0
    if is_split:
        index = 1 if is_store else 2
        operand = site.operands[index]
        if not isinstance(operand, syntax.Integer):
            raise site.error("the split is a constant", index)
        split = operand.value
    form = register_form(site.mnemonic, split)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    words = (ScalarType.B32,) * form.registers
    if is_store:
        held = fragment_sources(site, 1 + is_split, words)
        _append(code, form, (), (_address(code, 0), *held), (_WORD, *words))
    else:
        address = _address(code, 1)
        _append(code, form, fragment_destinations(site, 0, words), (address,), (_WORD,))


def _load_and_reduce(code: InstructionParts) -> None:
    """`ld.red registers, result, [address]`: the least or largest of what a thread gets."""
    site = code.site
    site.expect_operands(3)
    found = load_reduction(site.mnemonic)
    if isinstance(found, Refusal):
        raise site.unsupported(found.reason)
    words = (ScalarType.B32,) * found.load.registers
    named = fragment_destinations(site, 0, words)
    held = [register or code.builder.temporary(32) for register in named]
    _append(code, found.load, held, (_address(code, 2),), (_WORD,))
    if found.absolute:
        held = [code.compute(found.absolute, 32, register) for register in held]
    total = held[0]
    for register in held[1:-1]:
        total = code.compute(found.opcode, 32, total, register)
    result = site.destination(site.operands[1], 1, ScalarType.B32)
    if result is not None:
        code.assign(found.opcode, result, total, held[-1])


def _commit(code: InstructionParts, parts: list[str]) -> None:
    """All that was asked for is done: an arrival at the mbarrier."""
    site = code.site
    known = {
        "cta_group::1",
        "cta_group::2",
        "multicast::cluster",
        "mbarrier::arrive::one",
        "shared::cluster",
        "shared::cta",
        "b64",
    }
    foreign = [part for part in parts if part not in known]
    if foreign or "mbarrier::arrive::one" not in parts:
        reason = f"modifier '.{foreign[0]}'" if foreign else "it arrives once"
        raise site.refused(reason)
    is_multicast = "multicast::cluster" in parts
    site.expect_operands(1 + is_multicast)
    place = shared_address(site, 0, ScalarType.B64.bytes)
    if is_multicast:
        _arrive_at_many(code, place)
    else:
        code.atomic(mbarrier_words.OPERATION, ScalarType.B64, place, _ARRIVAL, is_main=True)


def _arrive_at_many(code: InstructionParts, place: Address) -> None:
    """Arrives at the mbarriers of one place in the thread blocks that a mask of ranks names."""
    site = code.site
    mask = code.compute("cvt.u32.u16", 32, site.source(site.operands[1], 1, ScalarType.U16))
    within = code.compute(
        "and.b32",
        32,
        code.compute("cvt.u32.u64", 32, code.address_register(place)),
        Immediate(OFFSET_MASK),
    )
    code.fence()
    for rank in range(_MOST_RANKS):
        bit = code.compute("and.b32", 32, mask, Immediate(1 << rank))
        named = code.compute("setp.ne.u32", 1, bit, Immediate(0))
        there = code.compute("or.b32", 32, within, Immediate(rank + 1 << OFFSET_BITS))
        address = Address(AddressSpace.SHARED, there, 0)
        code.guarded_also_by(named).atomic(
            mbarrier_words.OPERATION, ScalarType.B64, address, _ARRIVAL
        )


def _multiply(code: InstructionParts, target: str) -> None:
    """Lowers `tcgen05.mma`.

    Its operands are `[d], a or [a], b, {[metadata],} descriptor, {[scales of a], [scales of b],}
    {masks,} adds{, shift or zero columns}`.
    """
    site = code.site
    operands, roots = site.operands, site.mnemonic.split(".")
    scaled, sparse, stationary = (part in roots for part in ("block_scale", "sp", "ws"))
    described_at = 3 + sparse
    more_at = described_at + 1
    has_masks = len(operands) > more_at and isinstance(operands[more_at], syntax.VectorOperand)
    adds_at = more_at + 2 * scaled + has_masks
    site.expect_operands(*((adds_at + 1,) if scaled else (adds_at + 1, adds_at + 2)))
    masked = has_masks or (stationary and len(operands) > adds_at + 1)
    in_tensor_memory = isinstance(operands[1], syntax.AddressOperand)
    form = product_form(
        site.mnemonic,
        target,
        in_tensor_memory=in_tensor_memory,
        masked=masked,
        shift=0 if stationary else _shift(site, adds_at + 1),
    )
    left_type = _WORD if in_tensor_memory else _DESCRIPTOR
    left = _address(code, 1) if in_tensor_memory else site.source(operands[1], 1, _DESCRIPTOR)
    sources = [_address(code, 0), left, site.source(operands[2], 2, _DESCRIPTOR)]
    sources.append(site.source(operands[described_at], described_at, _WORD))
    sources.append(site.source(operands[adds_at], adds_at, ScalarType.PRED))
    types = [_WORD, left_type, _DESCRIPTOR, _WORD, ScalarType.PRED]
    for index in (*((3,) if sparse else ()), *((more_at, more_at + 1) if scaled else ())):
        sources.append(_address(code, index))
        types.append(_WORD)
    if masked and stationary:
        sources.append(site.source(operands[adds_at + 1], adds_at + 1, _DESCRIPTOR))
        types.append(_DESCRIPTOR)
    elif masked:
        count = _MASKS["cta_group::2" in roots]
        sources += fragment_sources(site, more_at, (_WORD,) * count)
        types += [_WORD] * count
    _append(code, _known(site, form), (), sources, types)


def _shift(site: Site, index: int) -> int:
    if len(site.operands) <= index:
        return 0
    operand = site.operands[index]
    if not isinstance(operand, syntax.Integer) or not 0 <= operand.value <= _MOST_SHIFT:
        raise site.error("what D is divided by is a constant from 0 to 15", index)
    return operand.value
