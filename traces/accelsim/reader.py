"""Kernel traces of Accel-Sim's NVBit tracer (`kernel-1.traceg`, also compressed with xz).

A header, then for each thread block, between `#BEGIN_TB` and `#END_TB`, its place in the grid and
the instructions of each of its warps. Such a trace was recorded on a real GPU: it holds machine
instructions, so counts need no native counting rules.
"""

from __future__ import annotations

import io
import itertools
import lzma
import math
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from kernelcast.errors import TraceFormatError
from kernelcast.input_files import open_input
from kernelcast.traces.accelsim.header import AccelSimHeader, read_accelsim_header
from kernelcast.traces.accelsim.instructions import WARP_WIDTH, InstructionReader
from kernelcast.traces.collected_paths import CollectedPaths
from kernelcast.traces.trace import ResourceNeeds, Trace
from kernelcast.traces.trace_checks import check_trace
from kernelcast.traces.warp_accesses import WarpAccesses
from kernelcast.traces.warp_streams import WarpStreams

__all__ = ["ACCELSIM_SUFFIXES", "read_accelsim_trace"]

ACCELSIM_SUFFIXES = (".traceg", ".traceg.xz")
_ENGINE = "accel-sim"
_LONGEST_LINE = 1 << 16
_BEGIN, _END = "#BEGIN_TB", "#END_TB"
_PLACE = re.compile(r"thread block = (\d{1,10}),(\d{1,10}),(\d{1,10})$")
_WARP = re.compile(r"warp = (\d{1,10})$")
_INSTRUCTIONS = re.compile(r"insts = (\d{1,10})$")

Lines = Iterator[tuple[int, str]]


def read_accelsim_trace(path: str | os.PathLike[str]) -> Trace:
    """Line by line; TraceFormatError, with file and line, for what is not such a trace."""
    file = Path(path)
    try:
        with open_input(file) as source, _text(file, source) as text:
            trace = _KernelTrace(file, enumerate(_lines(file, text), 1)).read()
    except OSError as error:
        raise TraceFormatError(f"{file}: {error.strerror or error}") from None
    except (lzma.LZMAError, EOFError) as error:
        raise TraceFormatError(f"{file}: damaged xz file: {error}") from None
    except UnicodeDecodeError:
        raise TraceFormatError(f"{file} is no text") from None
    except MemoryError:
        raise TraceFormatError(f"{file}: no memory for a trace of that size") from None
    check_trace(file, trace)
    return trace


def _text(file: Path, source: BinaryIO) -> TextIO:
    unpacked = lzma.LZMAFile(source) if file.suffix == ".xz" else source  # noqa: SIM115 - the text closes it
    return io.TextIOWrapper(unpacked, encoding="utf-8")


def _lines(file: Path, text: TextIO) -> Iterator[str]:
    """A small compressed file may hold a line that fills the memory."""
    while line := text.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise TraceFormatError(f"{file}: a line of {_LONGEST_LINE} letters or more")
        yield line


