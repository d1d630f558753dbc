"""Draws kernels of closed libraries and prints which share of them can be executed, and why not.

    pip install 'kernelcast[native]' nvidia-curand nvidia-cublas
    python validation/closed_libraries.py --kernels 500 --seed 1

The libraries are read where pip put them. Nothing of them is kept: what kernelcast caches goes into
a temporary folder. Each kernel for one of the architectures is as likely as any other.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.inputs.fat_binary import CodeEntry, CodeKind, code_entries, payload
from kernelcast.inputs.native.cubins import cubin_module
from kernelcast.inputs.native.tools import older_tools_folder
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.simcore.host.deadline import time_limit

_LIBRARIES = ("libcurand.so*", "libcublas.so*", "libcublasLt.so*")
_ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_120")
_CACHE, _OLDER_TOOLS = "KERNELCAST_CACHE", "KERNELCAST_CUDA12_TOOLS"
_MOST_SECONDS_A_CUBIN = 600.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """Kernels of one cubin."""

    file: Path
    entry: CodeEntry
    kernels: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the shares and the reasons; the status is 1 where less than `--at-least` lowers."""
    options = _parser().parse_args(arguments)
    libraries = options.libraries or list(_installed())
    if not libraries:
        print("no libraries: pip install nvidia-curand nvidia-cublas", file=sys.stderr)  # noqa: T201
        return 2
    os.environ[_OLDER_TOOLS] = str(older_tools_folder())
    with tempfile.TemporaryDirectory() as cache:
        os.environ[_CACHE] = cache
        with ProcessPoolExecutor(options.jobs) as pool:
            drawn = _drawn(pool, libraries, options.arch or _ARCHITECTURES, options)
            found = [verdict for part in pool.map(_verdicts, drawn) for verdict in part]
    for line in _report(found):
        print(line)  # noqa: T201
    share = sum(not reasons for _, _, reasons in found) / max(1, len(found))
    return 1 if share < options.at_least else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("libraries", nargs="*", type=Path, help="libraries, by default pip's")
    parser.add_argument("--kernels", type=int, default=500, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arch", action="append", help="architecture, may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--at-least", type=float, default=0.0, help="the share that has to lower")
    return parser


def _installed() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for root in (spec and spec.submodule_search_locations) or ():
        for pattern in _LIBRARIES:
            yield from sorted(Path(root).glob(f"*/lib/{pattern}"))


def _drawn(
    pool: ProcessPoolExecutor,
    libraries: Iterable[Path],
    architectures: Sequence[str],
    options: argparse.Namespace,
) -> list[Drawn]:
    """The drawn kernels by cubin."""
    cubins = [
        (library, entry)
        for library in libraries
        for entry in _cubins(library)
        if entry.architecture in architectures
    ]
    names = pool.map(_kernels, cubins, chunksize=8)
    everything = [
        (library, entry, kernel)
        for (library, entry), kernels in zip(cubins, names, strict=True)
        for kernel in kernels
    ]
    count = min(options.kernels, len(everything))
    chosen: dict[tuple[Path, CodeEntry], list[str]] = {}
    for library, entry, kernel in random.Random(options.seed).sample(everything, count):
        chosen.setdefault((library, entry), []).append(kernel)
    print(f"{count} of {len(everything)} kernels in {len(cubins)} cubins")  # noqa: T201
    return [Drawn(library, entry, tuple(some)) for (library, entry), some in chosen.items()]


def _cubins(library: Path) -> list[CodeEntry]:
    with library.open("rb") as stream:
        found = code_entries(stream, str(library))
        return [entry for entry in found if entry.kind is CodeKind.CUBIN]


def _content(library: Path, entry: CodeEntry) -> bytes:
    with library.open("rb") as stream:
        return payload(stream, entry, library.name)


def _kernels(cubin: tuple[Path, CodeEntry]) -> list[str]:
    library, entry = cubin
    read = read_cubin(_content(library, entry), library.name)
    return sorted(function.name for function in read.functions.values() if function.is_entry)


def _verdicts(drawn: Drawn) -> list[tuple[Path, str, tuple[str, ...]]]:
    """The library, the architecture, and what keeps a kernel from running, of each."""
    place = (drawn.file, drawn.entry.architecture)
    try:
        with time_limit(_MOST_SECONDS_A_CUBIN):
            content = _content(drawn.file, drawn.entry)
            module = cubin_module(content, drawn.file.name, names=drawn.kernels)
    except KernelcastError as error:
        return [(*place, (error.message,)) for _ in drawn.kernels]
    except Exception as error:  # a defect of the front end counts as what it is
        return [(*place, (f"defect: {error!r}",)) for _ in drawn.kernels]
    return [
        (*place, tuple(_message(why) for why in module.rejected.get(name, ())))
        for name in drawn.kernels
    ]


def _message(error: Exception) -> str:
    return error.message if isinstance(error, KernelcastError) else repr(error)


def _report(found: Sequence[tuple[Path, str, tuple[str, ...]]]) -> Iterator[str]:
    for title, key in (("library", 0), ("architecture", 1)):
        totals: Counter[str] = Counter()
        good: Counter[str] = Counter()
        for verdict in found:
            name = verdict[0].name if key == 0 else verdict[1]
            totals[name] += 1
            good[name] += not verdict[2]
        for name, total in sorted(totals.items()):
            yield f"{title} {name}: {good[name]} of {total} ({good[name] / total:.1%})"
    lowered = sum(not reasons for _, _, reasons in found)
    yield f"all: {lowered} of {len(found)} ({lowered / max(1, len(found)):.1%})"
    reasons = Counter(reason for _, _, several in found for reason in set(several))
    alone = Counter(several[0] for _, _, several in found if len(set(several)) == 1)
    for reason, count in reasons.most_common():
        yield f"  {count} kernels, {alone[reason]} of them nothing else: {reason}"


if __name__ == "__main__":
    sys.exit(main())
