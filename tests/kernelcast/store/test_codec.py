"""Values as bytes: what comes back is what went in, and nothing else is read."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernelcast.simcore.device.device import Source
from kernelcast.store.codec import CodecError, decoded, encoded
from kernelcast.traces.pattern_table import PatternTable

_ARRAYS = hnp.arrays(
    st.sampled_from(("<i4", "<i8", "<u8", "<u2", "u1", "?", "<f4", "<f8")),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=40),
)


@given(_ARRAYS)
def test_arrays_come_back_bit_for_bit(array: npt.NDArray[Any]) -> None:
    found = decoded(encoded(array))
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()
    assert found.flags.writeable


def test_values_come_back_with_their_types() -> None:
    patterns = PatternTable(np.array([1, 2**64 - 1], np.uint64), np.arange(64).reshape(2, 32))
    value = {"a": (Source.DERIVED, np.float32(1.5), None), "b": [patterns], "c": b"\0" * 2000}
    found = decoded(encoded(value))
    assert found["a"] == value["a"]
    assert type(found["a"][1]) is np.float32
    assert (found["b"][0].mask == patterns.mask).all()
    assert (found["b"][0].offsets == patterns.offsets).all()
    assert found["c"] == value["c"]


def test_regular_numbers_take_a_hundredth_of_their_room() -> None:
    addresses = np.repeat(np.arange(0, 1 << 24, 128), 8)
    assert len(encoded(addresses)) < addresses.nbytes / 100


class _Dangerous:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("run",)


@dataclass
class _Foreign:
    number: int = 1


@pytest.mark.parametrize("value", [_Dangerous(), _Foreign(), print])
def test_nothing_but_values_of_kernelcast_is_read(
    value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = b"\0" + pickle.dumps(value)
    with pytest.raises(CodecError):
        decoded(len(plain).to_bytes(8, "little") + plain)
    assert not capsys.readouterr().out


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(CodecError):
        encoded(lambda: None)
    with pytest.raises(CodecError):
        encoded(np.array([object()]))


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_and_do_nothing(data: bytes) -> None:
    with pytest.raises(CodecError):
        decoded(b"\xff" + data)


def test_a_cut_off_value_is_refused() -> None:
    whole = encoded((np.arange(1000), "text"))
    for length in range(0, len(whole), 7):
        with pytest.raises(CodecError):
            decoded(whole[:length])
