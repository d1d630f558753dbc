"""Commands and snippets of README and docs are such that a reader can copy them.

Every command line is one that the program takes, every Python block compiles, and the way to a
first decision is walked. `test_document_runs.py` executes the other pages.
"""

from __future__ import annotations

import ast
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

import kernelcast as kc
from kernelcast.cli import app
from tests.document_snippets import Snippet, snippets_in

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MOST_COMMANDS = 6
Output = Callable[..., str]


def kernelcast_commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for snippet in snippets_in(page):
            if snippet.language in ("sh", ""):
                for command in snippet.commands:
                    if command.startswith("kernelcast ") and "..." not in command:
                        yield f"{page.stem}: {command}", command


@pytest.mark.parametrize("command", [item[1] for item in kernelcast_commands()])
def test_every_command_line_is_one(command: str) -> None:
    """Options and their values are those that the command has; nothing is executed."""
    words = shlex.split(command.partition(" > ")[0].partition(" && ")[0])[1:]
    program = typer.main.get_command(app)
    assert isinstance(program, typer.core.TyperGroup)
    with program.make_context("kernelcast", list(words)) as context:
        name, found, rest = program.resolve_command(context, words)
        assert found is not None
        found.make_context(name, rest, parent=context)


def python_snippets() -> list[Snippet]:
    return [item for page in PAGES for item in snippets_in(page) if item.language == "python"]


@pytest.mark.parametrize("snippet", python_snippets(), ids=lambda s: f"{s.file.stem}-{s.line}")
def test_python_compiles_and_names_what_there_is(snippet: Snippet) -> None:
    tree = ast.parse(snippet.text)
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "kc"
    }
    assert not [name for name in used if not hasattr(kc, name)]


def test_the_reference_has_all_public_names() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = {line.rpartition(".")[2] for line in page.splitlines() if line.startswith("::: ")}
    assert listed == set(kc.__all__) - {"__version__"}


def test_the_site_fetches_nothing() -> None:
    """The theme would fetch fonts, and scripts for pictures in texts."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "  font: false\n" in settings
    assert "extra_javascript" not in settings
    assert not [page.name for page in PAGES if "```mermaid" in page.read_text(encoding="utf-8")]


def test_toml_can_be_read() -> None:
    found = [item for page in PAGES for item in snippets_in(page) if item.language == "toml"]
    assert len(found) > 8
    for snippet in found:
        tomllib.loads(snippet.text.replace("...", ""))


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's folder: examples, and results that are kept as they are for a user."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "validation").symlink_to(ROOT / "validation")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELCAST_STORE", "1GB")
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.usefixtures("reader")
def test_a_first_decision(output: Output) -> None:
    """Six commands at most lead from nothing to the decision of the page, by what they answer."""
    page = ROOT / "docs" / "first-decision.md"
    commands = [line for snippet in snippets_in(page) for line in snippet.commands]
    assert len(commands) <= MOST_COMMANDS
    assert commands[0] == "pip install ."
    _, estimate, on_h100, on_gtx = (output(*shlex.split(line)[1:]) for line in commands[1:])
    assert "limited by" in estimate
    assert "DRAM bandwidth" in estimate
    assert "saxpy.ptx:46" in estimate
    times = ranked(on_h100)
    assert min(times, key=times.__getitem__) == "256"
    assert 1.15 < times["1024"] / times["256"] < 1.4
    assert times["64"] / times["256"] > 2
    others = ranked(on_gtx)
    assert max(others.values()) / min(others.values()) < 1.3


def ranked(answer: str) -> dict[str, float]:
    """Microseconds by thread block, of what `tune` shows."""
    scale = {"µs": 1.0, "ms": 1e3}
    rows = (line.split() for line in answer.splitlines() if " block=" in line)
    return {row[1].removeprefix("block="): float(row[2]) * scale[row[3]] for row in rows}
