"""A complete model from a package that is not ours: one module and one entry point.

It has a section in device files, an option, an input of its own, and something to be recorded.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.errors import DeviceFileError, KernelcastError, ModelNotApplicable

ROOT = Path(__file__).parents[2]
SAXPY = ROOT / "examples" / "saxpy" / "saxpy.toml"
GTX_480 = ROOT / "simcore" / "devices" / "gtx-480.toml"
CommandLine = Callable[..., str]

PACKAGE = '''
"""Model `toll`: every access to global memory pays.

Nobody has published it.
"""

from dataclasses import dataclass

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Estimate, Parameter, Term
from kernelcast.models.model import Recording, declared
from kernelcast.models.option import ModelOption
from kernelcast.simcore.device.rescaling import DependentFact, How
from kernelcast.simcore.device.section import Section


@dataclass(frozen=True)
class Discounts:
    store: float


@dataclass(frozen=True)
class TollFacts:
    access_cycles: float
    discounts: Discounts
    collector: str = "nobody"


def contradictions(device, facts):
    if facts.discounts.store > 1:
        yield "discounts.store", f"more than the whole toll on {device.name}"


TOLL = Section(
    "toll",
    TollFacts,
    may_be_zero=frozenset({"discounts.store"}),
    units={"discounts.store": "share"},
    rules=(
        DependentFact("toll.access_cycles", How.SCALES, ("architecture.clock_hz",), reason="ns"),
    ),
    contradictions=contradictions,
)
LANES = ModelOption(
    "open_lanes",
    int,
    "How many accesses pay at a time. Default: 1.",
    lambda lanes: "" if lanes > 0 else f"a road has a lane, got {lanes}",
)
made = []


def accesses(source):
    """Loads and stores of global memory by all warps."""
    made.append(source.device.name)
    assert source.trace.paths is not None
    issues = source.trace.stage_warp_issues.sum(axis=0)
    return {
        kind: sum(
            int(issues[row.pc])
            for row in source.trace.instructions
            if row.kind == kind and row.space == "global"
        )
        for kind in ("load", "store")
    }


@declared(needs={Recording.PATHS}, options=(LANES,), sections=(TOLL,))
def toll(profile, device, options):
    facts, counts = device.section(TOLL), profile.derived(accesses)
    if facts is None or counts is None:
        raise ModelNotApplicable(f"toll needs [toll] of {device.name} and an execution")
    paid = counts["load"] + counts["store"] * (1 - facts.discounts.store)
    lanes = options.value(LANES) or 1
    seconds = profile.repeats * device.seconds(paid * facts.access_cycles / lanes)
    return Estimate(
        kernel=profile.kernel,
        device=device.name,
        model="toll",
        terms=Term("toll", "accesses x cycles / lanes", leaf_seconds=seconds),
        bottleneck="toll",
        time_low_s=seconds,
        time_high_s=seconds,
        basis="it is exact",
        repeats=profile.repeats,
        parameters=(Parameter("paid", paid, "", "accesses"),),
    )
'''
SECTION = """
[toll]
access_cycles = { value = 50, source = "assumed", ref = "a guess" }
[toll.discounts]
store = { value = 0, source = "assumed", ref = "another one" }
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the installed package."""
    folder = tmp_path / "site"
    information = folder / "toll_model-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "toll_model.py").write_text(PACKAGE, encoding="utf-8")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: toll-model\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[kernelcast.models]\ntoll = toll_model:toll\n")
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "toll_model", raising=False)


def device_file(folder: Path, old: str = "", new: str = "") -> Path:
    """The GTX 480 with [toll], in which `old` is replaced."""
    assert old in SECTION
    path = folder / "tolled.toml"
    section = SECTION.replace(old, new) if old else SECTION
    path.write_text(GTX_480.read_text(encoding="utf-8") + section, encoding="utf-8")
    return path


def test_its_estimate_on_the_command_line_of_a_fresh_process(site: Path, tmp_path: Path) -> None:
    arguments = (
        *("estimate", str(SAXPY), "--size", "small", "--device", str(device_file(tmp_path))),
        *("--model", "toll", "--model", "roofline", "--model-option", "open-lanes=4", "--json"),
    )
    finished = subprocess.run(
        [sys.executable, "-m", "kernelcast", *arguments],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    found, other = json.loads(finished.stdout)["estimates"]
    accesses = 3 * math.ceil(10_000 / 32)  # two loads and a store in each warp with elements
    seconds = accesses * 50 / 4 / kc.device("gtx-480").running_clock_hz
    assert found["time_s"] == pytest.approx(seconds)
    assert (found["model"], found["bottleneck"]) == ("toll", "toll")
    assert other["model"] == "roofline"


@pytest.mark.usefixtures("installed")
def test_its_input_is_made_once_and_only_when_it_asks(tmp_path: Path) -> None:
    device = kc.device(device_file(tmp_path))
    profile = kc.load_workload(SAXPY).run("small", record_paths=True).profile(device)
    kc.estimate(profile, "interval")
    kc.estimate(profile, "roofline")
    toll_made = kc.estimate(profile, "toll"), kc.estimate(profile, "toll", open_lanes=2)
    assert sys.modules["toll_model"].made == ["tolled"]
    assert toll_made[0].time_s == 2 * toll_made[1].time_s
    with pytest.raises(ModelNotApplicable, match=r"\[toll\] of gtx-480"):
        kc.estimate(profile, "toll", "gtx-480")


@pytest.mark.usefixtures("installed")
def test_its_facts_are_shown_with_units_and_sources(output: CommandLine, tmp_path: Path) -> None:
    path = device_file(tmp_path, "value = 0", "value = 0.25")
    rows = list(csv.reader(io.StringIO(output("devices", "show", str(path), "--csv"))))
    assert ["toll.access_cycles", "50.0", "cycles", "assumed", "a guess"] in rows
    assert ["toll.discounts.store", "0.25", "share", "assumed", "another one"] in rows
    assert "toll" in output("models")
    assert "Nobody has published it." in output("models", "show", "toll")


@pytest.mark.usefixtures("installed")
def test_its_facts_are_changed_and_follow(tmp_path: Path) -> None:
    device = kc.device(device_file(tmp_path))
    workload = kc.load_workload(SAXPY)
    found = kc.whatif(
        workload, device, sweep={"toll.discounts.store": [1.0]}, models=["toll"], size="small"
    )
    assert found.rows[1].speedup == pytest.approx(3 / 2)
    clock = 2 * device.architecture.clock_hz
    found = kc.whatif(
        workload, device, {"architecture.clock_hz": clock}, models=["toll"], size="small"
    )
    (fact,) = (
        item for item in found.rows[1].architecture.followed if item.name == "toll.access_cycles"
    )
    assert (fact.before, fact.after) == (50, 100)
    assert found.rows[1].speedup == pytest.approx(1)
    assert "toll" not in device.changed({"toll": "none"}).sections


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("value = 50", "value = -50", "toll.access_cycles: must be positive and finite, got -50"),
        ("value = 50", "value = 'x'", "toll.access_cycles: must be a number, got 'x'"),
        ("value = 0,", "value = 2,", "toll.discounts.store: more than the whole toll on tolled"),
        ("access_cycles", "access_cycle", "toll.access_cycle: is unknown (did you mean access_c"),
        ("[toll.discounts]", "[toll.refunds]", "toll.refunds: is unknown"),
        ("[toll]", "[tolls]", "tolls: is unknown (did you mean toll, atomics?)"),
    ],
)
def test_wrong_sections_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = device_file(tmp_path, old, new)
    with pytest.raises(DeviceFileError) as raised:
        kc.device(path)
    assert str(raised.value).startswith(f"{path}: {message}")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"open_lanes": 0}, "a road has a lane, got 0"),
        ({"open_lanes": 1.5}, "open_lanes is a whole number, got 1.5"),
        ({"open_lanes": "two"}, "open_lanes is a whole number, got 'two'"),
        ({"open_lane": 2}, "toll has no option 'open_lane' (did you mean open_lanes?)"),
        ({"computation_proportion": 0.5}, "toll has no option 'computation_proportion'"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    device = kc.device(device_file(tmp_path))
    profile = kc.load_workload(SAXPY).run("small", record_paths=True).profile(device)
    with pytest.raises(KernelcastError) as raised:
        kc.estimate(profile, "toll", **options)  # type: ignore[arg-type]
    assert str(raised.value).startswith(message)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model-option", "open_lanes"), "--model-option takes NAME=VALUE, got 'open_lanes'"),
        (("--model-option", "open_lanes=0"), "a road has a lane, got 0"),
        (("--computation-proportion", "0.5"), "toll has no option 'computation_proportion'"),
        (
            (
                *("--model", "mpd-cpd", "--computation-proportion", "0.5"),
                *("--model-option", "computation-proportion=0.5"),
            ),
            "computation_proportion is given twice",
        ),
    ],
)
def test_wrong_options_of_the_command_line_are_one_line(
    error: CommandLine, options: tuple[str, ...], message: str
) -> None:
    told = error("estimate", str(SAXPY), "--device", "gtx-480", "--model", "toll", *options)
    assert message in told
    assert told.count("\n") == 1


def test_without_the_package_its_section_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(DeviceFileError, match=r"tolled.toml: toll: is unknown$"):
        kc.device(device_file(tmp_path))


@pytest.mark.usefixtures("installed")
def test_a_package_that_cannot_be_imported_is_named(site: Path, tmp_path: Path) -> None:
    """A package like that is in nobody's way, but where it might be meant."""
    (site / "toll_model.py").write_text("import no_such_module", encoding="utf-8")
    kc.device("a100-80gb")
    kc.device(GTX_480)
    refusal = r"toll: is unknown, and model 'toll' is installed as toll_model:toll but cannot be im"
    with pytest.raises(DeviceFileError, match=refusal):
        kc.device(device_file(tmp_path))
