"""The command line: results, their shapes, and exit status."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import kernelcast as kc
import kernelcast.models
from kernelcast.cli import main
from kernelcast.models import MODELS, ModelOptions, get_model
from kernelcast.models.model import Recording, declared
from kernelcast.simcore.profile.timed import timed_warps

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
SAXPY = str(EXAMPLES / "saxpy" / "saxpy.toml")
SOR = str(EXAMPLES / "sor" / "sor.toml")
SMALL_SAXPY = (SAXPY, "--size", "small")
DONE, NEGATIVE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

Output = Callable[..., str]


def test_estimate_json_has_the_documented_shape(output: Output) -> None:
    text = output("estimate", *SMALL_SAXPY, "--device", "gtx-480", "--json")
    record = json.loads(text)
    assert list(record) == ["schema", "kernel", "estimates"]
    assert record["schema"] == 1
    assert record["kernel"] == "saxpy"
    (estimate,) = record["estimates"]
    assert set(estimate) == {
        *("device", "model", "time_s", "time_low_s", "time_high_s"),
        *("coverage", "bottleneck", "gain", "causes", "advice", "contradictions", "cycles"),
        *("clock_hz", "terms", "parameters", "assumptions", "valid", "code"),
        *("achieved", "decisive_facts", "sample_share", "speed_up"),
    }
    assert all(set(item) == {"what", "gain", "where"} for item in estimate["advice"])
    assert estimate["advice"][0]["gain"] == estimate["gain"] > 1
    assert estimate["causes"][0].startswith(f"{estimate['bottleneck']}: ")
    assert 0 < estimate["cycles"] / estimate["clock_hz"] < estimate["time_s"]
    assert set(estimate["terms"]) == {"name", "seconds", "combine", "formula", "parts"}
    assert estimate["terms"]["seconds"] == estimate["time_s"]
    assert estimate["time_low_s"] <= estimate["time_s"] <= estimate["time_high_s"]
    assert estimate["valid"] is False


def test_estimate_gives_one_row_for_each_device_and_model(output: Output) -> None:
    devices = ("gtx-480", "r9-nano", "tesla-k20c")
    options = [item for name in devices for item in ("--device", name)]
    models = ("--model", "roofline", "--model", "quantitative-roofline")
    text = output("estimate", *SMALL_SAXPY, *options, *models, "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["model"], row["device"]) for row in rows] == [
        (model, device) for model in models[1::2] for device in devices
    ]
    assert all(float(row["time_s"]) > 0 for row in rows)


def test_estimate_equals_the_python_api(output: Output) -> None:
    text = output("estimate", *SMALL_SAXPY, "--device", "gtx-660", "--json")
    profile = kc.load_workload(SAXPY).run("small").profile("gtx-660")
    assert json.loads(text)["estimates"][0]["time_s"] == kc.estimate(profile).time_s


class Watching:
    """A model that simulates: it keeps the profiles that it gets."""

    def __init__(self) -> None:
        self.seen: list[kc.KernelProfile] = []

    def __call__(
        self, profile: kc.KernelProfile, device: kc.Device, options: ModelOptions
    ) -> kc.Estimate:
        self.seen.append(profile)
        return get_model("roofline")(profile, device, options)


def test_estimate_records_the_paths_that_a_model_needs(
    output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Watching()
    watching = declared(needs={Recording.PATHS})(model)
    known = {"watching": watching, "roofline": get_model("roofline")}
    kc.device("gtx-480")  # whose file has facts that the other models read
    monkeypatch.setattr(kernelcast.models, "_BUILT_IN", known)
    output("estimate", *SMALL_SAXPY, "--device", "gtx-480", "--model", "watching")
    assert [profile.derived(timed_warps) is not None for profile in model.seen] == [True]


def test_estimate_explains_itself(output: Output) -> None:
    devices = ("--device", "gtx-480", "--device", "gtx-960")
    text = output("estimate", *SMALL_SAXPY, *devices, "--model", "quantitative-roofline", "-vv")
    for part in ("speed-up", "K_type", "W_comp", "E_instr", "O_krn", "why", "assumed", "time"):
        assert part in text


def test_type_of_work_is_overridden(output: Output) -> None:
    fp32, integer = (
        json.loads(
            output(
                "estimate",
                *SMALL_SAXPY,
                *("--device", "gtx-480", "--model", "quantitative-roofline"),
                *("--json", "--type", name),
            )
        )["estimates"][0]["terms"]
        for name in ("fp32", "int")
    )
    assert fp32 != integer


def test_reference_time_scales_by_utilization(output: Output) -> None:
    def times(*options: str) -> list[float]:
        devices = ("--device", "gtx-480", "--device", "gtx-960")
        text = output("estimate", *SMALL_SAXPY, *devices, "--json", *options)
        return [item["time_s"] for item in json.loads(text)["estimates"]]

    first, second = times()
    corrected = times("--reference-time", str(2 * first))
    assert corrected == pytest.approx([2 * first, 2 * second])
    other = times("--reference-time", str(3 * second), "--measured-on", "gtx-960")
    assert other == pytest.approx([3 * first, 3 * second])


def test_estimate_from_metrics_is_the_models_closed_form(tmp_path: Path, output: Output) -> None:
    """Memory-bound by construction: t = 32 (reads + writes) launches / B_mem (eqs 4.2, 4.18)."""
    metrics = {
        "inst_executed": 1000,
        "inst_fp_32": 32000,
        "inst_fp_64": 0,
        "inst_integer": 0,
        "inst_compute_ld_st": 0,
        "flop_count_sp_fma": 32000,
        "flop_count_dp_fma": 0,
        "dram_read_transactions": 5_000_000,
        "dram_write_transactions": 1_000_000,
    }
    path = tmp_path / "m.csv"
    path.write_text("\n".join(["metric,value", *(f"{k},{v}" for k, v in metrics.items())]))
    options = ("--metrics", str(path), "--measured-on", "gtx-480", "--device", "gtx-960")
    model = ("--model", "quantitative-roofline")
    text = output("estimate", *options, *model, "--kernel", "k", "--repeats", "3", "--json")
    record = json.loads(text)
    measured = kc.device("gtx-960").measured
    assert measured is not None
    bandwidth = measured.dram_bandwidth_bytes_per_s
    assert record["kernel"] == "k"
    assert record["estimates"][0]["time_s"] == pytest.approx(3 * 32 * 6e6 / bandwidth)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_estimate_plots(tmp_path: Path, output: Output, suffix: str) -> None:
    path = tmp_path / f"plot.{suffix}"
    output("estimate", *SMALL_SAXPY, "--device", "gtx-480", "--plot", str(path), "--csv")
    assert path.stat().st_size > 1000


def test_one_plot_shows_several_devices(tmp_path: Path, output: Output) -> None:
    """SOR's traffic differs between GPUs, yet one picture needs one half-line."""
    path = tmp_path / "plot.svg"
    devices = ("--device", "gtx-480", "--device", "gtx-1060-6gb", "--device", "r9-nano")
    output("estimate", SOR, "--size", "small", *devices, "--plot", str(path), "--csv")
    assert 'id="half-line"' in path.read_text()


