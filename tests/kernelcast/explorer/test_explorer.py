"""The explorer answers everything clearly, and hostile texts reach nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.execution.sampling import Sampling
from kernelcast.explorer.examples import EXAMPLES
from kernelcast.explorer.request import Request
from kernelcast.explorer.signature import guessed
from tests.drawn_cases import ALL_CASES
from tests.kernelcast.explorer.conftest import Explorer

SAXPY = EXAMPLES[0]["source"]
REQUESTS = 200 if ALL_CASES else 12
ENDLESS = 'extern "C" __global__ void spin(int *x) { while (true) atomicAdd(x, 1); }'
SECRET = "a line that nobody may read"


def asked(language: str, source: str) -> Request:
    return guessed(Request.read({"language": language, "source": source, "devices": ["a100-40gb"]}))


def test_arguments_are_guessed_from_the_signature() -> None:
    found = asked("cuda", SAXPY)
    assert [(item.name, item.type, item.value) for item in found.arguments or ()] == [
        ("n", "s32", "n"),
        ("a", "f32", "1.5"),
        ("x", "f32[n]", "uniform"),
        ("y", "f32[n]", "uniform"),
    ]
    assert (found.grid, found.block) == ("ceil(n / block.x)", "256")


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cuda", "__global__ void k(const double* __restrict__ a) {}", ("a", "f64[n]")),
        ("cuda", "__global__ void __launch_bounds__(64) k(unsigned int *p) {}", ("p", "u32[n]")),
        ("cuda", "__global__ void k(size_t count) {}", ("count", "u64")),
        ("cuda", "struct S {}; __global__ void k(const float4 *p) {}", ("p", "f32[n, 4]")),
        ("opencl", "kernel void k(global long *a) { get_global_id(1); }", ("a", "s64[n, n]")),
        ("hip", "__global__ void k(long long *a) { threadIdx.y; }", ("a", "s64[n, n]")),
        ("ptx", ".visible .entry k(.param .u64 p) {}", ("p", "f32[n]")),
        ("ptx", ".entry k(\n .param .f32 factor\n) {}", ("factor", "f32")),
    ],
)
def test_signatures(language: str, text: str, expected: tuple[str, str]) -> None:
    (argument,) = asked(language, text).arguments or ()
    assert (argument.name, argument.type) == expected


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda item: item["language"])
def test_examples_are_estimated(
    explorer: Explorer, example: dict[str, str], request: pytest.FixtureRequest
) -> None:
    if example["language"] == "cuda":
        request.getfixturevalue("nvrtc")
    found = explorer.ask(example["source"], example["language"])
    assert "error" not in found, found["error"]
    assert found["estimates"][0]["time_s"] > 0
    if example["language"] != "addresses":
        assert any(item["line"] for item in found["listing"])
        assert all(item["text"] for item in found["listing"])
        assert sum(" " in item["text"] for item in found["listing"]) > len(found["listing"]) / 2


@pytest.mark.usefixtures("nvrtc")
def test_an_answer_is_what_an_estimate_says(explorer: Explorer, tmp_path: Path) -> None:
    found = explorer.ask(SAXPY, size=100_000)
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    (tmp_path / "saxpy.toml").write_text(
        '[kernel]\nsource = "saxpy.cu"\n[sizes.given]\nn = 100000\n[launch]\n'
        'grid = "ceil(n / block.x)"\nblock = 256\n'
        '[[args]]\nname = "n"\ntype = "s32"\nvalue = "n"\n'
        '[[args]]\nname = "a"\ntype = "f32"\nvalue = 1.5\n'
        '[[args]]\nname = "x"\ntype = "f32[n]"\ninit = "uniform"\n'
        '[[args]]\nname = "y"\ntype = "f32[n]"\ninit = "uniform"\n'
    )
    device = kc.device("a100-40gb")
    workload = kc.load_workload(tmp_path / "saxpy.toml")
    trace = workload.run(devices=[device], sampling=Sampling.AUTO, record_paths=True)
    expected = kc.estimate(trace.profile(device), explained="no")
    assert found["estimates"][0]["time_s"] == expected.time_s


def test_pasted_text_reads_no_files(explorer: Explorer, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text(SECRET)
    for language, include in (
        ("cuda", f'#include "{secret}"\n'),
        ("cuda", f'#include "../../..{secret}"\n'),
        ("cuda", f'#define NAME "{secret}"\n#include NAME\n'),
        ("opencl", f'#include "{secret}"\n'),
        ("hip", f'#include "{secret}"\n'),
        ("ptx", f'.file 1 "{secret}"\n'),
    ):
        found = explorer.ask(include + "__global__ void k() {}", language)
        assert found["error"], language
        assert SECRET not in json.dumps(found)


@pytest.mark.parametrize(
    "others",
    [
        {"arguments": [{"name": "x", "type": "f32[n]", "value": "/etc/passwd"}]},
        {"arguments": [{"name": 'x"\nfile = "/etc/passwd', "type": "f32[n]", "value": "zeros"}]},
        {"arguments": [{"name": "x", "type": 'f32[n]"\nfile = "/etc/passwd', "value": "zeros"}]},
        {"devices": ["../../etc/passwd"]},
        {"devices": ["/etc/passwd.toml"]},
        {"block": "[[args]]"},
        {"grid": "n ** n ** n"},
        {"size": 10**30},
        {"size": "many"},
        {"language": "python"},
    ],
)
def test_hostile_fields_are_answered(explorer: Explorer, others: dict[str, Any]) -> None:
    found = explorer.ask(SAXPY, **others)
    assert found["error"]
    assert "kernelcast failed" not in found["error"]
    assert "root:" not in json.dumps(found)


def test_paths_hosts_and_bodies(explorer: Explorer) -> None:
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/page/../server.py", "/none"):
        assert explorer.get(path)[0] == 404
    assert explorer.get("/", Host="evil.example")[0] == 400
    assert explorer.post(b"x" * 10_000_000)[0] == 413
    assert explorer.post(b"{")[0] == 400
    assert explorer.post(b"[" * 100_000)[0] == 400
    assert explorer.post(b"{}", "text/plain")[0] == 415
    assert explorer.post(b"[]")[1]["error"] == "a request is a JSON object"


@pytest.mark.usefixtures("nvrtc")
def test_limits_are_answers(explorer: Explorer) -> None:
    endless = explorer.ask(ENDLESS, size=1024)
    assert "limit" in endless["error"] or "no answer" in endless["error"]
    large = explorer.ask(SAXPY, size=2_500_000_000)
    assert "kernelcast failed" not in large.get("error", "")
    assert "Triton is Python" in explorer.ask("import os", "triton")["error"]


def test_a_process_that_is_killed_leaves_no_files(tmp_path: Path) -> None:
    question = {"language": "cuda", "source": ENDLESS, "devices": ["a100-40gb"], "size": 1024}
    code = (
        "from kernelcast.explorer.isolation import Isolation\n"
        f"print(Isolation(seconds=5.0).answer({question!r}))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "error" in told.stdout
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith("tmp")]


def memory_of(process: int) -> int:
    """Bytes of a process and of all that it has started."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
            group = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        except OSError:
            continue
        if process in (int(group["PPid"]), int(group["Pid"])):
            total += 1024 * int(group.get("VmRSS", "0 kB").split()[0])
    return total


def test_many_at_once_are_answered_and_memory_stays(explorer: Explorer) -> None:
    """Users do not disturb each other: each gets what it would get alone."""
    questions: list[dict[str, Any]] = [
        {"source": item["source"], "language": item["language"]} for item in EXAMPLES
    ]
    questions.append({"source": SAXPY.replace("saxpy", "<script>"), "language": "cuda"})
    questions.append({"source": "not a kernel", "language": "ptx"})
    alone = [explorer.ask(**question) for question in questions]
    before = memory_of(explorer.process)
    numbers = [number % len(questions) for number in range(REQUESTS)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: explorer.ask(**questions[number]), numbers))
    assert found == [alone[number] for number in numbers]
    assert memory_of(explorer.process) < before + 100_000_000
