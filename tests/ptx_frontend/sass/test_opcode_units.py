"""Which unit executes what the front end lowers, as traces of other tools count it."""

from __future__ import annotations

from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.sass.lowering.families import SASS_OPCODES
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.traces.sass_opcodes import sass_instruction
from tests.ptx_frontend.sass.native_programs import machine_kernel

_BY_FORM = ("BMMA", "DMMA", "HMMA", "IMMA", "OMMA", "QMMA")
"""Products, whose work their shape says."""
_OF_HOPPER = (
    *(
        "ACQBULK",
        "PREEXIT",
        "USETSHMSZ",
        "SYNCS",
        "ARRIVES",
        "STAS",
        "REDAS",
        "UCGABAR_ARV",
        "UCGABAR_WAIT",
    ),
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


_PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<3>;
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 16; add.s64 %d1, %d1, %d2;
ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4];
setp.lt.u32 %p1, %r1, %r2; add.u32 %r6, %r1, 7; selp.b32 %r3, %r6, %r2, %p1;
prmt.b32 %r4, %r3, %r2, %r1; shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;
st.global.u32 [%d1+8], %r5; vote.sync.ballot.b32 %r7, %p1, -1; popc.b32 %r7, %r7;
st.global.u32 [%d1+12], %r7; ret; }
"""
_TWINS = {
    "SEL": "selp",
    "PRMT": "prmt",
    "SHFL": "shfl",
    "VOTE": "vote",
    "VOTEU": "vote",
    "ISETP": "setp",
    "POPC": "popc",
    "IADD3": "add",
    "LDG": "ld",
    "STG": "st",
}
"""What does the same in PTX, by opcode of SASS."""


def test_opcodes_are_executed_by_the_unit_of_what_they_do() -> None:
    source = instruction_rows(read_ptx(_PTX, "k.ptx").kernels["k"])
    units = {row.mnemonic.split(".")[0]: row.unit for row in source}
    for architecture in ("sm_80", "sm_90"):
        rows = instruction_rows(machine_kernel(_PTX, architecture))
        found = {row.mnemonic.split(".")[0]: row.unit for row in rows if not row.is_part}
        found = {name: unit for name, unit in found.items() if name in _TWINS}
        assert {"SEL", "PRMT", "SHFL", "POPC"} < set(found)
        assert {"VOTE", "VOTEU"} & set(found)
        assert found == {name: units[_TWINS[name]] for name in found}


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