def test_roofline_plot_shows_the_measured_point(tmp_path: Path, output: Output) -> None:
    path = tmp_path / "plot.svg"
    options = ("--device", "gtx-480", "--model", "roofline", "--plot", str(path))
    output("estimate", *SMALL_SAXPY, *options, "--measured", "1e-6")
    assert 'id="measured-point"' in path.read_text()


def test_roofline_plot(tmp_path: Path, output: Output) -> None:
    path = tmp_path / "plot.svg"
    options = ("--device", "gtx-480", "--model", "roofline", "--plot", str(path))
    output("estimate", *SMALL_SAXPY, *options)
    assert path.read_text().count("<svg") == 1


def test_profile_json_and_csv_agree(output: Output) -> None:
    options = ("profile", *SMALL_SAXPY, "--device", "gtx-480")
    record = json.loads(output(*options, "--json"))
    assert list(record) == ["schema", "kernel", "device", "code", "metrics", "occupancy"]
    metrics = record["metrics"]
    assert metrics["flop_count_sp_fma"] == 10_000
    assert metrics["dram_write_transactions"] == 10_000 * 4 / 32
    rows = {row["metric"]: float(row["value"]) for row in _csv(output(*options, "--csv"))}
    assert rows == metrics
    assert "flop_count_sp_fma" in output(*options)


