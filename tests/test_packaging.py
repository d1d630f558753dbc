"""The package list, the folders and the links agree; what is shipped is used and no test."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from kernelcast.triton_calls.session import JOINING

ROOT = Path(__file__).resolve().parents[1]
IMPORTED_AS = ("elftools",)  # of pyelftools
FOR_EXTRAS = ("kernelcast/pytest_plugin.py", "kernelcast/torch_modules/library_kernels.py")
"""Modules that only pytest, or an extra, imports."""
TOP_LEVEL = ("models", "opencl_bench", "ptx_frontend", "simcore", "traces")


def setuptools_table() -> dict[str, Any]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = table["tool"]["setuptools"]
    return found


def packages_on_disk() -> set[str]:
    found = {"kernelcast", "kernelcast.examples"}
    for folder, prefix in (("kernelcast", ""), *((name, "kernelcast.") for name in TOP_LEVEL)):
        for init in (ROOT / folder).rglob("__init__.py"):
            if init.resolve() == init:
                found.add(prefix + ".".join(init.parent.relative_to(ROOT).parts))
    return found


def test_every_package_is_listed() -> None:
    assert set(setuptools_table()["packages"]) == packages_on_disk()


def imported_with_the_module(file: Path) -> set[str]:
    """Top-level packages that importing a file imports, whatever is called later."""
    names: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_what_modules_import_comes_with_the_installation() -> None:
    """A package that something else brings today is not there for everybody."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    required = {re.split(r"[^\w-]", item)[0] for item in table["project"]["dependencies"]}
    known = sys.stdlib_module_names | required | {"kernelcast", *IMPORTED_AS}
    for folder in ("kernelcast", *TOP_LEVEL):
        for file in (ROOT / folder).rglob("*.py"):
            if str(file.relative_to(ROOT)) not in FOR_EXTRAS:
                assert not imported_with_the_module(file) - known, file


def test_every_folder_with_sources_is_a_package() -> None:
    for folder in ("kernelcast", *TOP_LEVEL):
        for file in (ROOT / folder).rglob("*.py"):
            assert (file.parent / "__init__.py").is_file(), file


def test_package_directories_map_the_top_level_folders() -> None:
    expected = {f"kernelcast.{name}": name for name in TOP_LEVEL} | {"kernelcast": "kernelcast"}
    expected["kernelcast.examples"] = "examples"
    assert setuptools_table()["package-dir"] == expected


def test_links_for_type_checkers() -> None:
    for name in TOP_LEVEL:
        link = ROOT / "kernelcast" / name
        assert link.is_symlink()
        assert link.resolve() == ROOT / name


def test_devices_are_packaged() -> None:
    assert "devices/*.toml" in setuptools_table()["package-data"]["kernelcast.simcore"]
    assert list((ROOT / "simcore" / "devices").glob("*.toml"))


def test_all_examples_are_packaged() -> None:
    """A wheel holds those files of the package's folder that a pattern matches."""
    folder = ROOT / "examples"
    patterns = setuptools_table()["package-data"]["kernelcast.examples"]
    packaged = {file for pattern in patterns for file in folder.glob(pattern) if file.is_file()}
    built = ("__pycache__", ".ipynb_checkpoints")
    there = {file for file in folder.rglob("*") if file.is_file() and file.parent.name not in built}
    assert len(there) > 40
    assert not there - packaged


def test_templates_of_pages_are_packaged() -> None:
    patterns = setuptools_table()["package-data"]["kernelcast.report.html"]
    folder = ROOT / "kernelcast" / "report" / "html"
    templates = [file for file in (folder / "templates").iterdir() if file.is_file()]
    assert len(templates) >= 7
    for file in templates:
        assert any(file.relative_to(folder).match(pattern) for pattern in patterns), file


def test_the_changelog_has_the_version() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{table['project']['version']}] - 20" in changelog


def test_source_distribution_holds_what_git_holds() -> None:
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    for folder in ("tests", "examples", "docs", "validation", "benchmarks"):
        assert f"graft {folder}" in manifest


def shipped_modules() -> dict[str, Path]:
    """Every module that a wheel would hold, by its import name."""
    table = setuptools_table()
    found = {}
    for package in table["packages"]:
        top = max(
            (key for key in table["package-dir"] if f"{package}.".startswith(f"{key}.")), key=len
        )
        inner = package.removeprefix(top).strip(".").replace(".", "/")
        for file in (ROOT / table["package-dir"][top] / inner).glob("*.py"):
            found[f"{package}.{file.stem}"] = file
    return found


def names_in(file: Path) -> set[str]:
    """Dotted names that a source imports, and those that it names in texts, as tables do."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                found.update(name.name for name in node.names)
            case ast.ImportFrom():
                found.add(node.module or "")
                found.update(f"{node.module}.{name.name}" for name in node.names)
            case ast.Constant(value=str() as text):
                found.add(text)
    return found


def test_a_wheel_holds_nothing_that_only_tests_use() -> None:
    """Each is imported by another, by a script that users run, or begins a program or a build."""
    shipped = shipped_modules()
    assert len(shipped) > 600
    scripts = [*(ROOT / "validation").glob("*.py"), *(ROOT / "examples").rglob("*.py")]
    used = set().union(*(names_in(file) for file in (*shipped.values(), *scripts)))
    entries = {"kernelcast.__main__", "kernelcast.machine_code", "kernelcast.pytest_plugin"}
    # what a block of `capture` asks to join in, by name
    entries |= {name.rpartition(".")[0] for name in JOINING.values()}
    assert not [
        name
        for name, file in shipped.items()
        if file.stem != "__init__" and name not in used and name not in entries
    ]


def test_no_test_is_shipped() -> None:
    words = ("test_", "conftest", "oracle", "micro_kernel", "fake_")
    assert not [name for name in shipped_modules() if name.rpartition(".")[2].startswith(words)]
