"""A stored trace that grows while its launch runs."""

from __future__ import annotations

from dataclasses import replace

from kernelcast.traces.collector import BatchOrder, by_thread_block
from kernelcast.traces.pattern_numbers import PatternNumbers
from kernelcast.traces.pattern_tally import PatternTally
from kernelcast.traces.stored.parquet import TraceWriter
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import Trace

__all__ = ["StoringSink"]


class StoringSink:
    """An AccessSink that hands accesses to `writer` at once and keeps patterns and counts only.

    The file holds the tables that an AccessCollector would give.
    """

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._order = BatchOrder()
        self._numbers = PatternNumbers()
        self._tally = PatternTally()

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch; TraceFormatError when it is out of turn or cannot be written."""
        self._order.check(batch)
        accesses = by_thread_block(batch)
        pattern = self._numbers.of(batch.patterns, accesses.pattern)
        self._writer.write(replace(accesses, pattern=pattern))
        self._tally.add(batch.pattern_counts, batch.patterns)

    def finish(self, trace: Trace, repeats: int = 1) -> None:
        """Completes the file with the launch's `trace`, whose own memory tables do not count."""
        counts = self._tally.counts(self._numbers)
        whole = replace(
            trace, patterns=self._numbers.table(), pattern_counts=counts, has_memory=True
        )
        self._writer.finish(whole, repeats)
