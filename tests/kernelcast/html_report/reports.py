"""Reports of small launches, each made once, with what `--json -v` prints of them."""

from __future__ import annotations

import html
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelcast as kc
from kernelcast.execution.run_options import RunOptions
from kernelcast.reporting import report_records

__all__ = [
    "EXAMPLES",
    "ROOT",
    "WORKLOADS",
    "Report",
    "data_of",
    "module_of",
    "report_of",
    "text_of",
]

ROOT = Path(__file__).parents[3]
EXAMPLES, WORKLOADS = ROOT / "examples", ROOT / "validation" / "workloads"
_DATA = re.compile(r'<script type="application/json" id="data-(\w+)">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class Report:
    """A page, and the record of the estimates that it is of."""

    path: Path
    record: Mapping[str, Any]
    estimates: Sequence[kc.Estimate]
    profiles: Sequence[kc.KernelProfile]


def report_of(
    workload: Path | kc.Workload, devices: Sequence[str], path: Path, code: str = "source"
) -> Report:
    """Executes a workload at its small size and writes the page of its estimates."""
    loaded = kc.load_workload(workload) if isinstance(workload, Path) else workload
    targets = [kc.device(name) for name in devices]
    options = RunOptions(devices=targets, record_paths=True, code=code)
    profiles = loaded.run("small", options=options).profiles(targets)
    estimates = [kc.estimate(profile) for profile in profiles]
    kc.write_report(path, estimates, profiles)
    (record,) = report_records(list(zip(estimates, profiles, strict=True)))
    return Report(path, json.loads(json.dumps(record)), estimates, profiles)


def module_of(file: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def data_of(path: Path) -> dict[str, Any]:
    """The data that the scripts of a page read, by name."""
    found = _DATA.findall(path.read_text(encoding="utf-8"))
    return {name: json.loads(text) for name, text in found}


def text_of(path: Path) -> str:
    """The words of a page without its scripts and style, single blanks between them."""
    body = path.read_text(encoding="utf-8")
    for tag in ("script", "style"):
        body = re.sub(rf"<{tag}\b.*?</{tag}>", " ", body, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())
