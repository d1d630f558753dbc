"""Special registers: the place of a lane in its launch, clocks and sizes.

`SR_VIRTID` and `SR_VIRTCFG` hold the number of the warp and how many there are from bit 8 on, as
the assembler takes them apart. `SR_CgaSize` is 0: what it is multiplied with for addresses in
constant bank 0 leaves those where they are.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import NameOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Special, SpecialRegister

__all__: list[str] = []

_ZERO = Immediate(0)
_WORDS = {
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
    "SR_SMEMSZ": Special.TOTAL_SMEM_SIZE,
}
_SHIFTED = {"SR_VIRTID": (Special.WARPID, 8), "SR_VIRTCFG": (Special.NWARPID, 8)}
_TIMES = {
    "SR_CLOCKLO": (Special.CLOCK64, 0),
    "SR_CLOCKHI": (Special.CLOCK64, 32),
    "SR_GLOBALTIMERLO": (Special.GLOBALTIMER, 0),
    "SR_GLOBALTIMERHI": (Special.GLOBALTIMER, 32),
}
_COUNTERS = tuple(f"SR_PM{number}" for number in range(8))
"""Counters that nobody has started."""
_CONSTANTS = {
    "SRZ": 0,
    "SR_SWINHI": 0x100,
    "SR_CgaSize": 0,
    **dict.fromkeys(_COUNTERS, 0),
}


@lowers("S2R", "S2UR", "CS2R", "CS2UR")
def lower_special_register(site: Site) -> None:
    """`d, SR`; `CS2R` gives 64 bits unless `.32` is there."""
    operand = site.operand(1)
    name = operand.name if isinstance(operand, NameOperand) else ""
    is_wide = site.statement.opcode.startswith("CS2") and not site.take("32")
    if name in _TIMES:
        _time(site, name, is_wide)
        return
    if name in _SHIFTED:
        which, shift = _SHIFTED[name]
        value: Operand = site.compute("mov.u32", 32, SpecialRegister(which))
        value = site.compute("shl.b32", 32, value, Immediate(shift))
    elif name in _CONSTANTS:
        value = Immediate(_CONSTANTS[name])
    elif name in _WORDS:
        value = SpecialRegister(_WORDS[name])
    else:
        raise site.refuse(f"special register {name}")
    _write(site, value, is_wide)


def _write(site: Site, value: Operand, is_wide: bool) -> None:
    """A word into the destination, with zeros above it where that is wide."""
    if not is_wide:
        kind = "u32" if isinstance(value, SpecialRegister) else "b32"
        site.main(f"mov.{kind}", site.destination(site.operand(0)), value)
        return
    if isinstance(value, SpecialRegister):
        value = site.compute("mov.u32", 32, value)
    if isinstance(value, Immediate):
        site.main("mov.b64", site.pair_destination(site.operand(0)), value)
    else:
        site.main("cvt.u64.u32", site.pair_destination(site.operand(0)), value)


def _time(site: Site, name: str, is_wide: bool) -> None:
    """64 bits from the named word on, or the word."""
    which, shift = _TIMES[name]
    if is_wide and not shift:
        site.main("mov.u64", site.pair_destination(site.operand(0)), SpecialRegister(which))
        return
    whole = site.compute("mov.u64", 64, SpecialRegister(which))
    if is_wide:
        site.main("shr.u64", site.pair_destination(site.operand(0)), whole, Immediate(shift))
        return
    destination = site.destination(site.operand(0))
    halves = (None, destination) if shift else (destination, None)
    site.main("mov.b64", *halves, whole, results=2)
