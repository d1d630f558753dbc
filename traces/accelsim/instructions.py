"""Instruction lines of an Accel-Sim kernel trace.

`[line] PC mask n [R...] OPCODE n [R...] width [mode addresses] [immediate]`: PC and mask in
hexadecimal; without `width` no access; mode 0 lists an address for each active lane, 1 gives a base
and a stride, 2 a base and the differences between neighbouring active lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError, nearest
from kernelcast.traces.accelsim.header import AccelSimHeader
from kernelcast.traces.collected_paths import CollectedPaths
from kernelcast.traces.sass_opcodes import SASS_OPCODES, SassInstruction, sass_instruction
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_accesses import WarpAccesses

__all__ = ["InstructionReader"]

WARP_WIDTH = 32
_WINDOW_BYTES = 1 << 24
_LOCAL_FIRST_ADDRESS = 1 << 60  # above all addresses of a GPU
_MAX_ADDRESS = 1 << 60
_LIST, _STRIDE, _DIFFERENCES = "0", "1", "2"
_BANKED = ("shared", "const")
_ZERO_REGISTER = "R255"

Line = tuple[int, int, bool]
"""Instruction number, active lanes, whether the warp waits at a barrier."""


@dataclass(frozen=True, slots=True)
class _StaticInstruction:
    """`place`: address and spelling; `line` of the file that has it first."""

    place: tuple[int, str]
    sass: SassInstruction
    line: int
    source_line: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class InstructionReader:
    """Turns lines into instruction numbers, and their accesses into rows of `accesses`."""

    def __init__(
        self, path: Path, header: AccelSimHeader, accesses: WarpAccesses, paths: CollectedPaths
    ) -> None:
        self._path = path
        self._header = header
        self._accesses = accesses
        self._paths = paths
        self._launch_lanes = (
            header.thread_blocks * header.warps_per_thread_block(WARP_WIDTH) * WARP_WIDTH
        )
        self._numbers: dict[tuple[str, str], int] = {}
        self._static: list[_StaticInstruction] = []
        self._registers: dict[str, int] = {}
        self._masks: dict[str, tuple[int, ...]] = {}
        self._patterns: dict[tuple[str, ...], int] = {}
        self.known: dict[str, Line] = {}
        """Lines without an access that have been read: they say the same wherever they stand."""

    def read(self, text: str, line: int, warp: int, time: int, stage: int) -> Line:
        """`text` at `line` of the file is what `warp` of the launch issued as its `time`-th."""
        words = text.split()
        try:
            position = 1 if self._header.has_line_numbers else 0
            source_line = int(words[0]) if position else 0
            pc, mask = words[position], words[position + 1]
            first_result = position + 3
            position = first_result + int(words[position + 2])
            opcode = words[position]
            first_source = position + 2
            end = first_source + int(words[position + 1])
            width, rest = int(words[end]), words[end + 1 :]
            number = self._numbers.get((pc, opcode))
            if number is None:
                registers = words[first_result:position], words[first_source:end]
                number = self._add(pc, opcode, width, line, source_line, registers)
            lanes = self._masks.get(mask)
            if lanes is None:
                lanes = self._masks[mask] = _lanes(mask)
            found = number, len(lanes), self._static[number].sass.kind == "barrier"
            if not width:
                self.known[text] = found
            elif lanes:
                self._access(number, (warp, time, stage), lanes, mask, rest)
        except (ValueError, IndexError) as error:
            raise TraceFormatError(
                f"{self._path}:{line}: no instruction of a trace ({error}): {text.strip()[:80]!r}"
            ) from None
        return found

    def rows(self) -> tuple[npt.NDArray[np.int32], list[InstructionRow]]:
        """The pc of each instruction number, and the instructions in the order of their addresses.

        All of them in basic block 0. `file` and `line` say where the trace has them first.
        """
        order = sorted(range(len(self._static)), key=lambda number: self._static[number].place)
        pc_of = np.zeros(len(order), np.int32)
        pc_of[order] = np.arange(len(order))
        return pc_of, [self._row(pc, self._static[number]) for pc, number in enumerate(order)]

    def _row(self, pc: int, static: _StaticInstruction) -> InstructionRow:
        sass, source = static.sass, static.source_line
        return InstructionRow(
            pc=pc,
            opcode=sass.opcode,
            mnemonic=static.place[1],
            unit=sass.unit,
            flops=sass.flops,
            kind=sass.kind,
            basic_block=0,
            space=sass.space,
            access_bytes=sass.access_bytes,
            cache=sass.cache,
            merged_into=pc,
            file=self._path.name,
            line=static.line,
            origin_file=self._header.kernel if source else "",
            origin_line=source,
            reads=static.reads,
            writes=static.writes,
            tensor_type=sass.tensor_type,
            tensor_operations=sass.tensor_operations,
        )

    def _add(
        self,
        pc: str,
        mnemonic: str,
        width: int,
        line: int,
        source_line: int,
        registers: tuple[list[str], list[str]],
    ) -> int:
        """Adds an instruction; `registers`: those of the results and of the sources."""
        sass = sass_instruction(mnemonic)
        if sass is None:
            hint = nearest(mnemonic.split(".")[0], SASS_OPCODES)
            raise TraceFormatError(f"{self._path}:{line}: unknown opcode {mnemonic}{hint}")
        if width and sass.kind not in ("load", "store", "atomic"):
            raise TraceFormatError(f"{self._path}:{line}: {mnemonic} does not access memory")
        if width and not sass.access_bytes:
            if width not in (1, 2, 4, 8, 16):
                raise TraceFormatError(f"{self._path}:{line}: an access of {width} bytes")
            sass = sass.of_bytes(width)
        number = self._numbers[pc, mnemonic] = len(self._static)
        writes, reads = map(self._register_numbers, registers)
        place = int(pc, 16), mnemonic
        self._static.append(_StaticInstruction(place, sass, line, source_line, reads, writes))
        return number

    def _register_numbers(self, names: list[str]) -> tuple[int, ...]:
        """Numbers of registers, of wide ones the first's, without the one that is always zero."""
        wanted = [name for name in dict.fromkeys(names) if name != _ZERO_REGISTER]
        return tuple(self._registers.setdefault(name, len(self._registers)) for name in wanted)

    def _access(
        self,
        number: int,
        when: tuple[int, int, int],
        lanes: tuple[int, ...],
        mask: str,
        words: list[str],
    ) -> None:
        space = self._static[number].sass.space
        if space == "generic" and (self._header.shared_window or self._header.local_window):
            self._generic_access(number, when, lanes, _addresses(words, len(lanes)))
            return
        if space == "local" or words[0] == _LIST:
            self._record(number, when, space, lanes, _addresses(words, len(lanes)))
            return
        # The text after the base address is the pattern: few patterns need to be computed.
        key = (mask, words[0], *words[2:])
        pattern = self._patterns.get(key)
        if pattern is None:
            addresses = _addresses(words, len(lanes))
            pattern = self._patterns[key] = self._accesses.pattern(lanes, addresses)
        self._record_pattern(number, when, space, _address(words[1]), pattern)

    def _generic_access(
        self,
        number: int,
        when: tuple[int, int, int],
        lanes: tuple[int, ...],
        addresses: Sequence[int],
    ) -> None:
        """Each lane's address says which space it means."""
        spaces = [self._space_of(address) for address in addresses]
        for space in dict.fromkeys(spaces):
            chosen = [at for at, item in enumerate(spaces) if item == space]
            self._record(
                number,
                when,
                space,
                tuple(lanes[at] for at in chosen),
                [addresses[at] for at in chosen],
            )

    def _space_of(self, address: int) -> str:
        for space, first in (
            ("shared", self._header.shared_window),
            ("local", self._header.local_window),
        ):
            if first is not None and first <= address < first + _WINDOW_BYTES:
                return space
        return "global"

    def _record(
        self,
        number: int,
        when: tuple[int, int, int],
        space: str,
        lanes: tuple[int, ...],
        addresses: Sequence[int],
    ) -> None:
        if space == "local":
            addresses = self._interleaved(number, when[0], lanes, addresses)
        pattern = self._accesses.pattern(lanes, addresses)
        self._record_pattern(number, when, space, addresses[0], pattern)

    def _record_pattern(
        self, number: int, when: tuple[int, int, int], space: str, address: int, pattern: int
    ) -> None:
        warp, time, stage = when
        if self._paths.wants(warp):
            self._paths.add_access(warp, time, address, pattern)
        if space in _BANKED:
            self._accesses.count(number, stage, address, pattern)
        else:
            self._accesses.add(number, warp, time, stage, address, pattern)

    def _interleaved(
        self, number: int, warp: int, lanes: tuple[int, ...], addresses: Sequence[int]
    ) -> list[int]:
        """Where the hardware keeps local memory: the same word of all threads lies together."""
        size = self._static[number].sass.access_bytes
        first = warp * WARP_WIDTH
        return [
            _LOCAL_FIRST_ADDRESS
            + address % _WINDOW_BYTES * self._launch_lanes
            + (first + lane) * size
            for lane, address in zip(lanes, addresses, strict=True)
        ]


