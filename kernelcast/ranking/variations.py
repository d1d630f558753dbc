"""What a ranking varies: thread-block shapes and thread foldings, from the texts of `--vary`.

`block=` takes shapes (`16x2x32`), `product=1024` (powers of two whose product that is), `powers`
(powers of two from one warp to the most) and `all` (every shape of whole warps that is legal);
`folding=` takes `none`, `2y`, `2y2z`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from kernelcast.errors import KernelcastError
from kernelcast.simcore.launch.launch import MAX_THREADS_PER_THREAD_BLOCK

__all__ = [
    "NO_FOLDING",
    "Configuration",
    "Shape",
    "ShapeLimits",
    "configurations",
    "folding_label",
    "read_folding",
    "read_foldings",
    "read_shapes",
    "shape_label",
    "split_variations",
]

Shape = tuple[int, int, int]

NO_FOLDING: Shape = (1, 1, 1)
_MOST_ALONG: Shape = (1024, 1024, 64)  # CUDA C++ Programming Guide, compute capabilities
_AXES = "xyz"
_KNOWN = ("block", "folding")
_FOLD = re.compile(r"(\d+)([xyz])")
_SHAPE = re.compile(r"\d+(x\d+){0,2}")


@dataclass(frozen=True, slots=True, order=True)
class Configuration:
    """Threads of a thread block, and the cells along each axis that one thread updates."""

    thread_block: Shape
    folding: Shape = NO_FOLDING

    @property
    def label(self) -> str:
        """The configuration as text: `32x4x1`, with the folding where there is one."""
        fold = "" if self.folding == NO_FOLDING else f" {folding_label(self.folding)}"
        return f"{shape_label(self.thread_block)}{fold}"


@dataclass(frozen=True, slots=True)
class ShapeLimits:
    """Limits that generated shapes keep to.

    Cells along each axis, threads of a warp and of a thread block. Along an axis of one cell,
    thread blocks have one thread.
    """

    cells: Shape
    warp_width: int = 32
    most_threads: int = MAX_THREADS_PER_THREAD_BLOCK

    @property
    def sides(self) -> Shape:
        """The longest side of a thread block along each axis."""
        x, y, z = (
            most if cells > 1 else 1 for most, cells in zip(_MOST_ALONG, self.cells, strict=True)
        )
        return x, y, z


def split_variations(given: Iterable[str]) -> dict[str, str]:
    """`block=...` and `folding=...` by name; those given twice are joined.

    KernelcastError for what is no NAME=VALUE of these.
    """
    found: dict[str, str] = {}
    for item in given:
        name, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not text or name not in _KNOWN:
            raise KernelcastError(f"--vary takes block=... or folding=..., got {item!r}")
        found[name] = f"{found[name]},{text}" if name in found else text
    return found


def read_shapes(text: str, limits: ShapeLimits) -> tuple[Shape, ...]:
    """Thread-block shapes in the order of the text, each once; KernelcastError when it is none."""
    found: list[Shape] = []
    for item in _items(text, "block"):
        if item.startswith("product="):
            found += _of_product(item.removeprefix("product="), limits)
        elif item == "powers":
            sizes = (1 << power for power in range(limits.most_threads.bit_length()))
            wanted = [n for n in sizes if limits.warp_width <= n <= limits.most_threads]
            found += [shape for size in wanted for shape in _powers(size, limits)]
        elif item == "all":
            found += _whole_warps(limits)
        elif _SHAPE.fullmatch(item):
            found.append(_shape(item))
        else:
            raise KernelcastError(
                f"block={item!r}: shapes such as 16x2x32, product=1024, powers and all are known"
            )
    return tuple(dict.fromkeys(found))


def read_foldings(text: str) -> tuple[Shape, ...]:
    """Foldings in the order of the text, each once; KernelcastError for what is none."""
    return tuple(dict.fromkeys(map(read_folding, _items(text, "folding"))))


def read_folding(text: str) -> Shape:
    """(1, 2, 1) of `2y`, (1, 1, 1) of `none`; KernelcastError for what is no folding."""
    if text == "none":
        return NO_FOLDING
    parts = _FOLD.findall(text)
    axes = [axis for _, axis in parts]
    is_whole = "".join(map("".join, parts)) == text
    if not parts or not is_whole or len(set(axes)) < len(axes):
        raise KernelcastError(f"folding {text!r}: none, 2y, 4z and 2y2z are such")
    counts = {axis: int(count) for count, axis in parts}
    x, y, z = (counts.get(axis, 1) for axis in _AXES)
    if 0 in (x, y, z):
        raise KernelcastError(f"folding {text!r}: a thread updates at least one cell")
    return x, y, z


def configurations(
    shapes: Sequence[Shape], foldings: Sequence[Shape] = (NO_FOLDING,)
) -> tuple[Configuration, ...]:
    """Each shape with each folding."""
    return tuple(Configuration(shape, fold) for fold in foldings for shape in shapes)


def shape_label(shape: Sequence[int]) -> str:
    """The shape as text: `32x4x1`."""
    return "x".join(map(str, shape))


def folding_label(folding: Shape) -> str:
    """`2y`, `2y2z`; `none` where a thread updates one cell."""
    parts = [f"{count}{axis}" for count, axis in zip(folding, _AXES, strict=True) if count > 1]
    return "".join(parts) or "none"


def _items(text: str, name: str) -> list[str]:
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        raise KernelcastError(f"--vary {name}: an empty value in {text!r}")
    return items


def _shape(text: str) -> Shape:
    x, y, z = (*map(int, text.split("x")), 1, 1)[:3]
    if not prod((x, y, z)):
        raise KernelcastError(f"block={text!r}: a side of a thread block is at least 1")
    return x, y, z


def _of_product(text: str, limits: ShapeLimits) -> list[Shape]:
    """Shapes of so many threads; KernelcastError unless they are a legal power of two."""
    threads = int(text) if text.isdecimal() else 0
    if threads < 1 or threads & (threads - 1):
        raise KernelcastError(f"block=product={text}: a power of two is wanted")
    if threads > limits.most_threads:
        raise KernelcastError(
            f"block=product={text}: a thread block has at most {limits.most_threads} threads"
        )
    return list(_powers(threads, limits))


def _powers(threads: int, limits: ShapeLimits) -> Iterator[Shape]:
    """Shapes of so many threads whose sides are powers of two (eq 6 of the Warpspeed paper)."""
    sides = [[1 << power for power in range(side.bit_length())] for side in limits.sides]
    for z, y, x in product(*reversed(sides)):
        if x * y * z == threads:
            yield x, y, z


def _whole_warps(limits: ShapeLimits) -> Iterator[Shape]:
    """Shapes of whole warps, whatever their sides."""
    most_x, most_y, most_z = limits.sides
    for z in range(1, most_z + 1):
        for y in range(1, min(most_y, limits.most_threads // z) + 1):
            for x in range(1, min(most_x, limits.most_threads // (y * z)) + 1):
                if x * y * z % limits.warp_width == 0:
                    yield x, y, z
