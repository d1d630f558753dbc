"""Address expressions of workloads and of loaded kernels, read off their code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypedDict, Unpack

from kernelcast.errors import LaunchError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.keywords import check_keywords
from kernelcast.simcore.address.extraction.extraction import ExtractedAddresses, extract_addresses
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument
from kernelcast.workload.launch_sizes import LaunchDescription, Size
from kernelcast.workload.workload import KernelSpec, Workload

__all__ = ["address_kernel", "extracted_addresses"]


class LaunchKeywords(TypedDict, total=False):
    """What `RunnableKernel.run` takes that says what the launch is."""

    grid: Size | None
    block: Size | None
    global_size: Size | None
    local_size: Size | None
    shared_bytes: int
    cluster: Size | None
    registers: int | None
    argument_names: Sequence[str]


def address_kernel(
    source: Workload | RunnableKernel,
    size: str | None = None,
    *,
    args: Sequence[Argument] | None = None,
    work_per_thread: float = 1.0,
    **given: Unpack[LaunchKeywords],
) -> AddressKernel:
    """The loads and stores of a launch as expressions of thread and thread-block index.

    Of a workload at a named size; of a kernel in the launch that `RunnableKernel.run` would
    execute. Buffers are not read. A thread does `work_per_thread` units of work, by which volumes
    are divided. ModelNotApplicable, naming the instruction and what it depends
    on, where an address is not affine or depends on data.
    """
    check_keywords(address_kernel, given, LaunchDescription)
    if isinstance(source, Workload):
        if any(value is not None for value in (args, *given.values())):
            raise LaunchError("a workload has sizes and arguments of its own: give its size only")
        return extracted_addresses(source, size).address_kernel(work_per_thread)
    if args is None:
        raise LaunchError("args must be a list of arguments, got None")
    launch = LaunchDescription(**given).launch(source.kernel, args)
    return extract_addresses(source.kernel, launch).address_kernel(work_per_thread)


def extracted_addresses(workload: Workload, size: str | None = None) -> ExtractedAddresses:
    """All accesses of a workload with the threads that make them; errors as `address_kernel`."""
    kernel = _loaded(workload.kernel, workload.kernel.source.stat().st_mtime_ns)
    return extract_addresses(kernel, workload.make_launch(size, lazy=True, kernel=kernel))


@lru_cache(maxsize=8)
def _loaded(spec: KernelSpec, _changed_ns: int) -> Kernel:
    """Read once for all thread-block sizes that are tried."""
    return spec.load().kernel
