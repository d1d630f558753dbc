"""Bad input on the command line: one clear message, status 2, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kernelcast as kc

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
SAXPY = str(EXAMPLES / "saxpy" / "saxpy.toml")
COLLATZ = str(EXAMPLES / "divergent" / "divergent.toml")
SMALL_SAXPY = (SAXPY, "--size", "small")

Output = Callable[..., str]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--device", "gtx-660", "--model", "roofline", "--plot", "p.svg"), "shows one GPU"),
        (("--plot", "p.jpg"), "written as .png or .svg"),
        (("--model", "interval", "--plot", "p.svg", "--measured", "1"), "has no place for"),
        (("--plot", "none/p.svg"), "there is no folder none"),
        (("--plot", "p.svg", "--measured", "0"), "--measured must be a positive time"),
        (("--plot", "p.svg", "--measured", "nan"), "--measured must be a positive time"),
        (("--reference-time", "-1"), "--reference-time must be a positive time"),
        (("--model", "rooflin"), "did you mean roofline"),
    ],
)
def test_what_can_be_refused_is_refused_before_the_kernel_runs(
    options: tuple[str, ...], message: str, error: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("executed")

    monkeypatch.setattr(kc.Workload, "run", run)
    assert message in error("estimate", *SMALL_SAXPY, "--device", "gtx-480", *options)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise KeyError('q')", "reference.py:2: KeyError: 'q'"),
        ("return {'y': ['a'] * sizes['n']}", "the reference of y holds no real numbers"),
        ("return {'y': inputs['y'] * 1j}", "the reference of y holds no real numbers"),
        ("return {'y': [[1], [1, 2]]}", "the reference of y holds no real numbers"),
    ],
)
def test_reference_that_fails_is_bad_input(
    tmp_path: Path, error: Output, body: str, message: str
) -> None:
    for name in ("saxpy.ptx", "saxpy.toml"):
        (tmp_path / name).write_text((EXAMPLES / "saxpy" / name).read_text())
    (tmp_path / "reference.py").write_text(f"def saxpy(inputs, sizes):\n    {body}\n")
    found = error("run", str(tmp_path / "saxpy.toml"), "--size", "small", "--check")
    assert message in found
    assert found.count("\n") == 1


def test_shared_memory_that_no_gpu_has(tmp_path: Path, error: Output) -> None:
    """Even without a device `mix` must neither run it nor run out of memory."""
    folder = EXAMPLES / "saxpy"
    (tmp_path / "saxpy.ptx").write_text((folder / "saxpy.ptx").read_text())
    text = (folder / "saxpy.toml").read_text()
    for size in (300_000, 10**12):
        shared = text.replace("[launch]", f"[launch]\nshared_bytes = {size}")
        (tmp_path / "saxpy.toml").write_text(shared)
        found = error("mix", str(tmp_path / "saxpy.toml"), "--size", "small")
        assert f"{size} bytes of shared memory per thread block: no GPU allows" in found


def test_bad_kernels(tmp_path: Path, error: Output) -> None:
    """Each text in place of saxpy's PTX, and what the message must say."""
    ptx = (EXAMPLES / "saxpy" / "saxpy.ptx").read_text()
    workload = (EXAMPLES / "saxpy" / "saxpy.toml").read_text()
    cases = {
        "int main() { return 0; }": "PTX",
        ptx[: len(ptx) // 2]: "end",
        ptx.replace("fma.rn.f32", "fmb.rn.f32"): "fmb",
        ptx.replace("saxpy(", "other("): "no kernel 'saxpy'",
    }
    (tmp_path / "saxpy.toml").write_text(workload)
    for text, message in cases.items():
        (tmp_path / "saxpy.ptx").write_text(text)
        found = error("estimate", str(tmp_path / "saxpy.toml"), "--device", "gtx-480")
        assert found.startswith("error: ")
        assert message in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('grid = ["ceil(n / block.x)"]', "grid = 0", "grid sizes must be positive"),
        ("block = [256]", "block = [2048]", "thread block 2048x1x1 exceeds 1024"),
        ("block = [256]", "block = [256]\nshared_bytes = 200_000", "shared memory"),
        ('type = "f32[n]"\ninit = "uniform"\nseed = 2', 'type = "f32[n - 1]"', "y[i]"),
        ('type = "s32"\nvalue = "n"', 'type = "f32"\nvalue = 0.5', "argument 1"),
        ("[kernel]", "[kernel", "saxpy.toml:1: not TOML"),
    ],
)
def test_bad_launches(tmp_path: Path, error: Output, old: str, new: str, message: str) -> None:
    folder = EXAMPLES / "saxpy"
    workload = (folder / "saxpy.toml").read_text()
    assert old in workload
    (tmp_path / "saxpy.ptx").write_text((folder / "saxpy.ptx").read_text())
    (tmp_path / "saxpy.toml").write_text(workload.replace(old, new))
    options = ("--size", "small", "--device", "gtx-480")
    found = error("estimate", str(tmp_path / "saxpy.toml"), *options)
    assert found.startswith("error: ")
    if message == "y[i]":  # the store beyond the buffer, with its place and thread
        assert "saxpy.ptx:" in found
        assert "thread" in found
        assert "^" in found
    else:
        assert message in found
        assert found.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("estimate", SAXPY), "name a GPU with --device"),
        (("estimate", "--device", "gtx-480"), "either a workload file or"),
        (("estimate", SAXPY, "--metrics", "m.csv", "--device", "gtx-480"), "either a workload"),
        (("estimate", SAXPY, "--device", "gtx-48"), "did you mean gtx-480"),
        (("estimate", *SMALL_SAXPY, "--device", "gtx-480", "--model", "rooflin"), "roofline"),
        (("estimate", *SMALL_SAXPY, "--device", "gtx-480", "--type", "fp63"), "fp64"),
        (("estimate", *SMALL_SAXPY, "--device", "gtx-480", "--plot", "/no/x.txt"), ".png"),
        (("estimate", *SMALL_SAXPY, "--device", "gtx-480", "--reference-time", "0"), "positive"),
        (("estimate", "--metrics", "none.csv", "--device", "gtx-480"), "none.csv"),
        (
            ("estimate", SAXPY, "--device", "gtx-480", "--kernel", "k"),
            "--kernel goes with --metrics",
        ),
        (("estimate", SAXPY, "--device", "gtx-480", "--repeats", "2"), "--repeats goes with"),
        (
            ("estimate", "--metrics", "none.csv", "--device", "gtx-480", "--size", "small"),
            "--size goes with a workload file only",
        ),
        (("estimate", SAXPY, "--size", "smal", "--device", "gtx-480"), "did you mean small"),
        (("mix", *SMALL_SAXPY, "--engine", "warp"), "warp"),
        (("mix", "none.toml"), "none.toml: No such file"),
        (("mix", COLLATZ, "--limit-seconds", "0.0001"), "after 0.0001 s (--limit-seconds)"),
        (("devices", "show", "gtx480"), "did you mean gtx-480"),
        (("models", "show", "rooflin"), "did you mean roofline"),
        (("estimat",), "No such command"),
        (("mix", "--nothing"), "No such option"),
    ],
)
def test_bad_command_lines(
    error: Output, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert message in error(*arguments)
