"""Generic pointers, and atomic functions of OpenCL 2.0 through them."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.ptx_frontend.llvm.builtins.mangling import demangled

kernels: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "llvm_kernels.py")))
EXCHANGE = (
    "_Z37atomic_compare_exchange_weak_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_"
    "12memory_scope"
)
FLOATS = {"Dh": ("half", np.float16), "f": ("float", np.float32), "d": ("double", np.float64)}


def test_where_a_generic_pointer_points() -> None:
    """1 for global, 2 for local, 4 for private memory; 8 times the flags of the fence."""
    kernel = kernels.with_index(
        """  %mine = alloca i32
  %kind = urem i32 %n, 3
  %g1 = addrspacecast ptr addrspace(1) %o to ptr addrspace(4)
  %second = getelementptr i32, ptr addrspace(3) @shared, i32 1
  %g2 = addrspacecast ptr addrspace(3) %second to ptr addrspace(4)
  %g3 = addrspacecast ptr %mine to ptr addrspace(4)
  %is1 = icmp eq i32 %kind, 0
  %is2 = icmp eq i32 %kind, 1
  %q1 = select i1 %is2, ptr addrspace(4) %g2, ptr addrspace(4) %g3
  %q = select i1 %is1, ptr addrspace(4) %g1, ptr addrspace(4) %q1
  %a = call spir_func ptr addrspace(1) @__to_global(ptr addrspace(4) %q)
  %b = call spir_func ptr addrspace(3) @__to_local(ptr addrspace(4) %q)
  %c = call spir_func ptr @__to_private(ptr addrspace(4) %q)
  %f = call spir_func i32 @_Z9get_fencePU3AS4v(ptr addrspace(4) %q)
  %a1 = icmp ne ptr addrspace(1) %a, null
  %b1 = icmp ne ptr addrspace(3) %b, null
  %c1 = icmp ne ptr %c, null
  %a2 = select i1 %a1, i32 1, i32 0
  %b2 = select i1 %b1, i32 2, i32 0
  %c2 = select i1 %c1, i32 4, i32 0
  %s = add i32 %a2, %b2
  %s2 = add i32 %s, %c2
  %f2 = mul i32 %f, 8
  %r = add i32 %s2, %f2
  store i32 %r, ptr addrspace(1) %p
  ret void""",
        before="""@shared = internal addrspace(3) global [2 x i32] undef
declare spir_func ptr addrspace(1) @__to_global(ptr addrspace(4))
declare spir_func ptr addrspace(3) @__to_local(ptr addrspace(4))
declare spir_func ptr @__to_private(ptr addrspace(4))
declare spir_func i32 @_Z9get_fencePU3AS4v(ptr addrspace(4))""",
    )
    wanted = np.resize([1 + 8 * 2, 2 + 8 * 1, 4 + 8 * 2], 32)
    assert np.array_equal(kernels.results(kernel), wanted)


def test_names_with_atomic_types() -> None:
    found = demangled(EXCHANGE)
    assert found is not None
    assert [x.name for x in found.parameters[3:]] == ["memory_order"] * 2 + ["memory_scope"]
    assert found.parameters[0].pointee == found.parameters[1].pointee


def test_exchange_where_equal() -> None:
    """The first work-item finds 0; what the others find goes to their expectation."""
    kernel = kernels.with_index(
        f"""  %mine = alloca i32
  store i32 0, ptr %mine
  %e = addrspacecast ptr %mine to ptr addrspace(4)
  %g = addrspacecast ptr addrspace(1) %a to ptr addrspace(4)
  %done = call spir_func i1 @{EXCHANGE}(ptr addrspace(4) %g, ptr addrspace(4) %e, i32 7, i32 5,
    i32 0, i32 2)
  %d = zext i1 %done to i32
  %found = load i32, ptr %mine
  %r = add i32 %d, %found
  store i32 %r, ptr addrspace(1) %p
  ret void""",
        "ptr addrspace(1) %o, ptr addrspace(1) %a",
        f"declare spir_func i1 @{EXCHANGE}(ptr addrspace(4), ptr addrspace(4), i32, i32, i32, i32)",
    )
    found = kernels.results(kernel, np.zeros(1, np.int32))
    assert np.array_equal(found, [1, *[7] * 31])


@pytest.mark.parametrize("letter", FLOATS)
def test_atomics_of_floats(letter: str) -> None:
    kind, dtype = FLOATS[letter]
    lines, declared = [], []
    for number, name in enumerate(("add", "min", "max", "sub")):
        function = f"atomic_fetch_{name}_explicit"
        symbol = f"_Z{len(function)}{function}PU3AS4VU7_Atomic{letter}{letter}12memory_order"
        declared.append(f"declare spir_func {kind} @{symbol}(ptr addrspace(4), {kind}, i32)")
        lines.append(
            f"  %c{number} = getelementptr {kind}, ptr addrspace(4) %g, i64 {number}\n"
            f"  %r{number} = call spir_func {kind} @{symbol}(ptr addrspace(4) %c{number}, "
            f"{kind} %v, i32 0)"
        )
    kernel = kernels.with_index(
        "  %h = sub i32 %n, 9\n"
        f"  %v = sitofp i32 %h to {kind}\n"
        "  %g = addrspacecast ptr addrspace(1) %a to ptr addrspace(4)\n"
        + "\n".join(lines)
        + "\n  ret void",
        "ptr addrspace(1) %o, ptr addrspace(1) %a",
        "\n".join(declared),
    )
    total = sum(range(-9, 23))
    for engine in kernels.ENGINES:
        cells = np.zeros(4, dtype)
        launch = kernels.Launch((1, 1, 1), (32, 1, 1), (np.zeros(32, np.int32), cells))
        kernels.execute(kernel, launch, engine=engine)
        assert cells.tolist() == [total, -9, 22, -total]
