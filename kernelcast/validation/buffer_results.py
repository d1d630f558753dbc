"""What a launch left in its buffers, short enough to keep: a digest, and a few drawn elements.

Two executions of a workload can so be compared although they were never on one machine. Digests say
whether the bits are the same, drawn elements how far apart they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import MetricsError
from kernelcast.simcore.launch.launch import Argument
from kernelcast.workload.json_object import JsonObject

__all__ = [
    "MOST_ELEMENTS",
    "BufferResult",
    "DrawnElement",
    "ResultComparison",
    "buffer_results",
    "compared_result",
    "read_results",
]

Array: TypeAlias = npt.NDArray[Any]

MOST_ELEMENTS = 16
"""Elements that are drawn of each buffer, among those that the launch has changed."""
_HEX = frozenset("0123456789abcdef")
_DIGEST_LENGTH = 64


@dataclass(frozen=True, slots=True)
class DrawnElement:
    """One element of a buffer, counted through all dimensions; `bits` in hexadecimal."""

    index: int
    bits: str


@dataclass(frozen=True, slots=True)
class BufferResult:
    """One buffer of a launch. `before` and `after` are SHA-256 digests of its bytes.

    `type` is NumPy's name of the element type, `count` the number of elements.
    """

    name: str
    type: str
    count: int
    before: str
    after: str
    elements: tuple[DrawnElement, ...]

    @property
    def is_changed(self) -> bool:
        """Whether the launch changed any byte."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class ResultComparison:
    """One buffer of two executions. `is_filled_alike`: both began with the same bytes.

    Of the `drawn` elements `differing` have other bits and `far` are not within the workload's
    tolerance; `worst` is the largest relative error of any, infinite for a NaN on one side.
    """

    name: str
    is_filled_alike: bool
    is_equal: bool
    drawn: int
    differing: int
    far: int
    worst: float

    @property
    def verdict(self) -> str:
        """One line: equal, close, different, or not to be compared."""
        if not self.is_filled_alike:
            return "filled differently: NumPy drew other numbers there"
        if self.is_equal:
            return "equal"
        what = "different" if self.far else "not equal"
        return f"{what}: {self.differing} of {self.drawn} drawn elements, worst {self.worst:.3g}"


def buffer_results(
    before: Mapping[str, Array], after: Mapping[str, Argument]
) -> tuple[BufferResult, ...]:
    """The buffers of a launch before and after it."""
    return tuple(_result(name, array, np.asarray(after[name])) for name, array in before.items())


def _result(name: str, before: Array, after: Array) -> BufferResult:
    return BufferResult(
        name=name,
        type=after.dtype.name,
        count=after.size,
        before=_digest(before),
        after=_digest(after),
        elements=_drawn(name, before, after),
    )


def _digest(array: Array) -> str:
    return hashlib.sha256(_bytes_of(array).tobytes()).hexdigest()


def _bytes_of(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _drawn(name: str, before: Array, after: Array) -> tuple[DrawnElement, ...]:
    """Elements among those that differ, drawn by the buffer's name, in their order."""
    width = after.dtype.itemsize
    pairs = (_bytes_of(before) != _bytes_of(after)).reshape(-1, width)
    changed = np.flatnonzero(pairs.any(axis=1))
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    count = min(MOST_ELEMENTS, changed.size)
    chosen = np.random.default_rng(seed).choice(changed, count, replace=False)
    return tuple(DrawnElement(int(i), _bits(after, int(i))) for i in np.sort(chosen))


def _bits(array: Array, index: int) -> str:
    return bytes(array.reshape(-1)[index : index + 1].tobytes()[::-1]).hex()


def compared_result(
    known: BufferResult, before: Array, after: Array, rtol: float, atol: float
) -> ResultComparison:
    """A buffer of another execution beside the known one; MetricsError for one of another shape."""
    if (known.type, known.count) != (after.dtype.name, after.size):
        raise MetricsError(
            f"buffer {known.name} has {known.count} elements {known.type} where it was measured, "
            f"{after.size} {after.dtype.name} here"
        )
    flat = after.reshape(-1)
    here = [flat[item.index] for item in known.elements]
    there = [_value(item.bits, after.dtype) for item in known.elements]
    errors = [_errors(a, b) for a, b in zip(here, there, strict=True)]
    return ResultComparison(
        name=known.name,
        is_filled_alike=_digest(before) == known.before,
        is_equal=_digest(after) == known.after,
        drawn=len(known.elements),
        differing=sum(_bits(after, item.index) != item.bits for item in known.elements),
        far=sum(not error <= atol + rtol * size for error, size in errors),
        worst=max((_relative(error, size) for error, size in errors), default=0.0),
    )


def _value(bits: str, dtype: np.dtype[Any]) -> Any:
    return np.frombuffer(bytes.fromhex(bits)[::-1], dtype)[0]


def _errors(here: Any, there: Any) -> tuple[float, float]:
    """The absolute error, and the size of what was measured; equal values have none."""
    a, b = float(here), float(there)
    if a == b or (np.isnan(a) and np.isnan(b)):
        return 0.0, 0.0
    error = abs(a - b)
    return (error if np.isfinite(error) else float("inf")), abs(b) if np.isfinite(b) else 0.0


def _relative(error: float, size: float) -> float:
    return error / size if size else (float("inf") if error else 0.0)


def read_results(row: JsonObject) -> tuple[BufferResult, ...]:
    """The entry `results` of a row; MetricsError that names what is wrong."""
    return tuple(_read_result(item) for item in row.objects("results"))


def _read_result(fields: JsonObject) -> BufferResult:
    fields.allow(*BufferResult.__slots__)
    count = fields.whole("count")
    return BufferResult(
        name=fields.text("name"),
        type=fields.text("type"),
        count=count,
        before=_read_hex(fields, "before", _DIGEST_LENGTH),
        after=_read_hex(fields, "after", _DIGEST_LENGTH),
        elements=tuple(_read_element(item, count) for item in fields.objects("elements")),
    )


def _read_element(fields: JsonObject, count: int) -> DrawnElement:
    fields.allow(*DrawnElement.__slots__)
    index = fields.whole("index")
    if not 0 <= index < count:
        raise MetricsError(f"{fields.where('index')} must be below {count}, got {index}")
    return DrawnElement(index, _read_hex(fields, "bits", None))


def _read_hex(fields: JsonObject, name: str, length: int | None) -> str:
    text = fields.text(name)
    if not text or len(text) % 2 or not _HEX.issuperset(text) or length not in (None, len(text)):
        raise MetricsError(f"{fields.where(name)} must be bytes in hexadecimal, got {text[:80]!r}")
    return text
