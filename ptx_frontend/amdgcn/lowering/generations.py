"""What the generations of AMD's machine code call by other names, and how their wavefronts begin.

The names of the tables are those of GCN 5 and CDNA. GCN 3 has sums that always carry (GCN3 ISA,
12.9); RDNA calls those without a carry `nc` and those of a carry `ci` (RDNA 2 ISA, 12.6 and 12.7);
RDNA 3 counts bits where others count words (RDNA 3 ISA, chapters 10 to 12 and 16). RDNA 4 names
scalar sums by their carry, too (LLVM's description of GFX12).
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["has_ids_apart", "has_own_group_registers", "is_rdna", "plain_name"]

_GCN3 = "gfx803"
_OF_GCN3 = {
    "v_add_u32": "v_add_co_u32",
    "v_sub_u32": "v_sub_co_u32",
    "v_subrev_u32": "v_subrev_co_u32",
    "v_addc_u32": "v_addc_co_u32",
    "v_subb_u32": "v_subb_co_u32",
    "v_subbrev_u32": "v_subbrev_co_u32",
}
_IDS_APART = ("gfx803", "gfx908", "gfx10")
"""How architectures begin that have a register for the work-item's number on each axis."""
_SUMS_OF_RDNA = {
    **{
        f"v_{name}_nc_{kind}": f"v_{name}_{kind}"
        for name in ("add", "sub")
        for kind in ("u32", "u16", "i16", "i32")
    },
    "v_subrev_nc_u32": "v_subrev_u32",
    "v_subrev_nc_u16": "v_subrev_u16",
    "v_add_co_ci_u32": "v_addc_co_u32",
    "v_sub_co_ci_u32": "v_subb_co_u32",
    "v_subrev_co_ci_u32": "v_subbrev_co_u32",
}
_BITS = {"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4"}
_LOADED = {**_BITS, "u8": "ubyte", "i8": "sbyte", "u16": "ushort", "i16": "sshort"}
_STORED = {**_BITS, "b8": "byte", "b16": "short"}
_HALVES = {
    "load_d16_b16": "load_short_d16",
    "load_d16_hi_b16": "load_short_d16_hi",
    "store_d16_hi_b16": "store_short_d16_hi",
    "store_d16_hi_b8": "store_byte_d16_hi",
    **{
        f"load_d16{half}_{name}": f"load_{kind}_d16{half}"
        for half in ("", "_hi")
        for name, kind in (("u8", "ubyte"), ("i8", "sbyte"))
    },
}
_MEMORY = ("global", "flat", "scratch", "buffer")
_SCALARS = {"b32": "", "b64": "x2", "b96": "x3", "b128": "x4", "b256": "x8", "b512": "x16"}
_ATOMIC_TYPES = {"u": "u", "i": "s"}
_ATOMICS = {
    **{f"{name}_{kind}": name for name in ("add", "sub", "inc", "dec") for kind in ("u32",)},
    **{
        f"{name}_{kind}32": f"{prefix}{name}"
        for name in ("min", "max")
        for kind, prefix in _ATOMIC_TYPES.items()
    },
    **{f"{name}_b32": name for name in ("and", "or", "xor", "swap", "cmpswap")},
    "add_u64": "add_x2",
    "sub_u64": "sub_x2",
    **{
        f"{name}_{kind}64": f"{prefix}{name}_x2"
        for name in ("min", "max")
        for kind, prefix in _ATOMIC_TYPES.items()
    },
    **{f"{name}_b64": f"{name}_x2" for name in ("and", "or", "xor", "swap", "cmpswap")},
}
_LOCAL = {
    "ds_load_": "ds_read_",
    "ds_store_": "ds_write_",
    "ds_load_2addr_": "ds_read2_",
    "ds_store_2addr_": "ds_write2_",
    "ds_load_2addr_stride64_": "ds_read2st64_",
    "ds_store_2addr_stride64_": "ds_write2st64_",
}
_LOCAL_TYPES = (
    *("b32", "b64", "b96", "b128", "u8", "i8", "u16", "i16", "b8", "b16"),
    *(f"{kind}_d16{half}" for kind in ("u8", "i8", "u16") for half in ("", "_hi")),
    *("b8_d16_hi", "b16_d16_hi"),
)
_OF_RDNA3 = {
    **{
        f"s_{name}_not1_{rest}": f"s_{name}n2_{rest}"
        for name in ("and", "or")
        for rest in ("b32", "b64", "saveexec_b32", "saveexec_b64")
    },
    **{
        f"s_{name}_not0_saveexec_b{bits}": f"s_{name}n1_saveexec_b{bits}"
        for name in ("and", "or")
        for bits in (32, 64)
    },
    **{f"s_ctz_i32_b{bits}": f"s_ff1_i32_b{bits}" for bits in (32, 64)},
    "s_clz_i32_u32": "s_flbit_i32_b32",
    "s_clz_i32_u64": "s_flbit_i32_b64",
    "v_clz_i32_u32": "v_ffbh_u32",
    "v_ctz_i32_b32": "v_ffbl_b32",
    "v_cls_i32": "v_ffbh_i32",
    **{
        f"{kind}_load_{name}": f"{kind}_load_{word}"
        for kind in _MEMORY
        for name, word in _LOADED.items()
    },
    **{
        f"{kind}_store_{name}": f"{kind}_store_{word}"
        for kind in _MEMORY
        for name, word in _STORED.items()
    },
    **{f"{kind}_{name}": f"{kind}_{word}" for kind in _MEMORY for name, word in _HALVES.items()},
    **{f"s_load_{name}": f"s_load_dword{count}" for name, count in _SCALARS.items()},
    **{
        f"{kind}_atomic_{name}": f"{kind}_atomic_{word}"
        for kind in ("global", "flat")
        for name, word in _ATOMICS.items()
    },
    **{f"{new}{kind}": f"{old}{kind}" for new, old in _LOCAL.items() for kind in _LOCAL_TYPES},
}
_OF_RDNA4 = {
    **{f"v_mad_co_{kind}": f"v_mad_{kind}" for kind in ("u64_u32", "i64_i32")},
    **{
        f"s_{name}_co_{kind}": f"s_{name}_{kind}"
        for name in ("add", "sub")
        for kind in ("u32", "i32")
    },
    "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32",
}
_NUMBERS = "_num_f"
"""How RDNA 4 tells extrema that ignore what is no number from those that do not."""
_DUAL = "v_dual_"
"""How halves of two instructions in one are called."""
_RDNA: Mapping[str, str] = {**_SUMS_OF_RDNA, **_OF_RDNA3, **_OF_RDNA4}


def is_rdna(architecture: str) -> bool:
    """Whether an architecture, `gfx1030`, is of RDNA: those have four digits."""
    return architecture.startswith("gfx1") and len(architecture) > len(_GCN3)


def plain_name(opcode: str, architecture: str) -> str:
    """What the tables call an instruction of an architecture."""
    if architecture == _GCN3:
        return _OF_GCN3.get(opcode, opcode)
    if not is_rdna(architecture):
        return opcode
    alone = opcode.replace(_DUAL, "v_").replace(_NUMBERS, "_f")
    return _RDNA.get(alone, alone)


def has_ids_apart(architecture: str) -> bool:
    """Whether the numbers of a work-item are in a register for each axis, not all in one."""
    return architecture.startswith(_IDS_APART)


def has_own_group_registers(architecture: str) -> bool:
    """Whether the numbers of the work-group are in `ttmp9` and `ttmp7`, from RDNA 4 on."""
    return architecture.startswith("gfx12")
