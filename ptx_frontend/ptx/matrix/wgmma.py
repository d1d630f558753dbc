"""`wgmma`: products that four warps compute together, done when the instruction is executed.

Each warp brings what it needs for its 16 of the 64 rows: its part of A, and B, whose rows of core
matrices are read by the addresses that the descriptor names. PTX ISA 9.0, "wgmma".
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.ptx.asynchronous.copies import groups_left
from kernelcast.ptx_frontend.ptx.legal.wgmma_forms import WgmmaForm, wgmma_form
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.matrix.described_words import (
    left_words,
    right_words,
    with_other_sign,
)
from kernelcast.ptx_frontend.ptx.matrix.products import fragment_destinations, fragment_sources
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.matrix.operations import LayoutFamily, MatrixOperation, matrix_opcode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["lower_wgmma"]

_WORD = ScalarType.B32


def lower_wgmma(site: Site, builder: BasicBlockBuilder, target: str) -> None:
    """`fence` and the groups order what is in order already."""
    code = InstructionParts.guarded(site, builder)
    parts = site.mnemonic.split(".")[1:]
    if parts in (["fence", "sync", "aligned"], ["commit_group", "sync", "aligned"]):
        site.expect_operands(0)
        code.fence()
    elif parts == ["wait_group", "sync", "aligned"]:
        site.expect_operands(1)
        code.fence(groups_left(site))
    else:
        form = wgmma_form(site.mnemonic, target)
        if isinstance(form, Refusal):
            raise site.unsupported(form.reason)
        _Product(code, form).lower()


class _Product:
    """`d, a, b{, metadata, selector}, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-...}}`."""

    def __init__(self, code: InstructionParts, form: WgmmaForm) -> None:
        self._code, self._form = code, form
        self._site = site = code.site
        self._constants_at = 4 + 2 * form.is_sparse
        self._in_registers = isinstance(site.operands[1:2][0], syntax.VectorOperand)
        self._expect()
        turned = [bool(value) for value in self._transposes()]
        self._b_turned = bool(turned and turned[-1])
        self._a_turned = len(turned) > 1 and turned[0]
        family = LayoutFamily.WARPGROUP if self._in_registers else LayoutFamily.WARPGROUP_SHARED
        selector = self._constant(4) if form.is_sparse else 0
        operation = form.operation(
            family, a_turned=self._a_turned, b_turned=self._b_turned, selector=selector
        )
        if operation is None:
            raise site.error(f"there is no sparsity selector {selector}", 4)
        self._operation: MatrixOperation = operation

    def _expect(self) -> None:
        """Constants that are left out have their defaults; some compilers leave all of them out."""
        least = self._constants_at
        scales = least + 2 * self._form.has_scales
        turned = scales + (2 - self._in_registers) * self._form.has_transposes
        self._site.expect_operands(*sorted({scales, turned}))
        self._scales_at, self._turned_at = least, scales

    def _constant(self, index: int) -> int:
        operand = self._site.operands[index]
        if not isinstance(operand, syntax.Integer):
            raise self._site.error(f"{self._site.mnemonic!r} takes a constant here", index)
        return operand.value

    def _transposes(self) -> list[int]:
        values = [self._constant(i) for i in range(self._turned_at, len(self._site.operands))]
        if any(value not in (0, 1) for value in values):
            raise self._site.error("a transpose is 0 or 1", self._turned_at)
        return values

    def lower(self) -> None:
        code, site, operation = self._code, self._site, self._operation
        opcode = matrix_opcode(operation)
        left = self._left(operation.fragments()[0].registers)
        right = right_words(code, operation, self._descriptor(2))
        destinations = fragment_destinations(site, 0, opcode.results)
        before = self._accumulator(fragment_sources(site, 0, opcode.results))
        more: list[Operand] = []
        if self._form.is_sparse:
            more.append(site.source(site.operands[3], 3, _WORD))
        code.exchange(opcode, destinations, (*left, *right, *before, *more), is_main=True)

    def _descriptor(self, index: int) -> Operand:
        return self._site.source(self._site.operands[index], index, ScalarType.B64)

    def _left(self, registers: int) -> Sequence[Operand]:
        site, code = self._site, self._code
        if self._in_registers:
            found: Sequence[Operand] = fragment_sources(site, 1, (_WORD,) * registers)
        else:
            found = left_words(code, self._operation, self._descriptor(1))
        return self._negated(found)

    def _negated(self, words: Sequence[Operand]) -> Sequence[Operand]:
        """A with the sign of both constants."""
        if not self._form.has_scales:
            return words
        signs = [self._constant(self._scales_at + offset) for offset in range(2)]
        if any(sign not in (-1, 1) for sign in signs):
            raise self._site.error("a scale is 1 or -1", self._scales_at)
        if signs[0] == signs[1]:
            return words
        return with_other_sign(self._code, words, self._form.a)

    def _accumulator(self, words: Sequence[Operand]) -> Sequence[Operand]:
        """D before the product, or zeros where `scale-d` is false."""
        index = self._constants_at - 1
        site, code = self._site, self._code
        operand = site.operands[index]
        if isinstance(operand, syntax.Integer):
            return words if operand.value else [Immediate(0)] * len(words)
        keeps = site.source(operand, index, ScalarType.PRED)
        return [code.compute("selp.b32", 32, word, Immediate(0), keeps) for word in words]
