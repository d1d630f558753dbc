"""What the pictures of a TopDown analysis show: lengths, angles, areas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernelcast.errors import KernelcastError
from kernelcast.models.topdown import ApplicationTopDown, Invocation, KernelTopDown, Part, TopDown
from kernelcast.report.plots.topdown import bars_plot, evolution_plot, sunburst_plot


def result(kernel: str, retire: float) -> TopDown:
    """An analysis of IPC_MAX 4: `retire` is retired, three quarters of the rest wait for L1."""
    rest = 4 - retire

    def part(name: str, ipc: float, *parts: Part) -> Part:
        return Part(name, ipc, 25 * ipc, parts)

    level_one = part("L1", 0.75 * rest)
    backend = (part("Memory Bound", 0.75 * rest, level_one), part("Core Bound", 0.25 * rest))
    return TopDown(kernel, "a GPU", 4.0, (part("Retire", retire), part("Backend", rest, *backend)))


def kernel(name: str, *retired: float) -> KernelTopDown:
    return KernelTopDown(name, tuple(Invocation(result(name, value)) for value in retired))


def only_axes(figure: Figure) -> Axes:
    (axes,) = figure.get_axes()
    return axes


def rectangles(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_bars_are_as_long_as_the_parts() -> None:
    application = ApplicationTopDown((kernel("a", 1.0), kernel("b", 3.0)))
    axes = only_axes(bars_plot(application, 2))
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows == ["a", "b", "all 2 kernels"]
    lengths = np.array([patch.get_width() for patch in rectangles(axes)]).reshape(3, 3)
    wanted = np.array([[25.0, 56.25, 18.75], [75.0, 18.75, 6.25], [50.0, 37.5, 12.5]])
    assert lengths == pytest.approx(wanted.T)
    begins = np.array([patch.get_x() for patch in rectangles(axes)]).reshape(3, 3)
    assert begins[1:] == pytest.approx(begins[:-1] + lengths[:-1])
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["Retire", "Memory Bound", "Core Bound"]


def test_one_kernel_has_one_bar() -> None:
    axes = only_axes(bars_plot(ApplicationTopDown((kernel("a", 1.0),)), 1))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a"]
    assert [patch.get_width() for patch in rectangles(axes)] == [25.0, 75.0]


def test_the_legend_of_few_bars_stands_below_them() -> None:
    """A list beside one bar would leave the rest of the height white."""
    one = bars_plot(ApplicationTopDown((kernel("a", 1.0),)), 3)
    many = bars_plot(ApplicationTopDown(tuple(kernel(f"k{at}", 1.0) for at in range(12))), 3)
    assert [len(figure.legends) for figure in (one, many)] == [1, 0]
    assert only_axes(many).get_legend() is not None
    one.draw_without_rendering()
    box = only_axes(one).get_tightbbox()
    assert box is not None
    assert one.legends[0].get_window_extent().y1 <= box.y0
    assert one.get_figheight() < 0.6 * many.get_figheight()


@pytest.mark.parametrize("shares", [(30.0, 70.0), (7.0, 93.0), (3.0, 97.0), (0.5, 99.5)])
def test_labels_fit_into_their_wedges(shares: tuple[float, float]) -> None:
    """Labels fit along the ring and across it, whatever the number of lines."""
    names = ("Execution Dependency", "Synchronization")
    parts = tuple(Part(name, share / 25, share) for name, share in zip(names, shares, strict=True))
    below = (Part("Memory Bound", 4.0, 100.0, parts),)
    whole = TopDown("k", "a GPU", 4.0, (Part("Backend", 4.0, 100.0, below),))
    figure = sunburst_plot(whole, 3)
    figure.draw_without_rendering()
    axes = only_axes(figure)
    ring = axes.get_window_extent().width / 2 / axes.get_ylim()[1]
    labels = [text for text in axes.texts if text.get_text() and "IPC_MAX" not in text.get_text()]
    arcs = {part.name.split(" ")[0]: 2 * math.pi * part.percent / 100 * 3.48 for part in parts}
    for text in labels:
        text.set_rotation(0)
        extent = text.get_window_extent()
        assert extent.width <= ring
        arc = arcs.get(text.get_text().split("\n")[0].split(" ")[0])
        assert arc is None or extent.height <= arc * ring
    assert any(part in text.get_text() for text in labels for part in names[1:])


def test_parts_have_different_colours() -> None:
    axes = only_axes(bars_plot(ApplicationTopDown((kernel("a", 1.0),)), 3))
    colors = {patch.get_facecolor() for patch in rectangles(axes)}
    assert len(colors) == len(rectangles(axes)) == 3


@pytest.mark.parametrize(("level", "wedges"), [(1, 2), (2, 4), (3, 5)])
def test_rings_are_divided_as_the_parts(level: int, wedges: int) -> None:
    axes = only_axes(sunburst_plot(result("a", 1.0), level))
    found = rectangles(axes)
    assert len(found) == wedges
    inner = [patch for patch in found if patch.get_y() == 1]
    assert [patch.get_width() for patch in inner] == pytest.approx([math.tau / 4, math.tau * 3 / 4])
    outside = {patch.get_y() for patch in found}
    assert outside == set(range(1, level + 1))
    for patch in found:
        if patch.get_y() > 1:
            assert patch.get_x() >= math.tau / 4 - 1e-9
            assert patch.get_x() + patch.get_width() <= math.tau + 1e-9


def test_areas_follow_the_invocations() -> None:
    """Two phases: a quarter is retired, later three quarters."""
    figure = evolution_plot(ApplicationTopDown((kernel("a", 1.0, 1.0, 3.0), kernel("b", 2.0))))
    first, second = figure.get_axes()
    retire, backend = (
        area.get_paths()[0] for area in first.collections if isinstance(area, PolyCollection)
    )
    for invocation, height in [(1, 25), (2, 25), (3, 75)]:
        assert retire.contains_point((invocation, height - 1))
        assert not retire.contains_point((invocation, height + 1))
        assert backend.contains_point((invocation, height + 1))
        assert backend.contains_point((invocation, 99))
    assert first.get_xlim() == (0.5, 3.5)
    assert second.get_xlim() == (0.5, 1.5)
    assert first.get_title().startswith("a on a GPU")


def test_too_many_kernels_are_refused() -> None:
    many = ApplicationTopDown(tuple(kernel(f"k{number}", 1.0) for number in range(61)))
    with pytest.raises(KernelcastError, match="61 kernels are too many"):
        bars_plot(many, 1)
    with pytest.raises(KernelcastError, match="61 kernels are too many"):
        evolution_plot(many)
