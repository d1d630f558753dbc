"""Divisions, roots and the like as the sequences of instructions that a GPU executes for them.

PTX has one instruction where native code has several, on several units, most of which wait for the
one before. Paths name those in the place of the one, so that each takes its issue slot.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel

__all__ = [
    "NativeInstruction",
    "native_sequences",
    "shortened_sequences",
    "with_native_sequences",
]

_BESIDE, _AFTER = "~", ">"
_GROUP, _REPEATED = re.compile(r"\(([^()]*)\)\*(\d+)"), re.compile(r"(\S+)\*(\d+)")
_NOTHING = -1

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NativeInstruction:
    """One instruction of a native sequence.

    `in_chain`: the next one of the chain, or the result, waits for this one; `waits`: it waits for
    the chain so far, not for the operands alone.
    """

    pipeline: Pipeline
    in_chain: bool = True
    waits: bool = True


@cache
def native_sequences() -> dict[str, tuple[NativeInstruction, ...]]:
    """The sequences of instruction_sequences.toml, by InstructionRow.sequence."""
    return _sequences("instruction_sequences.toml")


@cache
def shortened_sequences() -> dict[str, tuple[NativeInstruction, ...]]:
    """The sequences of shared_sequences.toml, of which others have computed a part."""
    return _sequences("shared_sequences.toml")


def _sequences(file: str) -> dict[str, tuple[NativeInstruction, ...]]:
    text = (files(__package__) / file).read_text("utf-8")
    return {name: _sequence(items) for name, items in tomllib.loads(text).items()}


def _sequence(items: str) -> tuple[NativeInstruction, ...]:
    for repeated in (_GROUP, _REPEATED):
        items = repeated.sub(lambda found: " ".join([found[1]] * int(found[2])), items)
    return tuple(
        NativeInstruction(
            Pipeline(item.lstrip(_BESIDE + _AFTER)),
            in_chain=not item.startswith((_BESIDE, _AFTER)),
            waits=not item.startswith(_BESIDE),
        )
        for item in items.split()
    )


def with_native_sequences(kernel: TimedKernel) -> TimedKernel:
    """The kernel with each such instruction replaced; itself where there is none."""
    known = {**native_sequences(), **shortened_sequences()}
    found = {
        row.pc: known[row.sequence]
        for row in kernel.instructions
        if row.sequence in known and kernel.pipeline[row.pc] is not Pipeline.NONE
    }
    if not found:
        return kernel
    lengths = np.ones(len(kernel.pipeline), np.int64)
    lengths[list(found)] = [len(items) for items in found.values()]
    numbered = kernel.of(np.repeat(np.arange(len(lengths)), lengths))
    pipeline, reads, writes = list(numbered.pipeline), numbered.reads, numbered.writes
    chain = int(max(reads.max(initial=_NOTHING), writes.max(initial=_NOTHING))) + 1
    first = np.cumsum(lengths) - lengths
    for pc, items in found.items():
        numbers = slice(int(first[pc]), int(first[pc]) + len(items))
        pipeline[numbers] = [item.pipeline for item in items]
        _chain(items, chain, reads[numbers], writes[numbers])
        chain += 1
    return replace(
        _with_longer_paths(numbered, lengths, first),
        pipeline=tuple(pipeline),
        reads=reads,
        writes=writes,
    )


def _chain(items: Sequence[NativeInstruction], register: int, reads: Ints, writes: Ints) -> None:
    """Fills in the registers of a sequence: the chain has one, and its last writes the result."""
    last = max(place for place, item in enumerate(items) if item.in_chain)
    result = writes[last].copy()
    writes[:] = _NOTHING
    has_begun = False
    for place, item in enumerate(items):
        if has_begun and item.waits:
            reads[place] = _NOTHING
            reads[place, 0] = register if place <= last else result[0]
        if item.in_chain:
            has_begun = True
            writes[place, 0] = register
    writes[last] = result


def _with_longer_paths(
    kernel: TimedKernel, lengths: npt.NDArray[np.int64], first: npt.NDArray[np.int64]
) -> TimedKernel:
    """Each event as often as its instruction has become others."""
    paths = kernel.paths
    times = lengths[paths.pc]
    ends = np.cumsum(times)
    begins = ends - times
    event = np.repeat(np.arange(len(times)), times)
    within = np.arange(len(event)) - begins[event]
    return replace(
        kernel,
        paths=replace(
            paths,
            start=np.concatenate([[0], ends])[paths.start],
            pc=(first[paths.pc[event]] + within).astype(np.int32),
            lanes=paths.lanes[event],
            pattern=paths.pattern[event],
            address=paths.address[event],
            phases=replace(paths.phases, event=begins[paths.phases.event]),
        ),
        wavefronts=kernel.wavefronts[event],
        ideal_wavefronts=kernel.ideal_wavefronts[event],
    )
