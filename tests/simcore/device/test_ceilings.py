"""Bandwidths of `[observed]` that rooflines take for ceilings, and what the checker refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device import file as device_file
from kernelcast.simcore.device.file import known_devices, load_device, load_observations

GTX_480 = Path(device_file.__file__).parents[1] / "devices" / "gtx-480.toml"
ENTRY = '{{ value = {}, source = "published", ref = "a paper" }}'


def written(folder: Path, quantity: str, *values: float) -> Path:
    """The GTX 480 with those figures for one more quantity."""
    lines = "".join(f"    {ENTRY.format(value)},\n" for value in values)
    text = GTX_480.read_text(encoding="utf-8")
    added = f"{quantity} = [\n{lines}]\n"
    changed = text.replace("[observed]\n", f"[observed]\n{added}")
    if changed == text:
        changed = f"{text}\n[observed]\n{added}"
    path = folder / "changed.toml"
    path.write_text(changed, encoding="utf-8")
    return path


def test_the_highest_figure_of_a_bandwidth_is_the_ceiling(tmp_path: Path) -> None:
    name = "shared_bandwidth_bytes_per_s"
    device = load_device(written(tmp_path, name, 5e11, 9e11, 7e11))
    assert device.ceilings[name] == 9e11


def test_latencies_and_sizes_are_no_ceilings() -> None:
    for name in known_devices():
        published = {item.quantity for item in load_observations(name)}
        rates = {item for item in published if item.endswith(("bytes_per_s", "ops_per_s"))}
        assert set(load_device(name).ceilings) == rates


def test_shared_memory_is_no_faster_than_its_banks(tmp_path: Path) -> None:
    known = load_device("gtx-480")
    banks = known.shared.banks * known.shared.bank_bytes
    limit = banks * known.architecture.sm_count * known.architecture.clock_hz
    load_device(written(tmp_path, "shared_bandwidth_bytes_per_s", limit))
    with pytest.raises(DeviceFileError, match="above what the banks give"):
        load_device(written(tmp_path, "shared_bandwidth_bytes_per_s", 1.2 * limit))
