"""A session's findings as a complete device file (docs/devices.md), checked before it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from kernelcast.errors import BenchmarkError, DeviceFileError
from kernelcast.opencl_bench.device_file.basis import DeviceBasis
from kernelcast.opencl_bench.device_file.entry import (
    Section,
    curve_lines,
    datasheet,
    list_lines,
    measured,
    section_lines,
    toml_text,
)
from kernelcast.opencl_bench.device_file.observations import observations
from kernelcast.opencl_bench.device_file.ptx_cost_sections import ptx_cost_sections
from kernelcast.opencl_bench.device_file.sections import (
    architecture_section,
    constant_section,
    dram_section,
    last_cache_section,
    near_cache,
    near_cache_section,
    peak_section,
    shared_section,
    sm_section,
)
from kernelcast.opencl_bench.session import Session
from kernelcast.opencl_bench.target import Feature
from kernelcast.partial_files import ReplacedFile
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.host.disk_cache import scratch_folder

__all__ = ["device_file_text", "measured_device", "missing_for_device", "write_device_file"]

_THROUGHPUTS = {
    "fp32_ops_per_s": "fp32_multiply_add_throughput",
    "fp64_ops_per_s": "fp64_multiply_add_throughput",
    "int_ops_per_s": "int32_multiply_add_throughput",
    "add_ops_per_s": "int32_add_throughput",
    "load_store_ops_per_s": "local_load_store_throughput",
}
_BANDWIDTHS = ("global_read_bandwidth", "global_write_bandwidth", "global_copy_bandwidth")


def missing_for_device(session: Session) -> tuple[str, ...]:
    """Names of measurements without which there is no device file."""
    needed = [*_THROUGHPUTS.values(), *_BANDWIDTHS]
    if Feature.FP64 not in session.facts.features:
        needed.remove(_THROUGHPUTS["fp64_ops_per_s"])
    return tuple(name for name in needed if name not in session.measurements)


def device_file_text(session: Session) -> str:
    """TOML; BenchmarkError that names the measurements that are missing."""
    missing = missing_for_device(session)
    if missing:
        raise BenchmarkError(
            f"no device file without {', '.join(missing)}: run all benchmarks, of which those that "
            "are done are kept"
        )
    return "\n".join(_lines(DeviceBasis(session))) + "\n"


def write_device_file(session: Session, path: Path) -> Device:
    """Writes the file and reads it back; nothing is left of one that the checker refuses.

    BenchmarkError for missing measurements, a contradiction, or a folder that cannot be written.
    """
    text = device_file_text(session)
    with scratch_folder() as folder:
        draft = folder / path.name
        draft.write_text(text, encoding="utf-8")
        try:
            load_device(draft)
        except DeviceFileError as error:
            reason = error.message.removeprefix(f"{draft}: ")
            raise BenchmarkError(f"the measurements contradict each other: {reason}") from None
    try:
        with ReplacedFile(path) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise BenchmarkError(f"{path}: {error.strerror}") from None
    return load_device(path)


def measured_device(session: Session) -> Device:
    """The device that the file would describe; raises as `write_device_file`."""
    with scratch_folder() as folder:
        return write_device_file(session, folder / "measured.toml")


def _lines(basis: DeviceBasis) -> Iterator[str]:
    facts = basis.facts
    name, effort = " ".join(facts.name.split()), basis.session.effort.value
    yield f"# {name}, measured by kernelcast bench ({effort}) on {basis.date}."
    yield "# Every value names how it is known and where from; see docs/devices.md."
    yield f"title = {toml_text(facts.name or 'OpenCL device')}"
    yield _coalescing()
    for name, section in _sections(basis):
        yield from section_lines(name, section)
    yield from list_lines("observed", observations(basis))
    for curve in basis.session.curves.values():
        yield from curve_lines(curve, basis.reference(curve))


def _coalescing() -> str:
    reason = "distinct sectors of a warp, as all GPUs since 2012 and as cache lines of a processor"
    return f'coalescing = {{ value = "sectors", source = "assumed", ref = {toml_text(reason)} }}'


def _sections(basis: DeviceBasis) -> Iterator[tuple[str, Section]]:
    yield "architecture", architecture_section(basis)
    yield "sm", sm_section(basis)
    near = near_cache(basis)
    if near is not None:
        yield "l1", near_cache_section(basis, near)
    yield "l2", last_cache_section(basis)
    yield "shared", shared_section(basis)
    yield "constant", constant_section(basis)
    yield "dram", dram_section(basis)
    yield "peak", peak_section(basis)
    yield "measured", _throughput_section(basis)
    yield from ptx_cost_sections(basis, int(sm_section(basis)["max_warps"].value))


def _throughput_section(basis: DeviceBasis) -> Section:
    """The six figures by the method of Konstantinidis' thesis, section 4.2.3.

    They are of work-items that compute with scalars, wherever those were measured apart.
    """
    rates = {
        key: basis.entry(basis.of_work_items(name))
        if basis.has(name)
        else datasheet(0.0, "no cl_khr_fp64")
        for key, name in _THROUGHPUTS.items()
    }
    parts = [basis.session.measurements[basis.of_work_items(name)] for name in _BANDWIDTHS]
    reference = "mean of read, write and copy (Konstantinidis 2017, section 4.2.3): " + "; ".join(
        f"{part.name} {part.value:.4g} ({basis.reference(part)})" for part in parts
    )
    mean = measured(fmean(part.value for part in parts), reference)
    return {**rates, "dram_bandwidth_bytes_per_s": mean}
