"""`kernelcast trace`, and stored traces in place of workloads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.errors import KernelcastError
from kernelcast.simcore.profile.timed import timed_warps

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DONE = 0
CASES = ("saxpy", "reduction", "sor")
DEVICES = ("gtx-480", "r9-nano")

Output = Callable[..., str]

KERNEL_TRACE = """-kernel name = square
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 10

#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 4
0000 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000000000 4
0010 ffffffff 1 R2 FMUL 2 R2 R2 0
0020 ffffffff 0 STG.E 2 R4 R2 4 1 0x7f0000000000 4
0030 ffffffff 0 EXIT 0 0
#END_TB
"""


def workload(case: str) -> str:
    return str(EXAMPLES / case / f"{case}.toml")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """(case, device="gtx-480") -> trace file of its small size, written by the command.

    It is written once for the module.
    """
    folder = tmp_path_factory.mktemp("traces")

    def path(case: str, device: str = "gtx-480") -> str:
        file = folder / f"{case}-{device}.parquet"
        if not file.exists():
            options = ["--size", "small", "--device", device, "-o", str(file)]
            assert main(["trace", workload(case), *options]) == DONE
        return str(file)

    return path


@pytest.fixture
def imported(tmp_path: Path) -> str:
    (tmp_path / "kernel-1.traceg").write_text(KERNEL_TRACE)
    return str(tmp_path / "kernel-1.traceg")


@pytest.mark.parametrize("case", CASES)
def test_estimates_and_profiles_equal_those_of_execution(
    output: Output, stored: Callable[..., str], case: str
) -> None:
    for device in DEVICES:
        for command in (("estimate", "--json"), ("profile", "--json"), ("profile", "--csv")):
            arguments = (*command, "--device", device)
            executed = output(*arguments, workload(case), "--size", "small")
            assert output(*arguments, stored(case, device)) == executed


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("counting", ["plain", "merged"])
def test_mixes_equal_those_of_execution(
    output: Output, stored: Callable[..., str], case: str, counting: str
) -> None:
    executed = output("mix", workload(case), "--size", "small", "--counting", counting, "--csv")
    assert output("mix", stored(case), "--counting", counting, "--csv") == executed


def test_profiles_are_equal_as_objects(stored: Callable[..., str], tmp_path: Path) -> None:
    for device in DEVICES:
        trace = kc.load_workload(workload("sor")).run(
            "small", warp_width=kc.device(device).architecture.warp_width
        )
        kc.save_trace(trace, tmp_path / "t.parquet")
        loaded = kc.load_trace(tmp_path / "t.parquet")
        assert loaded.repeats == trace.repeats == 4
        assert loaded.profile(device) == trace.profile(device)


def test_stored_traces_know_the_paths_of_warps(stored: Callable[..., str]) -> None:
    """A stored trace gives the paths that the execution itself does."""
    found = kc.load_trace(stored("reduction")).profile("gtx-480").derived(timed_warps)
    run = kc.load_workload(workload("reduction")).run("small", record_paths=True)
    expected = run.profile("gtx-480").derived(timed_warps)
    assert found is not None
    assert expected is not None
    assert np.array_equal(found.paths.pc, expected.paths.pc)
    assert np.array_equal(found.wavefronts, expected.wavefronts)
    assert np.array_equal(found.reads, expected.reads)


def test_registers_change_a_stored_trace_as_they_change_execution(
    output: Output, stored: Callable[..., str]
) -> None:
    options = ("--device", "gtx-480", "--registers", "60", "--csv")
    executed = output("profile", workload("saxpy"), "--size", "small", *options)
    assert output("profile", stored("saxpy"), *options) == executed
    assert output("profile", stored("saxpy"), *options[:2], "--csv") != executed


def test_record_may_be_spelled_out(output: Output, tmp_path: Path) -> None:
    target = tmp_path / "t.parquet"
    text = output("trace", "record", workload("saxpy"), "--size", "small", "-o", str(target))
    assert text == ""
    assert kc.load_trace(target).data.kernel == "saxpy"


@pytest.mark.parametrize(
    ("options", "width"),
    [((), 32), (("--warp-width", "16"), 16), (("--device", "r9-nano"), 64),
     (("--device", "r9-nano", "--warp-width", "64"), 64)],
)  # fmt: skip
def test_a_file_holds_warps_of_the_width_that_was_asked_for(
    output: Output, tmp_path: Path, options: tuple[str, ...], width: int
) -> None:
    target = tmp_path / "t.parquet"
    output("trace", workload("saxpy"), "--size", "small", "-o", str(target), *options)
    assert [trace.warp_width for trace in kc.load_trace(target).traces] == [width]


def test_options_may_come_before_the_workload(output: Output, tmp_path: Path) -> None:
    target = tmp_path / "t.parquet"
    output("trace", "-o", str(target), "--size", "small", workload("saxpy"))
    assert target.exists()


def test_show_tells_what_the_trace_holds(output: Output, stored: Callable[..., str]) -> None:
    data = kc.load_trace(stored("reduction")).data
    record = json.loads(output("trace", "show", stored("reduction"), "--json"))
    warps, lanes = data.classes.totals()
    assert record["schema"] == 1
    assert record["kernel"] == data.kernel
    assert record["grid"] == list(data.grid)
    assert record["instructions"] == len(data.instructions)
    assert record["accesses"] == len(data.accesses) > 0
    assert record["shared_and_constant_accesses"] == data.pattern_counts.count.sum() > 0
    assert record["classes"] == len(set(data.classes.of_thread_block.tolist()))
    assert record["warp_instructions"] == warps.sum()
    assert record["thread_instructions"] == lanes.sum()
    rows = csv.DictReader(io.StringIO(output("trace", "show", stored("reduction"), "--csv")))
    assert {row["name"] for row in rows} == set(record) - {"schema"}
    shown = output("trace", "show", stored("reduction"))
    for part in (data.kernel, "grid", "instructions", "accesses", "classes"):
        assert part in shown


def test_imported_traces_are_estimated_from_either_file(
    output: Output, imported: str, tmp_path: Path
) -> None:
    target = str(tmp_path / "t.parquet")
    assert output("trace", "import", imported, "-o", target) == ""
    record = json.loads(output("trace", "show", target, "--json"))
    assert (record["kernel"], record["instructions"], record["accesses"]) == ("square", 4, 2)
    assert record["registers"] == 10
    options = ("--device", "gtx-480", "--json")
    metrics = json.loads(output("profile", target, *options))["metrics"]
    assert metrics["inst_executed"] == 4
    assert metrics["inst_fp_32"] == 32
    assert metrics["dram_read_transactions"] == metrics["dram_write_transactions"] == 4
    assert output("estimate", imported, *options) == output("estimate", target, *options)


def test_several_traces_go_into_a_folder(output: Output, imported: str, tmp_path: Path) -> None:
    second = tmp_path / "kernel-2.traceg"
    second.write_text(KERNEL_TRACE.replace("square", "cube"))
    folder = tmp_path / "stored"
    folder.mkdir()
    output("trace", "import", imported, str(second), "-o", str(folder))
    kernels = [kc.load_trace(folder / f"kernel-{n}.parquet").data.kernel for n in (1, 2)]
    assert kernels == ["square", "cube"]


def test_input_that_cannot_be_used(
    error: Callable[..., str], stored: Callable[..., str], imported: str, tmp_path: Path
) -> None:
    target = str(tmp_path / "t.parquet")
    saxpy, device = stored("saxpy"), ("--device", "gtx-480")
    other = tmp_path / "other"
    other.mkdir()
    (other / "kernel-1.traceg").write_text(KERNEL_TRACE)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(Path(saxpy).read_bytes()[:-9])
    for arguments, message in (
        (("trace", workload("saxpy"), "-o", "t.csv"), "--output must be a .parquet file"),
        (("trace", workload("saxpy"), "-o", "none/t.parquet"), "there is no folder none"),
        (("trace", saxpy, "-o", target), "is a trace already"),
        (("trace", "import", imported, imported, "-o", target), "2 traces need a folder"),
        (
            ("trace", "import", imported, str(other / "kernel-1.traceg"), "-o", str(tmp_path)),
            "several of the traces have the same name",
        ),
        (
            ("trace", workload("sor"), "-o", target, "--device", "r9-nano", "--warp-width", "32"),
            "--warp-width 32: r9-nano has warps of 64 threads",
        ),
        (("trace", workload("sor"), "-o", target, "--warp-width", "24"), "24 is not one of"),
        (("profile", saxpy, "--device", "r9-nano"), "`kernelcast trace --warp-width 64`"),
        (("trace", "show", str(damaged)), "no Parquet file, or it is damaged"),
        (("estimate", str(damaged), *device), "no Parquet file, or it is damaged"),
        (("profile", "none.parquet", *device), "none.parquet: No such file"),
        (("estimate", saxpy, *device, "--size", "small"), "--size goes with a workload file"),
        (("profile", saxpy, *device, "--engine", "reference"), "--engine goes with a workload"),
        (("mix", saxpy, "--limit-seconds", "3"), "--limit-seconds goes with a workload"),
        (("mix", saxpy, "--limit-instructions", "3"), "--limit-instructions goes with"),
    ):
        text = error(*arguments)
        assert message in text
        assert text.count("\n") == 1


def test_the_suffix_tells_a_trace() -> None:
    assert kc.is_trace_file("a/t.parquet")
    assert kc.is_trace_file("kernel-1.traceg.xz")
    assert not kc.is_trace_file("parquet.toml")
    with pytest.raises(KernelcastError):
        kc.load_trace("t.toml")
