"""Products that four warps compute together: HGMMA, QGMMA, IGMMA, BGMMA and WARPGROUP of sm_90a.

`d, a, b, c[, p][, metadata[, selector]][, gsb0]`. Where A is in shared memory one operand stands
for both: `gdesc[UR4]` are the descriptors of A in UR4 and UR5 and of B in UR6 and UR7, which is
where that of B is also when A is in registers (found by compiling both). C is D
before the product, and counts where the predicate holds; RZ with `!UPT` is a sum that begins.
`gsb0` ends a group of products, which `WARPGROUP.DEPBAR` waits for; they are done at once here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.legal.wgmma_forms import WgmmaForm, wgmma_form
from kernelcast.ptx_frontend.ptx.matrix.described_words import (
    left_words,
    right_words,
    with_other_sign,
)
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    DescriptorOperand,
    ImmediateOperand,
    NameOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.matrix.operations import LayoutFamily, MatrixOperation, matrix_opcode

__all__: list[str] = []

_SHAPE = re.compile(r"64x(\d+)x(\d+)")
_TARGET = "sm_90a"
_OF_A, _OF_B = ("negA", "tnspA"), ("negB", "tnspB")
_FORMATS = {name: name.lower() for name in ("E4M3", "E5M2", "S8", "U8")}
_B_BEHIND = 2
"""Registers from the one that is named to the descriptor of B."""
_GROUP = re.compile(r"gsb\d")


@dataclass(frozen=True, slots=True)
class _Operands:
    """What the operands say; `a` None where a descriptor stands for A and B."""

    d: SassOperand
    a: RegisterOperand | None
    described: DescriptorOperand
    c: SassOperand
    keeps: RegisterOperand | None
    metadata: SassOperand | None
    selector: int


def _operands(site: Site, *, is_sparse: bool) -> _Operands:
    left = [o for o in site.operands if not _is_group(o)]
    d = left.pop(0)
    a = left.pop(0) if isinstance(left[0], RegisterOperand) else None
    described, c = left.pop(0), left.pop(0)
    if not isinstance(described, DescriptorOperand) or described.kind != "gdesc":
        raise site.refuse("a matrix without a descriptor")
    keeps = left.pop(0) if left and _is_predicate(left[0]) else None
    metadata = left.pop(0) if is_sparse and left else None
    selector = left.pop(0) if metadata is not None and left else ImmediateOperand("0", 0)
    if left or not isinstance(selector, ImmediateOperand) or selector.value is None:
        raise site.refuse("its operands")
    assert a is None or isinstance(a, RegisterOperand)
    assert keeps is None or isinstance(keeps, RegisterOperand)
    return _Operands(d, a, described, c, keeps, metadata, selector.value)


def _is_group(operand: SassOperand) -> bool:
    return isinstance(operand, NameOperand) and _GROUP.fullmatch(operand.name) is not None


def _is_predicate(operand: SassOperand) -> bool:
    return isinstance(operand, RegisterOperand) and operand.file in ("P", "UP")


@lowers("HGMMA", "QGMMA", "IGMMA", "BGMMA")
def lower_warpgroup_product(site: Site) -> None:
    """A product of a warpgroup, or only the end of a group where nothing is described."""
    first = site.operand(1)
    if isinstance(first, DescriptorOperand) and (
        first.register is None or first.register.number is None
    ):
        if not site.is_discarded(site.operand(0)):
            raise site.refuse("a product of nothing")
        site.rest()
        site.fence()
        return
    is_sparse = site.take("SP")
    form = _form(site, is_sparse=is_sparse)
    _Product(site, form, _operands(site, is_sparse=is_sparse)).lower()


def _form(site: Site, *, is_sparse: bool) -> WgmmaForm:
    """The product as PTX spells it."""
    shape = next(filter(None, map(_SHAPE.fullmatch, site.statement.modifiers)), None)
    if shape is None:
        raise site.refuse("a product without a shape")
    site.take(shape[0])
    formats, end = _formats(site), ""
    if site.statement.opcode == "BGMMA" and site.take("AND") and site.take("POPC"):
        end = ".and.popc"
    if site.take("SAT"):
        end = ".satfinite"
    sparse = ".sp" if is_sparse else ""
    name = f"wgmma.mma_async{sparse}.sync.aligned.m64n{shape[1]}k{shape[2]}.{formats}{end}"
    form = wgmma_form(name, _TARGET)
    if isinstance(form, Refusal):
        raise site.refuse(form.reason)
    return form


def _formats(site: Site) -> str:
    """The formats of D, A and B."""
    match site.statement.opcode:
        case "HGMMA":
            type_ = site.choose({"BF16": "bf16", "TF32": "tf32"}, "f16")
            return f"{_result(site)}.{type_}.{type_}"
        case "BGMMA":
            return "s32.b1.b1"
    result = _result(site) if site.statement.opcode == "QGMMA" else "s32"
    found = [_FORMATS[name] for name in site.statement.modifiers if name in _FORMATS]
    site.take(*_FORMATS)
    return ".".join((result, *found))


def _result(site: Site) -> str:
    return site.choose({"F32": "f32", "F16": "f16"}, "")


class _Product:
    """Writes one product."""

    def __init__(self, site: Site, form: WgmmaForm, operands: _Operands) -> None:
        self._site, self._form, self._operands = site, form, operands
        parts = operands.described.parts
        known = _OF_B if operands.a is not None else (*_OF_A, *_OF_B)
        for part in parts:
            if part not in known:
                raise site.refuse(f"a descriptor with '.{part}'")
        self._negations = sum(part.startswith("neg") for part in parts)
        family = LayoutFamily.WARPGROUP_SHARED
        if operands.a is not None:
            family = LayoutFamily.WARPGROUP
            self._negations += operands.a.sign == "-"
        operation = form.operation(
            family,
            a_turned="tnspA" in parts,
            b_turned="tnspB" in parts,
            selector=operands.selector,
        )
        if operation is None:
            raise site.refuse("a sparsity selector")
        self._operation: MatrixOperation = operation

    def lower(self) -> None:
        """Reads all, then writes D."""
        site, operation = self._site, self._operation
        opcode = matrix_opcode(operation)
        left = self._left(operation.fragments()[0].registers)
        if self._negations % 2:
            left = with_other_sign(site, left, self._form.a)
        right = right_words(site, operation, self._descriptor(_B_BEHIND))
        before = self._accumulator(len(opcode.results))
        more: list[Operand] = []
        if self._form.is_sparse and self._operands.metadata is not None:
            more.append(site.word(self._operands.metadata))
        found = site.destinations(self._operands.d, len(opcode.results))
        site.exchange(opcode, found, (*left, *right, *before, *more), is_main=True)

    def _left(self, registers: int) -> Sequence[Operand]:
        a = self._operands.a
        if a is None:
            return left_words(self._site, self._operation, self._descriptor(0))
        if a.is_absolute or a.parts or a.sign not in ("", "-"):
            raise self._site.refuse("what is done to A")
        return self._site.words(RegisterOperand(a.file, a.number), registers)

    def _descriptor(self, distance: int) -> Operand:
        """The pair of registers so far behind the first one."""
        described = self._operands.described
        register = described.register
        if register is None or register.number is None or described.offset:
            raise self._site.refuse("a descriptor that is no register")
        return self._site.pair(RegisterOperand(register.file, register.number + distance))

    def _accumulator(self, count: int) -> Sequence[Operand]:
        """C where the predicate holds, else zeros."""
        site, keeps = self._site, self._operands.keeps
        if keeps is not None and keeps.number is None and keeps.sign:
            return [Immediate(0)] * count
        words = site.words(self._operands.c, count)
        if keeps is None or keeps.number is None:
            return words
        held = site.predicate(keeps)
        return [site.compute("selp.b32", 32, word, Immediate(0), held) for word in words]


@lowers("WARPGROUP")
def lower_warpgroup(site: Site) -> None:
    """`.ARRIVE` is `wgmma.fence`; `.DEPBAR.LE gsb0, n` waits until n groups are left."""
    if site.take("ARRIVE"):
        site.fence()
        return
    count = site.operand(1)
    if not (site.take("DEPBAR") and site.take("LE")) or not isinstance(count, ImmediateOperand):
        raise site.refuse()
    site.fence(count.value)


@lowers("WARPGROUPSET")
def lower_warpgroup_setting(site: Site) -> None:
    """Where scoreboards of products are set: nothing is computed."""
    site.rest()
    site.nothing()
