"""Rankings from predictions, and the file that a sweep keeps them in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ranking.ranking import Outcome, Prediction, Refusal, make_ranking
from kernelcast.ranking.store import RankStore, outcome_key
from kernelcast.ranking.variations import Configuration
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.file import load_device


def configuration(number: int) -> Configuration:
    return Configuration((32, number, 1))


def prediction(time_s: float, *volumes: float) -> Prediction:
    return Prediction(time_s, "DRAM", dict(zip("ab", volumes, strict=False)), 0.5)


def test_rows_are_in_the_order_of_time_and_equal_times_share_a_rank() -> None:
    outcomes: dict[Configuration, Outcome] = {
        configuration(1): prediction(3.0, 1.0, 1.0),
        configuration(2): prediction(1.0, 5.0, 5.0),
        configuration(3): prediction(3.0, 0.5, 9.0),
        configuration(4): Refusal("too many threads", 0.1),
        configuration(5): prediction(4.0, 2.0, 2.0),
    }
    found = make_ranking("k", "d", "m", outcomes, ("said",))
    assert [(row.rank, row.configuration.thread_block[1]) for row in found.rows] == [
        (1, 2),
        (2, 3),
        (2, 1),
        (4, 5),
    ]
    assert found.refused == ((configuration(4), "too many threads"),)
    assert found.seconds_per_configuration == pytest.approx(2.1 / 5)
    assert found.statements == ("said",)
    assert [row.is_undominated for row in found.rows] == [False, True, True, False]
    assert "2 of 4" in found.pareto_note


def test_the_pareto_front_against_every_pair() -> None:
    points = np.random.default_rng(3).integers(0, 12, (200, 2)).astype(float)
    outcomes: dict[Configuration, Outcome] = {
        configuration(n + 1): prediction(1.0 + n, *point) for n, point in enumerate(points)
    }
    found = make_ranking("k", "d", "m", outcomes)
    for row in found.rows:
        point = np.array(list(row.volumes.values()))
        beaten = ((points <= point).all(axis=1) & (points < point).any(axis=1)).any()
        assert row.is_undominated == (not beaten)


def test_a_single_row_needs_no_pareto_note() -> None:
    found = make_ranking("k", "d", "m", {configuration(1): prediction(1.0, 1.0)})
    assert found.pareto_note == ""


def test_a_store_gives_back_what_was_added(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jsonl"
    made: dict[str, Outcome] = {"x": prediction(1 / 3, 2.0, 3.0), "y": Refusal("no", 0.25)}
    RankStore(path).add(made)
    RankStore(path).add({"z": prediction(2.0)})
    assert RankStore(path).outcomes == {**made, "z": prediction(2.0)}


def test_a_line_that_was_cut_off_is_dropped_and_the_file_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jsonl"
    RankStore(path).add({"x": prediction(1.0), "y": prediction(2.0)})
    text = path.read_text()
    path.write_text(text[:-20])
    store = RankStore(path)
    assert set(store.outcomes) == {"x"}
    store.add({"y": prediction(3.0)})
    assert RankStore(path).outcomes == {"x": prediction(1.0), "y": prediction(3.0)}
    path.write_text(text[:10])
    assert RankStore(path).outcomes == {}


@pytest.mark.parametrize(
    "text",
    ["name,value\n1,2\n", "[1]\n", '{"key": "x"}\n', "plain", '{"key": 1, "seconds": "s"}\n'],
)
def test_another_file_is_no_store_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.csv"
    path.write_text(text)
    with pytest.raises(KernelcastError, match=r"other\.csv:1"):
        RankStore(path)
    assert path.read_text() == text


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    store = RankStore(tmp_path / "missing" / "sweep.jsonl")
    with pytest.raises(KernelcastError, match="No such file"):
        store.add({"x": prediction(1.0)})


def test_lines_are_json_objects(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jsonl"
    RankStore(path).add({"x": prediction(1.5, 2.0)})
    assert json.loads(path.read_text()) == {
        "key": "x",
        "seconds": 0.5,
        "time_s": 1.5,
        "limiter": "DRAM",
        "volumes": {"a": 2.0},
    }


def test_keys_tell_kernels_configurations_and_devices_apart() -> None:
    device = load_device("a100-40gb")
    changed = changed_device(device, {"l2.capacity_bytes": 2 * device.l2.capacity_bytes})
    keys = {
        outcome_key("k", configuration(1), device),
        outcome_key("other", configuration(1), device),
        outcome_key("k", configuration(2), device),
        outcome_key("k", configuration(1), changed),
    }
    assert len(keys) == 4
    assert outcome_key("k", configuration(1), device) in keys
