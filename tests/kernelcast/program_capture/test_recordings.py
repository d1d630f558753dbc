"""Recordings, extracted launches and time lines of programs that were captured."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kernelcast.cli import main
from tests.kernelcast.program_capture.cases import case_named
from tests.kernelcast.program_capture.running import captured


@pytest.mark.parametrize("name", ["pinned", "explicit_graph", "streams_events"])
def test_recordings_give_the_same_launches_without_the_program(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "program.kcrec"
    program = case_named(name).program
    found = captured(capfd, program, devices=["v100-sxm2"], options=("-o", str(recording)))
    again = captured(capfd, recording, devices=["v100-sxm2"])
    assert again.status == 0
    for key in ("launches", "copies", "totals"):
        assert _without_process(again.record[key]) == _without_process(found.record[key])


def test_recordings_are_estimated_on_other_gpus(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "program.kcrec"
    program = case_named("vector_add").program
    captured(capfd, program, devices=["v100-sxm2"], options=("-o", str(recording)))
    again = captured(capfd, recording, devices=["mi210"])
    direct = captured(capfd, program, devices=["v100-sxm2", "mi210"])
    assert [item["device"] for item in again.record["totals"]] == ["mi210"]
    assert again.record["totals"][0]["kernels_s"] == direct.record["totals"][1]["kernels_s"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no recording", "cannot be read"),
        (gzip.compress(b"something else entirely, though compressed"), "is no recording"),
        (gzip.compress(b"kernelcast recording 1\n\xff\xff"), "ends early"),
    ],
    ids=["plain", "other", "short"],
)
def test_what_is_no_recording_is_refused(
    content: bytes, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "broken.kcrec"
    recording.write_bytes(content)
    found = captured(capfd, recording)
    assert found.status == 2
    assert message in found.told
    assert len(found.told.splitlines()) == 1


@pytest.mark.parametrize("name", ["vector_add", "constants", "linked_list"])
def test_a_single_launch_costs_what_its_workload_does(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    workload = tmp_path / "launch.toml"
    options = ("--launch", "0", "--workload", str(workload))
    found = captured(capfd, case_named(name).program, devices=["v100-sxm2"], options=options)
    capfd.readouterr()
    assert main(["estimate", str(workload), "--device", "v100-sxm2", "--json"]) == 0
    estimate = json.loads(capfd.readouterr().out)["estimates"][0]
    assert found.record["launches"][0]["estimates"][0]["time_s"] == estimate["time_s"]


def test_launches_that_there_are_not_cannot_be_extracted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    workload = tmp_path / "launch.toml"
    options = ("--launch", "7", "--workload", str(workload))
    found = captured(capfd, case_named("vector_add").program, options=options)
    assert found.status == 2
    assert "there is no launch 7" in found.told
    assert not workload.exists()
    alone = captured(capfd, case_named("vector_add").program, options=("--launch", "7"))
    assert alone.status == 2
    assert "give both" in alone.told


def test_time_lines_have_a_track_for_each_stream(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"
    program = case_named("streams_events").program
    options = ("--trace", str(trace))
    found = captured(capfd, program, devices=["v100-sxm2", "a100-40gb"], options=options)
    events = json.loads(trace.read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert len(kernels) == 2 * len(found.record["launches"])
    total = sum(event["dur"] for event in kernels if event["pid"] == kernels[0]["pid"])
    assert total == pytest.approx(1e6 * found.record["totals"][0]["kernels_s"])
    first = found.record["totals"][0]
    low, high = first["kernels_low_s"], first["kernels_high_s"]
    assert low < 1e-6 * total < high
    ends = [launch["estimates"][0] for launch in found.record["launches"]]
    assert low == pytest.approx(sum(item["time_low_s"] for item in ends))
    assert high == pytest.approx(sum(item["time_high_s"] for item in ends))
    streams = {launch["stream"] for launch in found.record["launches"]}
    tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {f"stream {number}" for number in streams} <= tracks


def _without_process(items: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in item.items() if key != "process"} for item in items]
