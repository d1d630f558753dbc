"""Configurations of Triton kernels, ranked without a GPU, in this process and in others."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError, LaunchError
from kernelcast.simcore.device.file import load_device
from kernelcast.triton_calls import workers
from kernelcast.triton_calls.trial import Trial, packed_trial, unpacked_trial

triton: Any = pytest.importorskip("triton", reason="Triton is not installed")
tl: Any = importlib.import_module("triton.language")

TOO_MANY_STAGES = 20
"""Stages of 16 KB each: more than the shared memory of an H100."""
MARGIN = 1.05
"""How far the fastest configuration may be from that of an exhaustive search."""

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@triton.jit  # type: ignore[untyped-decorator]
def add(x, y, total, n, size: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * size + tl.arange(0, size)
    inside = i < n
    tl.store(total + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def product(a, b, c, k, m: tl.constexpr, n: tl.constexpr, d: tl.constexpr):  # type: ignore[no-untyped-def]
    rows, columns, depth = tl.program_id(0) * m + tl.arange(0, m), tl.arange(0, n), tl.arange(0, d)
    total = tl.zeros((m, n), tl.float32)
    for first in range(0, k, d):
        left = tl.load(a + rows[:, None] * k + (first + depth)[None, :])
        right = tl.load(b + (first + depth)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit  # type: ignore[untyped-decorator]
def copy_boxes(x, out, n, size: tl.constexpr):  # type: ignore[no-untyped-def]
    source = tl.make_tensor_descriptor(x, [n, size], [size, 1], [8, size])
    target = tl.make_tensor_descriptor(out, [n, size], [size, 1], [8, size])
    target.store([tl.program_id(0) * 8, 0], source.load([tl.program_id(0) * 8, 0]))


def sums(n: int) -> tuple[Any, ...]:
    return np.zeros(n, np.float32), np.zeros(n, np.float32), np.zeros(n, np.float32), n


def of_sizes(*sizes: int, warps: int = 1) -> list[Any]:
    return [triton.Config({"size": size}, num_warps=warps) for size in sizes]


def programs(n: int) -> Any:
    return lambda constants: (triton.cdiv(n, constants["size"]),)


def test_what_does_not_fit_is_left_out() -> None:
    a = np.zeros((128, 128), np.float16)
    tiles = [(64, 64, 64, 2), (64, 64, 64, TOO_MANY_STAGES), (32, 64, 64, 2)]
    configs = [
        triton.Config({"m": m, "n": n, "d": d}, num_stages=stages) for m, n, d, stages in tiles
    ]
    found = kc.tune(
        product,
        lambda constants: (128 // constants["m"],),
        (a, a, a, 128),
        configs=configs,
        device="h100-sxm",
        options=kc.TuneOptions(processes=1, exhaustive=True),
    )
    assert [config for config, _ in found.refused] == [configs[1]]
    assert "shared memory" in found.refused[0][1]
    assert {id(row.config) for row in found.rows} == {id(configs[0]), id(configs[2])}
    assert found.best is found.rows[0].config
    assert found.rows[0].time_s <= found.rows[1].time_s
    assert all(row.registers > 16 and 0 < row.occupancy.fraction <= 1 for row in found.rows)
    assert [row["rank"] for row in json.loads(json.dumps(found.as_dict()))["rows"]] == [1, 2]
    assert "refused" in str(found)


def test_other_processes_find_the_same() -> None:
    """The early stop leaves the slow ones out, and the same ones whoever predicts."""
    n = 1 << 20
    configs = of_sizes(32, 4096, 64, 1024, 512, 128)
    options = [
        kc.TuneOptions(processes=2),
        kc.TuneOptions(processes=1),
        kc.TuneOptions(processes=1, exhaustive=True),
    ]
    others, here, everything = (
        kc.tune(add, programs(n), sums(n), configs=configs, device="h100-sxm", options=each)
        for each in options
    )
    assert str(others) == str(here)
    assert len(everything.rows) == len(configs)
    assert everything.passed_over == ()
    assert here.passed_over
    assert len(here.rows) + len(here.passed_over) == len(configs)
    assert here.rows[0].time_s <= MARGIN * everything.rows[0].time_s


def test_a_few_thread_blocks_tell_nearly_what_the_model_does() -> None:
    """Three arrays pass DRAM once: no prediction is below that."""
    device, n = load_device("h100-sxm"), 1 << 22
    trial = Trial(add, sums(n), {}, device)
    (config,) = of_sizes(1024, warps=4)
    quick, whole = (trial.predicted((n // 1024,), config, quickly=each) for each in (True, False))
    assert quick.time_s == pytest.approx(whole.time_s, rel=MARGIN - 1)
    assert quick.occupancy == whole.occupancy
    assert quick.time_s > 8 * n / device.dram.bandwidth_bytes_per_s
    assert trial.args[2].sum() == 0


def test_launches_that_cannot_be_sketched_are_all_estimated() -> None:
    """Copies in bulk do not run apart from what they copy."""
    x, out = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    found = kc.tune(
        copy_boxes,
        (2,),
        (x, out, 16),
        configs=[triton.Config({"size": 64}, num_warps=warps) for warps in (1, 2, 4)],
        device="h100-sxm",
        options=kc.TuneOptions(processes=1),
    )
    assert len(found.rows) == 3
    assert not out.any()


def test_a_function_that_others_cannot_import_is_tuned_here() -> None:
    @triton.jit  # type: ignore[untyped-decorator]
    def fill(x, size: tl.constexpr):  # type: ignore[no-untyped-def]
        tl.store(x + tl.arange(0, size), 1.0)

    x = np.zeros(64, np.float32)
    assert packed_trial(Trial(fill, (x,), {}, load_device("h100-sxm"))) is None
    found = kc.tune(fill, (1,), (x,), configs=of_sizes(32, 64), device="h100-sxm")
    assert len(found.rows) == len(found.passed_over) == 1


def test_what_is_sent_to_other_processes() -> None:
    device = load_device("h100-sxm")
    with_size = triton.heuristics({"size": lambda given: given["n"]})(add)
    trial = Trial(add, sums(64), {}, device)
    content = packed_trial(trial)
    assert content is not None
    assert unpacked_trial(content).function is add
    assert packed_trial(Trial(with_size, sums(64), {}, device)) is None
    views = np.zeros((8, 8), np.float32)[:, :4]
    assert packed_trial(Trial(add, (views, views, views, 32), {}, device)) is None
    assert trial.grid_of(programs(64), of_sizes(32)[0]) == (2,)
    of_heuristics = Trial(with_size, sums(64), {}, device)
    assert of_heuristics.grid_of(programs(64), triton.Config({})) == (1,)


def test_hooks_of_configurations_run_first() -> None:
    x = np.zeros(64, np.float32)
    seen: list[dict[str, Any]] = []
    config = triton.Config({"size": 32}, pre_hook=seen.append)
    kc.tune(add, (1,), (x, x, x, 32), configs=[config], device="h100-sxm")
    assert seen[0]["x"] is x
    assert seen[0]["size"] == 32


def test_refusals() -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(InputError, match="give configs"):
        kc.tune(add, (1,), (x, x, x, 64), device="h100-sxm")
    with pytest.raises(CompilationError, match="arange"):
        kc.tune(add, (1,), (x, x, x, 64), configs=of_sizes(33, 65), device="h100-sxm")


def test_the_model_prunes_for_tritons_autotuner() -> None:
    configs = of_sizes(32, 512, 1024)
    pruning = {"perf_model": kc.triton_perf_model("h100-sxm"), "top_k": 1}
    tuned = triton.autotune(configs, key=["n"], prune_configs_by=pruning)(add)
    n = 1 << 14
    grid, args = programs(n), sums(n)
    with kc.capture(device="h100-sxm"):
        tuned[grid](*args)
    options = kc.TuneOptions(processes=1)
    found = kc.tune(add, grid, args, configs=configs, device="h100-sxm", options=options)
    assert tuned.best_config is found.best
    patient = kc.TuneOptions(processes=1, patience=1)
    again = kc.tune(add, grid, args, configs=configs, device="h100-sxm", options=patient)
    assert again.best is found.best
    assert next(row.time_s for row in again.rows) == found.rows[0].time_s
    assert len(again.rows) == 2
    with pytest.raises(InputError, match=r"kc\.tune"):
        pruning["perf_model"](grid=grid, x=args[0])  # type: ignore[operator]


def test_tritons_cache_of_configurations_can_be_shipped(tmp_path: Path) -> None:
    """The autotuner writes predicted times, and another one with that cache asks for none."""
    configs, n = of_sizes(32, 1024), 1 << 14
    tuned = triton.autotune(configs, key=["n"], cache_results=True)(add)
    with kc.capture(device="h100-sxm"):
        tuned[programs(n)](*sums(n))
    (file,) = (tmp_path / "triton").rglob("add.autotune.json")
    kept = {
        row[0]["kwargs"]["size"]: row[1] for row in json.loads(file.read_text())["configs_timings"]
    }
    assert min(kept, key=lambda size: kept[size]) == tuned.best_config.kwargs["size"]
    # the other way round than predicted, so that only the file can have told it
    file.write_text(
        file.read_text()
        .replace('"size": 32', '"size": 0')
        .replace('"size": 1024', '"size": 32')
        .replace('"size": 0', '"size": 1024')
    )
    again = triton.autotune(configs, key=["n"], cache_results=True)(add)
    with kc.capture(device="h100-sxm"):
        again[programs(n)](*sums(n))
    assert again.best_config.kwargs["size"] != tuned.best_config.kwargs["size"]


class Busy:
    """A worker of which the one that has the first task waits for all other tasks to end."""

    others: ClassVar[list[int]] = []
    all_ended = Event()

    def predict(self, _trial: bytes, task: Any) -> Any:
        number = task[0]
        if number == 0:
            return LaunchError(f"others ended before: {self.all_ended.wait(60)}")
        self.others.append(number)
        if len(self.others) == 5:
            self.all_ended.set()
        return LaunchError(str(number))

    def end(self) -> None:
        """Nothing was started."""


def test_workers_go_on_while_one_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_Worker", Busy)
    monkeypatch.setattr(workers, "_POOLS", [])
    monkeypatch.setattr(workers, "packed_trial", lambda _: b"a trial")
    trial = Trial(add, (), {}, load_device("a100-40gb"))
    tasks = [(number, f"configuration {number}", True) for number in range(6)]
    found = [str(outcome) for outcome in workers.predictions(trial, tasks, 2)]
    assert found == ["others ended before: True", "1", "2", "3", "4", "5"]
