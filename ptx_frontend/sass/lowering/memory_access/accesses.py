"""Loads and stores of global, shared, local and generic memory; barriers of a thread block."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.control_flow.branches import gone_round
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    MemoryOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    BarrierSync,
    Immediate,
    Operand,
    Register,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType, Unit

__all__ = ["address_of"]

_SPACES = {
    "G": AddressSpace.GLOBAL,
    "S": AddressSpace.SHARED,
    "L": AddressSpace.LOCAL,
    "": AddressSpace.GENERIC,
}
_NARROW = {"U8": "u8", "S8": "s8", "U16": "u16", "S16": "s16"}
_HINTS = (
    *("E", "U", "EF", "EL", "LU", "NA", "EN", "CONSTANT", "PRIVATE", "WEAK"),
    *("LTC64B", "LTC128B", "LTC256B", "CTA", "SM", "GPU", "SYS", "VC", "MMIO"),
)
"""Modifiers that change when data arrives and where they are kept, not what is read."""


def address_of(site: Site, operand: SassOperand, space: AddressSpace) -> Address:
    """The place that a memory operand names."""
    if not isinstance(operand, MemoryOperand):
        raise site.refuse("an address that is none")
    is_wide = space in (AddressSpace.GLOBAL, AddressSpace.GENERIC)
    base = _base(site, operand, is_wide)
    uniform = _uniform(site, operand, is_wide)
    offset = operand.offset
    bits = 64 if is_wide else 32
    if base is None or uniform is None:
        found = base if base is not None else uniform
    elif isinstance(base, Immediate) and base.bits == 0:
        found = uniform
    else:
        found = site.compute(f"add.s{bits}", bits, base, uniform)
    if found is None or isinstance(found, Immediate):
        found = site.compute(f"mov.b{bits}", bits, found or Immediate(0))
    assert isinstance(found, Register)
    return Address(space, found, offset)


def _base(site: Site, operand: MemoryOperand, is_wide: bool) -> Operand | None:
    base = operand.base
    if base is None or base.number is None:
        return None
    plain = RegisterOperand(base.file, base.number)
    if not is_wide:
        value = site.word(plain)
        if operand.scale > 1:
            shift = Immediate(operand.scale.bit_length() - 1)
            value = site.compute("shl.b32", 32, value, shift)
        return value
    if operand.is_wide:
        return site.pair(plain)
    if "U32" in base.parts or operand.uniform is not None:
        return site.compute("cvt.u64.u32", 64, site.word(plain))
    # without `.64` the disassembler leaves out what `.E` says already
    if "E" in site.statement.modifiers:
        return site.pair(plain)
    return site.compute("cvt.u64.u32", 64, site.word(plain))


def _uniform(site: Site, operand: MemoryOperand, is_wide: bool) -> Operand | None:
    uniform = operand.uniform
    if uniform is None or uniform.number is None:
        return None
    plain = RegisterOperand(uniform.file, uniform.number)
    return site.pair(plain) if is_wide else site.word(plain)


def _element(site: Site, value: SassOperand) -> tuple[ScalarType, int]:
    """The type of an access and how many elements it has."""
    narrow = site.choose(_NARROW, "")
    if narrow:
        return ScalarType.named(narrow), 1
    words = site.choose({"64": 2, "128": 4, "256": 8}, 1)
    if words > 1 and site.is_wide(value):
        return ScalarType.B64, words // 2
    return ScalarType.B32, words


def _common(site: Site) -> bool:
    """Takes what changes nothing; whether the access is ordered, as volatile ones are."""
    site.ignore(*_HINTS)
    return site.take("STRONG")


@lowers("LDG", "LDS", "LDL", "LD", unit=Unit.LOAD_STORE)
def lower_load(site: Site) -> None:
    """`d, [address]`."""
    space = _SPACES[site.statement.opcode[2:]]
    first = 1 if site.is_predicate(0) else 0
    target = site.operand(first)
    cache = "nc" if "CONSTANT" in site.statement.modifiers else ""
    is_ordered = _common(site)
    type_, count = _element(site, target)
    address = address_of(site, site.operand(first + 1), space)
    destinations: tuple[Register | None, ...]
    if type_ is ScalarType.B64:
        assert isinstance(target, RegisterOperand)
        destinations = tuple(
            None
            if target.number is None
            else site.pair_destination(RegisterOperand(target.file, target.number + 2 * i))
            for i in range(count)
        )
    else:
        destinations = site.destinations(target, count)
    site.load(type_, address, destinations, volatile=is_ordered, cache=cache, is_main=True)


@lowers("STG", "STS", "STL", "ST", unit=Unit.LOAD_STORE)
def lower_store(site: Site) -> None:
    """`[address], a`."""
    space = _SPACES[site.statement.opcode[2:]]
    source = site.operand(1)
    is_ordered = _common(site)
    type_, count = _element(site, source)
    address = address_of(site, site.operand(0), space)
    values: tuple[Operand, ...]
    if type_ is ScalarType.B64:
        assert isinstance(source, RegisterOperand)
        values = tuple(
            site.pair(
                RegisterOperand(
                    source.file, None if source.number is None else source.number + 2 * i
                )
            )
            for i in range(count)
        )
    else:
        values = site.words(source, count)
    site.store(type_, address, values, volatile=is_ordered, is_main=True)


@lowers("BAR", unit=Unit.BARRIER)
def lower_barrier(site: Site) -> None:
    """`BAR.SYNC id[, threads]`."""
    site.ignore("DEFER_BLOCKING")
    if not site.take("SYNC"):
        raise site.refuse()
    number, count = site.word(site.operand(0)), None
    if len(site.operands) > 1:
        count = site.word(site.operand(1))
    is_fixed = isinstance(number, Immediate)
    with gone_round(site):
        following = site.builder.new()
        sync = BarrierSync(
            **site.counted("bar.sync", is_main=True),
            barrier=number.bits if isinstance(number, Immediate) else -1,
            target=following,
            number=None if is_fixed else number,
            count=count,
        )
        site.builder.end_and_continue(sync, following)
