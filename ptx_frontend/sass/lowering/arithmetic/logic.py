"""Truth tables of words, and shifts."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import ImmediateOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__: list[str] = []

_ZERO = Immediate(0)
_SIMPLE = {
    0xC0: ("and.b32", (0, 1)),
    0xA0: ("and.b32", (0, 2)),
    0x88: ("and.b32", (1, 2)),
    0xFC: ("or.b32", (0, 1)),
    0xFA: ("or.b32", (0, 2)),
    0xEE: ("or.b32", (1, 2)),
    0x3C: ("xor.b32", (0, 1)),
    0x5A: ("xor.b32", (0, 2)),
    0x66: ("xor.b32", (1, 2)),
    0x0F: ("not.b32", (0,)),
    0x33: ("not.b32", (1,)),
    0x55: ("not.b32", (2,)),
    0xF0: ("mov.b32", (0,)),
    0xCC: ("mov.b32", (1,)),
    0xAA: ("mov.b32", (2,)),
}
"""Truth tables of fewer than three operands: the instruction, and which operands it takes."""


def _number(site: Site, operand: SassOperand) -> int:
    if not isinstance(operand, ImmediateOperand) or operand.value is None:
        raise site.refuse("a truth table that is no number")
    return operand.value


@lowers("LOP3", "ULOP3")
def lower_truth_table(site: Site) -> None:
    """`[p,] d, a, b, c, table, q`: p is (d != 0) or q, with `.PAND` (d != 0) and q."""
    site.ignore("LUT")
    combines = "and.pred" if site.take("PAND") else "or.pred"
    first = 1 if site.is_predicate(0) else 0
    a, b, c = (site.word(site.operand(first + i)) for i in (1, 2, 3))
    table = _number(site, site.operand(first + 4))
    has_other = site.is_predicate(first + 5)
    other = site.predicate(site.operand(first + 5)) if has_other else _ZERO
    is_tested = first == 1 and not site.is_discarded(site.operand(0))
    destination = site.destination(site.operand(first))
    _table(site, destination, table, (a, b, c))
    if not is_tested:
        return
    flag = site.destination(site.operand(0))
    if other == (_ZERO if combines == "or.pred" else Immediate(1)):
        site.part("setp.ne.b32", flag, destination, _ZERO)
        return
    tested = site.compute("setp.ne.b32", 1, destination, _ZERO)
    site.part(combines, flag, tested, other)


def _table(
    site: Site, destination: Register, table: int, sources: tuple[Operand, Operand, Operand]
) -> None:
    if table in _SIMPLE:
        mnemonic, chosen = _SIMPLE[table]
        site.main(mnemonic, destination, *(sources[index] for index in chosen))
        return
    if table == 0:
        site.main("mov.b32", destination, _ZERO)
        return
    if table == 0xFF:
        site.main("mov.b32", destination, Immediate(0xFFFFFFFF))
        return
    site.main("lop3.b32", destination, *sources, Immediate(table))


@lowers("SHF", "USHF")
def lower_shift(site: Site) -> None:
    """Funnel shifts: `d, low, amount, high`; which half is the result depends on the modifiers."""
    to_left = site.take("L")
    if not to_left and not site.take("R"):
        raise site.refuse("a shift without direction")
    wraps, is_upper = site.take("W"), site.take("HI")
    kind = site.choose({name: name for name in ("U32", "S32", "U64", "S64")}, "U32")
    low, amount, high = (site.word(site.operand(i)) for i in (1, 2, 3))
    destination = site.destination(site.operand(0))
    if wraps:
        _wrapping(site, destination, (low, amount, high), to_left, is_upper, kind)
        return
    if kind.endswith("32"):
        if to_left:
            if is_upper:
                _funnel(site, destination, (low, amount, high), "l", kind)
            else:
                site.main("shl.b32", destination, low, amount)
        elif is_upper:
            site.main(f"shr.{kind.lower()}", destination, high, amount)
        else:
            _funnel(site, destination, (low, amount, high), "r", kind)
        return
    _wide(site, destination, (low, amount, high), to_left, is_upper, kind)


def _wide(
    site: Site,
    destination: Register,
    sources: tuple[Operand, Operand, Operand],
    to_left: bool,
    is_upper: bool,
    kind: str,
) -> None:
    """A half of the 64 bits {high, low} after the shift."""
    low, amount, high = sources
    wide = site.register(64)
    site.part("mov.b64", wide, low, high)
    shift = "shl.b64" if to_left else f"shr.{kind.lower()}"
    shifted = site.compute(shift, 64, wide, amount)
    if is_upper:
        site.main("mov.b64", None, destination, shifted, results=2)
    else:
        site.main("mov.b64", destination, None, shifted, results=2)


def _funnel(
    site: Site,
    destination: Register,
    sources: tuple[Operand, Operand, Operand],
    direction: str,
    kind: str,
) -> None:
    """The amount counts at most 32."""
    low, amount, high = sources
    site.main(f"shf.{direction}.clamp.b32", destination, low, high, amount)


def _wrapping(
    site: Site,
    destination: Register,
    sources: tuple[Operand, Operand, Operand],
    to_left: bool,
    is_upper: bool,
    kind: str,
) -> None:
    """The amount counts modulo 32, or 64 for 64-bit types."""
    low, amount, high = sources
    if kind.endswith("64"):
        count = site.compute("and.b32", 32, amount, Immediate(63))
        _wide(site, destination, (low, count, high), to_left, is_upper, kind)
        return
    if to_left == is_upper:
        direction = "l" if to_left else "r"
        site.main(f"shf.{direction}.wrap.b32", destination, low, high, amount)
        return
    count = site.compute("and.b32", 32, amount, Immediate(31))
    if to_left:
        site.main("shl.b32", destination, low, count)
    else:
        site.main(f"shr.{kind.lower()}", destination, high, count)
