"""Import directions and cycles, homes of heavy libraries, sizes of folders, files and functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("kernelcast", "models", "opencl_bench", "ptx_frontend", "simcore", "traces")
LEAVES = ("errors", "input_files", "notebook", "partial_files", "progress", "units")
ALLOWED: dict[str, frozenset[str]] = {
    "traces": frozenset(),
    "simcore": frozenset({"traces"}),
    "ptx_frontend": frozenset({"simcore"}),
    "models": frozenset({"simcore", "traces"}),
    "opencl_bench": frozenset({"simcore", "models"}),
}
_ISA = "isa isa/opcodes isa/ir isa/analysis"
_COMMON = f"{_ISA} launch"
ARROWS: dict[str, str] = {
    "host": "",
    "isa": "",
    "isa/numerics": "host isa",
    "isa/opcodes": "isa isa/numerics",
    "isa/matrix": "isa isa/numerics isa/opcodes",
    "isa/ir": "isa isa/opcodes isa/matrix",
    "isa/analysis": "host isa isa/opcodes isa/matrix isa/ir",
    "isa/schedule": "host isa isa/opcodes isa/ir isa/analysis",
    "launch": "host isa isa/ir isa/analysis isa/schedule",
    "engine/rules": "host isa isa/analysis isa/opcodes isa/ir launch",
    "engine/recording": "isa/ir isa/analysis",
    "engine/reference": f"host {_COMMON} isa/matrix engine/rules engine/recording",
    "engine/jit/analysis": f"host {_ISA} engine/reference",
    "engine/jit/codegen": f"host {_COMMON} isa/numerics engine/rules engine/jit/analysis",
    "engine/jit/recording": "host isa isa/analysis engine/jit/codegen",
    "engine/jit/runtime": "host isa isa/numerics isa/matrix isa/ir isa/analysis launch "
    "engine/rules engine/recording engine/reference "
    "engine/jit/analysis engine/jit/codegen engine/jit/recording",
    "engine": "host isa/matrix isa/ir isa/analysis launch "
    "engine/rules engine/recording engine/reference engine/jit/runtime",
    "checking": "host isa isa/ir isa/analysis isa/opcodes launch engine/rules engine/reference "
    "engine/jit/codegen engine/jit/runtime engine",
    "device": "isa",
    "memory": "host device",
    "sampling": "host isa/ir isa/analysis device memory",
    "timing/kernel": "host isa isa/opcodes device memory",
    "timing/walk": "host device timing/kernel",
    "timing/launch": "device host timing/kernel timing/walk",
    "profile": "host isa isa/ir launch device memory timing/kernel",
    "address": "host device profile",
    "address/extraction": f"{_COMMON} address",
}
"""What each room of simcore may import besides itself and the traces: rooms above it in this list.

A folder that is not listed belongs to the room that it lies in, as `isa/opcodes/llvm` does.
"""
MAX_MODULES = 25
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 63
"""The longest there is, without its docstring; 40 are the rule for new ones."""
MAX_LINES_OF_THE_REPRESENTATION = 380
"""Two hundred modules import it: what it knows, all of them know."""
MIN_SENTENCES = 3
"""The least sentences of a package's docstring: what it is, where to begin, what it imports."""
HOMES_OF_LIBRARIES = {
    "matplotlib": ("kernelcast/report",),
    "pyopencl": ("opencl_bench",),
    "pyarrow": ("traces", "kernelcast/studies/data_set.py", "kernelcast/inputs/decompression.py"),
    "starlette": ("kernelcast/explorer",),
    "uvicorn": ("kernelcast/explorer",),
    "distributed": ("kernelcast/studies/executors.py",),
    "elftools": ("ptx_frontend/sass/container",),
    "lz4": ("kernelcast/inputs/decompression.py", "kernelcast/store/codec.py"),
    "demangle": ("simcore/isa/ir/source_names.py",),
    "llvmlite": ("simcore/host", "simcore/memory/sets/way_search.py"),
    "numba": (
        "simcore/host",
        "simcore/memory/sets/way_search.py",
        "simcore/timing/walk/ready_warps.py",
    ),
}


# The links kernelcast/simcore, ... lead to folders that are visited by themselves.
ALL_SOURCES = sorted(
    file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py") if file.resolve() == file
)

TESTS = sorted((ROOT / "tests").rglob("*.py"))


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imported_modules(file: Path) -> tuple[str, ...]:
    """Dotted names of every module that a file imports, wherever in the file."""
    return tuple(_imported_modules(file))


