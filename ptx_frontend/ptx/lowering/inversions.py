"""Predicates that an instruction reads negated."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.simcore.isa.ir.kernel import Compute, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["source_or_inverse"]


def source_or_inverse(
    site: Site,
    operand: syntax.Operand,
    index: int,
    type_: ScalarType,
    inversions: list[Compute],
    wider: bool = False,
) -> Operand:
    """A source of the instruction; of a negated predicate the register with its inverse.

    The inversion, appended to those that stand before, costs an instruction of its own, which
    hardware does not need; compilers do not write it.
    """
    if not isinstance(operand, syntax.NegatedOperand):
        return site.source(operand, index, type_, wider)
    if type_ is not ScalarType.PRED:
        raise site.error("only predicates can be negated", index)
    form = compute_form("not.pred")
    assert isinstance(form, ComputeForm)
    source = site.source(syntax.NameOperand(operand.name), index, ScalarType.PRED)
    inverse = site.names.file.new(f"!{operand.name}", 1)
    inversions.append(
        Compute(
            pc=site.pc + len(inversions),
            mnemonic="not.pred",
            span=site.span,
            origin=site.origin,
            opcode=form.opcode,
            type=ScalarType.PRED,
            source_type=ScalarType.PRED,
            destinations=(inverse,),
            sources=(source,),
        )
    )
    return inverse
