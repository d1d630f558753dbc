"""One hash for equal values, another for others, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.isa.matrix.exchanges import Exchange, ExchangeKind, exchange_opcode
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.store.digests import NotDigestible, digest
from kernelcast.store.launches import inputs_digest
from kernelcast.workload.buffer_contents import Contents, Generator

EXAMPLES = Path(__file__).parents[3] / "examples"
_PROGRAM = f"""
import kernelcast as kc
from kernelcast.store.code_version import code_version
from kernelcast.store.digests import digest
from kernelcast.store.launches import inputs_digest
workload = kc.load_workload({str(EXAMPLES / "sgemm/sgemm16.toml")!r})
print(inputs_digest(workload.make_launch("small", lazy=True), ()))
kernel = kc.load({str(EXAMPLES / "sgemm/sgemm.ptx")!r})["sgemm_16x16"].kernel
print(digest(kernel, kc.device("a100-40gb"), frozenset("abcdef")), code_version())
"""


def test_every_process_finds_the_same_hash() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_values_that_print_alike_are_told_apart() -> None:
    values = [
        *(1, 1.0, "1", b"1", True, None, (1,), [1], ("1",), {"1": 1}, {1: "1"}, np.int32(1)),
        *(np.int64(1), np.array([1]), np.array([[1]]), frozenset({1}), (1, ()), ((1,), ())),
        *(("ab", "c"), ("a", "bc"), 0.0, -0.0, Generator.ONES, "ones"),
    ]
    assert len({digest(value) for value in values}) == len(values)


def test_every_fact_of_a_device_counts_and_equal_devices_are_one() -> None:
    device = kc.device("a100-40gb")
    assert digest(device) == digest(replace(device))
    changed = device.changed({"l2.ways": 8})
    assert digest(changed) != digest(device)


def test_functions_are_no_values() -> None:
    with pytest.raises(NotDigestible):
        digest(print)
    with pytest.raises(NotDigestible):
        digest(LazyBuffer((4,), np.float32, lambda _chunk, count: np.ones(count)))


def test_opcodes_that_do_not_tell_what_they_are_made_from_are_no_values() -> None:
    @dataclass(frozen=True, slots=True)
    class Unnamed(WarpOpcode):
        extra: int = 0

    one, two = (Exchange(ExchangeKind.ROWS_TO_FRAGMENTS, count, False) for count in (1, 2))
    known = exchange_opcode(one)
    assert digest(known) != digest(exchange_opcode(two))
    values = (getattr(known, item.name) for item in fields(WarpOpcode))
    with pytest.raises(NotDigestible):
        digest(Unnamed(*values))


def test_buffers_count_by_what_fills_them_until_they_are_made() -> None:
    def buffer(seed: int = 0, size: int = 8) -> LazyBuffer:
        return Contents(Generator.UNIFORM, seed=seed).lazy_buffer((size,), np.dtype(np.float32))

    assert digest(buffer()) == digest(buffer())
    assert len({digest(buffer()), digest(buffer(1)), digest(buffer(0, 9))}) == 3
    made = buffer()
    made.materialise()[0] = 7
    other = buffer()
    other.materialise()
    assert digest(made) != digest(other)


def inputs(*arguments: Argument) -> str | None:
    return inputs_digest(Launch((1, 1, 1), (32, 1, 1), arguments), ())


def test_a_buffer_that_is_given_twice_is_another_launch_than_two_equal_ones() -> None:
    one, two = np.zeros(8), np.zeros(8)
    assert inputs(one, two) == inputs(two, one)
    assert inputs(one, one) != inputs(one, two)
    assert inputs(1, 1) == inputs(1, 1)


def test_arrays_that_overlap_are_not_told() -> None:
    whole = np.zeros(8)
    assert inputs(whole, whole[4:]) is None
    assert inputs(whole[:4].copy(), whole[4:]) is not None


def test_an_array_and_a_tensor_map_of_it_are_another_launch_than_two_arrays() -> None:
    one, two = np.zeros((2, 64, 64), np.float32)
    one, two = one.copy(), two.copy()
    maps = [kc.TensorMap(array, (32, 8)) for array in (one, one.copy())]
    assert inputs(maps[0], one) != inputs(maps[1], one)
    assert inputs(maps[0], two) == inputs(maps[1], one)
    assert inputs(kc.TensorMap(one, (16, 8)), two) != inputs(maps[0], two)
    assert inputs(kc.TensorMap(one[8:], (32, 8)), one) is None