def _lanes(mask: str) -> tuple[int, ...]:
    bits = int(mask, 16)
    if bits >> WARP_WIDTH:
        raise ValueError(f"mask {mask} has more than {WARP_WIDTH} lanes")
    return tuple(lane for lane in range(WARP_WIDTH) if bits >> lane & 1)


def _address(word: str) -> int:
    address = int(word, 16)
    if not 0 <= address < _MAX_ADDRESS:
        raise ValueError(f"{word} is no address")
    return address


def _addresses(words: list[str], lanes: int) -> list[int]:
    """One for each active lane; ValueError when there are more or fewer than the mode needs.

    After them there may be one more word, the immediate.
    """
    mode = words[0]
    needed = {_LIST: lanes, _STRIDE: 2, _DIFFERENCES: lanes}.get(mode)
    if needed is None:
        raise ValueError(f"unknown address mode {mode}")
    given = len(words) - 1
    if not needed <= given <= needed + 1:
        raise ValueError(f"address mode {mode} takes {needed} numbers for {lanes} active lanes")
    if mode == _LIST:
        return [_address(word) for word in words[1 : needed + 1]]
    found = [_address(words[1])]
    stride = int(words[2]) if mode == _STRIDE else 0
    for lane in range(1, lanes):
        found.append(found[-1] + (stride if mode == _STRIDE else int(words[1 + lane])))
    if min(found) < 0 or max(found) >= _MAX_ADDRESS:
        raise ValueError("an address beyond the address space")
    return found
