"""How many bytes an instruction of AMD's code takes.

AMD Instinct MI200 Instruction Set Architecture, chapter 13 (microcode formats): scalar and short
vector instructions are a word, to which a constant that no operand field can hold adds another one;
all others are two words.
"""

from __future__ import annotations

import re

from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction

__all__ = ["instruction_bytes"]

_WORD, _TWO_WORDS = 4, 8
_REGISTER = re.compile(
    r"-?\|?(?:[vsa]\d+|[vsa]\[\d+:\d+\]|vcc|exec|m0|scc|off|flat_scratch|xnack_mask|src_)"
)
_INLINE_FLOATS = ("0.5", "1.0", "2.0", "4.0", "0.15915494")
_INLINE = range(-16, 65)
_CONSTANT_INSIDE = ("s_movk", "s_addk", "s_cmpk", "s_mulk", "s_cmovk", "s_setreg", "s_getreg")
_NO_OPERANDS = (
    *("s_waitcnt", "s_nop", "s_sleep", "s_branch", "s_cbranch", "s_endpgm", "s_barrier"),
    *("s_setprio", "s_sendmsg", "s_trap", "s_sethalt", "s_code_end"),
)
_SCALAR_MEMORY = ("s_load", "s_store", "s_buffer", "s_dcache", "s_memtime", "s_memrealtime")
_WITH_CONSTANT = ("v_madak", "v_madmk", "v_fmaak", "v_fmamk")
_SHORT_WITHOUT_NAME = ("v_readfirstlane_b32", "v_nop", "v_swap_b32", "v_accvgpr_mov_b32")
"""Short vector instructions that have one encoding only, which their names do not tell."""


def instruction_bytes(instruction: AsmInstruction) -> int:
    """The length of one instruction: 4 or 8 bytes."""
    name = instruction.mnemonic
    if name.startswith("s_"):
        if name.startswith(_SCALAR_MEMORY):
            return _TWO_WORDS
        if name.startswith((*_CONSTANT_INSIDE, *_NO_OPERANDS)):
            return _WORD
        return _with_constant(instruction)
    if name.startswith(_WITH_CONSTANT):
        return _TWO_WORDS
    if name.endswith("_e32") or name in _SHORT_WITHOUT_NAME:
        return _with_constant(instruction)
    return _TWO_WORDS


def _with_constant(instruction: AsmInstruction) -> int:
    has_constant = any(_is_literal(text) for text in instruction.operands)
    return _TWO_WORDS if has_constant else _WORD


def _is_literal(text: str) -> bool:
    """Whether an operand is a constant, or an address, that needs a word of its own."""
    if _REGISTER.match(text):
        return False
    if text.lstrip("-") in _INLINE_FLOATS:
        return False
    try:
        return int(text, 0) not in _INLINE
    except ValueError:
        return True
