"""`kernelcast build`: what a build is told, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.cli import main


@pytest.mark.parametrize(
    ("options", "before", "flags"),
    [
        ((), None, "-cudart shared"),
        ((), "-lineinfo", "-lineinfo -cudart shared"),
        (("--ptx", "80"), None, "-cudart shared -gencode arch=compute_80,code=compute_80"),
    ],
)
def test_nvcc_is_told_to_link_a_shared_runtime(
    options: tuple[str, ...],
    before: str | None,
    flags: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NVCC_APPEND_FLAGS", raising=False)
    if before is not None:
        monkeypatch.setenv("NVCC_APPEND_FLAGS", before)
    assert main(["build", *options, "--", "sh", "-c", 'echo "$NVCC_APPEND_FLAGS"']) == 0
    words = capfd.readouterr().out.split()
    assert " ".join(word for word in words if not word.startswith("-I")) == flags
    assert any(Path(word[2:], "hip", "hip_runtime.h").exists() for word in words)


def test_the_exit_status_is_that_of_the_build(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--", "sh", "-c", "exit 7"]) == 7
    assert main(["build", "--", "there-is-no-such-program"]) == 2
    assert "there is no program there-is-no-such-program" in capfd.readouterr().err
