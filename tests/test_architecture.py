"""Import directions, absolute imports, and the size limits of files and functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("kernelcast", "models", "opencl_bench", "ptx_frontend", "simcore", "traces")
LEAVES = ("errors", "input_files", "partial_files", "units")
ALLOWED: dict[str, frozenset[str]] = {
    "traces": frozenset(),
    "simcore": frozenset({"traces"}),
    "ptx_frontend": frozenset({"simcore"}),
    "models": frozenset({"simcore", "traces"}),
    "opencl_bench": frozenset({"simcore"}),
}
MAX_FILE_LINES = 400
HOME_OF_LIBRARY = {
    "matplotlib": "kernelcast/report",
    "pyopencl": "opencl_bench",
    "pyarrow": "traces",
    "llvmlite": "simcore",
}


# The links kernelcast/simcore, ... lead to folders that are visited by themselves.
ALL_SOURCES = sorted(
    file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py") if file.resolve() == file
)


def imported_modules(file: Path) -> Iterator[str]:
    """Dotted names of every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports are absolute"
            module = node.module or ""
            yield from (f"{module}.{name.name}" for name in node.names)


def forbidden(folder: str, module: str) -> bool:
    """Whether code in `folder` must not import the dotted name `module`."""
    parts = module.split(".")
    if parts[0] in FOLDERS and parts[0] != "kernelcast":
        return True
    if parts[0] != "kernelcast" or folder == "kernelcast" or len(parts) < 2:
        return False
    return parts[1] not in {folder, *LEAVES, *ALLOWED[folder]}


@pytest.mark.parametrize("folder", FOLDERS)
def test_import_directions(folder: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in ALL_SOURCES
        if file.relative_to(ROOT).parts[0] == folder
        for module in imported_modules(file)
        if forbidden(folder, module)
    ]
    assert not wrong


@pytest.mark.parametrize("leaf", LEAVES)
def test_leaves_import_nothing_of_ours_but_leaves(leaf: str) -> None:
    file = ROOT / "kernelcast" / f"{leaf}.py"
    ours = [name for name in imported_modules(file) if name.startswith("kernelcast.")]
    assert all(name.split(".")[1] in LEAVES for name in ours)


def test_the_rule_catches_what_it_must() -> None:
    assert forbidden("models", "kernelcast.ptx_frontend.ptx.text.parser")
    assert forbidden("simcore", "kernelcast.models.mpd_cpd.ptx_costs")
    assert forbidden("simcore", "kernelcast.models")
    assert forbidden("traces", "kernelcast.simcore.device.device")
    assert forbidden("simcore", "kernelcast.api")
    assert forbidden("kernelcast", "simcore.device.device")
    assert not forbidden("simcore", "kernelcast.traces.trace")
    assert not forbidden("models", "kernelcast.errors")


@pytest.mark.parametrize(("library", "home"), HOME_OF_LIBRARY.items())
def test_heavy_libraries_have_one_home(library: str, home: str) -> None:
    strangers = [
        file.relative_to(ROOT)
        for file in ALL_SOURCES
        if not file.is_relative_to(ROOT / home)
        and any(name.split(".")[0] == library for name in imported_modules(file))
    ]
    assert not strangers


def test_files_stay_short() -> None:
    sizes = {
        file.relative_to(ROOT): len(file.read_text(encoding="utf-8").splitlines())
        for file in ALL_SOURCES
    }
    assert not {file: lines for file, lines in sizes.items() if lines > MAX_FILE_LINES}


def test_only_the_command_line_prints() -> None:
    printing = [
        file.relative_to(ROOT)
        for file in ALL_SOURCES
        if "cli" not in file.parts
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not printing
