"""Kernels whose addresses lie at every power of two.

There is no signal, nothing is written outside of their memory, and both engines agree on what is
read, written, or where the first fault is.

As a script, `fuzz_addresses.py COUNT [SEED]` runs COUNT of them on all cores, in processes of their
own, and shows what went wrong.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from kernelcast.errors import ExecutionError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.runtime import run as jit_run
from kernelcast.simcore.engine.jit.runtime import worker
from kernelcast.simcore.engine.reference import run as reference
from kernelcast.simcore.engine.reference.prepared_kernel import PreparedKernel as ReferenceProgram
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from tests.simcore.address_programs import (
    BLOCKS,
    SIZES,
    WORDS,
    Program,
    numbers,
    ptx_module,
)
from tests.simcore.address_programs_ir import ir_module
from tests.simcore.guarded_memory import GuardedMemory

__all__ = ["run", "run_child"]

_PROGRAMS, _LAUNCHES = 8, 100
_MODULE = BLOCKS * _LAUNCHES
"""Kernels of a module: programs with numbers."""
_MODULES_AT_ONCE = 4
_MASK = (1 << 64) - 1
_SECONDS = 3600
_WARP = 32

_ROOT = Path(__file__).resolve().parents[2]


def run(seed: int, count: int, note: Any = None) -> Iterator[str]:
    """What is wrong with the kernels of one module; `note` is told what runs next."""
    choose = random.Random(seed)
    kernel, text, programs = _module(choose)
    memory = GuardedMemory()

    def guarded(size: int) -> Any:
        return memory.take(max(64, size), granularity=64)

    threads = choose.choice((1, 31, 32, 32, 33, 64))
    with (
        patch.object(jit_run, "LARGE_IR", choose.choice((0, 1 << 40))),  # level 0, or QUICK
        patch.object(worker, "aligned", guarded),
        patch.object(reference, "PreparedKernel", lru_cache(ReferenceProgram)),
    ):
        for number in range(-(-count // BLOCKS)):
            if note is not None:
                note(f"seed {seed} launch {number}\n{text}")
            for problem in _launch(choose, kernel, programs, memory, threads):
                yield f"seed {seed} launch {number}: {problem}\n{text}"


def _module(choose: random.Random) -> tuple[Kernel, str, tuple[Program, ...]]:
    """A kernel of PTX, or one in five times of LLVM IR."""
    if choose.random() < 0.8:
        text, programs = ptx_module(choose, _PROGRAMS)
        module = read_ptx(text, "fuzz.ptx")
    else:
        text, programs = ir_module(choose, _PROGRAMS // 2)
        module = read_llvm(text.encode(), "fuzz.ll", is_text=True)
    for reasons in module.rejected.values():
        raise reasons[0]
    return module.kernels["k"], text, programs


def _launch(
    choose: random.Random,
    kernel: Kernel,
    programs: tuple[Program, ...],
    memory: GuardedMemory,
    threads: int,
) -> Iterator[str]:
    sizes = {
        name: choose.choice((16, 64, 200, 1000, 1024, 4096, 4096, 4096))
        + choose.choice((0, 0, 4, -1))
        for name in "abc"
    }
    table = _table(choose, programs, sizes)
    one = _Launches(kernel, sizes, table, memory, threads, at_end=choose.random() < 0.5)
    fault, expected = one.run("reference", BLOCKS)
    first = _block(fault)
    while first:  # thread blocks of a lower number may have come later
        earlier, expected = one.run("reference", first)
        if not earlier:
            break
        fault, first = earlier, _block(earlier)
    native_fault, native = one.run("jit", BLOCKS)
    agree = _block(fault) == _block(native_fault)
    if (
        agree and first
    ):  # engines run different ones of the thread blocks behind it before they stop
        native = one.run("jit", first)[1]
    if one.is_soiled:
        yield "something was written outside"
    if agree and (first == 0 or one.comparable(expected) == one.comparable(native)):
        return
    if any(one.alone(block).differs() for block in range(BLOCKS)):
        faults = f"reference: {fault or 'no fault'}\njit: {native_fault or 'no fault'}"
        yield f"engines differ: table {table.tolist()} sizes {sizes}\n{faults}"


class _Launches:
    """Launches of a kernel that are alike on both engines, each time in new memory."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: dict[str, int],
        table: Any,
        memory: GuardedMemory,
        threads: int,
        *,
        at_end: bool,
    ) -> None:
        self._kernel = kernel
        self._sizes = sizes
        self._table = table
        self._memory = memory
        self._threads = threads
        self._at_end = at_end
        self.is_soiled = False

    def comparable(self, result: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """What does not depend on the order of warps, which share memory without barriers."""
        return result if self._threads <= _WARP else result[:-1]

    def alone(self, block: int) -> _Launches:
        """Launches in which only this thread block has anything to do.

        Results and faults depend on their order where an atomic reaches what another one reads.
        """
        table = self._table.reshape(BLOCKS, WORDS).copy()
        table[np.arange(BLOCKS) != block, 0] = _PROGRAMS
        memory, at_end = self._memory, self._at_end
        return _Launches(
            self._kernel, self._sizes, table.reshape(-1), memory, self._threads, at_end=at_end
        )

    def differs(self) -> bool:
        """Whether one engine alone finds a fault, or they do not leave the same in memory."""
        fault, expected = self.run("reference", BLOCKS)
        native_fault, native = self.run("jit", BLOCKS)
        if fault or native_fault:
            return _block(fault) != _block(native_fault)
        return self.comparable(expected) != self.comparable(native)

    def run(self, engine: str, blocks: int) -> tuple[str, tuple[bytes, ...]]:
        """The message of the fault, empty without one; what memory holds then."""
        memory, at_end = self._memory, self._at_end
        a, b, c = (memory.take(self._sizes[name], at_end=at_end) for name in "abc")
        a[:] = np.arange(len(a)) * 7 % 251
        rows = memory.take(self._table.nbytes).view(np.uint64)
        rows[:] = self._table
        out = memory.take(8 * BLOCKS * self._threads).view(np.uint64)
        launch = Launch((blocks, 1, 1), (self._threads, 1, 1), (a, b, c, rows, out))
        fault = ""
        try:
            execute(
                self._kernel,
                launch,
                limits=Limits(seconds=600),
                engine=engine,
                record_memory=False,
            )
        except ExecutionError as error:
            fault = str(error)
        result = tuple(array.tobytes() for array in (a, b, c, rows, out))
        self.is_soiled |= not memory.release()
        return fault, result


def _block(fault: str) -> int | None:
    """The thread block that failed, as the message says; -1 where it does not."""
    found = re.search(r"thread block \((\d+), 0, 0\)", fault)
    return int(found[1]) if found else -1 if fault else None


def _table(choose: random.Random, programs: tuple[Program, ...], sizes: dict[str, int]) -> Any:
    table = np.zeros((BLOCKS, WORDS), np.uint64)
    for row in table:
        number = choose.randrange(len(programs))
        row[0] = number if choose.random() < 0.75 else len(programs)
        row[1:] = [numbers(choose) & _MASK for _ in range(WORDS - 1)]
        row[7] = choose.choice((4, 4, 8, numbers(choose) & _MASK))
        for step in programs[number].steps:
            name = step.place.split()[-1].removesuffix("32")
            size = sizes.get(name, SIZES.get(name, 0))
            how = choose.random()
            if how < 0.02:
                continue
            place = choose.randrange(0, max(1, size // 4)) // step.size * step.size
            if how < 0.07:
                place = choose.choice((size, size - step.size, -step.size, size // step.size))
            row[step.word] = (place - choose.choice((min(step.offsets), *step.offsets))) & _MASK
    return table.reshape(-1)


def _child(first: str, last: str, count: str, journal: str) -> int:
    """Runs the modules with these seeds; the journal says what runs at the moment."""

    def note(text: str) -> None:
        Path(journal).write_text(text)

    problems = 0
    for seed in range(int(first), int(last)):
        for problem in run(seed, int(count), note):
            problems += 1
            sys.stdout.write(f"{problem}\n{'=' * 80}\n")
    return problems and 1


def run_child(first: int, last: int, count: int) -> str:
    """What is wrong with `count` kernels of each of the modules [first, last).

    The kernels run in a process of their own. The text is empty when nothing is wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        arguments = ("--child", str(first), str(last), str(count), str(journal))
        environment = os.environ | {"XDG_CACHE_HOME": folder}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "tests.simcore.fuzz_addresses", *arguments],
                cwd=_ROOT,
                capture_output=True,
                text=True,
                env=environment,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"still running after {_SECONDS} s\n{journal.read_text()}"
        if done.returncode == 0:
            return ""
        if done.returncode == 1 and done.stdout:
            return done.stdout
        return f"ended with {done.returncode}: {done.stderr}\n{journal.read_text()}"


def _main(arguments: list[str]) -> int:
    count = int(arguments[0])
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    modules = -(-count // _MODULE)
    firsts = range(seed, seed + modules, _MODULES_AT_ONCE)
    lasts = [min(first + _MODULES_AT_ONCE, seed + modules) for first in firsts]
    found = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for problem in pool.map(run_child, firsts, lasts, [min(count, _MODULE)] * len(firsts)):
            found += bool(problem)
            sys.stdout.write(problem)
    sys.stdout.write(f"{modules * min(count, _MODULE)} kernels, {found} batches with a problem\n")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        sys.exit(_child(*sys.argv[2:]))
    sys.exit(_main(sys.argv[1:]))
