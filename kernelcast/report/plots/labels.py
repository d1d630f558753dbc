"""Texts beside plotted points that hide neither points nor each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PixelBox", "PointLabel", "nearest_free_box", "place_labels"]

Point: TypeAlias = tuple[float, float]

_FONT_SIZE = 8.5
_MARKER_RADIUS = 6.0  # pixels, as all lengths here
_LINE_STEP = 5.0
_DISTANCES = (10.0, 18.0, 28.0, 40.0, 55.0, 75.0)
_DIRECTIONS = ((1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (-1, -1), (0, 1), (0, -1))


@dataclass(frozen=True, slots=True)
class PointLabel:
    """`x` and `y` in data coordinates."""

    text: str
    x: float
    y: float
    color: str


@dataclass(frozen=True, slots=True)
class PixelBox:
    """A rectangle in pixels, from its lower left corner."""

    left: float
    bottom: float
    width: float
    height: float

    def shared_area(self, other: PixelBox) -> float:
        """The area that both rectangles cover, in square pixels."""
        wide = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        tall = min(self.bottom + self.height, other.bottom + other.height) - max(
            self.bottom, other.bottom
        )
        return max(0.0, wide) * max(0.0, tall)


def place_labels(
    axes: Axes,
    labels: Sequence[PointLabel],
    points: Sequence[Point],
    lines: Sequence[Sequence[Point]],
) -> None:
    """Adds each label at the nearest place that hides none of `points` and `lines`.

    Call it when limits and layout of the axes are final.
    """
    frame = axes.get_window_extent()
    inside = PixelBox(frame.x0, frame.y0, frame.width, frame.height)
    taken = [_around(*axes.transData.transform(point)) for point in points]
    for line in lines:
        pixels = [tuple(axes.transData.transform(point)) for point in line]
        taken.extend(box for pair in pairwise(pixels) for box in _along(*pair))
    placed: list[PixelBox] = []
    for label in labels:
        x, y = axes.transData.transform((label.x, label.y))
        if not inside.shared_area(_around(x, y)):
            continue  # the point lies outside of this panel
        text = axes.text(0, 0, label.text, color=label.color, fontsize=_FONT_SIZE, zorder=7)
        size = text.get_window_extent()
        text.remove()
        box = nearest_free_box((x, y), (size.width, size.height), taken, inside, placed)
        taken.append(box)
        placed.append(box)
        axes.annotate(
            label.text,
            (label.x, label.y),
            xytext=(box.left, box.bottom),
            textcoords="figure pixels",
            color=label.color,
            fontsize=_FONT_SIZE,
            va="bottom",
            zorder=7,
            arrowprops={"arrowstyle": "-", "color": label.color, "lw": 0.5, "shrinkB": 3},
        )


def nearest_free_box(
    point: Point,
    size: Point,
    taken: Sequence[PixelBox],
    inside: PixelBox,
    texts: Sequence[PixelBox] = (),
) -> PixelBox:
    """The first box around `point` that is free, else the one that hides least.

    The way from the point to the box must not run through `texts`.
    """
    boxes = list(_candidates(point, size))
    hidden = []
    for box in boxes:
        outside = box.width * box.height - box.shared_area(inside)
        leader = _along(point, (box.left + box.width / 2, box.bottom + box.height / 2))
        crossed = sum(part.shared_area(text) for part in leader for text in texts)
        hidden.append(sum(map(box.shared_area, taken)) + outside + crossed)
        if hidden[-1] < 1e-6:
            return box
    return boxes[hidden.index(min(hidden))]


def _candidates(point: Point, size: Point) -> Iterator[PixelBox]:
    """Eight directions at growing distance; the text's near edge faces the point."""
    (x, y), (width, height) = point, size
    for distance in _DISTANCES:
        for right, up in _DIRECTIONS:
            left = x + right * distance - width * (1 - right) / 2
            yield PixelBox(left, y + up * distance - height / 2, width, height)


def _around(x: float, y: float) -> PixelBox:
    return PixelBox(x - _MARKER_RADIUS, y - _MARKER_RADIUS, 2 * _MARKER_RADIUS, 2 * _MARKER_RADIUS)


def _along(start: Point, end: Point) -> Iterator[PixelBox]:
    """Small boxes that cover a straight line."""
    length = math.dist(start, end)
    count = max(1, math.ceil(length / _LINE_STEP))
    half = _LINE_STEP / 2
    for index in range(count + 1):
        x = start[0] + (end[0] - start[0]) * index / count
        y = start[1] + (end[1] - start[1]) * index / count
        yield PixelBox(x - half, y - half, _LINE_STEP, _LINE_STEP)
