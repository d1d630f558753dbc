"""Device files: what they hold, against the published tables, and every way to get one wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.errors import DeviceFileError, UnknownDevice
from kernelcast.simcore.device.device import CacheFacts, CoalescingRule, Source
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.memory.replacement.policies import POLICIES

SHIPPED = Path(__file__).parents[3] / "simcore" / "devices"

# Konstantinidis 2017, Tables 5.2 and 6.2: T_SP, T_DP, T_int, T_add, B_mem, T_ldst in 1e9 per second
MEASURED = {
    "gtx-480": (1462.20, 184.09, 742.34, 732.86, 163.36, 369.73),
    "gtx-660": (1940.80, 89.70, 359.04, 621.36, 117.56, 169.58),
    "gtx-960": (2842.70, 89.67, 955.37, 1426.15, 86.35, 295.64),
    "gtx-1060-6gb": (4609.54, 145.02, 1533.61, 2304.10, 161.64, 524.27),
    "tesla-m2050": (1011.36, 508.91, 513.10, 504.88, 107.44, 255.68),
    "tesla-k20c": (3115.24, 1153.08, 584.26, 969.28, 151.72, 283.59),
    "r9-nano": (8032.08, 339.84, 1623.73, 3985.30, 430.33, 1322.12),
}
# Tables 5.1 (SMs, SPs, MHz), 3.1 and 6.1 (GB/s, DP and SP GFLOPS)
SPECIFICATIONS = {
    "gtx-480": (15, 480, 1550, 177, 168, 1345),
    "gtx-660": (5, 960, 1097, 144, 83, 1983),
    "gtx-960": (8, 1024, 1329, 112, 81, 2593),
    "gtx-1060-6gb": (10, 1280, 1708, 192, 120, 3855),
    "tesla-m2050": (14, 448, 1147, 148, 514, 1028),
    "tesla-k20c": (13, 2496, 705, 208, 1174, 3522),
    "r9-nano": (64, 4096, 1000, 512, 512, 8190),
}


NEED_NOT_SAY = {"l2.partitions": 1, "l2.fetch_bytes": 0, "sm.shared_configurations_kib": "0"}


def test_the_seven_gpus_are_known() -> None:
    assert set(MEASURED) <= set(known_devices())
    assert known_devices() == tuple(sorted(known_devices()))


@pytest.mark.parametrize("name", known_devices())
def test_every_value_has_a_source(name: str) -> None:
    device = load_device(name)
    assert device.name == name
    values = {"coalescing"} | {
        f"{section}.{key}"
        for section in ("architecture", "sm", "l2", "shared", "constant", "dram", "peak")
        for key in type(getattr(device, section)).__slots__
        if getattr(getattr(device, section), key) is not None
    }
    for key, default in NEED_NOT_SAY.items():
        section, _, name_ = key.partition(".")
        if getattr(getattr(device, section), name_) == default:
            values.remove(key)
    assert values <= set(device.provenance)
    assert all(where.reference for where in device.provenance.values())
    for facts in filter(None, (device.l1, device.l2)):
        assert facts.replacement in POLICIES


@pytest.mark.parametrize("name", MEASURED)
def test_measured_throughputs_are_those_of_the_tables(name: str) -> None:
    measured = load_device(name).measured
    assert measured is not None
    found = (
        measured.fp32_ops_per_s,
        measured.fp64_ops_per_s,
        measured.int_ops_per_s,
        measured.add_ops_per_s,
        measured.dram_bandwidth_bytes_per_s,
        measured.load_store_ops_per_s,
    )
    assert found == pytest.approx([1e9 * value for value in MEASURED[name]], rel=1e-12)
    where = load_device(name).provenance["measured.fp32_ops_per_s"]
    assert where.source is Source.MEASURED
    assert "Konstantinidis 2017" in where.reference


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_specifications_are_those_of_the_tables(name: str) -> None:
    device = load_device(name)
    sms, lanes, clock_mhz, bandwidth, double, single = SPECIFICATIONS[name]
    assert device.architecture.sm_count == sms
    assert device.architecture.sm_count * device.sm.fp32_lanes == lanes
    assert device.architecture.clock_hz == pytest.approx(clock_mhz * 1e6)
    assert device.dram.bandwidth_bytes_per_s == pytest.approx(bandwidth * 1e9)
    assert device.peak.fp64_flops_per_s == pytest.approx(double * 1e9)
    assert device.peak.fp32_flops_per_s == pytest.approx(single * 1e9)
    # the ratio of the lanes is that of the peaks, which the tables round
    lanes_ratio = device.sm.fp32_lanes / device.sm.fp64_lanes
    assert single / double == pytest.approx(lanes_ratio, rel=0.01)


@pytest.mark.parametrize("name", known_devices())
def test_limits_agree_with_each_other(name: str) -> None:
    device = load_device(name)
    sm = device.sm
    assert sm.max_threads == sm.max_warps * device.architecture.warp_width
    assert sm.registers % (sm.register_allocation_unit * sm.warp_allocation_granularity) == 0
    assert sm.fp32_lanes % sm.warp_schedulers == 0


@pytest.mark.parametrize(
    ("name", "rule", "kilobytes", "reads"),
    [
        # L2 KB; whether L1 takes plain global loads, read-only loads and local memory
        ("gtx-480", CoalescingRule.LINES, 768, (True, True, True)),
        ("tesla-m2050", CoalescingRule.LINES, 768, (True, True, True)),
        ("gtx-660", CoalescingRule.SECTORS, 384, (False, False, True)),
        ("tesla-k20c", CoalescingRule.SECTORS, 1280, (False, True, True)),
        ("gtx-960", CoalescingRule.SECTORS, 1024, (False, True, False)),
        ("gtx-1060-6gb", CoalescingRule.SECTORS, 1536, (False, True, True)),
        ("r9-nano", CoalescingRule.SECTORS, 2048, (True, True, True)),
    ],
)
def test_caches(
    name: str, rule: CoalescingRule, kilobytes: int, reads: tuple[bool, bool, bool]
) -> None:
    device = load_device(name)
    l1 = device.l1
    assert isinstance(l1, CacheFacts)
    assert device.coalescing is rule
    assert device.l2.capacity_bytes == kilobytes * 1024
    assert (l1.caches_global_loads, l1.caches_read_only_loads, l1.caches_local) == reads
    assert not l1.write_allocate
    assert device.l2.write_allocate
    assert device.dram.ecc == name.startswith("tesla")


def test_assumptions_are_listed() -> None:
    assert "l2.replacement" in load_device("gtx-480").assumed
    assert "sm.max_warps" not in load_device("gtx-480").assumed


def test_cycles_become_seconds() -> None:
    assert load_device("gtx-480").seconds(1.55e9) == pytest.approx(1.0)


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text((SHIPPED / "gtx-480.toml").read_text())
    assert load_device(path) == load_device(str(path))
    assert load_device(path).name == "mine"
    assert load_device(path).sm == load_device("gtx-480").sm


def _without(text: str, start: str, end: str) -> str:
    """Leaves out the section that begins at `start`, up to the next one."""
    return text[: text.index(start)] + text[text.index(end) :]


def test_l1_and_measured_may_be_left_out(tmp_path: Path) -> None:
    text = (SHIPPED / "gtx-480.toml").read_text()
    text = _without(text, "[l1]", "[l2]")
    path = tmp_path / "bare.toml"
    path.write_text(text[: text.index("[measured]")])
    device = load_device(path)
    assert device.l1 is None
    assert device.measured is None


def test_an_unknown_device_names_the_nearest() -> None:
    with pytest.raises(UnknownDevice, match=r"gtx-48.*did you mean gtx-480"):
        load_device("gtx-48")


@pytest.mark.parametrize(
    ("short", "name"), [("4090", "rtx-4090"), ("rtx-4000", "quadro-rtx-4000"), ("a40", "a40")]
)
def test_parts_of_a_name(short: str, name: str) -> None:
    assert load_device(short).name == name


def test_parts_of_several_names() -> None:
    with pytest.raises(UnknownDevice, match="'h100' may be h100-pcie or h100-sxm"):
        load_device("h100")
    with pytest.raises(UnknownDevice, match="no device ''"):
        load_device("")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DeviceFileError, match=r"absent\.toml: cannot be read"):
        load_device(tmp_path / "absent.toml")


ENTRY = 'max_warps = { value = 48, source = "datasheet", ref = "'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[sm]", "[sm", "is not TOML"),
        ("[sm]", "[cores]", r"cores: is unknown"),
        ('title = "GeForce GTX 480"', "title = 480", "title: must be a text"),
        ("max_warps =", "max_warp =", r"sm\.max_warp: is unknown \(did you mean max_warps"),
        (ENTRY, ENTRY.replace("48", "48.5"), r"sm\.max_warps: must be an integer, got 48\.5"),
        (ENTRY, ENTRY.replace("48", "true"), r"sm\.max_warps: must be an integer, got True"),
        (ENTRY, ENTRY.replace("48", '"48"'), r"sm\.max_warps: must be an integer, got '48'"),
        (ENTRY, ENTRY.replace("48", "0"), r"sm\.max_warps: must be positive and finite, got 0"),
        (ENTRY, ENTRY.replace("48", "-1"), r"sm\.max_warps: must be positive and finite, got -1"),
        (ENTRY, ENTRY.replace("48", "12"), r"sm\.max_warps: too few for 1536 threads"),
        (ENTRY, ENTRY.replace("datasheet", "guess"), r"sm\.max_warps\.source: must be one of"),
        (ENTRY, ENTRY.replace('source = "datasheet", ', ""), r"sm\.max_warps\.source: is missing"),
        (ENTRY, ENTRY.replace("value = 48, ", ""), r"sm\.max_warps\.value: is missing"),
        (ENTRY, ENTRY.replace("value", "unit = 1, value"), r"sm\.max_warps\.unit: is unknown"),
        ("clock_hz = { value = 1.55e9", "clock_hz = { value = nan", r"clock_hz: must be positive"),
        ("clock_hz = { value = 1.55e9", "clock_hz = { value = inf", r"clock_hz: must be positive"),
        ('value = "lines"', 'value = "rows"', r"coalescing: must be one of sectors, lines"),
        ('value = "warp"', 'value = "wave"', r"register_allocation_per: must be one of warp"),
        ('index = { value = "modulo"', 'index = { value = "odd"', r"l1\.index: must be one of"),
        ("ways = { value = 4", "ways = { value = 3", r"l1\.ways: lines and ways do not divide"),
        ("sector_bytes = { value = 32", "sector_bytes = { value = 48", r"l2\.sector_bytes: does"),
        ("ecc = { value = false", "ecc = { value = 0", r"dram\.ecc: must be true or false"),
        (
            "max_shared_bytes_per_thread_block = { value = 49152",
            "max_shared_bytes_per_thread_block = { value = 65536",
            r"max_shared_bytes_per_thread_block: more than sm\.shared_bytes",
        ),
        (
            "max_threads_per_thread_block = { value = 1024",
            "max_threads_per_thread_block = { value = 2048",
            r"max_threads_per_thread_block: more than sm\.max_threads",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (SHIPPED / "gtx-480.toml").read_text()
    assert old in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DeviceFileError, match=message) as caught:
        load_device(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("section", ["architecture", "sm", "l2", "shared", "constant", "dram"])
def test_a_missing_section_is_named(tmp_path: Path, section: str) -> None:
    text = (SHIPPED / "gtx-480.toml").read_text()
    start = text.index(f"[{section}]")
    path = tmp_path / "short.toml"
    path.write_text(text[:start] + text[text.index("\n[", start) + 1 :])
    with pytest.raises(DeviceFileError, match=f"{section}: section is missing"):
        load_device(path)


def test_a_missing_value_is_named(tmp_path: Path) -> None:
    lines = (SHIPPED / "gtx-480.toml").read_text().splitlines()
    path = tmp_path / "short.toml"
    path.write_text("\n".join(line for line in lines if not line.startswith("banks")))
    with pytest.raises(DeviceFileError, match=r"shared\.banks: is missing"):
        load_device(path)


def test_a_plain_value_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.toml"
    path.write_text('title = "x"\ncoalescing = "lines"\n')
    with pytest.raises(DeviceFileError, match=r"coalescing: must be \{ value"):
        load_device(path)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DeviceFileError, match="is not UTF-8"):
        load_device(path)


def test_throughputs_are_as_certain_as_the_least_certain_of_them() -> None:
    assert load_device("gtx-480").throughputs == "measured"
    assert load_device("hypothetical").throughputs == "assumed"
    assert load_device("v100-pcie").throughputs == "derived"