def _imported_modules(file: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports are absolute"
            module = node.module or ""
            yield from (f"{module}.{name.name}" for name in node.names)


def dotted(file: Path) -> str:
    """The import name of a source."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts if parts[0] == "kernelcast" else ("kernelcast", *parts))
    return name.removesuffix(".__init__")


SOURCE_OF = {dotted(file): file for file in ALL_SOURCES}


@cache
def import_graph() -> nx.DiGraph:
    """Which module imports which, imports within functions and for type checkers included."""
    graph = nx.DiGraph()
    for name, file in SOURCE_OF.items():
        for imported in imported_modules(file):
            found = imported if imported in SOURCE_OF else imported.rpartition(".")[0]
            if found in SOURCE_OF and found != name:
                graph.add_edge(name, found)
    return graph


def room_of(module: str) -> str | None:
    """The room of simcore that a module lies in; None for what is not simcore's."""
    folder = SOURCE_OF[module].relative_to(ROOT).parent.as_posix().removeprefix("simcore/")
    if SOURCE_OF[module].relative_to(ROOT).parts[0] != "simcore":
        return None
    while folder not in ARROWS and "/" in folder:
        folder = folder.rpartition("/")[0]
    return folder


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


def test_no_model_imports_another() -> None:
    """What several models need is in `models` itself, or in simcore."""
    folders = {file.parent.name for file in (ROOT / "models").glob("*/__init__.py")}
    wrong = [
        f"{importer} imports {imported}"
        for importer, imported in import_graph().edges
        for own, other in [(model_of(importer), model_of(imported))]
        if own in folders and other in folders and own != other
    ]
    assert {"interval", "roofline"} < folders
    assert not wrong


def model_of(module: str) -> str:
    """The folder of `models` that a module lies in; empty for others."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["models"] and len(parts) > 2 else ""


def test_rooms_import_what_their_arrows_say() -> None:
    used: dict[str, set[str]] = {room: set() for room in ARROWS}
    for importer, imported in import_graph().edges:
        here, there = room_of(importer), room_of(imported)
        if here in ARROWS and there is not None and here != there:
            used[here].add(there)
    assert used == {room: set(allowed.split()) for room, allowed in ARROWS.items()}


def test_every_room_of_simcore_has_arrows() -> None:
    rooms = {room_of(name) for name in SOURCE_OF if not name.endswith("simcore")} - {None}
    bare = {"timing", "engine/jit"}  # packages of rooms without a module of their own
    assert rooms - bare == set(ARROWS)


def test_arrows_point_one_way() -> None:
    order = list(ARROWS)
    assert not [
        f"{room} -> {other}"
        for room, allowed in ARROWS.items()
        for other in allowed.split()
        if order.index(other) >= order.index(room)
    ]


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = import_graph()
    assert graph.number_of_edges() > 3000
    assert not [part for part in nx.strongly_connected_components(graph) if len(part) > 1]


def test_folders_stay_small() -> None:
    modules: dict[Path, int] = {}
    for file in (*ALL_SOURCES, *TESTS):
        modules[file.parent] = modules.get(file.parent, 0) + (file.name != "__init__.py")
    assert not {folder: count for folder, count in modules.items() if count > MAX_MODULES}


def test_packages_say_what_they_are_where_to_begin_and_what_they_import() -> None:
    short = []
    for file in ALL_SOURCES:
        if file.name == "__init__.py":
            said = ast.get_docstring(tree_of(file)) or ""
            if len(re.findall(r"[.?](?=\s|$)", said)) < MIN_SENTENCES:
                short.append(file.relative_to(ROOT).as_posix())
    assert not short

    """Packages name the rooms that they import, by the last part: `ir`, or `isa` for all of it."""
    silent = []
    for room, allowed in ARROWS.items():
        said = ast.get_docstring(tree_of(ROOT / "simcore" / room / "__init__.py")) or ""
        named = {
            part for name in re.findall(r"`([\w./]+)`", said) for part in re.split("[./]", name)
        }
        silent += [
            f"{room} does not name {other}"
            for other in allowed.split()
            if not room.startswith(f"{other}/") and not named & set(other.split("/"))
        ]
    assert not silent


@pytest.mark.parametrize(("library", "homes"), HOMES_OF_LIBRARIES.items())
def test_heavy_libraries_have_homes(library: str, homes: tuple[str, ...]) -> None:
    strangers = [
        file.relative_to(ROOT)
        for file in ALL_SOURCES
        if not any(file.is_relative_to(ROOT / home) for home in homes)
        and any(name.split(".")[0] == library for name in imported_modules(file))
    ]
    assert not strangers


def lengths_of_functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Name and lines of each function, its docstring left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            yield node.name, lines


def test_functions_stay_short() -> None:
    assert dict(lengths_of_functions(ast.parse('def f():\n    """Docs."""\n    a = 1\n'))) == {
        "f": 2
    }
    assert not {
        f"{file.relative_to(ROOT)}: {name}": lines
        for file in ALL_SOURCES
        for name, lines in lengths_of_functions(tree_of(file))
        if lines > MAX_FUNCTION_LINES
    }


def test_the_representation_stays_small() -> None:
    file = ROOT / "simcore" / "isa" / "ir" / "kernel.py"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MAX_LINES_OF_THE_REPRESENTATION


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
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not printing


SIX_QUESTIONS = re.compile(
    r"^\| (is|does) .*\? \| `(?P<file>[^`]+)` \| `(?P<name>[^`]+)` \|$", re.MULTILINE
)


def test_the_six_questions_are_answered_where_the_page_says() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    answers = [(found["file"], found["name"]) for found in SIX_QUESTIONS.finditer(page)]
    assert len(answers) == 6
    for file, name in answers:
        defined = {getattr(node, "name", "") for node in tree_of(ROOT / file).body}
        assert name in defined, f"{file} defines no {name}"


def test_paths_of_the_architecture_page_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:kernelcast|models|simcore|ptx_frontend|traces|tests)/[\w/.]+)`", page)
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_sources_that_the_documents_name_exist() -> None:
    """A path from the root, or the end of one: `jit/runtime/run.py`."""
    folders = (*FOLDERS, "tests", "benchmarks", "validation", "examples")
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    sources = [file.relative_to(ROOT).as_posix() for file in files]
    lost = [
        f"{page.name}: {name}"
        for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"))
        for name in re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8"))
        if not any(f"/{source}".endswith(f"/{name}") for source in sources)
    ]
    assert not lost
