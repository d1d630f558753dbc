"""An explorer that runs, on a port of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LONG_S = 600.0


@dataclass(frozen=True)
class Explorer:
    port: int
    process: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        return self._send(urllib.request.Request(self.address + path, headers=headers))

    def post(self, body: bytes, kind: str = "application/json") -> tuple[int, dict[str, Any]]:
        headers = {"Content-Type": kind}
        request = urllib.request.Request(self.address + "/answer", body, headers)
        status, content = self._send(request)
        return status, json.loads(content)

    def ask(self, source: str, language: str = "cuda", **others: Any) -> dict[str, Any]:
        question = {"source": source, "language": language, "devices": ["a100-40gb"], **others}
        status, found = self.post(json.dumps(question).encode())
        assert status == 200
        return found

    def _send(self, request: urllib.request.Request) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(request, timeout=LONG_S) as answer:
                return int(answer.status), answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()


@pytest.fixture(scope="session")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    cache = tmp_path_factory.mktemp("cache")
    environment = {
        **os.environ,
        "KERNELCAST_CACHE": str(cache),
        "KERNELCAST_STORE": "500MB",
    }
    # far more than answers take: machines are busy with other tests
    limits = ["--jobs", "2", "--seconds", "300"]
    command = [sys.executable, "-m", "kernelcast", "serve", "--port", str(port), *limits]
    with Path(cache, "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    found = Explorer(port, process.pid)
    try:
        end = time.monotonic() + LONG_S
        while True:
            try:
                found.get("/")
                break
            except OSError:
                assert process.poll() is None, Path(cache, "log").read_text()
                assert time.monotonic() < end, "the limit of a wait"
                time.sleep(0.05)
        yield found
    finally:
        process.terminate()
        process.wait()
