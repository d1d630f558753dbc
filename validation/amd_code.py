"""Errors of AMD's machine code beside those of its source, on a drawn part of published times.

    python validation/amd_code.py [--rows N] [--seed S] [--jobs N] [--json FILE]

The rules, fixed before the first error was looked at:

1. Rows are those of MI210 in `pytorch-operators` and of the GPUs whose code is executed in
   `lattice-boltzmann`. Of each workload and device the same number is drawn, one unless `--rows`
   says otherwise, by `random.Random(seed)` from the rows in the order of their names; seed 1.
2. Both codes are of one text: the workload's CUDA C++ as HIP, by the same clang. `source` is the
   LLVM IR of it, `native` the code of the device's architecture.
3. The model is `interval` with the device files as they are. Nothing is changed after an error
   was seen but what a rule of the hardware, with its source, or a micro-kernel asks for.
4. A row that one of the codes cannot be predicted for is in neither mean; its reason is named.
5. Reported are the signed error of each row, and mean, median and signed mean of each code.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from kernelcast.execution.code import AMD_EXECUTED, Code
from kernelcast.simcore.device.file import load_device
from kernelcast.validation.hip_twins import as_hip
from kernelcast.validation.measured_tables import MEASURED_TABLES, validate_table

SETS = {"pytorch-operators": ("mi210",), "lattice-boltzmann": ()}
CODES = (Code.SOURCE, Code.NATIVE)


def drawn(name: str, rows: int, seed: int, folder: Path) -> int:
    """Writes a table with the drawn rows of a set into a folder; how many there are."""
    shutil.copy(MEASURED_TABLES / f"{name}.toml", folder)
    by_kernel = defaultdict(list)
    with (MEASURED_TABLES / f"{name}.csv").open(newline="") as file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or ()
        for row in reader:
            known = load_device(row["device"]).architecture.compute_capability in AMD_EXECUTED
            if known and (not SETS[name] or row["device"] in SETS[name]):
                by_kernel[row["device"], row["workload"]].append(row)
    generator = random.Random(seed)
    chosen = []
    for key in sorted(by_kernel):
        found = sorted(by_kernel[key], key=lambda row: row["size"])
        chosen += generator.sample(found, min(rows, len(found)))
    with (folder / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(chosen)
    return len(chosen)


def errors(name: str, folder: Path, code: Code, jobs: int) -> tuple[dict[str, float], list[str]]:
    """Signed errors by row, and notes of what could not be predicted."""
    report = validate_table(name, ["interval"], folder, code=code, processes=jobs, source_of=as_hip)
    found = {
        f"{time.device} {time.kernel}": time.predicted_s / time.measured_s - 1.0
        for time in report.times
    }
    return found, [f"{code.value}: {note}" for note in report.notes]


def summary(values: list[float]) -> str:
    """Mean and median of the absolute errors, and the signed mean."""
    sizes = [abs(value) for value in values]
    return (
        f"mean {statistics.mean(sizes):.1%}, median {statistics.median(sizes):.1%}, "
        f"signed mean {statistics.mean(values):+.1%}"
    )


def main() -> None:
    """Prints the table and the means; with `--json` the errors go to a file, too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    record = {}
    for name in SETS:
        with tempfile.TemporaryDirectory() as kept:
            count = drawn(name, options.rows, options.seed, Path(kept))
            both = [errors(name, Path(kept), code, options.jobs) for code in CODES]
        (source, _), (native, _) = both
        sys.stdout.write(f"{name}: {count} rows\n")
        common = [row for row in source if row in native]
        for row in common:
            sys.stdout.write(f"  {row:60} source {source[row]:+7.1%}  native {native[row]:+7.1%}\n")
        for code, (found, notes) in zip(CODES, both, strict=True):
            if common:
                sys.stdout.write(f"  {code.value}: {summary([found[row] for row in common])}\n")
            for note in notes:
                sys.stdout.write(f"  {note}\n")
        record[name] = {row: {"source": source[row], "native": native[row]} for row in common}
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
