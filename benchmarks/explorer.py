"""How soon the explorer answers, and how it fares with many requests, hostile ones among them.

    python benchmarks/explorer.py --requests 200

Starts `kernelcast serve` on a free port of loopback. *Warm*: the server has answered once.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from targets import Target, target_table
from timing import isolated_environment

from kernelcast.explorer.examples import EXAMPLES

__all__ = ["main"]

_FIRST_S, _AT_ONCE, _LONG_S, _REPEATS = 2.0, 8, 600.0, 3
_MIB = 1 << 20
_DEVICES = ["a100-40gb"]

Question = dict[str, Any]


def _cuda(body: str, name: str = "k") -> Question:
    return {"language": "cuda", "source": f"__global__ void {name}(float *x, int n) {{ {body} }}"}


_HOSTILE: dict[str, bytes | Question] = {
    "a path in #include": _cuda('}\n#include "../../../../etc/passwd"\n__device__ void f() {'),
    "a script as a name": _cuda("x[threadIdx.x] = 1;", "<script>alert(1)</script>"),
    "10 MB": b" " * (10 * _MIB),
    "an endless kernel": _cuda("while (x[0] < 2.0f) x[0] = 0.0f;"),
    "10 GB": {
        **_cuda("x[blockIdx.x * blockDim.x + threadIdx.x] = 1;"),
        "size": 2_500_000_000,
        "arguments": [
            {"name": "x", "type": "f32[n]", "value": "uniform"},
            {"name": "n", "type": "s32", "value": "1"},
        ],
    },
    "no JSON": b"{",
}


@contextmanager
def _server(folder: Path) -> Iterator[tuple[str, int]]:
    """The address of a server, and its process."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "kernelcast", "serve", "--port", str(port), "--jobs", "2"]
    environment = {**os.environ, **isolated_environment(folder), "KERNELCAST_STORE": "off"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + _LONG_S
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(address + "/begin", timeout=_LONG_S):
                    break
            except OSError:
                time.sleep(0.1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def _asked(address: str, question: bytes | Question) -> str:
    """What an answer is: `estimate`, or why there is none."""
    body = question
    if not isinstance(body, bytes):
        body = json.dumps({"devices": _DEVICES, **body}).encode()
    request = urllib.request.Request(
        f"{address}/answer", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_LONG_S) as answer:
            found = json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            found = json.loads(error.read())
    return str(found["error"]).splitlines()[0] if "error" in found else "estimate"


def _memory_of(process: int) -> int:
    """Bytes of a process and of those that it has started."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = status.read_text().splitlines()
        except OSError:
            continue
        facts = dict(line.split(":", 1) for line in lines if ":" in line)
        if process in (int(facts["PPid"]), int(facts["Pid"])):
            total += 1024 * int(facts.get("VmRSS", "0 kB").split()[0])
    return total


def _measured(address: str, process: int, requests: int) -> Iterator[Target]:
    for item in EXAMPLES:
        question = {"language": item["language"], "source": item["source"]}
        seconds = []
        for _ in range(_REPEATS):
            began = time.monotonic()
            _asked(address, question)
            seconds.append(time.monotonic() - began)
        name = f"{item['language']}: {item['name']}"
        yield Target(f"{name}, first", seconds[0], None, "s")
        yield Target(f"{name}, warm", min(seconds), _FIRST_S, "s")
    before = _memory_of(process)
    usual = [{"language": item["language"], "source": item["source"]} for item in EXAMPLES]
    questions: list[bytes | Question] = [*usual, *_HOSTILE.values()]
    began = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = [questions[number % len(questions)] for number in range(requests)]
        answers = list(pool.map(lambda item: _asked(address, item), asked))
    yield Target(f"{requests} requests, {_AT_ONCE} at a time", time.monotonic() - began, None, "s")
    more = (_memory_of(process) - before) / _MIB
    yield Target("memory afterwards", more, 100.0, "MiB more")
    for text, count in Counter(answers).most_common():
        yield Target(f"answers: {text[:60]}", float(count), None, "times")


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, _server(Path(name)) as (address, process):
        print(target_table(list(_measured(address, process, options.requests))))  # noqa: T201


if __name__ == "__main__":
    main()
