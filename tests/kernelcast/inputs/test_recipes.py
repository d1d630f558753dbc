"""The recipes of docs/inputs.md, with the producers that are installed."""

from __future__ import annotations

import importlib.util
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernelcast.errors import InputError
from kernelcast.inputs.clang import find_clang
from kernelcast.inputs.cuda.nvrtc_library import load_nvrtc
from kernelcast.inputs.native.tools import toolset

_TEXT = (Path(__file__).parents[3] / "docs" / "inputs.md").read_text(encoding="utf-8")
_CODE = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"// (?P<name>\S+)\n")


def recipes() -> dict[str, dict[str, str]]:
    """Heading -> language -> code, of the sections with something to execute."""
    found: dict[str, dict[str, str]] = {}
    for section in _TEXT.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        code = {match["language"]: match["code"] for match in _CODE.finditer(body)}
        if "python" in code:
            found[heading] = code
    return found


def missing_producer(code: dict[str, str]) -> str:
    """What a recipe needs and is not there; empty when all is."""
    command = code.get("sh", "").split(" ")[0]
    if command and shutil.which(command) is None:
        return command
    for module in ("jax", "triton", "numba_cuda", "cupy"):
        imported = module.removesuffix("_cuda")
        if re.search(rf"^(import|from) {imported}\b", code["python"], re.MULTILINE):
            return "" if importlib.util.find_spec(module) else module
    if '.cu"' in code["python"]:
        try:
            load_nvrtc()
        except InputError:
            return "NVRTC"
    if "cl" in code or ".hip" in code["python"]:
        try:
            find_clang("OpenCL C")
        except InputError:
            return "clang"
    if '.cubin"' in code["python"] and toolset(75) is None:
        return "NVIDIA's disassembler"
    return ""


@pytest.mark.parametrize("heading", recipes())
def test_recipe(heading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = recipes()[heading]
    if absent := missing_producer(code):
        pytest.skip(f"{absent} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    for language in code.keys() & {"cpp", "cl"}:
        name = _FILE.match(code[language])
        assert name is not None
        (tmp_path / name["name"]).write_text(code[language])
    if "sh" in code:
        subprocess.run(["sh", "-ec", code["sh"]], check=True, capture_output=True)
    (tmp_path / "recipe.py").write_text(code["python"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert "kc" in runpy.run_path("recipe.py")


def test_there_is_a_recipe_for_every_producer() -> None:
    headings = " ".join(recipes())
    for producer in (
        "CUDA C++",
        "OpenCL C",
        "nvcc",
        "fat binaries",
        "Triton",
        "Numba",
        "text",
        "clang",
    ):
        assert producer in headings
