"""Which lanes of a wavefront there are, and which of them take part."""

from __future__ import annotations

from kernelcast.ptx_frontend.amdgcn.lowering.writer import Writer
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["takes_part"]


def takes_part(code: Writer, lane: Operand) -> Operand:
    """Whether EXEC has another lane."""
    mask = code.joined(*code.mask_words("exec"))
    bit = code.compute("and.b64", 64, code.compute("shr.u64", 64, mask, lane), Immediate(1))
    return code.compute("setp.ne.u64", 1, bit, Immediate(0))
