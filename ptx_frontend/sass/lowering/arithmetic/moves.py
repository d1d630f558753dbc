"""Moves, selections, special registers and loads of constants."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.symbols import USER_CONSTANTS
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import ConstantOperand, NameOperand
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Immediate,
    Operand,
    Special,
    SpecialRegister,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType, Unit

__all__: list[str] = []

_ZERO = Immediate(0)
_SPECIAL = {
    "SR_TID.X": Special.TID_X,
    "SR_TID.Y": Special.TID_Y,
    "SR_TID.Z": Special.TID_Z,
    "SR_CTAID.X": Special.CTAID_X,
    "SR_CTAID.Y": Special.CTAID_Y,
    "SR_CTAID.Z": Special.CTAID_Z,
    "SR_LANEID": Special.LANEID,
    "SR_EQMASK": Special.LANEMASK_EQ,
    "SR_LTMASK": Special.LANEMASK_LT,
    "SR_LEMASK": Special.LANEMASK_LE,
    "SR_GTMASK": Special.LANEMASK_GT,
    "SR_GEMASK": Special.LANEMASK_GE,
    "SR_CgaCtaId": Special.CLUSTER_CTARANK,
    "SR_VIRTUALSMID": Special.SMID,
}
_SHARED_WINDOW_HIGH = 0x100


@lowers("MOV", "UMOV", unit=Unit.INTEGER)
def lower_move(site: Site) -> None:
    """`d, a`."""
    if site.take("64"):
        site.main("mov.b64", site.pair_destination(site.operand(0)), site.pair(site.operand(1)))
        return
    site.ignore("U32", "32I")
    value = site.word(site.operand(1))
    site.main("mov.b32", site.destination(site.operand(0)), value)


@lowers("SEL", "USEL", unit=Unit.INTEGER)
def lower_selection(site: Site) -> None:
    """`d, a, b, p`: a where p holds, else b."""
    is_wide = site.take("64")
    site.ignore("U32")
    read = site.pair if is_wide else site.word
    a, b = read(site.operand(1)), read(site.operand(2))
    chosen = site.predicate(site.operand(3))
    bits = 64 if is_wide else 32
    target = site.pair_destination if is_wide else site.destination
    site.main(f"selp.b{bits}", target(site.operand(0)), a, b, chosen)


@lowers("S2R", "S2UR", "CS2R", "CS2UR", unit=Unit.MOVE)
def lower_special_register(site: Site) -> None:
    """`d, SR`; `CS2R` gives 64 bits unless `.32` is there."""
    operand = site.operand(1)
    name = operand.name if isinstance(operand, NameOperand) else ""
    is_wide = site.statement.opcode.startswith("CS2") and not site.take("32")
    if name == "SRZ":
        if is_wide:
            site.main("mov.b64", site.pair_destination(site.operand(0)), _ZERO)
        else:
            site.main("mov.b32", site.destination(site.operand(0)), _ZERO)
        return
    value = _special(site, name)
    if is_wide:
        wide = site.compute("cvt.u64.u32", 64, site.in_register(value, 32))
        site.main("mov.b64", site.pair_destination(site.operand(0)), wide)
        return
    kind = "u32" if isinstance(value, SpecialRegister) else "b32"
    site.main(f"mov.{kind}", site.destination(site.operand(0)), value)


def _special(site: Site, name: str) -> Operand:
    if name == "SR_SWINHI":
        return Immediate(_SHARED_WINDOW_HIGH)
    which = _SPECIAL.get(name)
    if which is None:
        raise site.refuse(f"special register {name}")
    return SpecialRegister(which)


@lowers("LDC", "ULDC", "LDCU", unit=Unit.LOAD_STORE)
def lower_constant_load(site: Site) -> None:
    """`d, c[bank][place]`."""
    operand = site.operand(1)
    if not isinstance(operand, ConstantOperand):
        raise site.refuse("a constant that is none")
    site.ignore("U", "IL", "ENL2")
    size = site.choose({"64": 8, "128": 16, "U8": 1, "S8": -1, "U16": 2, "S16": -2}, 4)
    is_indexed = operand.index is not None and operand.index.number is not None
    if operand.bank == 3 or size not in (4, 8) or is_indexed:
        _from_memory(site, operand, size)
        return
    value = site.constant(operand, size)
    if size == 8:
        site.main("mov.b64", site.pair_destination(site.operand(0)), value)
    else:
        site.main("mov.b32", site.destination(site.operand(0)), value)


def _from_memory(site: Site, operand: ConstantOperand, size: int) -> None:
    """A load of a variable in bank 3."""
    if operand.bank != 3:
        raise site.refuse(f"an indexed load of constant bank {operand.bank}")
    type_ = ScalarType.named({1: "u8", -1: "s8", 2: "u16", -2: "s16"}.get(size, "b32"))
    count = max(1, abs(size) // 4)
    base = SymbolAddress(USER_CONSTANTS)
    if operand.index is not None and operand.index.number is not None:
        start = site.compute("mov.u64", 64, base)
        index = site.compute("cvt.u64.u32", 64, site.word(operand.index))
        address = Address(
            AddressSpace.CONST, site.compute("add.s64", 64, start, index), operand.offset
        )
    else:
        address = Address(AddressSpace.CONST, base, operand.offset)
    destinations = site.destinations(site.operand(0), count)
    site.load(type_, address, destinations, is_main=True)
