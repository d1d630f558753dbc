"""What the rows of a sweep depend on, as one hash: the plan, and the files that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.input_files import open_input
from kernelcast.ranking.execution import workload_fingerprint
from kernelcast.store.code_version import code_version
from kernelcast.store.digests import digest
from kernelcast.studies.plan import Plan, SweptKernel, What
from kernelcast.workload.file import load_workload

__all__ = ["plan_identity"]


def plan_identity(plan: Plan) -> str:
    """Equal for plans whose rows are the same, whatever their folders are called."""
    kernels = tuple(
        (item.name, item.what.value, item.size, repr(item.launches), *_contents(item))
        for item in plan.kernels
    )
    options = plan.code or "", plan.sampling.value, plan.explained, plan.ranges
    devices = tuple((item.base, item.base.provenance) for item in plan.swept_devices)
    changes = tuple(repr(dict(item.changes)) for item in plan.swept_devices)
    return digest(code_version(), kernels, options, devices, changes, tuple(plan.models))


def _contents(kernel: SweptKernel) -> Iterator[str]:
    """Hashes of the files that a kernel is made of, as far as the plan names them."""
    if kernel.what is What.WORKLOAD:
        try:
            yield workload_fingerprint(load_workload(kernel.source))
        except KernelcastError:  # then all of its rows say why
            yield _hash(Path(kernel.source))
    elif kernel.what is What.PYTHON:
        yield _hash(Path(kernel.source.rpartition(":")[0]))
    else:
        yield _hash(Path(kernel.source))


def _hash(path: Path) -> str:
    found = hashlib.sha256()
    try:
        with open_input(path) as stream:
            while piece := stream.read(1 << 20):
                found.update(piece)
    except OSError:
        return ""
    return found.hexdigest()
