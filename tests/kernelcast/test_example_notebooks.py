"""The example notebooks run from top to bottom, and show what they are stored with."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
MOST_BYTES = 40_000
read: Any = nbformat.read  # which has no types


def test_there_are_two_small_ones() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["first_estimate", "triton_tuning"]
    assert all(file.stat().st_size < MOST_BYTES for file in NOTEBOOKS)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
@pytest.mark.filterwarnings("default")  # those of the libraries that talk to the kernel
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of the tests executes it, whatever kernels are installed."""
    if "triton" in file.stem:
        pytest.importorskip("triton", reason="Triton is not installed")
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "Python 3", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # Triton warns where nobody says it
    stored, fresh = (read(file, as_version=4) for _ in range(2))
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = NotebookClient(fresh, resources={"metadata": {"path": str(file.parent)}}, timeout=600)
    client.execute()
    assert shown(fresh) == shown(stored)


def shown(notebook: Any) -> list[list[str]]:
    """The kinds of outputs of each cell of code."""
    return [
        [kind for output in cell.outputs for kind in sorted(output.get("data", ["stream"]))]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
