"""Launches, memories and estimates are made once, and are then what they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.architectures import ExecutedKernel
from kernelcast.cli import main
from kernelcast.errors import TraceFormatError
from kernelcast.execution import kept_run, path_samples, runnable
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore import engine
from kernelcast.simcore.engine.jit.runtime import job
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch
from kernelcast.simcore.memory import simulated_memory
from kernelcast.simcore.memory.simulated_memory import simulate_memory
from kernelcast.simcore.timing.launch import launch_timing
from kernelcast.store import results
from kernelcast.store.memory_facts import memory_facts

KEPLER, PASCAL, AMD = "gtx-660", "gtx-1060-6gb", "r9-nano"


@contextmanager
def forbidden(monkeypatch: pytest.MonkeyPatch, *places: tuple[Any, str]) -> Iterator[None]:
    """Nothing may call those functions."""

    def call(*_positional: object, **_named: object) -> Any:
        raise AssertionError("done again")

    with monkeypatch.context() as patch:
        for place, name in places:
            patch.setattr(place, name, call)
        yield


WHOLE = (runnable, "execute"), (path_samples, "record_paths")
EXECUTION = *WHOLE, (CompiledLaunch, "__init__")
SIMULATION = (simulated_memory.SimulatedMemory, "accept"), (simulated_memory, "simulate_memory")
WALK = ((launch_timing, "launch_timing"),)


def command(
    capsys: pytest.CaptureFixture[str], workload: Path, *options: str, name: str = "estimate"
) -> str:
    assert main([name, str(workload), "--size", "small", "--json", *options]) == 0
    return capsys.readouterr().out


def on(*devices: str) -> list[str]:
    return [text for device in devices for text in ("--device", device)]


@pytest.mark.usefixtures("store")
def test_a_second_estimate_does_nothing_again_and_is_the_first_byte_for_byte(
    sgemm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = command(capsys, sgemm, "--no-store", *on(KEPLER, AMD))
    assert not results.held_files()
    first = command(capsys, sgemm, *on(KEPLER, AMD))
    with forbidden(monkeypatch, *EXECUTION, *SIMULATION, *WALK):
        second = command(capsys, sgemm, *on(KEPLER, AMD))
    assert without == first == second


PRODUCTS = """
.version 8.4
.target sm_80
.address_size 64
.visible .entry products(.param .u64 c) {
    .reg .b32 %r<9>;
    .reg .b64 %p;
    .shared .align 16 .b8 tile[512];
    mov.b32 %r1, 0;
    mov.u32 %r2, tile;
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r3, %r4}, [%r2];
    mma.sync.aligned.SHAPE.row.col.f16.f16.f16.f16 {%r5, %r6}, {%r3, %r4EXTRA}, {%r1}, {%r1, %r1};
    ld.param.u64 %p, [c];
    st.global.b32 [%p], %r5;
    ret;
}
"""


def products(shape: str) -> KernelTrace:
    extra, b = ("", "{%r1}") if shape == "m16n8k8" else (", %r1, %r1", "{%r1, %r1}")
    text = PRODUCTS.replace("SHAPE", shape).replace("EXTRA", extra).replace("{%r1}", b, 1)
    kernel = kc.load_ptx(text)["products"]
    options = kc.RunOptions(devices=[kc.device("a100-40gb")], results=False)
    return kernel.run(grid=2, block=32, args=[np.zeros(8, np.float16)], options=options)


@pytest.mark.usefixtures("store")
def test_launches_with_products_of_matrices_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opcodes of products and of their rows are in no table: they are known by what they are of."""
    first = products("m16n8k16")
    with forbidden(monkeypatch, *WHOLE):
        second = products("m16n8k16")
    assert second.data.classes.totals()[0].tolist() == first.data.classes.totals()[0].tolist()
    with forbidden(monkeypatch, *WHOLE), pytest.raises(AssertionError, match="done again"):
        products("m16n8k8")


