"""The rows of docs/trust.md: what loading each input opens, starts and decodes."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import kernelcast as kc

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "ptx_frontend" / "data"
FIXTURES = ROOT / "tests" / "traces" / "fixtures"
SAXPY = ROOT / "examples" / "saxpy"
IR = "define spir_kernel void @k(ptr addrspace(1) %o) {\n ret void\n}\n"
MATRIX = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 2 3.0\n"
WORKLOAD = """[kernel]
source = "k.ptx"
[launch]
grid = [1]
block = [1]
[[args]]
name = "out"
type = "f64[nonzeros]"
{init}
[matrix]
file = "m.mtx"
"""
WATCH = """
import json, os, sys
import numpy, scipy.io, scipy.sparse, pyarrow.parquet, llvmlite.binding
import kernelcast as kc
from kernelcast.validation.measured_times import read_measured
events = []
def watch(event, arguments):
    if event in ("open", "subprocess.Popen", "pickle.find_class"):
        events.append([event, *map(str, arguments)])
    elif event.split(".")[0] in ("socket", "ftplib", "urllib") or event in ("os.system", "os.exec"):
        events.append([event])
sys.addaudithook(watch)
path = sys.argv[1]
{action}
json.dump(events, sys.stdout)
"""
LOAD, TRUSTED = "kc.load(path)", "kc.load_workload(path).make_arguments()"
FOREIGN = "kc.load_workload(path, kc.Trust.FOREIGN).make_arguments()"
ACTIONS = {
    "PTX": ("k.ptx", LOAD),
    "LLVM IR": ("k.ll", LOAD),
    "SPIR-V": ("k.spv", LOAD),
    "fat binary": ("k.fatbin", LOAD),
    "own workload": ("own.toml", TRUSTED),
    "foreign workload": ("foreign.toml", FOREIGN),
    "addresses": ("addresses.toml", "kc.load_address_kernel(path)"),
    "device": ("device.toml", "kc.device(path)"),
    "measured times": ("times.json", "read_measured(path)"),
    "trace": ("t.parquet", "kc.load_trace(path)"),
    "metrics": ("metrics.csv", "kc.load_metrics(path, 'gtx-480')"),
}
READS = {
    "own workload": {"own.py", "m.mtx"},
    "foreign workload": {"m.mtx"},
}
"""Files that an input reads besides itself."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one sound file of each kind."""
    folder = tmp_path_factory.mktemp("inputs")
    ptx = (DATA / "llvm_window.ptx").read_bytes()
    (folder / "k.ptx").write_bytes(ptx)
    (folder / "k.ll").write_text(IR)
    (folder / "k.spv").write_bytes((DATA / "spirv_tour_llvm.spv").read_bytes())
    entry = struct.pack("<HHIIIIIHHIIQ", 1, 0x101, 64, len(ptx), 0, 0, 0, 8, 75, 0, 0, 0)
    entry = entry.ljust(64, b"\0") + ptx
    (folder / "k.fatbin").write_bytes(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry)
    (folder / "m.mtx").write_text(MATRIX)
    python = 'init = { python = "own.py:values" }'
    (folder / "own.py").write_text("def values(sizes):\n    return [1.0, 3.0]\n")
    (folder / "own.toml").write_text(WORKLOAD.format(init=python))
    (folder / "foreign.toml").write_text(WORKLOAD.format(init='init = "ones"'))
    (folder / "addresses.toml").write_text(
        "[address_kernel]\ndomain = [64, 64]\n"
        '[[fields]]\nname = "a"\ntype = "f64[64, 64]"\nloads = ["y, x"]\n'
    )
    device = ROOT / "simcore" / "devices" / "gtx-480.toml"
    (folder / "device.toml").write_bytes(device.read_bytes())
    times = ROOT / "validation" / "measured" / "tesla-k20c-published.json"
    (folder / "times.json").write_bytes(times.read_bytes())
    (folder / "metrics.csv").write_bytes((FIXTURES / "plain.csv").read_bytes())
    kc.save_trace(kc.load_workload(SAXPY / "saxpy.toml").run("small"), folder / "t.parquet")
    return folder


def is_of_the_program(path: str) -> bool:
    """Whether a file is of Python, its packages, this tree, or one that the system has for all."""
    system = ("/proc/", "/sys/", "/dev/null", "/etc/", "/usr/share/zoneinfo/")
    homes = (sys.prefix, sys.base_prefix, str(ROOT), *system)
    return path.startswith(homes) or os.path.realpath(path).startswith(homes)


@pytest.mark.parametrize("kind", ACTIONS)
def test_an_input_does_what_the_table_says(kind: str, inputs: Path, tmp_path: Path) -> None:
    """The interpreter itself reports what happens; C++ libraries that read files are not seen."""
    name, action = ACTIONS[kind]
    cache = tmp_path / "cache"
    command = [sys.executable, "-B", "-c", WATCH.format(action=action), str(inputs / name)]
    environment = {**os.environ, "KERNELCAST_CACHE": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    events = json.loads(done.stdout)
    opened = [
        (path, int(flags))
        for _, path, _, flags in of("open", events)
        if not path.isdecimal() and "__pycache__" not in path
    ]
    kept = (str(cache), ".", "key", *os.listdir(cache if cache.exists() else tmp_path))
    of_inputs = {Path(path).name for path, _ in opened if path.startswith(str(inputs))}
    assert of_inputs <= {name, "k.ptx", *READS.get(kind, set())}
    assert of_inputs >= {name} - {"m.mtx"}
    strange = [
        path
        for path, _ in opened
        if not path.startswith((str(inputs), *kept)) and not is_of_the_program(path)
    ]
    assert strange == []
    writing = os.O_WRONLY | os.O_RDWR
    written = [path for path, flags in opened if flags & writing and path != "/dev/null"]
    assert all(path.startswith(kept) for path in written), written
    assert not written or kind in ("LLVM IR", "SPIR-V")  # PTX so small is not kept
    processes = [executable for _, executable, *_ in of("subprocess.Popen", events)]
    assert set(processes) <= ({sys.executable} if kind in ("LLVM IR", "SPIR-V") else set())
    decoded = of("pickle.find_class", events)
    assert decoded == []
    others = {what for what, *_ in events} - {"open", "subprocess.Popen", "pickle.find_class"}
    assert others == set()


def of(what: str, events: list[list[str]]) -> list[list[str]]:
    return [event for event in events if event[0] == what]


def test_the_table_has_these_rows() -> None:
    """What is checked here stands there."""
    table = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    for row in ("| PTX |", "| LLVM IR, SPIR-V |", "| fat binary,", "| workload, foreign |"):
        assert row in table
    for row in ("| file of addresses, device file, measured", "| trace (Parquet)", "| matrix"):
        assert row in table
