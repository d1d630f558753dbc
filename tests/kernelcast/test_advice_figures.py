"""Whatever a model advises, it says what that gains, in figures."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest

import kernelcast as kc
from kernelcast.errors import ModelNotApplicable
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models import MODELS
from kernelcast.simcore.device.file import load_device
from kernelcast.validation.workload_suite import SUITE
from kernelcast.workload.file import load_workload
from tests.drawn_cases import drawn

WORKLOADS = (
    "dynamic_programming/needle",
    "dynamic_programming/lud_diagonal",
    "graph/bfs_frontier",
    "learning/backprop_forward",
    "physics/srad_update",
    "rodinia/particle_normalise",
)
DEVICES = ("gtx-480", "gtx-1070", "quadro-rtx-4000")
CASES = drawn(list(product(WORKLOADS, DEVICES)), 8)
GAIN = re.compile(r"\d(\.\d+)? ?[mµun]?s\b|\d(\.\d+)?%|\d(\.\d+)? times")
"""A time, a percentage or a factor."""


@cache
def executed(name: str) -> KernelTrace:
    return load_workload(SUITE / f"{name}.toml").run("small", record_paths=True)


@pytest.mark.parametrize("model", MODELS)
def test_every_advice_has_a_figure(model: str) -> None:
    said: list[str] = []
    for name, device in CASES:
        try:
            found = kc.estimate(executed(name).profile(load_device(device)), model)
        except ModelNotApplicable:
            continue
        said += map(str, found.advice)
    assert [line for line in said if not GAIN.search(line)] == []
    if model in ("interval", "quantitative-roofline", "component-throughput", "mpd-cpd"):
        assert said
