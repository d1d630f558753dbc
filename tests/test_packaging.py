"""The package list, the folders and the links agree; shipped data are packaged."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOP_LEVEL = ("models", "opencl_bench", "ptx_frontend", "simcore", "traces")


def setuptools_table() -> dict[str, Any]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = table["tool"]["setuptools"]
    return found


def packages_on_disk() -> set[str]:
    found = {"kernelcast"}
    for folder, prefix in (("kernelcast", ""), *((name, "kernelcast.") for name in TOP_LEVEL)):
        for init in (ROOT / folder).rglob("__init__.py"):
            if init.resolve() == init:
                found.add(prefix + ".".join(init.parent.relative_to(ROOT).parts))
    return found


def test_every_package_is_listed() -> None:
    assert set(setuptools_table()["packages"]) == packages_on_disk()


def test_every_folder_with_sources_is_a_package() -> None:
    for folder in ("kernelcast", *TOP_LEVEL):
        for file in (ROOT / folder).rglob("*.py"):
            assert (file.parent / "__init__.py").is_file(), file


def test_package_directories_map_the_top_level_folders() -> None:
    expected = {f"kernelcast.{name}": name for name in TOP_LEVEL} | {"kernelcast": "kernelcast"}
    assert setuptools_table()["package-dir"] == expected


def test_links_for_type_checkers() -> None:
    for name in TOP_LEVEL:
        link = ROOT / "kernelcast" / name
        assert link.is_symlink()
        assert link.resolve() == ROOT / name


def test_devices_are_packaged() -> None:
    assert "devices/*.toml" in setuptools_table()["package-data"]["kernelcast.simcore"]
    assert list((ROOT / "simcore" / "devices").glob("*.toml"))


def test_source_distribution_holds_what_git_holds() -> None:
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    for folder in ("tests", "examples", "docs", "validation", "benchmarks"):
        assert f"graft {folder}" in manifest
