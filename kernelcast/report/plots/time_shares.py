"""Where the time goes on each device: a bar of all parts of an estimate, and the time beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kernelcast.errors import KernelcastError
from kernelcast.models.estimate import Estimate, Term
from kernelcast.report.plots.quadrant_split import COLORS
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["time_shares_plot"]

_OTHER, _GREY = "all else", "#c9c9c9"
_LEAST_SHARE = 0.03
"""Parts that are smaller on all devices are one."""
_LEAST_NAMED = 0.06
"""A part as wide has its share written into it."""
_WORDS = {
    "issue": "instructions issued",
    "launch": "launch overhead",
    "tail": "last thread blocks (tail)",
    "imbalance": "SMs with more work than others",
}


def time_shares_plot(estimates: Sequence[Estimate]) -> Figure:
    """Stacked bars of the leaves of each estimate, as shares of its time; largest parts first.

    The time with its range stands behind each bar. KernelcastError without an estimate, or for
    one whose parts do not add up to the time, as those of a roofline, of which the slowest counts.
    """
    from matplotlib.figure import Figure

    if not estimates:
        raise KernelcastError("a plot of time shares needs at least one estimate")
    shares = [_shares(estimate) for estimate in estimates]
    names = _names(shares)
    figure = Figure(
        figsize=(10.5, 1.9 + 0.62 * len(estimates) + 0.22 * -(-len(names) // 3)), dpi=110
    )
    axes = figure.add_subplot()
    lefts = [0.0] * len(estimates)
    for index, name in enumerate(names):
        found = [_share(share, name, names) for share in shares]
        color = _GREY if name == _OTHER else COLORS[index]
        axes.barh(
            range(len(estimates)), found, left=lefts, color=color, height=0.62, label=name, gid=name
        )
        _name_parts(axes, found, lefts, color)
        lefts = [left + share for left, share in zip(lefts, found, strict=True)]
    for row, estimate in enumerate(estimates):
        axes.text(1.015, row, _time(estimate), va="center", fontsize=9.5)
    _finish(axes, estimates)
    figure.legend(loc="lower center", ncols=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.07 + 0.045 * -(-len(names) // 3), 1, 1))
    return figure


def _shares(estimate: Estimate) -> dict[str, float]:
    leaves = list(_leaves(estimate.terms))
    whole = sum(leaf.seconds for leaf in leaves)
    if abs(whole / estimate.terms.seconds - 1) > 1e-6:
        raise KernelcastError(
            f"the parts of {estimate.model} do not add up to its time: plot it as a roofline"
        )
    found: dict[str, float] = {}
    for leaf in leaves:
        name = _WORDS.get(leaf.name, leaf.name)
        found[name] = found.get(name, 0.0) + leaf.seconds / whole
    return found


def _leaves(term: Term) -> Iterator[Term]:
    if not term.parts:
        yield term
    for part in term.parts:
        yield from _leaves(part)


def _names(shares: Sequence[dict[str, float]]) -> list[str]:
    """Parts that matter on some device, the largest first, then the rest."""
    most = {
        name: max(share.get(name, 0.0) for share in shares)
        for name in dict.fromkeys(name for share in shares for name in share)
    }
    large = (name for name in most if most[name] >= _LEAST_SHARE)
    shown = sorted(large, key=lambda name: -most[name])[: len(COLORS)]
    return [*shown, _OTHER] if len(shown) < len(most) else shown


def _share(share: dict[str, float], name: str, names: Sequence[str]) -> float:
    if name == _OTHER:
        return sum(value for key, value in share.items() if key not in names)
    return share.get(name, 0.0)


def _name_parts(axes: Axes, shares: Sequence[float], lefts: Sequence[float], color: str) -> None:
    for row, (share, left) in enumerate(zip(shares, lefts, strict=True)):
        if share >= _LEAST_NAMED:
            ink = "#222222" if color == _GREY else "white"
            middle = left + share / 2
            axes.text(middle, row, f"{share:.0%}", ha="center", va="center", color=ink, fontsize=9)


def _time(estimate: Estimate) -> str:
    low, high = format_seconds(estimate.time_low_s), format_seconds(estimate.time_high_s)
    return f"{format_seconds(estimate.time_s)}\n{low} to {high}"


def _finish(axes: Axes, estimates: Sequence[Estimate]) -> None:
    from matplotlib.ticker import PercentFormatter

    first = estimates[0]
    several = len({estimate.model for estimate in estimates}) > 1
    names = [f"{e.device}\n{e.model}" if several else e.device for e in estimates]
    axes.set_yticks(range(len(estimates)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("share of the predicted time of each GPU; the time and its range at the right")
    model = "" if several else f", predicted by {first.model}"
    axes.set_title(f"{source_name(first.kernel)}: where the time goes{model}", loc="left")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
