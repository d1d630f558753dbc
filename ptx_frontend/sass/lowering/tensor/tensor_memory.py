"""Tensor memory of sm_100a: LDTM, STTM, UTCCP and UTCSHIFT.

Which form is which of `tcgen05` was found by compiling each. `tmem[UR+n]` is an address. The halves
of `.16x32bx2` are statements of their own, for threads 0 to 15 and 16 to 31.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelcast.ptx_frontend.ptx.legal.tcgen05_forms import copy_form
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.ptx_frontend.sass.lowering.once_per_warp import once
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    DescriptorOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import (
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
    TensorMemoryOperation,
)
from kernelcast.simcore.isa.matrix.tensor_memory import (
    RegisterAccess,
    RegisterShape,
    RowShift,
    TensorMemoryAction,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["append_operation", "described_pair", "tensor_address"]

_WORD, _PAIR = ScalarType.U32, ScalarType.U64
_SHAPES = {
    "16dp64bit": (RegisterShape.LANES_16_BITS_64, None),
    "16dp128bit": (RegisterShape.LANES_16_BITS_128, None),
    "16dp256bit": (RegisterShape.LANES_16_BITS_256, None),
    "16dp32bit_t0_t15": (RegisterShape.LANES_16_TWICE_32, 0),
    "16dp32bit_t16_t31": (RegisterShape.LANES_16_TWICE_32, 1),
}
"""Shapes by modifier, and which half of the threads takes part where not all do."""
_USUAL_SHAPE = (RegisterShape.LANES_32_BITS_32, None)
_COUNT = re.compile(r"x(\d+)")
_HALF = Immediate(16)
_COPIES = {
    "4dp256bit": "4x256b",
    "128dp128bit": "128x128b",
    "2x64dp128bit_lw02_lw13": "64x128b.warpx2::02_13",
    "2x64dp128bit_lw01_lw23": "64x128b.warpx2::01_23",
    "4x32dp128bit": "32x128b.warpx4",
}
_SPREAD = {"U6x16P32": ".b8x16.b6x16_p32", "U4x16P64": ".b8x16.b4x16_p64"}
"""What copies do as PTX spells it."""


def append_operation(
    site: Site,
    action: TensorMemoryAction,
    destinations: Sequence[Register | None],
    sources: Sequence[Operand],
    types: Sequence[ScalarType],
) -> None:
    """Writes the statement itself as an operation on tensor memory."""
    site.builder.append(
        TensorMemoryOperation(
            **site.fields(site.statement.mnemonic, is_main=True),
            operation=action,
            destinations=tuple(destinations),
            sources=tuple(sources),
            types=tuple(types),
        )
    )


def tensor_address(site: Site, operand: SassOperand) -> Operand:
    """The address of `tmem[UR+n]`, 0 for URZ."""
    if not isinstance(operand, DescriptorOperand) or operand.kind != "tmem" or operand.parts:
        raise site.refuse("an address in tensor memory that is none")
    base = Immediate(0) if operand.register is None else site.word(operand.register)
    if not operand.offset:
        return base
    return site.compute("add.u32", 32, base, Immediate(operand.offset & 0xFFFFFFFF))


def described_pair(site: Site, operand: SassOperand, parts: Sequence[str] = ()) -> Operand:
    """The descriptor of a matrix, `gdesc[UR]`; `parts` are known to change nothing."""
    if not isinstance(operand, DescriptorOperand) or operand.kind != "gdesc":
        raise site.refuse("a matrix without a descriptor")
    foreign = [part for part in operand.parts if part not in parts]
    if operand.register is None or operand.offset or foreign:
        raise site.refuse(f"a descriptor with '.{foreign[0]}'" if foreign else "its descriptor")
    return site.pair(operand.register)


@lowers("LDTM")
def lower_load(site: Site) -> None:
    """`d, tmem[address]`: d is the first of the registers."""
    access = _access(site, is_store=False)
    address = tensor_address(site, site.operand(1))
    targets = site.destinations(site.operand(0), access.registers)
    if access.half is None:
        append_operation(site, access, targets, (address,), (_WORD,))
        return
    found = [site.register(32) for _ in targets]
    append_operation(site, access, found, (address,), (_WORD,))
    lane = site.compute("mov.u32", 32, SpecialRegister(Special.LANEID))
    is_first = site.compute("setp.lt.u32", 1, lane, _HALF)
    for target, word in zip(targets, found, strict=True):
        if target is not None:
            halves = (word, target) if access.half == 0 else (target, word)
            site.part("selp.b32", target, *halves, is_first)


@lowers("STTM")
def lower_store(site: Site) -> None:
    """`tmem[address], a`: a is the first of the registers."""
    access = _access(site, is_store=True)
    address = tensor_address(site, site.operand(0))
    words = site.words(site.operand(1), access.registers)
    types = (_WORD,) + (ScalarType.B32,) * len(words)
    append_operation(site, access, (), (address, *words), types)


def _access(site: Site, *, is_store: bool) -> RegisterAccess:
    shape, half = site.choose(_SHAPES, _USUAL_SHAPE)
    counts = [m for m in site.statement.modifiers if _COUNT.fullmatch(m)]
    site.take(*counts)
    is_packed = site.take("EXPAND16BIT" if is_store else "PACK16BIT")
    count = int(counts[0][1:]) if counts else 1
    return RegisterAccess(shape, count, is_store, is_packed, half=half)


@lowers("UTCCP")
def lower_copy(site: Site) -> None:
    """`tmem[to], gdesc[from]`: from shared memory."""
    if not (site.take("T") and site.take("S")):
        raise site.refuse("from and to where")
    group = 2 if site.take("2CTA") else 1
    shape = site.choose(_COPIES, "128x256b")
    form = copy_form(f"tcgen05.cp.cta_group::{group}.{shape}{site.choose(_SPREAD, '')}")
    if isinstance(form, Refusal):
        raise site.refuse(form.reason)
    sources = (tensor_address(site, site.operand(0)), described_pair(site, site.operand(1)))
    with once(site):
        append_operation(site, form, (), sources, (_WORD, _PAIR))


@lowers("UTCSHIFT")
def lower_shift(site: Site) -> None:
    """`tmem[address]`."""
    if not site.take("DOWN"):
        raise site.refuse("a direction")
    shift = RowShift(site.take("2CTA"))
    address = tensor_address(site, site.operand(0))
    with once(site):
        append_operation(site, shift, (), (address,), (_WORD,))
