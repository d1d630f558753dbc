"""`kc.check`, the command and its formats, suppressions and the pytest fixture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.report.checks.records import check_record
from kernelcast.report.checks.sarif import check_sarif
from kernelcast.report.checks.text import check_text

_KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry swap(.param .u64 a)
{
 .reg .b32 %r<8>; .reg .b64 %rd<4>;
 .shared .align 4 .b8 tile[256];
 ld.param.u64 %rd0, [a];
 mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r3, %r2, %r1;
 mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;
 st.shared.u32 [%r3], %r0;
 BARRIER
 xor.b32 %r4, %r1, 128; add.u32 %r5, %r2, %r4;
 ld.shared.u32 %r6, [%r5];
 st.global.u32 [%rd2], %r6;
 ret;
}
"""
_WORKLOAD = """[kernel]
source = "swap.ptx"

[launch]
grid = [1]
block = [64]

[[args]]
name = "a"
type = "u32[64]"
"""
RIGHT, WRONG = _KERNEL.replace("BARRIER", "bar.sync 0;"), _KERNEL.replace("BARRIER", "")


def report_of(source: str, **options: Any) -> kc.CheckReport:
    kernel = kc.load_ptx(source, "swap.ptx").only_kernel()
    return kc.check(kernel, args=[np.zeros(64, np.uint32)], grid=1, block=64, **options)


def workload(folder: Path, source: str) -> str:
    (folder / "swap.ptx").write_text(source)
    (folder / "swap.toml").write_text(_WORKLOAD)
    return str(folder / "swap.toml")


def test_a_report_is_one_line_and_tells_whether_it_is_clean() -> None:
    clean, racing = report_of(RIGHT), report_of(WRONG)
    assert repr(clean) == "<CheckReport of swap: clean, 1 schedule>"
    assert clean.is_clean
    assert not clean.findings
    assert not racing.is_clean
    assert {item.kind.value for item in racing.errors} == {"race", "uninitialised"}


