"""Tables of every error on a GPU that our own tools measured, in Markdown.

    kernelcast validate measured --device h200 --model interval --code native --json > now.json
    python validation/errors_of_gpu.py now.json [--before before.json] >> docs/errors-h200.md

`--before`: a report of the same rows with an earlier device file or earlier rules, which stands
beside. Errors by kind of kernel are those of the workloads of one folder.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

COUNTERS = {
    "smsp__inst_executed.sum": "warp instructions",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "L1 sectors, loads",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "L1 sectors, stores",
    "lts__t_sectors_srcunit_tex_op_read.sum": "L2 sectors read",
    "lts__t_sectors_srcunit_tex_op_write.sum": "L2 sectors written",
    "dram__sectors_read.sum": "DRAM sectors read",
    "dram__sectors_write.sum": "DRAM sectors written",
}
_LEAST, _EXACT, _NEAR = 1000.0, 0.0005, 0.05


def tables(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[str]:
    """Lines of Markdown: counters, errors by kind, and all times."""
    yield "## Counters\n"
    yield from _table(
        ("counter", "rows", "exact", "median error", "within 5 %", "worst"),
        (row for name in COUNTERS if (row := _counter(now["counters"], name))),
    )
    yield "\n## By kind of kernel\n"
    kinds = _by_kind(now["rows"])
    earlier = {} if before is None else _by_kind(before["rows"])
    heads = "kind", "rows", "signed mean", "mean error", "median", "within 25 %", "inside"
    yield from _table(
        (*heads, *(("mean error before",) if earlier else ())),
        (
            (kind, *_statistics(rows), *((_statistics(earlier[kind])[2],) if earlier else ()))
            for kind, rows in kinds.items()
        ),
    )
    yield "\n## Times\n"
    was = {row["kernel"]: row for row in before["rows"]} if before is not None else {}
    yield from _table(
        ("kernel", "predicted", "measured", "error", *(("before",) if was else ())),
        (
            (
                row["kernel"].removesuffix(" full"),
                _microseconds(row["predicted_s"]),
                _microseconds(row["measured_s"]),
                f"{row['error']:+.1%}",
                *((f"{was[row['kernel']]['error']:+.1%}",) if was else ()),
            )
            for row in now["rows"]
        ),
    )


def _by_kind(rows: Iterable[Row]) -> dict[str, list[Row]]:
    listed = list(rows)
    kinds: dict[str, list[Row]] = {"all": listed}
    for row in sorted(listed, key=lambda item: str(item["kernel"])):
        kinds.setdefault(str(row["kernel"]).split("/")[0], []).append(row)
    return kinds


def _statistics(rows: Sequence[Row]) -> tuple[str, ...]:
    errors = [float(row["error"]) for row in rows]
    sizes = [abs(error) for error in errors]
    return (
        str(len(rows)),
        f"{statistics.mean(errors):+.1%}",
        f"{statistics.mean(sizes):.1%}",
        f"{statistics.median(sizes):.1%}",
        str(sum(size <= 0.25 for size in sizes)),
        str(sum(row["time_low_s"] <= row["measured_s"] <= row["time_high_s"] for row in rows)),
    )


def _counter(counters: Iterable[Row], name: str) -> tuple[str, ...] | None:
    """None where no row has enough of it."""
    errors = [
        abs(float(item["error"]))
        for item in counters
        if item["metric"] == name and item["measured"] > _LEAST
    ]
    if not errors:
        return None
    return (
        COUNTERS[name],
        str(len(errors)),
        str(sum(error <= _EXACT for error in errors)),
        f"{statistics.median(errors):.1%}",
        f"{statistics.mean(error <= _NEAR for error in errors):.0%}",
        f"{max(errors):.0%}",
    )


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.4g} us"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the tables of the reports that are named."""
    parser = argparse.ArgumentParser(description="Tables of every error on a measured GPU.")
    parser.add_argument("now", type=Path)
    parser.add_argument("--before", type=Path)
    options = parser.parse_args(arguments)
    now, before = (
        None if file is None else json.loads(file.read_text(encoding="utf-8"))
        for file in (options.now, options.before)
    )
    sys.stdout.writelines(f"{line}\n" for line in tables(now, before))


if __name__ == "__main__":
    main()