@pytest.mark.usefixtures("store")
def test_other_devices_need_no_execution_and_other_models_no_simulation(
    sgemm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command(capsys, sgemm, *on(KEPLER))
    with forbidden(monkeypatch, *EXECUTION):
        other = command(capsys, sgemm, *on(PASCAL))
    with forbidden(monkeypatch, *WHOLE, *SIMULATION):  # without paths it is to be seen how large
        models = command(capsys, sgemm, *on(PASCAL), "--model", "roofline", "--model", "mpd-cpd")
        profile = command(capsys, sgemm, *on(PASCAL), name="profile")
        topdown = command(capsys, sgemm, *on(PASCAL), name="topdown")
    assert other == command(capsys, sgemm, "--no-store", *on(PASCAL))
    options = (*on(PASCAL), "--model", "roofline", "--model", "mpd-cpd", "--no-store")
    assert models == command(capsys, sgemm, *options)
    assert profile == command(capsys, sgemm, "--no-store", *on(PASCAL), name="profile")
    assert topdown == command(capsys, sgemm, "--no-store", *on(PASCAL), name="topdown")


@pytest.mark.usefixtures("store")
def test_what_is_kept_in_warps_of_one_width_serves_when_two_are_wanted(
    sgemm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command(capsys, sgemm, *on(KEPLER))
    executed: list[int] = []
    execute = engine.execute

    def counted(*positional: Any, warp_width: int, **named: Any) -> Any:
        executed.append(warp_width)
        return execute(*positional, warp_width=warp_width, **named)

    monkeypatch.setattr(runnable, "execute", counted)
    both = command(capsys, sgemm, *on(KEPLER, AMD))
    assert executed == [64]
    assert both == command(capsys, sgemm, "--no-store", *on(KEPLER, AMD))


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_results_do_not_depend_on_threads_nor_on_the_store(
    threads: int,
    sgemm: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reference = command(capsys, sgemm, "--no-store", *on(KEPLER))
    monkeypatch.setattr(job, "_processors", lambda: threads)
    assert command(capsys, sgemm, "--no-store", *on(KEPLER)) == reference
    assert command(capsys, sgemm, *on(KEPLER)) == reference
    assert command(capsys, sgemm, *on(KEPLER)) == reference


@pytest.mark.parametrize("kind", ["trace", "paths", "accesses", "memory", "profile", "estimate"])
def test_damaged_entries_are_made_again(
    kind: str, store: Path, sgemm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = command(capsys, sgemm, *on(KEPLER))
    files = sorted(store.glob(f"*.{kind}"))
    assert files
    whole = [file.read_bytes() for file in files]
    for file, content in zip(files, whole, strict=True):
        file.write_bytes(content[: len(content) // 2])
    if kind in ("trace", "paths", "memory"):  # else what follows from them is asked for first
        for file in (*store.glob("*.profile"), *store.glob("*.estimate")):
            file.unlink()
    assert command(capsys, sgemm, *on(KEPLER)) == first
    if kind != "accesses":  # nobody asked for those
        assert all(len(file.read_bytes()) > 100 for file in files)
        assert all(results.kept(file.stem, kind) is not None for file in files), (
            "the entry is sound again"
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 1", "seed = 3"),
        ('init = "zeros"', 'init = "ones"'),
        ("rows = 96", "rows = 112"),
        ("block = [16, 16]", "block = [16, 16]\nshared_bytes = 64"),
    ],
)
@pytest.mark.usefixtures("store")
def test_another_launch_is_executed(
    old: str,
    new: str,
    sgemm: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command(capsys, sgemm, *on(KEPLER))
    text = sgemm.read_text()
    assert old in text
    sgemm.write_text(text.replace(old, new))
    with forbidden(monkeypatch, *EXECUTION), pytest.raises(AssertionError, match="done again"):
        command(capsys, sgemm, *on(KEPLER))


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "options",
    [("--engine", "reference"), ("--limit-instructions", "500000")],
)
def test_other_options_of_execution_are_another_launch(
    options: Sequence[str],
    sgemm: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command(capsys, sgemm, *on(KEPLER))
    with forbidden(monkeypatch, *EXECUTION), pytest.raises(AssertionError, match="done again"):
        command(capsys, sgemm, *on(KEPLER), *options)


@pytest.mark.usefixtures("store")
def test_another_kernel_text_is_another_launch(
    sgemm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command(capsys, sgemm, *on(KEPLER))
    source = sgemm.with_name("sgemm.ptx")
    source.write_text(source.read_text().replace("fma.rn.f32", "fma.rz.f32"))
    with forbidden(monkeypatch, *EXECUTION), pytest.raises(AssertionError, match="done again"):
        command(capsys, sgemm, *on(KEPLER))


@pytest.mark.usefixtures("store")
def test_warm_caches_are_simulated_apart(
    sgemm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = command(capsys, sgemm, *on(KEPLER))
    with forbidden(monkeypatch, *EXECUTION):
        warm = command(capsys, sgemm, *on(KEPLER), "--caches", "warm")
    assert warm == command(capsys, sgemm, *on(KEPLER), "--caches", "warm", "--no-store") != cold


def run_saxpy(**options: Any) -> tuple[KernelTrace, np.ndarray[Any, Any]]:
    n = 4096
    x, y = np.arange(2 * n, dtype=np.float32).reshape(2, n)
    kernel = kc.load(Path(__file__).parents[3] / "examples/saxpy/saxpy.ptx")["saxpy"]
    trace = kernel.run(grid=n // 256, block=256, args=[n, np.float32(2), x, y], **options)
    return trace, y


@pytest.mark.usefixtures("store")
def test_who_wants_results_gets_them_and_others_get_what_was_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unwanted, _ = run_saxpy(devices=[KEPLER], results=False)
    with forbidden(monkeypatch, *EXECUTION):
        again, left = run_saxpy(devices=[KEPLER], results=False)
    assert again.profile(KEPLER) == unwanted.profile(KEPLER)
    assert (left == np.arange(4096, 8192)).all()  # nothing was executed
    _, found = run_saxpy(devices=[KEPLER])
    assert (found == 2 * np.arange(4096) + np.arange(4096, 8192)).all()


@pytest.mark.usefixtures("store")
def test_a_trace_with_accesses_is_the_one_that_a_run_records(sgemm: Path) -> None:
    workload = kc.load_workload(sgemm)
    fresh = workload.run("small", store=False).data
    workload.run("small", devices=[KEPLER])  # keeps the accesses, which its own trace forgets
    found = workload.run("small").data
    for name in ("accesses", "pattern_counts", "patterns", "classes"):
        for column, values in vars(getattr(fresh, name)).items():
            kept = vars(getattr(found, name))[column]
            assert (values is None and kept is None) or (values == kept).all(), (name, column)
    assert (fresh.warp_time == found.warp_time).all()
    assert (fresh.stage_warp_issues == found.stage_warp_issues).all()
    for name in ("instructions", "resources", "pairs_agree", "has_memory", "code", "engine"):
        assert getattr(fresh, name) == getattr(found, name)


@pytest.mark.usefixtures("store")
def test_counts_alone_are_those_of_a_run_that_simulates(
    sgemm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = kc.load_workload(sgemm)
    fresh = workload.run("small", record_memory=False, store=False).data
    workload.run("small", devices=[KEPLER])
    with forbidden(monkeypatch, *EXECUTION):
        found = workload.run("small", record_memory=False).data
    assert [item.tolist() for item in fresh.classes.totals()] == [
        item.tolist() for item in found.classes.totals()
    ]
    assert not found.has_memory


@pytest.mark.usefixtures("store")
def test_a_device_that_was_not_asked_for_is_refused_as_without_a_store(sgemm: Path) -> None:
    workload = kc.load_workload(sgemm)
    workload.run("small", devices=[KEPLER, PASCAL])
    with pytest.raises(TraceFormatError, match="the run simulated the memory of gtx-660"):
        workload.run("small", devices=[KEPLER]).profile(PASCAL)


@pytest.mark.usefixtures("store")
def test_other_registers_execute_nothing_again(
    sgemm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An SM holds as many of the few thread blocks; profile and estimate are others."""
    command(capsys, sgemm, *on(KEPLER))
    with forbidden(monkeypatch, *EXECUTION):
        kept = command(capsys, sgemm, *on(KEPLER), "--registers", "40")
    assert kept == command(capsys, sgemm, *on(KEPLER), "--registers", "40", "--no-store")


@pytest.mark.usefixtures("store")
def test_other_registers_of_a_trace_are_another_profile(sgemm: Path) -> None:
    workload = kc.load_workload(sgemm)
    trace = workload.run("small")
    usual = trace.profile(KEPLER)
    many = trace.with_registers(63).profile(KEPLER)
    assert many.occupancy != usual.occupancy
    assert workload.run("small", store=False).with_registers(63).profile(KEPLER) == many


@pytest.mark.usefixtures("store")
def test_sampled_launches_are_kept_apart_from_exact_ones(
    sgemm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = kc.load_workload(sgemm)
    options: dict[str, Any] = {"devices": [KEPLER], "record_paths": True}
    sampled = workload.run("large", sampling=Sampling.ALWAYS, **options).profile(KEPLER)
    with forbidden(monkeypatch, *EXECUTION), pytest.raises(AssertionError, match="done again"):
        workload.run("large", **options)
    exact = workload.run("large", **options).profile(KEPLER)
    with forbidden(monkeypatch, *EXECUTION, *SIMULATION):
        assert workload.run("large", sampling=Sampling.ALWAYS, **options).profile(KEPLER) == sampled
        assert workload.run("large", **options).profile(KEPLER) == exact


@pytest.mark.usefixtures("store")
def test_kernels_that_print_print_each_time(
    compile_ptx: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = runnable.RunnableKernel(
        compile_ptx(
            """
            mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, 0;
            { .param .b64 a; .param .b64 b; .param .b32 r;
            st.param.b64 [a], %rd2; st.param.b64 [b], %rd3;
            call.uni (r), vprintf, (a, b); }
            ret;
            """,
            module=".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
            ".global .align 1 .b8 text[4] = {104, 105, 10, 0};",
        )
    )
    for _ in range(2):
        kernel.run(grid=1, block=1, args=[np.zeros(1)], devices=[KEPLER], results=False)
        assert capsys.readouterr().out == "hi\n"
    assert not results.held_files()


@pytest.mark.usefixtures("store")
def test_short_launches_are_not_kept(sgemm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_run, "_LEAST_SECONDS", 1e9)
    trace = kc.load_workload(sgemm).run("small", devices=[KEPLER], record_paths=True)
    kc.estimate(trace.profile(KEPLER))
    assert not results.held_files()


@pytest.mark.usefixtures("store")
def test_a_store_that_is_off_is_neither_read_nor_written(
    sgemm: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(results.STORE_VARIABLE, "off")
    command(capsys, sgemm, *on(KEPLER))
    assert not results.held_files()


@pytest.mark.usefixtures("store")
def test_verbose_commands_say_what_came_from_the_store(
    sgemm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(capsys, sgemm, *on(KEPLER))
    assert main(["estimate", str(sgemm), "--size", "small", "-v", *on(KEPLER)]) == 0
    said = capsys.readouterr().err
    assert "trace: from the store" in said
    assert "estimate: from the store" in said


def test_the_memory_of_a_device_does_what_its_memory_facts_say(sgemm: Path) -> None:
    trace = kc.load_workload(sgemm).run("small").data
    device = kc.device(PASCAL)
    assert device.timing is not None
    facts = memory_facts(device)
    bare, usual = simulate_memory(trace, facts.device, 8), simulate_memory(trace, device, 8)
    assert facts.device != device
    assert [
        column.tolist()
        for column in bare.traffic.by_instruction._replace(
            l1_pending=usual.traffic.by_instruction.l1_pending,
            l2_pending=usual.traffic.by_instruction.l2_pending,
        )
    ] == [column.tolist() for column in usual.traffic.by_instruction]
    assert bare.traffic.writes == usual.traffic.writes


def test_facts_that_memories_read_are_told_apart() -> None:
    device = kc.device(PASCAL)
    for change in (
        *({"timing.l2_latency_cycles": 900.0}, {"timing.dram_latency_cycles": 900.0}),
        *({"l2.ways": 8}, {"sm.count": 5}, {"dram.partial_write_fills": True}),
        *({"l1.line_bytes": 64}, {"shared.banks": 16}),
    ):
        if memory_facts(device.changed(change)) == memory_facts(device):
            raise AssertionError(change)
    for change in ({"measured.fp32_ops_per_s": 1e12}, {"constant.pass_cycles": 3.0}):
        assert memory_facts(device.changed(change)) == memory_facts(device)


@pytest.mark.parametrize(
    ("change", "memories"),
    [({"timing.dram_latency_cycles": 900.0}, 2), ({"timing.fence_latency_cycles": 900.0}, 1)],
)
def test_what_if_questions_simulate_each_memory_once(
    change: dict[str, float], memories: int, sgemm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    trace = ExecutedKernel.trace

    def counted(kernel: ExecutedKernel, devices: Sequence[kc.Device]) -> KernelTrace:
        asked.append(len(devices))
        return trace(kernel, devices)

    monkeypatch.setattr(ExecutedKernel, "trace", counted)
    kc.whatif(kc.load_workload(sgemm), PASCAL, change, models=["roofline"], size="small")
    assert asked == [memories]


@pytest.mark.usefixtures("store")
def test_a_launch_on_a_device_memory_is_known_by_what_the_memory_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = 4096
    kernel = kc.load(Path(__file__).parents[3] / "examples/saxpy/saxpy.ptx")["saxpy"]

    def run(first: float, *, results: bool = False) -> KernelTrace:
        memory = kc.DeviceMemory()
        x, y = (memory.allocate(4 * n, name) for name in "xy")
        memory.write(x, np.full(n, first, np.float32))
        arguments = [n, np.float32(2), x, y]
        launch: dict[str, Any] = {"grid": n // 256, "block": 256, "args": arguments}
        found = kernel.run(**launch, memory=memory, devices=[KEPLER], results=results)
        assert memory.read(y, n, np.float32).any() or not results
        return found

    usual = run(1.0).profile(KEPLER)
    with forbidden(monkeypatch, *EXECUTION, *SIMULATION):
        assert run(1.0).profile(KEPLER) == usual
        with pytest.raises(AssertionError, match="done again"):
            run(3.0)
    run(1.0, results=True)
