"""Estimated beside simulated data volumes, as tables, a record and rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kernelcast.report.data_table import DataTable
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.validation.volumes import Metric, VolumeComparison, VolumeReport

__all__ = ["volumes_record", "volumes_rows", "volumes_tables"]


def volumes_tables(report: VolumeReport) -> list[DataTable]:
    """Every configuration, then those far off, then the figures that sum it up."""
    return [_volumes(report), _times(report), _beyond(report), _summary(report)]


def _all(item: VolumeComparison) -> tuple[Metric, ...]:
    return (*item.metrics, item.dram_loads)


def _volumes(report: VolumeReport) -> DataTable:
    rows = tuple(
        (
            item.configuration.title,
            item.device,
            metric.name,
            f"{metric.estimated:.4g}",
            f"{metric.simulated:.4g}",
            f"{metric.error:+.1%}",
            "" if metric.is_within else f"beyond {metric.most:.0%}",
        )
        for item in report.comparisons
        for metric in _all(item)
    )
    return DataTable(
        "Volumes: estimated from address expressions, and simulated",
        ("kernel", "device", "volume", ">estimated", ">simulated", ">error", ""),
        rows,
        "Wavefronts and bytes for each cell. Errors are estimated / simulated - 1.",
    )


def _times(report: VolumeReport) -> DataTable:
    rows = tuple(
        (
            item.configuration.title,
            item.device,
            format_seconds(item.estimated_s),
            format_seconds(item.simulated_s),
            f"{item.estimated_s / item.simulated_s - 1:+.1%}",
        )
        for item in report.comparisons
    )
    return DataTable(
        "Times: model warpspeed with either volumes",
        ("kernel", "device", ">estimated", ">simulated", ">error"),
        rows,
    )


def _beyond(report: VolumeReport) -> DataTable:
    rows = tuple(
        (
            item.configuration.title,
            item.device,
            f"{item.dram_loads.error:+.1%}",
            item.oversubscription,
        )
        for item in report.beyond
    )
    return DataTable(
        "DRAM loads beyond 15 %", ("kernel", "device", ">error", "oversubscription"), rows
    )


def _summary(report: VolumeReport) -> DataTable:
    rows = (
        ("configurations", str(len(report.comparisons)), ""),
        ("DRAM loads within 15 %", f"{report.share_within:.0%}", f"{report.FEWEST_WITHIN:.0%}"),
        ("Kendall's tau of times", f"{report.tau():.2f}", f"{report.LEAST_TAU}"),
        ("more than 2 % apart", f"{report.tau_apart:.2f}", f"{report.LEAST_TAU_APART}"),
    )
    return DataTable(
        "In short",
        ("what", ">found", ">at least"),
        rows,
        "Tau is over pairs of one kernel and domain on one device.",
    )


def volumes_record(report: VolumeReport) -> dict[str, Any]:
    """Compared volumes with their statistics, as a record."""
    return {
        "share_of_dram_loads_within_15_percent": report.share_within,
        "kendall_tau": report.tau(),
        "kendall_tau_more_than_2_percent_apart": report.tau_apart,
        "problems": list(report.problems),
        "configurations": [_record(item) for item in report.comparisons],
    }


def _record(item: VolumeComparison) -> dict[str, Any]:
    at = item.configuration
    return {
        "kernel": at.twin.value,
        "device": item.device,
        "thread_block": list(at.thread_block),
        "folding": list(at.folding.cells),
        "domain": list(at.domain),
        "oversubscription": {
            "l1": item.estimate.l1_oversubscription,
            "wave": item.estimate.wave_oversubscription,
            "y_layer": item.estimate.y_layer_oversubscription,
            "z_layer": item.estimate.z_layer_oversubscription,
        },
        "volumes": {
            metric.name: {"estimated": metric.estimated, "simulated": metric.simulated}
            for metric in _all(item)
        },
        "estimated_s": item.estimated_s,
        "simulated_s": item.simulated_s,
    }


def volumes_rows(report: VolumeReport) -> Iterator[tuple[object, ...]]:
    """A heading, then a row for each volume of each configuration."""
    yield "kernel", "device", "volume", "unit", "estimated", "simulated", "error"
    for item in report.comparisons:
        for metric in _all(item):
            yield (
                item.configuration.title,
                item.device,
                metric.name,
                metric.unit,
                metric.estimated,
                metric.simulated,
                metric.error,
            )
