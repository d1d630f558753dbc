"""How fast PTX is read: megabytes a second of parsing, kernels a second of lowering, the cache.

`parsing.py FILE...` takes files of a compiler; without any, the text of the test data, repeated.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx import module_cache
from kernelcast.ptx_frontend.ptx.text.lexer import Tokens
from kernelcast.ptx_frontend.ptx.text.parser import parse, parse_tokens
from kernelcast.ptx_frontend.ptx.text.source import SourceText

__all__ = ["ReadingTimes", "measure"]

DATA = Path(__file__).parents[1] / "tests" / "ptx_frontend" / "data"
_REPETITIONS = 3
_COPIES = 60


@dataclass(frozen=True, slots=True)
class ReadingTimes:
    """Processor seconds for one text; `single_tokens` is the parser without its fast path."""

    megabytes: float
    kernels: int
    instructions: int
    parse: float
    single_tokens: float
    read: float
    load: float

    def __str__(self) -> str:
        thousand = self.read / max(1, self.instructions) * 200_000
        return (
            f"{self.megabytes:.2f} MB, {self.kernels} kernels, {self.instructions} instructions: "
            f"parsed at {self.megabytes / self.parse:.1f} MB/s "
            f"({self.megabytes / self.single_tokens:.1f} by single tokens), "
            f"read in {self.read:.2f} s ({thousand:.1f} s for 1000 kernels of 200 instructions), "
            f"loaded from the cache in {self.load:.2f} s"
        )


def measure(text: str) -> ReadingTimes:
    """The shortest of several runs of each part."""
    source = SourceText("benchmark.ptx", text)
    module = read_ptx(text, "benchmark.ptx")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KERNELCAST_CACHE"] = folder
        module_cache.store_module("benchmark", module)
        load = _shortest(lambda: module_cache.load_module("benchmark"))
    return ReadingTimes(
        megabytes=len(text) / 1e6,
        kernels=len(module.kernels),
        instructions=sum(len(kernel.instructions) for kernel in module.kernels.values()),
        parse=_shortest(lambda: parse(source)),
        single_tokens=_shortest(lambda: parse_tokens(Tokens(source))),
        read=_shortest(lambda: read_ptx(text, "benchmark.ptx")),
        load=load,
    )


def _shortest(action: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPETITIONS):
        gc.collect()
        gc.disable()  # as `read_ptx` does
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
        gc.enable()
    return min(times)


def _repeated() -> str:
    """The kernels of the largest file of the test data, many times under other names."""
    text = (DATA / "nvcc_tour.ptx").read_text()
    head, *parts = re.split(r"(?m)^(?=\.visible)", text)
    entries = "".join(part for part in parts if ".entry" in part and ".func" not in part)
    others = "".join(part for part in parts if ".entry" not in part or ".func" in part)
    copies = (re.sub(r"(\.entry \w+)", rf"\1_{copy}", entries) for copy in range(_COPIES))
    return head + others + "".join(copies)


def _main(paths: list[str]) -> int:
    for path in paths:
        sys.stdout.write(f"{path}: {measure(Path(path).read_text())}\n")
    if not paths:
        sys.stdout.write(f"{measure(_repeated())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
