"""The accesses of address kernels as traces: every address of every lane, once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from access_stream import access_batches, instruction_rows

from kernelcast.errors import KernelcastError
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field, LoopVariable


def kernel(folding: tuple[int, int, int] = (1, 1, 1)) -> AddressKernel:
    loads = [("a", "x + 40*y"), ("a", "x + 40*(y + 1)")]
    fields = [Field("a", 8), Field("b", 8)]
    return AddressKernel(fields, loads, [("b", "40*x + y")], (32, 16), (8, 4), folding)


def lanes(found: AddressKernel, warp_width: int) -> list[tuple[int, int, int]]:
    """(warp, pc, bytes behind the start of its field) of each active lane."""
    rows = []
    total = int(np.prod(found.grid))
    for batch in access_batches(found, warp_width, 0, total, at_once=3):
        table = batch.accesses
        for warp, pc, address, pattern in zip(
            table.warp, table.pc, table.address, table.pattern, strict=True
        ):
            mask = int(batch.patterns.mask[pattern])
            offsets = batch.patterns.offsets[pattern]
            rows += [
                (int(warp), int(pc), int(address + offsets[lane]) & ((1 << 40) - 1))
                for lane in range(warp_width)
                if mask >> lane & 1
            ]
    return rows


@pytest.mark.parametrize("warp_width", [8, 32])
def test_every_address_of_every_thread(warp_width: int) -> None:
    found = kernel()
    expected = []
    warps = -(-32 // warp_width)
    for by, bx, ty, tx in itertools.product(range(4), range(4), range(4), range(8)):
        warp = (bx + 4 * by) * warps + (tx + 8 * ty) // warp_width
        x, y = 8 * bx + tx, 4 * by + ty
        expected += [
            (warp, 0, 8 * (x + 40 * y)),
            (warp, 1, 8 * (x + 40 * (y + 1))),
            (warp, 2, 8 * (40 * x + y)),
        ]
    assert sorted(lanes(found, warp_width)) == sorted(expected)


def test_loads_come_first_and_shared_values_once() -> None:
    rows = instruction_rows(kernel((1, 2, 1)))
    assert [row.kind for row in rows] == ["load"] * 3 + ["store"] * 2
    assert {row.access_bytes for row in rows} == {8}
    assert len(instruction_rows(kernel())) == 3


def test_domains_that_are_not_tiled_are_refused() -> None:
    with pytest.raises(KernelcastError, match="not tiled by thread blocks"):
        list(access_batches(kernel().with_domain(30, 16), 32, 0, 1))


def test_loops_are_refused() -> None:
    loop = LoopVariable("k", 4)
    load = Access("a", address_expression("8*k + 8*x"), 8, ("k",))
    looping = AddressKernel([Field("a", 8)], [load], [], (32,), (32,), loops=[loop])
    with pytest.raises(KernelcastError, match="has loops"):
        instruction_rows(looping)