def test_profile_under_the_names_of_nsight_compute(output: Output) -> None:
    options = ("profile", *SMALL_SAXPY, "--device", "gtx-480", "--metrics", "ncu", "--json")
    metrics = json.loads(output(*options))["metrics"]
    assert metrics["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] == 10_000


def test_mix_counts_by_thread_and_warp(output: Output) -> None:
    record = json.loads(output("mix", *SMALL_SAXPY, "--json"))
    shape = "schema kernel engine code architecture note registers elapsed_s thread_instructions"
    assert list(record) == [
        *shape.split(),
        *["warp_instructions", "tensor_operations", "classes", "mix"],
    ]
    rows = {row["opcode"]: row for row in record["mix"]}
    assert set(record["mix"][0]) == {"opcode", "unit", "thread", "warp", "thread_share"}
    assert rows["fma.rn.f32"]["thread"] == 10_000
    assert rows["fma.rn.f32"]["warp"] == -(-10_000 // 32)
    assert rows["st.global.f32"]["unit"] == "load/store"
    assert record["thread_instructions"] == sum(row["thread"] for row in record["mix"])


def test_native_mix_folds_parameter_loads(output: Output) -> None:
    record = json.loads(output("mix", *SMALL_SAXPY, "--json", "--counting", "merged"))
    opcodes = {row["opcode"] for row in record["mix"]}
    assert "fma.rn.f32" in opcodes
    assert not [name for name in opcodes if name.startswith(("ld.param", "cvta"))]


def test_mix_tables(output: Output) -> None:
    assert "fma.rn.f32" in output("mix", *SMALL_SAXPY)
    rows = _csv(output("mix", *SMALL_SAXPY, "--csv"))
    assert {"opcode", "unit", "thread", "warp"} == set(rows[0])


def test_run_checks_against_numpy(output: Output) -> None:
    record = json.loads(output("run", *SMALL_SAXPY, "--check", "--json"))
    assert record["passed"] is True
    assert record["buffers"][0]["name"] == "y"
    assert "passed" in output("run", *SMALL_SAXPY, "--check")
    assert "thread instructions" in output("run", *SMALL_SAXPY)


def test_failed_check_is_a_negative_answer(tmp_path: Path, output: Output) -> None:
    folder = EXAMPLES / "saxpy"
    (tmp_path / "saxpy.ptx").write_text((folder / "saxpy.ptx").read_text())
    (tmp_path / "saxpy.toml").write_text((folder / "saxpy.toml").read_text())
    (tmp_path / "reference.py").write_text("def saxpy(i, s):\n    return {'y': i['x']}\n")
    text = output(
        "run", str(tmp_path / "saxpy.toml"), "--size", "small", "--check", status=NEGATIVE
    )
    assert "failed" in text


def test_devices(output: Output) -> None:
    assert "gtx-480" in output("devices")
    names = [row["name"] for row in json.loads(output("devices", "--json"))["devices"]]
    assert tuple(names) == kc.devices()
    assert [row["name"] for row in _csv(output("devices", "--csv"))] == names


def test_device_shows_every_value_with_its_source(output: Output) -> None:
    record = json.loads(output("devices", "show", "gtx-480", "--json"))
    values = {row["name"]: row for row in record["values"]}
    assert values["architecture.sm_count"]["value"] == 15
    assert all(row["source"] and row["reference"] for row in record["values"])
    assert len(_csv(output("devices", "show", "gtx-480", "--csv"))) == len(values)
    shown = output("devices", "show", "gtx-480", "-v")
    assert all(name in shown for name in values if len(name) < 24)


def test_the_name_of_a_device_shows_it(output: Output) -> None:
    assert output("devices", "gtx-480", "--json") == output("devices", "show", "gtx-480", "--json")


def test_models(output: Output) -> None:
    record = json.loads(output("models", "--json"))
    assert [item["name"] for item in record["models"]] == list(MODELS)
    assert all(item["summary"] for item in record["models"])
    assert "roofline" in output("models")
    assert "Williams" in output("models", "show", "roofline")
    assert "Williams" in json.loads(output("models", "show", "roofline", "--json"))["description"]


def test_version(output: Output) -> None:
    assert output("--version") == f"kernelcast {kc.__version__}\n"


@pytest.mark.parametrize("command", ["estimate", "profile", "mix", "run", "devices", "models"])
def test_help(output: Output, command: str) -> None:
    assert "--json" in output(command, "--help")


def test_python_m_kernelcast() -> None:
    command = [sys.executable, "-m", "kernelcast", "mix", *SMALL_SAXPY, "--csv"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert finished.stdout.startswith("opcode,unit,thread,warp\n")
    assert finished.stderr == ""


def test_exit_status_of_the_process() -> None:
    command = [sys.executable, "-m", "kernelcast", "mix", "none.toml"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == BAD_INPUT
    assert finished.stderr == "error: none.toml: No such file or directory\n"


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_interrupt_ends_with_one_line(tmp_path: Path, engine: str) -> None:
    workload = _endless_workload(tmp_path)
    limits = ("--limit-seconds", "600", "--limit-instructions", str(2**40))
    command = [sys.executable, "-c", _SAYS_WHEN_IT_RUNS, "run", workload, "--engine", engine]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, *limits], stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=600)
    assert process.returncode == INTERRUPTED
    assert message == "interrupted\n"


# The command line, with a progress report that tells the test when thread blocks are executed.
_SAYS_WHEN_IT_RUNS = """
import contextlib, os, sys
from kernelcast.cli import main

@contextlib.contextmanager
def report(title):
    yield lambda share: os.write(1, b"running\\n")

sys.modules["kernelcast.cli.kernels.run"].show_progress = report
sys.exit(main())
"""


def _endless_workload(folder: Path) -> str:
    """A workload whose thread blocks from 1,000 on never end.

    Those before let the reference engine, which reports after each batch, show that it runs.
    """
    (folder / "endless.ptx").write_text(
        """.version 8.0
        .target sm_75
        .address_size 64
        .visible .entry endless()
        {
            .reg .pred %p; .reg .b32 %r;
            mov.u32 %r, %ctaid.x;
            setp.lt.u32 %p, %r, 1000;
            @%p bra $end;
        $again:
            add.u32 %r, %r, 1;
            bra $again;
        $end:
            ret;
        }
        """
    )
    file = folder / "endless.toml"
    file.write_text(
        """
        [kernel]
        source = "endless.ptx"
        [launch]
        grid = [2000]
        block = [256]
        """
    )
    return str(file)


def _csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_shell_offers_devices_and_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The environment has what a shell tells: the words so far, and where the cursor stands."""
    monkeypatch.setenv("_KERNELCAST_COMPLETE", "complete_bash")
    of_h1 = [name for name in kc.devices() if name.startswith("h1")]
    expected = {
        "kernelcast estimate --device h1": of_h1,
        "kernelcast devices h1": of_h1,
        "kernelcast devices show h1": of_h1,
        "kernelcast validate measured --device h1": of_h1,
        "kernelcast estimate --model inter": ["interval"],
    }
    for words, names in expected.items():
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        main([])
        assert capsys.readouterr().out.split() == names
