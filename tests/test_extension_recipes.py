"""The recipes of docs/extending.md, each followed once by a module that is made for it."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.cli import app, main
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.inputs import source_file
from kernelcast.simcore.device import file as device_file
from kernelcast.simcore.isa.opcodes import table

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("kernelcast", "models", "opencl_bench", "ptx_frontend", "simcore", "traces")
KERNEL = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    INSTRUCTION
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], ModuleType]:
    """(name, source) -> the module, imported from a folder of its own."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, source: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(dedent(source), encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return write


def test_an_opcode_is_one_entry(plug_in: Callable[[str, str], ModuleType]) -> None:
    """The front end, both engines and the instruction mix read the table."""
    source = """
        from kernelcast.simcore.isa.opcodes.table import opcode
        from kernelcast.simcore.isa.types import ScalarType, Unit


        def emit_triple(code, context, a):
            twice = code.binary("add", context.type, a, a)
            return code.binary("add", context.type, twice, a)


        @opcode("triple", "t=t", (ScalarType.U32,), unit=Unit.INTEGER, llvm=emit_triple)
        def triple(context, a):
            return a + a + a
        """
    plug_in("made_opcodes", source)
    try:
        for engine in ("reference", "jit"):
            out = np.zeros(32, np.uint32)
            module = kc.load_ptx(KERNEL.replace("INSTRUCTION", "triple.u32 %r2, %r1;"))
            trace = module["k"].run(grid=1, block=32, args=[out], engine=engine)
            assert out.tolist() == [3 * lane for lane in range(32)]
            mix = instruction_mix(trace.data, Counting.PLAIN)
            (row,) = (row for row in mix.rows if row.opcode == "triple.u32")
            assert (row.unit, row.thread, row.warp) == ("integer", 32, 1)
    finally:
        del table._TABLE["triple"]


def test_a_device_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shipped device is known by its name, one elsewhere by its path."""
    shipped = ROOT / "simcore" / "devices"
    text = (shipped / "gtx-480.toml").read_text(encoding="utf-8")
    made = text.replace("GTX 480", "GTX 999")
    assert made != text
    (tmp_path / "gtx-999.toml").write_text(made, encoding="utf-8")
    assert main(["devices", "show", str(tmp_path / "gtx-999.toml")]) == 0
    assert "GTX 999" in capsys.readouterr().out
    monkeypatch.setattr(device_file, "_FOLDER", tmp_path)
    assert kc.device("gtx-999").title.endswith("GTX 999")
    assert kc.devices() == ("gtx-999",)


def test_an_input_format_is_a_reader_and_its_suffix(
    plug_in: Callable[[str, str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
        from kernelcast.execution.runnable import LoadedModule
        from kernelcast.ptx_frontend import read_ptx


        def read_shouted(file, options):
            return LoadedModule(read_ptx(file.read_text().lower(), str(file)))
        """
    made = plug_in("made_reader", source)
    monkeypatch.setitem(source_file.READERS, ".shout", made.read_shouted)
    file = tmp_path / "kernel.shout"
    file.write_text(KERNEL.replace("INSTRUCTION", "add.u32 %r2, %r1, 7;").upper(), encoding="utf-8")
    out = np.zeros(32, np.uint32)
    kc.load(file)["k"].run(grid=1, block=32, args=[out])
    assert out.tolist() == [lane + 7 for lane in range(32)]


def test_a_report_is_a_function_and_a_subcommand_offers_it(
    plug_in: Callable[[str, str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = """
        from kernelcast.report.tables import column_table


        def names_of(devices):
            found = column_table("devices", "name", "SMs")
            for device in devices:
                found.add_row(device.name, str(device.architecture.sm_count))
            return found
        """
    report = plug_in("made_report", source)
    command = """
        from typing import Annotated

        import typer

        import kernelcast as kc
        import made_report
        from kernelcast.cli.terminal import show_result


        def count_sms(
            name: str, plain: Annotated[bool, typer.Option(help="Names only.")] = False
        ) -> None:
            \"\"\"How many SMs a GPU has.\"\"\"
            found = [kc.device(name)]
            shown = [found[0].name] if plain else made_report.names_of(found)
            show_result(
                json=False, csv=plain, record=dict, rows=lambda: [shown], report=lambda: shown
            )
        """
    monkeypatch.setattr(app, "registered_commands", list(app.registered_commands))
    app.command()(plug_in("made_command", command).count_sms)
    assert callable(report.names_of)
    assert main(["count-sms", "gtx-480"]) == 0
    assert {"gtx-480", "15"} <= set(capsys.readouterr().out.replace("│", " ").split())
    assert main(["count-sms", "gtx-480", "--plain"]) == 0
    assert capsys.readouterr().out.split() == ["gtx-480"]
    assert main(["count-sms", "gtx-481"]) == 2


MOST_RECENT = """
import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.replacement.role import MAX_WAYS

NAME = "mru"
MOST_WAYS = MAX_WAYS


def cold(ways, stride, sets):
    return np.zeros(stride * sets, np.int64)


@inlined
def touch(recency, first, stride, ways, way, clock):
    recency[first] = way


insert = touch


@inlined
def victim(recency, first, stride, ways, random):
    return int(recency[first])
"""
"""The line that was used last goes, which keeps some of what is read in turns."""
READ_IN_TURNS = """
from kernelcast.simcore.device.device import CacheFacts
from kernelcast.simcore.memory.cache import empty_cache, fetch, open_line
from kernelcast.simcore.memory.replacement import policies

facts = CacheFacts(
    capacity_bytes=4 * 128, line_bytes=128, sector_bytes=32, ways=4, replacement="mru",
    index="modulo", caches_global_loads=True, caches_read_only_loads=True, caches_local=True,
    write_allocate=True,
)
cache = empty_cache(facts, 32, 32, instances=1, keeps_dirty=False)
print(policies.__file__)
print([line for line in 2 * [*range(5)] if fetch(cache, open_line(cache, 0, line), 1)])
"""


def test_a_cache_policy_is_a_module_and_a_line(tmp_path: Path) -> None:
    """Works in a copy of the sources: compiled code is made of the list as it stands there."""
    for folder in FOLDERS:
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=left_out)
    room = tmp_path / "simcore" / "memory" / "replacement"
    (room / "mru.py").write_text(MOST_RECENT, encoding="utf-8")
    listed = (room / "policies.py").read_text(encoding="utf-8")
    listed = listed.replace("    lru_of_many_ways,\n", "    lru_of_many_ways,\n    mru,\n", 1)
    listed = listed.replace("    plru,\n)", "    plru,\n    mru,\n)", 1)
    (room / "policies.py").write_text(listed, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", READ_IN_TURNS],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    where, missed = done.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert missed == "[0, 1, 2, 3, 4, 3]"
