"""Which unit executes what the front end lowers, as traces of other tools count it."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.families import SASS_OPCODES
from kernelcast.traces.sass_opcodes import sass_instruction

_BY_FORM = ("BMMA", "DMMA", "HMMA", "IMMA", "OMMA", "QMMA")
"""Products, whose work their shape says."""
_OF_HOPPER = (
    *("ACQBULK", "PREEXIT", "SYNCS", "ARRIVES", "STAS", "REDAS", "UCGABAR_ARV", "UCGABAR_WAIT"),
    *("UBLKCP", "UBLKPF", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF", "UTMACCTL"),
    *("UTMACMDFLUSH", "UGETNEXTWORKID", "USETMAXREG", "WARPGROUPSET", "UMEMSETS", "USETSHMSZ"),
    *("LDGMC", "BGMMA", "HGMMA", "IGMMA", "QGMMA"),
)
"""What Accel-Sim's tracer has not met: the representation says what it is."""
_OF_TEXTURES = ("TEX", "TLD", "TLD4", "TXD", "TXQ", "SULD", "SUST", "SURED")
"""Accesses to images, as the representation has them."""
_OF_TENSOR_MEMORY = (
    *("UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA", "UTCBAR", "UTCCP", "UTCSHIFT", "UTCATOMSWS"),
    *("LDTM", "STTM", "UVIRTCOUNT"),
)
"""What only Blackwell has."""


def test_units_of_all_opcodes_are_known() -> None:
    unknown = {name for name in SASS_OPCODES if sass_instruction(name) is None}
    assert unknown <= {*_BY_FORM, *_OF_HOPPER, *_OF_TENSOR_MEMORY, *_OF_TEXTURES}


def test_units_of_what_many_kernels_have() -> None:
    found = {name: sass_instruction(name) for name in ("IMAD", "FFMA", "MUFU", "SEL", "LDS", "BRA")}
    units = {name: item.unit for name, item in found.items() if item is not None}
    assert units == {
        "IMAD": "integer",
        "FFMA": "fp32",
        "MUFU": "special function",
        "SEL": "move",
        "LDS": "load/store",
        "BRA": "control",
    }
