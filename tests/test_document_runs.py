"""The commands and the Python of README and docs are executed, page by page, at small sizes.

A page is followed in its order in a folder with the examples and what `document_pages.py` says
that its reader has. `tests/kernelcast/inputs/test_recipes.py` executes the Python of inputs.md.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import runpy
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.errors import InputError
from kernelcast.inputs.clang import find_clang
from tests.document_pages import FILES, NAMES, NOT_RUN, with_small_sizes
from tests.document_snippets import Snippet, snippets_in

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NEEDS_NVRTC = ("inputs", "rank", "sweep", "textures")
NEEDS_MODULES = {"triton": ("triton",), "modules": ("torch", "triton")}
NEEDS_CLANG = {"hip": "HIP", "opencl": "OpenCL C"}
RECIPES = "inputs"


def reason_not_to_run(page: str, command: str) -> str | None:
    """Why no test executes a command line of a page; None where one does."""
    line = f"{page}: {command}"
    return next((why for begin, why in NOT_RUN.items() if line.startswith(begin)), None)


def commands_of(snippet: Snippet) -> list[str]:
    """The calls of kernelcast in a block of commands."""
    if snippet.language not in ("sh", ""):
        return []
    return [line for line in snippet.commands if line.startswith("kernelcast ")]


def steps_of(page: Path) -> list[tuple[str, str]]:
    """What a reader does on a page, in order: ("command", line) and ("python", text)."""
    steps: list[tuple[str, str]] = []
    for snippet in snippets_in(page):
        lines = commands_of(snippet)
        steps += [("command", line) for line in lines if not reason_not_to_run(page.stem, line)]
        if snippet.language == "python" and page.stem != RECIPES:
            steps.append(("python", snippet.text))
    return steps


def missing(page: str) -> str | None:
    """What a page's commands need and is not installed."""
    for module in NEEDS_MODULES.get(page, ()):
        if importlib.util.find_spec(module) is None:
            return module
    try:
        if page in NEEDS_CLANG:
            find_clang(NEEDS_CLANG[page])
    except InputError:
        return f"a clang for {NEEDS_CLANG[page]}"
    return None


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's folder, and results that are kept between the steps of a page."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "validation" / "workloads", tmp_path / "validation" / "workloads")
    for file in tmp_path.rglob("*.toml"):
        file.write_text(with_small_sizes(file.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELCAST_STORE", "1GB")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return tmp_path


def run_command(line: str) -> None:
    """Executes a command line, with what it prints in the file behind `>`."""
    command, _, target = line.partition(" > ")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = main(shlex.split(command)[1:])
    assert status in (0, 1), line
    if target:
        Path(target.strip()).write_text(said.getvalue(), encoding="utf-8")


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.drawn(2)
@pytest.mark.parametrize("page", [page for page in PAGES if steps_of(page)], ids=lambda p: p.stem)
def test_a_page_runs(page: Path, reader: Path, request: pytest.FixtureRequest) -> None:
    """Python blocks of a page are one program each, with the names of those before."""
    if page.stem in NEEDS_NVRTC:
        request.getfixturevalue("nvrtc")
    if what := missing(page.stem):
        pytest.skip(f"{what} is not installed")
    if page.stem in FILES:
        FILES[page.stem](reader)
    names: dict[str, Any] = {"kc": kc}
    if page.stem in NAMES:
        names |= NAMES[page.stem]()
    # functions of a script that runs are compiled by this process, and no other looks for them
    name = "__main__" if page.stem == "triton" else "page"
    for number, (kind, text) in enumerate(steps_of(page)):
        if kind == "command":
            run_command(text)
        else:
            file = reader / f"step_{number}.py"
            file.write_text(text, encoding="utf-8")
            names |= runpy.run_path(str(file), names, run_name=name)


def test_what_is_not_run_is_there_and_has_a_reason() -> None:
    """No line of the list has lost its command."""
    lines = [
        f"{page.stem}: {command}"
        for page in PAGES
        for snippet in snippets_in(page)
        for command in commands_of(snippet)
    ]
    assert [begin for begin in NOT_RUN if not any(line.startswith(begin) for line in lines)] == []
    assert all(NOT_RUN.values())
    left_out = [line for line in lines if any(line.startswith(begin) for begin in NOT_RUN)]
    assert len(left_out) < len(lines) / 3