def test_both_sides_of_a_race_have_threads_and_lines() -> None:
    (race,) = (item for item in report_of(WRONG).errors if item.kind.value == "race")
    assert race.first is not None
    lines = {side.span.line for side in (race.first, race.second) if side.span}
    assert lines == {11, 14}
    assert race.first.thread is not None
    assert race.second.thread is not None
    assert {race.first.thread[0] // 32, race.second.thread[0] // 32} == {0, 1}
    assert race.space == "shared"
    assert race.object.startswith("tile, byte ")


def test_both_sides_tell_what_they_read_and_wrote() -> None:
    """Threads write their own number; those that read too early find zero."""
    (race,) = (item for item in report_of(WRONG).errors if item.kind.value == "race")
    assert race.first is not None
    assert race.second.thread is not None
    assert race.first.values == "read 0"
    assert race.second.values == f"wrote {race.second.thread[0]}"
    assert f"st.shared.u32, wrote {race.second.thread[0]}," in check_text(report_of(WRONG))


@pytest.mark.parametrize(
    ("write", "told"),
    [
        ("atom.global.add.s32 %r7, [%rd0], -2", "read 0, wrote -2"),
        ("red.global.max.u32 [%rd0], 7", "read 0, wrote 7"),
        ("atom.global.cas.b32 %r7, [%rd0], 0, 9", "read 0, wrote 9"),
        ("st.global.f32 [%rd0], 0f40200000", "wrote 2.5"),
        ("st.global.b32 [%rd0], 0f40200000", "wrote 0x40200000 (2.5 as a float)"),
        ("st.global.v2.s32 [%rd0], {%r0, -1}", "wrote (3, -1)"),
    ],
)
def test_values_are_told_by_type(write: str, told: str) -> None:
    """Thread 9 reads the word, then thread 3 writes it, and nobody else does."""
    only = "setp.eq.u32 %p0, %r0, 9; @%p0 ld.global.u32 %r6, [%rd0]; "
    only += f"setp.eq.u32 %p0, %r0, 3; @%p0 {write}"
    source = RIGHT.replace("st.global.u32 [%rd2], %r6", only)
    report = report_of(source.replace(".reg .b32", ".reg .pred %p0; .reg .b32"))
    (race,) = report.errors
    assert race.first is not None
    assert (race.first.values, race.second.values) == ("read 0", told)


def test_values_are_of_the_very_access_that_raced() -> None:
    """A loop in which each round but the last is ordered: the race is with its last value."""
    source = RIGHT.replace(
        "st.global.u32 [%rd2], %r6;",
        """bar.sync 0; mov.u32 %r7, 0;
LOOP: setp.eq.u32 %p0, %r0, 0;
 @%p0 st.shared.u32 [tile], %r7;
 bar.sync 0;
 add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 5; @%p1 bra LOOP;
 setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [tile], 77;
 ld.shared.u32 %r6, [tile];
 st.global.u32 [%rd2], %r6;""",
    ).replace(".reg .b32", ".reg .pred %p<2>; .reg .b32")
    (race,) = report_of(source).errors
    assert race.first is not None
    assert {race.first.values, race.second.values} == {"wrote 77", "read 77"}


def test_buffers_stay_as_they_are() -> None:
    buffer = np.arange(64, dtype=np.uint32)[::-1].copy()
    kernel = kc.load_ptx(RIGHT).only_kernel()
    kc.check(kernel, args=[buffer], grid=1, block=64)
    assert buffer[0] == 63


def test_the_text_shows_the_source_of_both_sides() -> None:
    text = check_text(report_of(WRONG))
    assert "error: race in shared memory" in text
    assert "st.shared.u32 [%r3], %r0;" in text
    assert "ld.shared.u32 %r6, [%r5];" in text
    assert text.splitlines()[-1].startswith("swap: ")


def test_the_record_and_sarif_hold_what_code_hosts_need() -> None:
    report = report_of(WRONG)
    record = check_record(report)
    race = next(item for item in record["findings"] if item["kind"] == "race")
    assert set(race) >= {"kind", "space", "first", "second", "count"}
    assert set(race["first"]) >= {"thread_block", "thread", "where"}
    sarif = check_sarif(report)
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    for result in run["results"]:
        assert result["ruleId"] in known
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "swap.ptx"
        assert place["region"]["startLine"] in (11, 14)
    json.dumps(sarif)


def test_suppressions_accept_what_they_name(tmp_path: Path) -> None:
    file = tmp_path / "accepted"
    file.write_text("# known\nrace swap swap.ptx:14\nuninit* *\n")
    report = report_of(WRONG, suppressions=file)
    assert report.is_clean
    assert {item.kind.value for item in report.suppressed} == {"race", "uninitialised"}
    levels = [item.get("suppressions") for item in check_sarif(report)["runs"][0]["results"]]
    assert all(levels)
    file.write_text("race other\n")
    assert not report_of(WRONG, suppressions=file).is_clean


@pytest.mark.parametrize("line", ["rase", "race a b c"])
def test_a_line_that_says_nothing_known_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "accepted"
    file.write_text(f"\n{line}\n")
    with pytest.raises(kc.KernelcastError, match="accepted:2: "):
        report_of(WRONG, suppressions=file)


def test_exit_status_tells_clean_findings_and_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", workload(tmp_path, RIGHT)]) == 0
    assert main(["check", workload(tmp_path, WRONG), "--json"]) == 1
    record = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert not record["is_clean"]
    assert main(["check", workload(tmp_path, WRONG), "--sarif", "--schedules", "2"]) == 1
    assert main(["check", str(tmp_path / "nothing.toml")]) == 2
    assert main(["check", workload(tmp_path, WRONG), "--json", "--sarif"]) == 2
    assert main(["check", workload(tmp_path, RIGHT), "--suppressions", "nowhere"]) == 2


def test_unknown_options_are_one_clear_line() -> None:
    with pytest.raises(kc.KernelcastError, match="check takes no 'schedule'"):
        report_of(RIGHT, schedule=3)
    with pytest.raises(kc.KernelcastError, match="schedules must be 1 to"):
        report_of(RIGHT, schedules=0)


def test_equal_values_are_notes() -> None:
    flag = RIGHT.replace("[%rd2], %r6", "[%rd0], 1")
    report = report_of(flag)
    assert report.is_clean
    assert [item.kind.value for item in report.findings] == ["same-value-race"]
    assert "note: " in check_text(report)
    assert not report_of(flag.replace("[%rd0], 1", "[%rd0], %r6")).is_clean


def test_neighbouring_buffers_are_far_apart() -> None:
    """A store 4,352 bytes behind a buffer of 256 would be in the next one of a usual launch."""
    away = RIGHT.replace("[%rd2], %r6", "[%rd2+4352], %r6").replace(
        ".param .u64 a)", ".param .u64 a, .param .u64 b)"
    )
    kernel = kc.load_ptx(away).only_kernel()
    args = [np.zeros(64, np.uint32), np.zeros(4096, np.uint32)]
    kernel.run(args=args, grid=1, block=64)
    assert args[1].any()
    report = kc.check(kernel, args=args, grid=1, block=64)
    assert [item.kind.value for item in report.errors] == ["memory-access"]


def test_the_fixture_fails_a_test_with_findings(tmp_path: Path, kernelcast_check: object) -> None:
    assert callable(kernelcast_check)
    assert kernelcast_check(workload(tmp_path, RIGHT)).is_clean
    with pytest.raises(pytest.fail.Exception, match="race in shared memory"):
        kernelcast_check(workload(tmp_path, WRONG))


@pytest.mark.parametrize(("index", "kinds"), [(3, set()), (4, {"out-of-bounds"})])
def test_arrays_in_local_memory_have_bounds_of_their_own(index: int, kinds: set[str]) -> None:
    """Two arrays of four words each, side by side; what is read has been written."""
    fill = "".join(
        f"st.local.u32 [{name}+{4 * word}], %r0; " for name in ("one", "two") for word in range(4)
    )
    read = f"mov.u32 %r7, one; add.u32 %r7, %r7, {4 * index}; ld.local.u32 %r6, [%r7];"
    source = RIGHT.replace("ret;", f"{fill} {read} st.global.u32 [%rd2], %r6; ret;").replace(
        " .shared", " .local .align 4 .b8 one[16]; .local .align 4 .b8 two[16];\n .shared"
    )
    found = report_of(source).errors
    assert {item.kind.value for item in found} == kinds
    assert all(item.space == "local" and item.object for item in found)
