"""Generated arguments of workload files are lazy, and hold the same whatever part is made first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import WorkloadError
from kernelcast.simcore.launch.lazy_buffer import ELEMENTS_PER_CHUNK, LazyBuffer
from kernelcast.workload.arguments import ArgumentSpec, read_argument
from kernelcast.workload.toml_table import TomlTable

SIZES = {"n": ELEMENTS_PER_CHUNK + 1000}


def spec(folder: Path, **entries: Any) -> ArgumentSpec:
    return read_argument(TomlTable("w.toml", "args[u]", {"name": "u", **entries}), folder)


@pytest.mark.parametrize("init", ["zeros", "ones", "arange", "uniform", "normal"])
@pytest.mark.parametrize("element", ["u8", "s32", "f32", "f64"])
def test_parts_are_those_of_the_whole(tmp_path: Path, init: str, element: str) -> None:
    argument = spec(tmp_path, type=f"{element}[n]", init=init, seed=5)
    buffer, whole = argument.make(SIZES), argument.make_whole(SIZES)
    assert isinstance(buffer, LazyBuffer)
    assert isinstance(whole, np.ndarray)
    assert buffer.dtype == whole.dtype
    first = ELEMENTS_PER_CHUNK - 500
    assert (buffer.elements(first, SIZES["n"]) == whole[first:]).all()
    assert not buffer.is_materialised


def test_generators_go_on_behind_the_first_chunk(tmp_path: Path) -> None:
    ramp = spec(tmp_path, type="u32[n]", init="arange").make_whole(SIZES)
    assert (np.asarray(ramp) == np.arange(SIZES["n"])).all()
    noise = np.asarray(spec(tmp_path, type="f32[n]", init="uniform").make_whole(SIZES))
    assert (noise[:1000] != noise[ELEMENTS_PER_CHUNK:]).any()
    assert noise[ELEMENTS_PER_CHUNK:].mean() == pytest.approx(0.5, abs=0.1)


def test_one_chunk_is_the_sequence_of_the_seed(tmp_path: Path) -> None:
    found = spec(tmp_path, type="f64[10, 20]", init="uniform", seed=7).make_whole({})
    assert (np.asarray(found) == np.random.default_rng(7).random((10, 20))).all()


def test_a_buffer_beyond_all_memory_costs_nothing_until_it_is_needed(tmp_path: Path) -> None:
    argument = spec(tmp_path, type="f32[n]", init="uniform")
    sizes = {"n": 2**58}
    buffer = argument.make(sizes)
    assert isinstance(buffer, LazyBuffer)
    assert buffer.nbytes == 2**60
    with pytest.raises(WorkloadError, match=r"args\[u\]: no memory for"):
        argument.make_whole(sizes)


def test_files_and_functions_are_read_at_once(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(5.0))
    with pytest.raises(WorkloadError, match=r"shape \(5,\), not \(4,\)"):
        spec(tmp_path, type="f64[4]", init={"file": "x.npy"}).make({})
    assert isinstance(spec(tmp_path, type="s32", value=3).make({}), np.int32)
