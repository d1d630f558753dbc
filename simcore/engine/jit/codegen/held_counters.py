"""What warps have counted together in a stage goes into the row of their thread block, as LLVM IR.

Words go to memory two at a time, and are read so: what is read in larger pieces than it was written
waits until all stores before it have reached the cache.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.waiting_places import ThreadBlockLayout

__all__ = ["PAIR", "add_held", "clear_held"]

PAIR = "<2 x i64>"


def clear_held(layout: ThreadBlockLayout) -> str:
    """A stage begins: nothing has been counted."""
    return "\n".join(
        f"  %clear.{number} = getelementptr i64, ptr %held, i64 {number}\n"
        f"  store i64 0, ptr %clear.{number}"
        for number in range(layout.held.count)
    )


def add_held(layout: ThreadBlockLayout) -> str:
    """A stage ends. A row that gets nothing else is written; where there are several, added to.

    With barriers, the totals of the stage get the same, unless stages have rows that are added up.
    """
    lines = [
        f"  %held.at.{number} = getelementptr i64, ptr %held, i64 {number}\n"
        f"  %held.{number} = load i64, ptr %held.at.{number}"
        for number in range(layout.held.count)
    ]
    words: dict[int, str] = {}
    for word, number, factor in layout.held.parts:
        words[word] = f"%held.{number}"
        if factor != 1:
            words[word] = f"%word.{word}"
            lines.append(f"  %word.{word} = mul i64 %held.{number}, {factor}")
    lines += _rows(layout)
    for first in range(0, layout.counters, 2):
        low, high = (words.get(word, "0") for word in (first, first + 1))
        if (low, high) != ("0", "0") or (layout.held.is_all and layout.is_one_phase):
            lines += _into_rows(layout, first, low, high)
    return "\n".join(lines)


def _rows(layout: ThreadBlockLayout) -> list[str]:
    """The rows that get what was held: that of the thread block, or of its stage, and totals."""
    if not layout.has_barriers:
        return []
    at = [
        "  %held.stage = load i64, ptr %sgp",
        f"  %held.words = mul i64 %held.stage, {layout.counters}",
    ]
    if layout.held.is_all:
        return [*at, "  %total.row = getelementptr i64, ptr %totals, i64 %held.words"]
    return [
        *at,
        "  %held.rows = load ptr, ptr %scp",
        "  %stage.row = getelementptr i64, ptr %held.rows, i64 %held.words",
    ]


def _into_rows(layout: ThreadBlockLayout, first: int, low: str, high: str) -> list[str]:
    pair = f"%pair.{first}"
    lines = [
        f"  {pair}.low = insertelement {PAIR} poison, i64 {low}, i32 0",
        f"  {pair} = insertelement {PAIR} {pair}.low, i64 {high}, i32 1",
    ]
    rows = ["%row0"]
    if layout.has_barriers:
        rows = ["%row0", "%total.row"] if layout.held.is_all else ["%stage.row"]
    for number, row in enumerate(rows):
        name = f"{pair}.{number}"
        value = pair
        lines.append(f"  {name}.at = getelementptr i64, ptr {row}, i64 {first}")
        if not (layout.held.is_all and layout.is_one_phase):
            value = f"{name}.sum"
            lines.append(f"  {name}.known = load {PAIR}, ptr {name}.at, align 8")
            lines.append(f"  {value} = add {PAIR} {name}.known, {pair}")
        lines.append(f"  store {PAIR} {value}, ptr {name}.at, align 8")
    return lines
