"""Profiles and estimates that were made before: functions of what their keys are hashes of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.profile.derived import DerivedInputs, ProfileSource
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.store.code_version import code_version
from kernelcast.store.digests import NotDigestible, digest
from kernelcast.store.launches import KeptLaunch
from kernelcast.store.results import keep, kept
from kernelcast.traces.trace import Trace

__all__ = ["kept_estimate", "kept_profile"]

_OF_PROCESS = ("target", "inputs")
"""Fields of a profile that are what a process has at hand, not what a profiler would report."""


def kept_profile(
    launch: KeptLaunch,
    source: Callable[[], ProfileSource],
    trace: Trace,
    shown: tuple[Device, int, FirstContents],
    make: Callable[[], KernelProfile],
) -> KernelProfile:
    """The profile that `make` makes of a launch's trace, or made.

    `shown`: the device, how many launches the times are for, and what each finds in L2. `source`
    is asked when a model derives something.
    """
    device = shown[0]
    parts = trace.resources, trace.paths is None, trace.no_paths, trace.has_memory
    key = digest(launch.identity, trace.warp_width, parts, shown, device.provenance)
    found = kept(key, "profile")
    if found is not None:
        made = KernelProfile(**found.value)
    else:
        made = make()
        names = (item.name for item in fields(made) if item.name not in _OF_PROCESS)
        keep(key, "profile", {name: getattr(made, name) for name in names})
    return replace(made, inputs=DerivedInputs(source, key=key))


def kept_estimate(
    profile: KernelProfile, question: tuple[Any, ...], make: Callable[[], Estimate]
) -> Estimate:
    """The estimate that `make` makes of a profile, or made.

    `question`: everything else that it depends on. Nothing is kept of a profile whose source nobody
    knows, as one of a profiler's file.
    """
    if not profile.inputs.key:
        return make()
    names = (item.name for item in fields(profile) if item.name not in _OF_PROCESS)
    content = [getattr(profile, name) for name in names]
    try:
        key = digest(code_version(), profile.inputs.key, content, question)
    except NotDigestible:
        return make()
    found = kept(key, "estimate")
    if found is not None:
        estimate: Estimate = found.value
        return estimate
    made = make()
    keep(key, "estimate", made)
    return made
