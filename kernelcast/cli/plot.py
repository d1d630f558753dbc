"""`estimate --plot`: which picture fits the models that were asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import kernelcast as kc
from kernelcast.errors import KernelcastError

__all__ = ["QUADRANT_SPLIT_MODEL", "TIME_SHARES_MODEL", "check_plot", "write_plot"]

QUADRANT_SPLIT_MODEL = "quantitative-roofline"
TIME_SHARES_MODEL = "interval"


def check_plot(
    path: Path, models: Sequence[str], devices: Sequence[kc.Device], measured_s: float | None
) -> None:
    """Raises KernelcastError if no picture can come of a run, before the kernel is executed."""
    from kernelcast.report.plots.estimates import check_target

    check_target(path)
    is_of_several = set(models) in ({QUADRANT_SPLIT_MODEL}, {TIME_SHARES_MODEL})
    if len(devices) > 1 and not is_of_several:
        raise KernelcastError(
            "a roofline plot shows one GPU; name one --device, or one model of "
            f"{QUADRANT_SPLIT_MODEL} and {TIME_SHARES_MODEL}"
        )
    if measured_s is not None and set(models) == {TIME_SHARES_MODEL}:
        raise KernelcastError("a plot of time shares has no place for --measured")
    if measured_s is not None and not (math.isfinite(measured_s) and measured_s > 0):
        raise KernelcastError(f"--measured must be a positive time, got {measured_s:g} s")


def write_plot(
    path: Path,
    estimates: Sequence[kc.Estimate],
    profile: kc.KernelProfile,
    devices: Sequence[kc.Device],
    measured_s: float | None,
) -> None:
    """Writes the quadrant split of quantitative rooflines, shares of `interval`, or a roofline.

    `check_plot` has passed; `estimates` were made from `profile`; `measured_s` was measured on the
    first device.
    """
    # matplotlib takes a second to import, and only plots need it.
    from kernelcast.report.plots.estimates import (
        quadrant_split_plot,
        rates_origin,
        roofline_plot,
        save,
    )

    if estimates and all(item.model == TIME_SHARES_MODEL for item in estimates):
        from kernelcast.report.plots.time_shares import time_shares_plot

        save(time_shares_plot(estimates), path)
        return
    quantitative = [item for item in estimates if item.model == QUADRANT_SPLIT_MODEL]
    if quantitative and len(quantitative) == len(estimates):
        points = {} if measured_s is None else {devices[0].name: measured_s}
        origins = {device.name: rates_origin(device) for device in devices}
        save(quadrant_split_plot(profile, quantitative, points, origins), path)
        return
    save(roofline_plot(profile, devices[0], *estimates, measured_s=measured_s), path)
