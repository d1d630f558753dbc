"""The folder of entries: its limit, its order, and what is not believed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernelcast.cli import main
from kernelcast.errors import KernelcastError
from kernelcast.store import results
from kernelcast.store.results import clear, held_files, keep, kept, limit_bytes, set_limit


def key(number: int) -> str:
    return f"{number:064x}"


def noise(size: int, seed: int = 0) -> bytes:
    return np.random.default_rng(seed).bytes(size)


def value(number: int, what: str = "trace") -> object:
    found = kept(key(number), what)
    return None if found is None else found.value


def test_what_is_kept_is_found_by_key_and_kind(store: Path) -> None:
    keep(key(1), "trace", "one")
    assert value(1) == "one"
    assert value(2) is None
    assert value(1, "paths") is None
    assert store.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in store.iterdir())


def test_damaged_entries_are_as_good_as_none_and_are_made_again(store: Path) -> None:
    keep(key(1), "trace", noise(1000))
    (file,) = store.glob("*.trace")
    whole = file.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1], b"x" + whole[1:], whole + b"x"):
        file.write_bytes(damaged)
        assert value(1) is None
    keep(key(1), "trace", "new")
    assert value(1) == "new"


def test_an_entry_under_another_name_is_not_believed(store: Path) -> None:
    keep(key(1), "trace", "one")
    os.rename(store / f"{key(1)}.trace", store / f"{key(2)}.trace")
    assert value(2) is None


def test_what_was_not_used_for_longest_goes_first(store: Path) -> None:
    set_limit(10_500)
    for number in range(3):
        keep(key(number), "trace", noise(3000, number))
        os.utime(store / f"{key(number)}.trace", ns=(number, number))
    assert value(0) is not None  # used now
    keep(key(3), "trace", noise(3000, 3))
    assert sorted(item.name for item in held_files()) == [f"{key(n)}.trace" for n in (0, 2, 3)]
    assert sum(item.size for item in held_files()) <= 10_500


def test_what_is_larger_than_the_limit_is_not_kept(store: Path) -> None:
    set_limit(1000)
    keep(key(1), "trace", noise(2000))
    assert not held_files()


def test_the_environment_says_the_limit(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limit_bytes() == results.DEFAULT_LIMIT_BYTES == 2_000_000_000
    set_limit(5000)
    assert limit_bytes() == 5000
    monkeypatch.setenv(results.STORE_VARIABLE, "1.5 GB")
    assert limit_bytes() == 1_500_000_000
    monkeypatch.setenv(results.STORE_VARIABLE, "many")
    with pytest.raises(KernelcastError, match="KERNELCAST_STORE: 'many' is no size"):
        limit_bytes()


_WRITER = """
import numpy as np
from kernelcast.store.results import keep, kept
for turn in range(10):
    for number in range(10):
        content = np.random.default_rng(number).bytes(3000)
        keep(f"{number:064x}", "trace", content)
        found = kept(f"{number:064x}", "trace")
        assert found is None or found.value == content
"""


def test_processes_at_once_read_whole_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(results.STORE_VARIABLE, "20k")  # six of ten entries: they come and go
    running = [subprocess.Popen([sys.executable, "-c", _WRITER]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert not [name for name in os.listdir(tmp_path / "cache/results") if "partial" in name]


def test_the_command_shows_limits_and_clears(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(key(1), "trace", noise(1000))
    keep(key(2), "trace", noise(1000, 2))
    keep(key(3), "memory", noise(5000))
    assert main(["cache", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["folder"] == str(store)
    assert [(item["kind"], item["files"]) for item in found["results"]] == [
        ("memory", 1),
        ("trace", 2),
    ]
    assert found["bytes"] == sum(file.stat().st_size for file in store.glob("*.*"))
    assert main(["cache", "--limit", "4kB", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["limit_bytes"], shown["bytes"] <= 4000) == (4000, True)
    assert main(["cache"]) == 0
    assert "4.000 kB" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert not held_files()
    assert clear() == 0


def test_a_limit_that_is_no_size_is_refused(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "--limit", "much"]) == 2
    assert capsys.readouterr().err == "error: --limit: 'much' is no size such as 4 GB\n"
