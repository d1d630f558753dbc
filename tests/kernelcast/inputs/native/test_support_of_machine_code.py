"""`kernelcast support` of machine code: what is missing where, unit by unit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelcast.inputs import support_survey
from kernelcast.inputs.native.disassembler import disassemble
from kernelcast.ptx_frontend.sass.lowering import module
from kernelcast.ptx_frontend.sass.lowering.families import SASS_OPCODES
from tests.kernelcast.inputs.native.test_machine_code_files import cubin, ptx
from tests.kernelcast.inputs.test_fat_binary import container, entry

_CUBIN = 2


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))


def test_missing_opcodes_have_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Callable[..., str]
) -> None:
    content = cubin("k", 3)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "k.cubin").write_bytes(content)
    listing = disassemble(content, 80, "k")
    stored = re.search(r"/\*([0-9a-f]{4})\*/\s+(STG\S+)", listing)
    assert stored is not None
    others = {name: opcode for name, opcode in SASS_OPCODES.items() if name != "STG"}
    monkeypatch.setattr(module, "SASS_OPCODES", others)
    record = json.loads(output("support", str(folder), "--json", status=1))
    (kernel,) = record["files"][0]["kernels"]
    assert (kernel["supported"], kernel["code"]) == (False, "sm_80")
    (missing,) = kernel["missing"]
    assert (missing["opcode"], missing["address"]) == (stored[2], int(stored[1], 16))
    found = output("support", str(folder / "k.cubin"), status=1)
    assert f"[sm_80 k] at {int(stored[1], 16):#x}: SASS instruction '{stored[2]}'" in found


def test_machine_code_goes_before_ptx_when_it_is_asked_for(
    tmp_path: Path, output: Callable[..., str]
) -> None:
    file = tmp_path / "k.fatbin"
    file.write_bytes(container([entry(cubin("k", 3), 80, _CUBIN), entry(ptx("k", 3).encode(), 80)]))
    assert "  k: supported\n" in output("support", str(file))
    assert "  k: supported as machine code for sm_80\n" in output(
        "support", str(file), "--machine-code"
    )


def test_units_are_checked_in_shares_and_a_damaged_one_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Callable[..., str]
) -> None:
    units = [container([entry(cubin(f"k{number}", 2), 80, _CUBIN)]) for number in range(5)]
    damaged = container([entry(cubin("x", 2)[:300], 80, _CUBIN)])
    file = tmp_path / "k.fatbin"
    file.write_bytes(b"".join([*units[:3], damaged, *units[3:], units[0]]))
    for together in (8, 2):
        monkeypatch.setattr(support_survey, "_UNITS_TOGETHER", together)
        record = json.loads(output("support", str(file), "--json", status=1))
        (found,) = record["files"]
        assert sorted(kernel["name"] for kernel in found["kernels"]) == [f"k{n}" for n in range(5)]
        assert all(kernel["supported"] for kernel in found["kernels"])
        (reason,) = found["damaged"]
        assert "#4]: a damaged cubin" in reason["message"]
    assert "damaged: " in output("support", str(file), status=1)
    file.write_bytes(damaged)
    assert "unreadable: " in output("support", str(file), status=1)