class _KernelTrace:
    """One file while it is read."""

    def __init__(self, path: Path, lines: Lines) -> None:
        self._path = path
        self._lines = lines
        self._line = 0
        self._accesses = WarpAccesses(WARP_WIDTH)

    def read(self) -> Trace:
        self._header = self._read_header()
        header, warps = self._header, self._header.warps_per_thread_block(WARP_WIDTH)
        threads = math.prod(header.thread_block)
        self._paths = CollectedPaths(header.thread_blocks, threads, warps)
        self._reader = InstructionReader(self._path, header, self._accesses, self._paths)
        self._streams = WarpStreams(header.thread_blocks, warps)
        self._read_thread_block()
        for text in iter(self._next_text, None):
            if text == _BEGIN:
                self._read_thread_block()
            elif not text.startswith("#"):
                raise self._error(f"expected {_BEGIN}, found {text[:60]!r}")
        missing = self._streams.missing_thread_blocks
        if missing:
            raise TraceFormatError(
                f"{self._path}: {missing} of {header.thread_blocks} thread blocks are missing"
            )
        return self._trace()

    def _read_header(self) -> AccelSimHeader:
        """Reads the header up to the beginning of the first thread block."""
        values: dict[str, tuple[int, str]] = {}
        for text in iter(self._next_text, _BEGIN):
            if text is None:
                raise TraceFormatError(f"{self._path}: no {_BEGIN}: no Accel-Sim kernel trace")
            key, equals, value = text.partition("=")
            if text.startswith("-") and equals:
                values[key[1:].strip()] = self._line, value.strip()
            elif not text.startswith("#"):
                raise self._error(f"expected `-key = value`, found {text[:60]!r}")
        return read_accelsim_header(self._path, values, WARP_WIDTH)

    def _read_thread_block(self) -> None:
        x, y, z = self._numbers(_PLACE, "thread block = x,y,z")
        size_x, size_y, size_z = self._header.grid
        if x >= size_x or y >= size_y or z >= size_z:
            raise self._error(f"thread block {x},{y},{z} is outside of the grid")
        thread_block = x + size_x * (y + size_y * z)
        if self._streams.is_recorded(thread_block):
            raise self._error(f"thread block {x},{y},{z} appears twice")
        while (text := self._next_text()) != _END:
            self._read_warp(thread_block, text)
        if self._streams.missing_warps:
            raise self._error(
                f"{self._streams.missing_warps} warps of thread block {x},{y},{z} are missing"
            )
        self._streams.finish_thread_block(thread_block)

    def _read_warp(self, thread_block: int, text: str | None) -> None:
        (warp,) = self._match(_WARP, f"warp = w` or `{_END}", text)
        warps = self._header.warps_per_thread_block(WARP_WIDTH)
        if warp >= warps:
            raise self._error(f"warp {warp} of a thread block that has {warps}")
        if self._streams.has_warp(warp):
            raise self._error(f"warp {warp} appears twice in its thread block")
        (count,) = self._numbers(_INSTRUCTIONS, "insts = n")
        self._read_instructions(warp, thread_block * warps + warp, count)

    def _read_instructions(self, warp: int, number: int, count: int) -> None:
        """`warp` of the thread block, `number` of the launch."""
        issued: list[int] = []
        lanes: list[int] = []
        barriers: list[int] = []
        known, read, stage = self._reader.known, self._reader.read, 0
        for line, text in itertools.islice(self._lines, count):
            found = known.get(text) or read(text, line, number, len(issued), stage)
            issued.append(found[0])
            lanes.append(found[1])
            if found[2]:
                stage += 1
                barriers.append(len(issued))
            self._line = line
        if len(issued) < count:
            raise TraceFormatError(f"{self._path} ends inside of a warp: the file is truncated")
        stages = np.searchsorted(np.array(barriers, np.int64), np.arange(count), side="right")
        self._streams.add_warp(warp, number, issued, lanes, stages)
        if self._paths.wants(number):
            self._paths.add_warp(number, issued, lanes)

    def _trace(self) -> Trace:
        header = self._header
        pc_of, rows = self._reader.rows()
        if not rows:
            raise TraceFormatError(f"{self._path}: no warp issued any instruction")
        ends = np.array([row.kind in ("branch", "exit") for row in rows], np.bool_)
        blocks = self._streams.basic_blocks(pc_of, ends).tolist()
        patterns = self._accesses.patterns()
        return Trace(
            kernel=header.kernel,
            grid=header.grid,
            thread_block=header.thread_block,
            warp_width=WARP_WIDTH,
            resources=ResourceNeeds(
                header.registers, header.shared_bytes, registers=header.registers
            ),
            instructions=tuple(
                replace(row, basic_block=number) for row, number in zip(rows, blocks, strict=True)
            ),
            classes=self._streams.classes(pc_of),
            stage_warp_issues=self._streams.stage_warp_issues(pc_of),
            warp_time=self._streams.warp_time,
            patterns=patterns,
            accesses=self._accesses.accesses(pc_of),
            pattern_counts=self._accesses.pattern_counts(pc_of),
            engine=_ENGINE,
            elapsed_s=0.0,
            pairs_agree=self._streams.pairs_agree,
            paths=self._paths.paths(pc_of, patterns),
        )

    def _next_text(self) -> str | None:
        """The next line that is not empty; None at the end."""
        for line, text in self._lines:
            self._line = line
            if text := text.strip():
                return text
        return None

    def _numbers(self, pattern: re.Pattern[str], expected: str) -> list[int]:
        return self._match(pattern, expected, self._next_text())

    def _match(self, pattern: re.Pattern[str], expected: str, text: str | None) -> list[int]:
        if text is None:
            raise TraceFormatError(
                f"{self._path} ends inside of a thread block: the file is truncated"
            )
        match = pattern.match(text)
        if not match:
            raise self._error(f"expected `{expected}`, found {text[:60]!r}")
        return [int(group) for group in match.groups()]

    def _error(self, message: str) -> TraceFormatError:
        return TraceFormatError(f"{self._path}:{self._line}: {message}")
