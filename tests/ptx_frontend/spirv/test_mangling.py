"""The names of built-in functions are those that C++ compilers write."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend.llvm.builtins.mangling import demangled
from kernelcast.ptx_frontend.spirv.functions.mangling import MangledParameter, mangled, type_name
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    BoolType,
    FloatType,
    IntType,
    OpaqueType,
    PointerType,
    SpirvType,
    VectorType,
)

I32, I64 = IntType("i32", bits=32), IntType("i64", bits=64)
F32 = FloatType("float", bits=32)
FLOAT4 = VectorType("<4 x float>", element=F32, count=4)
INT4 = VectorType("<4 x i32>", element=I32, count=4)
EVENT = OpaqueType("ptr", name="ocl_event")


def plain(type_: SpirvType, is_signed: bool = True) -> MangledParameter:
    return MangledParameter(type_, is_signed)


def to(
    pointee: SpirvType, space: int = 1, qualifiers: str = "", is_signed: bool = True
) -> MangledParameter:
    pointer = PointerType("ptr", space=space, storage=5, pointee=0)
    return MangledParameter(pointer, is_signed, pointee, qualifiers)


NAMES = {
    "_Z12get_work_dimv": ("get_work_dim", []),
    "_Z13get_global_idj": ("get_global_id", [plain(I32, False)]),
    "_Z3fmaDv4_fS_S_": ("fma", [plain(FLOAT4)] * 3),
    "_Z5clampfff": ("clamp", [plain(F32)] * 3),
    "_Z10atomic_addPU3AS1Vii": ("atomic_add", [to(I32, qualifiers="V"), plain(I32)]),
    "_Z6vload4mPU3AS1Kf": ("vload4", [plain(I64, False), to(F32, qualifiers="K")]),
    "_Z7vstore4Dv4_fmPU3AS1f": ("vstore4", [plain(FLOAT4), plain(I64, False), to(F32)]),
    "_Z5fractDv4_fPU3AS1S_": ("fract", [plain(FLOAT4), to(FLOAT4)]),
    "_Z5fractDv4_fPS_": ("fract", [plain(FLOAT4), to(FLOAT4, space=0)]),
    "_Z6selectDv4_fS_Dv4_i": ("select", [plain(FLOAT4), plain(FLOAT4), plain(INT4)]),
    "_Z1fPU3AS1fS0_S0_": ("f", [to(F32), to(F32), to(F32)]),
    "_Z17wait_group_eventsiP9ocl_event": ("wait_group_events", [plain(I32), to(EVENT, space=0)]),
    "_Z21async_work_group_copyPU3AS3Dv4_fPU3AS1KS_m9ocl_event": (
        "async_work_group_copy",
        [to(FLOAT4, space=3), to(FLOAT4, qualifiers="K"), plain(I64, False), plain(EVENT)],
    ),
}


@pytest.mark.parametrize("symbol", NAMES)
def test_symbols(symbol: str) -> None:
    name, parameters = NAMES[symbol]
    assert mangled(name, parameters) == symbol
    read_back = demangled(symbol)
    assert read_back is not None
    assert (read_back.name, len(read_back.parameters)) == (name, len(parameters))


def test_more_than_36_types_are_numbered_in_base_36() -> None:
    structs = [plain(OpaqueType("ptr", name=f"t{number}")) for number in range(40)]
    symbol = mangled("f", [*structs, structs[0], structs[1], structs[36], structs[37]])
    assert symbol.endswith("S_S0_SZ_S10_")


def test_names_of_types() -> None:
    assert type_name(INT4, is_signed=False) == "uint4"
    assert type_name(FLOAT4, is_signed=False) == "float4"
    with pytest.raises(SpirvProblem):
        type_name(BoolType("i1"), is_signed=True)
