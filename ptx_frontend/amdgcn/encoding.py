"""How many bytes an instruction of AMD's code takes.

AMD Instinct MI200 Instruction Set Architecture, chapter 13 (microcode formats): scalar and short
vector instructions are a word, to which a constant that no operand field can hold adds another one;
all others are two words. From RDNA on long vector instructions may have such a constant, too (RDNA
2 Instruction Set Architecture, chapter 13), which two that are issued as one share (RDNA 3, 7.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction

__all__ = ["instruction_bytes", "padded"]

_WORD, _TWO_WORDS = 4, 8
_REGISTER = re.compile(
    r"-?\|?(?:(?:[vsa]|ttmp)\d+|[vsa]\[\d+:\d+\]|vcc|exec|m0|scc|off|flat_scratch|xnack_mask|src_|null)"
)
_INLINE_FLOATS = ("0.5", "1.0", "2.0", "4.0", "0.15915494")
_INLINE = range(-16, 65)
_CONSTANT_INSIDE = ("s_movk", "s_addk", "s_cmpk", "s_mulk", "s_cmovk", "s_setreg", "s_getreg")
_NO_OPERANDS = (
    *("s_waitcnt", "s_nop", "s_sleep", "s_branch", "s_cbranch", "s_endpgm", "s_barrier"),
    *("s_setprio", "s_sendmsg", "s_trap", "s_sethalt", "s_code_end"),
    *("s_clause", "s_delay_alu", "s_inst_prefetch", "s_set_inst_prefetch_distance", "s_wait_"),
)
_SCALAR_MEMORY = ("s_load", "s_store", "s_buffer", "s_dcache", "s_memtime", "s_memrealtime")
_VECTOR_MEMORY = ("global_", "flat_", "scratch_", "buffer_")
_LONG_MEMORY = "gfx12"
"""How architectures begin whose vector memory instructions are three words (LLVM's description of
GFX12)."""
_WITH_CONSTANT = ("v_madak", "v_madmk", "v_fmaak", "v_fmamk")
_NOTHING, _OWN_COLUMN = "s_nop 0", 2
_ALWAYS_TWO = ("_sdwa", "_dpp")
_LONG_DPP = "_e64_dpp"
"""Three words: RDNA 3 has DPP of long vector instructions, too (RDNA 3 ISA, 7.4)."""
_SHORT_WITHOUT_NAME = (
    *("v_readfirstlane_b32", "v_nop", "v_swap_b32", "v_accvgpr_mov_b32", "v_permlane64_b32"),
)
"""Short vector instructions that have one encoding only, which their names do not tell."""


def instruction_bytes(instruction: AsmInstruction, architecture: str) -> int:
    """The length of one instruction of an architecture: 4, 8 or 12 bytes."""
    name = instruction.mnemonic
    if name.startswith(_VECTOR_MEMORY) and architecture.startswith(_LONG_MEMORY):
        return _TWO_WORDS + _WORD
    if name.startswith("s_"):
        if name.startswith(_SCALAR_MEMORY):
            return _TWO_WORDS
        if name.startswith((*_CONSTANT_INSIDE, *_NO_OPERANDS)):
            return _WORD
        return _with_constant(instruction)
    if name.startswith(_WITH_CONSTANT):
        return _TWO_WORDS
    if name.endswith(_LONG_DPP):
        return _TWO_WORDS + _WORD
    if name.endswith("_e32") or name in _SHORT_WITHOUT_NAME:
        return _with_constant(instruction)
    if name.startswith("v_") and not name.endswith(_ALWAYS_TWO):
        return _with_constant(instruction) + _WORD
    return _TWO_WORDS


def padded(instructions: Iterable[AsmInstruction], architecture: str) -> Iterator[AsmInstruction]:
    """The instructions with those that an assembler puts before aligned ones: `s_nop 0`."""
    address = 0
    for instruction in instructions:
        missing = -address % instruction.alignment // _WORD
        for number in range(missing):
            span = replace(instruction.span, column=_OWN_COLUMN + 1 + number, text=_NOTHING)
            yield AsmInstruction("s_nop", "s_nop", ("0",), {}, (), span, instruction.origin)
        yield instruction
        address += missing * _WORD + instruction_bytes(instruction, architecture)


def _with_constant(instruction: AsmInstruction) -> int:
    partner = () if instruction.partner is None else instruction.partner.operands
    has_constant = any(_is_literal(text) for text in (*instruction.operands, *partner))
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
