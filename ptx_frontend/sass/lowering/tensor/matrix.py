"""Products of fragments: HMMA, IMMA, DMMA, BMMA, QMMA and OMMA.

Operands are D, A, B, C, then the metadata of a sparse A and its selector. Fragments are those of
PTX's `mma` of the same shape: the assembler makes such an instruction of each `mma` whose shape the
architecture has, with the same registers in the same order (compiled and read back for sm_70 to
sm_120). Of other shapes, and of `wmma`, it makes several, one after the other along the depth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from kernelcast.ptx_frontend.ptx.legal.matrix_forms import product_form
from kernelcast.ptx_frontend.ptx.legal.matrix_scaled_forms import scaled_form
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    ImmediateOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.matrix.layouts import Fragment, Order
from kernelcast.simcore.isa.matrix.operations import MatrixOperation, matrix_opcode

__all__: list[str] = []

Value = TypeVar("Value")
_SHAPE = re.compile(r"(16|8)x?8x?(\d+)")
_SELECTORS = range(4)
_ORDERS = {"ROW": Order.ROW, "COL": Order.COLUMN}
_STEPS = {"f32": 4, "f16": 2}
"""How many instructions Volta makes of a product, by the format of D."""
_NARROW = ("e3m2", "e2m3", "e2m1")
_SCALES = {
    ("QMMA", "E8"): ("mxf8f6f4", "1X", "ue8m0"),
    ("OMMA", "E8"): ("mxf4", "2X", "ue8m0"),
    ("OMMA", "E8.4X"): ("mxf4nvf4", "4X", "ue8m0"),
    ("OMMA", "UE4M3.4X"): ("mxf4nvf4", "4X", "ue4m3"),
}
"""Kind, blocks of a row and format of the scales, by the last modifiers."""


def _shape(site: Site) -> str:
    """The shape as PTX spells it, from the modifier that has digits only."""
    for name in site.statement.modifiers:
        found = _SHAPE.fullmatch(name)
        if found is not None:
            site.take(name)
            return f"m{found[1]}n8k{found[2]}"
    raise site.refuse("a product without a shape")


def _operation(site: Site, name: str, *, selector: int = 0) -> MatrixOperation:
    """What `mma.<name>` of PTX is on this architecture."""
    target = f"sm_{site.architecture}"
    form = (scaled_form if ".block_scale." in name else product_form)(name, target, selector)
    if isinstance(form, Refusal):
        raise site.refuse(form.reason)
    return form


def _order(site: Site, position: int, usual: Order) -> Order:
    """The order that stands behind a register of A or B."""
    operand = site.operand(position)
    if not isinstance(operand, RegisterOperand):
        raise site.refuse("a fragment is no register")
    names = [part for part in operand.parts if part in _ORDERS]
    if len(names) != len(operand.parts):
        raise site.refuse(f"a fragment with '.{operand.parts[0]}'")
    return _ORDERS[names[0]] if names else usual


def _fragment(site: Site, operand: SassOperand, fragment: Fragment) -> list[Operand]:
    """The registers of a fragment that is read, of 32 or 64 bits; `-` negates those of 64."""
    if not isinstance(operand, RegisterOperand):
        raise site.refuse("a fragment is no register")
    is_wide = fragment.format.register_bits == 64
    if operand.is_absolute or operand.sign not in (("", "-") if is_wide else ("",)):
        raise site.refuse("a fragment with a sign")
    count = fragment.registers
    if not is_wide:
        return list(site.words(operand, count))
    places = (_neighbour(operand, 2 * index) for index in range(count))
    return [site.pair(replace(place, sign=operand.sign), "f64") for place in places]


def _neighbour(operand: RegisterOperand, distance: int) -> RegisterOperand:
    number = operand.number
    return RegisterOperand(operand.file, None if number is None else number + distance)


def _results(site: Site, fragment: Fragment) -> tuple[Register | None, ...]:
    """The registers of D."""
    target = site.operand(0)
    if fragment.format.register_bits == 32 or site.is_discarded(target):
        return site.destinations(target, fragment.registers)
    assert isinstance(target, RegisterOperand)
    return tuple(
        site.pair_destination(_neighbour(target, 2 * index)) for index in range(fragment.registers)
    )


def _multiply(site: Site, operation: MatrixOperation, more: Sequence[Operand] = ()) -> None:
    """Writes the product; all sources are read before D is written."""
    a, b, c, d = operation.fragments()
    for position, order in ((1, Order.ROW), (2, Order.COLUMN)):
        if _order(site, position, order) is not order:
            raise site.refuse("orders of A and B")
    sources: list[Operand] = []
    for position, fragment in enumerate((a, b, c), start=1):
        sources += _fragment(site, site.operand(position), fragment)
    results = _results(site, d)
    site.exchange(matrix_opcode(operation), results, (*sources, *more), is_main=True)


def _selector(site: Site) -> int:
    operand = site.operand(len(site.operands) - 1)
    found = operand.value if isinstance(operand, ImmediateOperand) else None
    if found is None or found not in _SELECTORS:
        raise site.refuse("a sparsity selector that is no constant")
    return found


def _plain_product(site: Site, shape: str, formats: str, more: str = "") -> None:
    """A product without scales, dense or sparse."""
    is_sparse = site.take("SP")
    sparse = "sp::ordered_metadata." if is_sparse else ""
    name = f"mma.{sparse}sync.aligned.{shape}.row.col{more}.{formats}"
    if not is_sparse:
        _multiply(site, _operation(site, name))
        return
    metadata = site.word(site.operand(4))
    _multiply(site, _operation(site, name, selector=_selector(site)), (metadata,))


@lowers("HMMA")
def lower_half_product(site: Site) -> None:
    """`d, a, b, c` of f16, bf16 or tf32."""
    shape = _shape(site)
    if shape == "m8n8k4":
        _lower_step(site)
        return
    result = site.choose({"F32": "f32", "F16": "f16"}, "")
    type_ = site.choose({"BF16": "bf16", "TF32": "tf32"}, "f16")
    _plain_product(site, shape, f"{result}.{type_}.{type_}.{result}")


def _lower_step(site: Site) -> None:
    """One step of Volta's `HMMA.884`: two registers of D of `mma.m8n8k4`.

    A step gives neighbours of the fragment of D, the first step the first two. An f16 C has a
    whole half of the columns in two registers, which two steps read.
    """
    names = {"F32": "f32", "F16": "f16"}
    result = site.choose(names, "")
    sum_ = site.choose(names, "")
    count = _STEPS.get(result, 0)
    step = site.choose({f"STEP{number}": number for number in range(count)}, -1)
    if any(isinstance(o, RegisterOperand) and o.sign for o in site.operands):
        raise site.refuse("a fragment with another sign")
    if step < 0 or (result, sum_) == ("f16", "f32"):
        raise site.refuse("a step")
    orders = (_order(site, 1, Order.ROW), _order(site, 2, Order.COLUMN))
    layout = ".".join(order.value for order in orders)
    name = f"mma.sync.aligned.m8n8k4.{layout}.{result}.f16.f16.{sum_}"
    operation = replace(_operation(site, name), steps=count)
    *_, c, d = operation.fragments()
    held = site.words(site.operand(3), 2)
    first = 2 * step * c.registers // d.registers // 2 * 2
    before = _amid(Immediate(0), c.registers, first, held)
    sources = (*site.words(site.operand(1), 2), *site.words(site.operand(2), 2), *before)
    found = site.destinations(site.operand(0), 2)
    results = _amid(None, d.registers, 2 * step, found)
    site.exchange(matrix_opcode(operation), results, sources, is_main=True)


def _amid(empty: Value, count: int, first: int, values: Sequence[Value]) -> list[Value]:
    """`values` from place `first` on among `count`."""
    found = [empty] * count
    found[first : first + len(values)] = values
    return found


@lowers("IMMA")
def lower_integer_product(site: Site) -> None:
    """`d, a, b, c` of signed or unsigned elements of 8 or 4 bits; `.SAT` clamps the sum."""
    shape = _shape(site)
    a, b = _two_formats(site, ("S8", "U8", "S4", "U4"))
    more = ".satfinite" if site.take("SAT") else ""
    _plain_product(site, shape, f"s32.{a}.{b}.s32", more)


def _two_formats(site: Site, names: Sequence[str]) -> tuple[str, str]:
    """The formats of A and B, which stand one after the other."""
    found = [name.lower() for name in site.statement.modifiers if name in names]
    site.take(*names)
    if len(found) != 2:
        raise site.refuse("formats of A and B")
    return found[0], found[1]


@lowers("DMMA")
def lower_double_product(site: Site) -> None:
    """`d, a, b, c` of f64, each element in a pair of registers."""
    _plain_product(site, _shape(site), "f64.f64.f64.f64")


@lowers("BMMA")
def lower_bit_product(site: Site) -> None:
    """`d, a, b, c` of single bits, combined by XOR or AND and counted."""
    shape = _shape(site)
    combination = site.choose({"XOR": "xor", "AND": "and"}, "")
    if not combination or not site.take("POPC"):
        raise site.refuse("how bits are combined")
    name = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{combination}.popc"
    _multiply(site, _operation(site, name))


@lowers("QMMA", "OMMA")
def lower_narrow_product(site: Site) -> None:
    """`d, a, b, c` of formats of 8, 6 and 4 bits; `.SF` multiplies blocks by scales."""
    shape = _shape(site)
    result = site.choose({"F32": "f32", "F16": "f16"}, "")
    a, b = _two_formats(site, ("E4M3", "E5M2", "E3M2", "E2M3", "E2M1"))
    if site.take("SF"):
        _scaled_product(site, shape, (result, a, b))
        return
    kind = ".kind::f8f6f4" if {a, b} & set(_NARROW) else ""
    _plain_product(site, shape, f"{result}.{a}.{b}.{result}", kind)


def _scaled_product(site: Site, shape: str, formats: tuple[str, str, str]) -> None:
    """`d, a, b, c, scales of A, scales of B, places of scales`.

    Where A is sparse, its metadata is the register before its scales. The places: two bits for the
    byte of A's scales and one for the lanes that bring them, then two and two bits for B's.
    """
    result, a, b = formats
    is_sparse = site.take("SP")
    known = _SCALES.get((site.statement.opcode, ".".join(site.rest())))
    if known is None:
        raise site.refuse("scales of blocks")
    kind, blocks, scale = known
    sparse = ".sp::ordered_metadata" if is_sparse else ""
    name = (
        f"mma{sparse}.sync.aligned.{shape}.row.col.kind::{kind}.block_scale.scale_vec::{blocks}"
        f".{result}.{a}.{b}.{result}.{scale}"
    )
    operation = _operation(site, name, selector=_selector(site) if is_sparse else 0)
    metadata = site.words(site.operand(4), 1 + is_sparse)
    places = site.word(site.operand(6))
    more = [
        *metadata,
        *(_bits(site, places, first, count) for first, count in ((0, 2), (2, 1))),
        site.word(site.operand(5)),
        *(_bits(site, places, first, count) for first, count in ((3, 2), (5, 2))),
    ]
    _multiply(site, operation, more)


def _bits(site: Site, word: Operand, first: int, count: int) -> Operand:
    """A field of a word as a number of 16 bits."""
    moved = site.compute("shr.u32", 32, word, Immediate(first))
    field = site.compute("and.b32", 32, moved, Immediate((1 << count) - 1))
    return site.compute("cvt.u16.u32", 16, field)
