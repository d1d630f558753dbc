"""Mangled names of built-in functions, as clang and the SPIR 1.2 compilers write them."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend.llvm.builtins.mangling import MangledName, ParameterType, demangled
from kernelcast.simcore.isa.types import ScalarType

FLOAT4 = ParameterType(ScalarType.F32, 4)
FLOAT = ParameterType(ScalarType.F32)
INT = ParameterType(ScalarType.S32)
ULONG = ParameterType(ScalarType.U64)


def _pointer(pointee: ParameterType, space: int = 0) -> ParameterType:
    """A type with an address space knows it; so does the pointer to it."""
    inner = ParameterType(pointee.element, pointee.count, pointee.pointee, space, pointee.name)
    return ParameterType(pointee=inner, space=space)


NAMES: dict[str, tuple[str, tuple[ParameterType, ...]]] = {
    "_Z13get_global_idj": ("get_global_id", (ParameterType(ScalarType.U32),)),
    "_Z12get_work_dimv": ("get_work_dim", ()),
    "_Z3fmaDv4_fS_S_": ("fma", (FLOAT4, FLOAT4, FLOAT4)),
    "_Z5clampfff": ("clamp", (FLOAT, FLOAT, FLOAT)),
    "_Z10atomic_addPU3AS1Vii": ("atomic_add", (_pointer(INT, 1), INT)),
    "_Z10atomic_addPVU3AS3ii": ("atomic_add", (_pointer(INT, 3), INT)),
    "_Z15convert_int_rtef": ("convert_int_rte", (FLOAT,)),
    "_Z6vload4mPU3AS1Kf": ("vload4", (ULONG, _pointer(FLOAT, 1))),
    "_Z6vload4mPKU3AS1f": ("vload4", (ULONG, _pointer(FLOAT, 1))),
    "_Z7vstore4Dv4_fmPU3AS1f": ("vstore4", (FLOAT4, ULONG, _pointer(FLOAT, 1))),
    # S_ is the vector, S0_ would be the vector in its address space, S1_ the pointer
    "_Z5fractDv4_fPU3AS1S_": ("fract", (FLOAT4, _pointer(FLOAT4, 1))),
    "_Z1fPfS_S_": ("f", (_pointer(FLOAT), _pointer(FLOAT), _pointer(FLOAT))),
    "_Z6selectDv8_hS_S_": ("select", (ParameterType(ScalarType.U8, 8),) * 3),
    "_Z3sinDh": ("sin", (ParameterType(ScalarType.F16),)),
    "_Z3sinDv2_d": ("sin", (ParameterType(ScalarType.F64, 2),)),
    "_Z17wait_group_eventsiP9ocl_event": (
        "wait_group_events",
        (INT, _pointer(ParameterType(name="ocl_event"))),
    ),
    # the length of the space's name tells where it ends
    "_Z17wait_group_eventsiPU3AS49ocl_event": (
        "wait_group_events",
        (INT, _pointer(ParameterType(name="ocl_event"), 4)),
    ),
    "_Z1fx9ocl_eventyS_": (
        "f",
        (
            ParameterType(ScalarType.S64),
            ParameterType(name="ocl_event"),
            ULONG,
            ParameterType(name="ocl_event"),
        ),
    ),
}


@pytest.mark.parametrize("symbol", NAMES)
def test_names_and_parameters(symbol: str) -> None:
    assert demangled(symbol) == MangledName(*NAMES[symbol])


def test_atomic_types_are_those_they_qualify() -> None:
    symbol = "_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope"
    found = demangled(symbol)
    assert found is not None
    assert found.name == "atomic_fetch_add_explicit"
    assert found.parameters[0] == _pointer(INT, 4)
    assert [p.name for p in found.parameters[2:]] == ["memory_order", "memory_scope"]


def test_substitutions_count_in_base_36() -> None:
    """Twelve pointers of different depth: the eleventh compound type is S9_, the next one SA_."""
    symbol = "_Z1f" + "P" * 12 + "i" + "S_" + "S9_" + "SA_"
    found = demangled(symbol)
    assert found is not None
    depth = []
    for parameter in found.parameters:
        inner, levels = parameter, 0
        while inner.pointee is not None:
            inner, levels = inner.pointee, levels + 1
        depth.append(levels)
    assert depth == [12, 1, 11, 12]


@pytest.mark.parametrize(
    "symbol",
    [
        "get_global_id",
        "",
        "_Z",
        "_Zsin",
        "_Z3sinS_",
        "_Z3sinDv4_",
        "_Z3sinP",
        "_Z3sin?",
        "_Z3sin99event",
        "_Z3sinS9_",
    ],
)
def test_what_is_no_such_name(symbol: str) -> None:
    assert demangled(symbol) is None
