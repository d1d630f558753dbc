"""Code is known by all sources that it was made of, and by nothing else."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelcast.simcore.host import source_digest

NAMES = ("kernelcast.made_entry", "kernelcast.made_part", "kernelcast.made_constants")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    for name in NAMES:
        sys.modules.pop(name, None)


def written(folder: Path, constants: str = "SIZE = 3\n") -> Path:
    """Three modules, of which each imports the next; the first one's file. They are old."""
    sources = (
        "from kernelcast.made_part import (\n    part,\n)\n",
        "from kernelcast import made_constants\n\npart = made_constants\n",
        constants,
    )
    folder.mkdir(exist_ok=True)
    for name, text in reversed(list(zip(NAMES, sources, strict=True))):
        file = folder / f"{name.rpartition('.')[2]}.py"
        file.write_text(text, encoding="utf-8")
        os.utime(file, (0, 0))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
    source_digest._imported.cache_clear()
    source_digest.source_digest.cache_clear()
    return folder / "made_entry.py"


def test_equal_sources_are_the_same_wherever_they_lie(tmp_path: Path) -> None:
    first = source_digest.source_digest(written(tmp_path / "first"))
    assert first is not None
    assert first == source_digest.source_digest(written(tmp_path / "second"))


def test_a_constant_two_imports_away_counts(tmp_path: Path) -> None:
    first = source_digest.source_digest(written(tmp_path))
    assert first != source_digest.source_digest(written(tmp_path, "SIZE = 4\n"))


def test_modules_that_are_not_imported_do_not_count(tmp_path: Path) -> None:
    first = source_digest.source_digest(written(tmp_path))
    (tmp_path / "other.py").write_text("", encoding="utf-8")
    assert first == source_digest.source_digest(written(tmp_path))


def test_a_source_that_changes_while_it_runs_has_no_digest(tmp_path: Path) -> None:
    entry = written(tmp_path)
    later = time.time() + 10
    os.utime(tmp_path / "made_constants.py", (later, later))
    assert source_digest.source_digest(entry) is None


def test_simulators_are_known_by_the_constants_of_other_folders() -> None:
    from kernelcast.simcore.engine.jit.recording import access_rows
    from kernelcast.simcore.isa import types
    from kernelcast.simcore.timing.walk import packed_words, sm_cycles

    reached = source_digest._reachable(Path(access_rows.__file__).resolve())
    assert Path(types.__file__).resolve() in reached
    reached = source_digest._reachable(Path(sm_cycles.__file__).resolve())
    assert Path(packed_words.__file__).resolve() in reached
