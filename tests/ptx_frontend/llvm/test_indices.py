"""Indices that differ by constants: one base address, the same elements."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel, Load

shared: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "llvm_kernels.py")))
PARAMETERS = "ptr addrspace(1) %o, ptr addrspace(1) %a"
LOADS = """  %m = add {flags} i32 %n, {constant}
  %w = {extension} i32 %n to i64
  %v = {extension} i32 %m to i64
  %p1 = getelementptr i32, ptr addrspace(1) %a, i64 %w
  %p2 = getelementptr i32, ptr addrspace(1) %a, i64 %v
  %x = load i32, ptr addrspace(1) %p1
  %y = load i32, ptr addrspace(1) %p2
  %s = sub i32 %y, %x
  store i32 %s, ptr addrspace(1) %p
  ret void"""


def kernel(extension: str, flags: str, constant: int = 3) -> Kernel:
    body = LOADS.format(extension=extension, flags=flags, constant=constant)
    made: Kernel = shared.with_index(body, PARAMETERS)
    return made


def bases(found: Kernel) -> list[object]:
    loads = [x for x in found.instructions if isinstance(x, Load) and x.mnemonic[:4] == "load"]
    return [load.address.base for load in loads]


@pytest.mark.parametrize(
    ("extension", "flags", "is_shared"),
    [("sext", "nsw", True), ("zext", "nuw", True), ("sext", "nuw", False), ("zext", "", False)],
)
def test_neighbours_share_a_base_where_the_sum_cannot_wrap(
    extension: str, flags: str, is_shared: bool
) -> None:
    found = kernel(extension, flags)
    first, second = bases(found)
    assert (first == second) is is_shared
    values = np.arange(40, dtype=np.int32) ** 2
    assert np.array_equal(shared.results(found, values), (values[3:] - values[:-3])[:32])


def test_constants_may_be_negative() -> None:
    """The index is the thread's number: the first ones are guarded by adding them up again."""
    body = LOADS.format(extension="sext", flags="nsw", constant=-1).replace(
        "i32 %n, -1", "i32 %k, -1"
    )
    body = "  %k = add nsw i32 %n, 1\n" + body.replace("sext i32 %n", "sext i32 %k")
    values = np.arange(40, dtype=np.int32) ** 2
    found = shared.results(shared.with_index(body, PARAMETERS), values)
    assert np.array_equal(found, (values[:-1] - values[1:])[:32])


def test_a_sum_that_only_addresses_need_counts_nothing_natively() -> None:
    rows = [row for row in instruction_rows(kernel("sext", "nsw")) if row.is_counted_natively]
    names = [row.mnemonic for row in rows]
    assert names.count("sext") == 1
    assert names.count("getelementptr") == 2  # that of the loads, and that of the store
    assert not any(row.mnemonic == "add.s64" for row in rows)
