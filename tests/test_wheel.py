"""The wheel in a virtual environment of its own: the first commands of README work from there.

Building takes a minute, so that only `make test-all` does it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import site
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from tests.document_snippets import commands_in

ROOT = Path(__file__).resolve().parents[1]

if os.environ.get("KERNELCAST_TESTS") == "all":

    @pytest.fixture(scope="module")
    def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
        """The folder of programs of an environment whose kernelcast is the wheel.

        What kernelcast needs is that of the environment that runs the tests.
        """
        folder = tmp_path_factory.mktemp("wheel")
        tree = folder / "tree"
        tree.mkdir()
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "-w", folder, tree], check=True)
        (wheel,) = folder.glob("*.whl")
        version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
        assert wheel.name.startswith(f"kernelcast-{version}-py3-none-")
        own = folder / "environment"
        venv.create(own, symlinks=True, with_pip=False)
        python = own / "bin" / "python"
        packages = next((own / "lib").glob("python3*/site-packages"))
        subprocess.run(
            [*pip, "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel],
            check=True,
        )
        # plain lines of a .pth file come behind the environment's own packages
        others = [path for path in sys.path if path.endswith("site-packages")]
        (packages / "others.pth").write_text("\n".join([*others, *site.getsitepackages()]) + "\n")
        return own / "bin"

    def run(environment: Path, folder: Path, *command: str) -> str:
        variables = {
            **os.environ,
            "PATH": f"{environment}{os.pathsep}{os.environ['PATH']}",
            "KERNELCAST_CACHE": str(folder / "cache"),
        }
        variables.pop("PYTHONPATH", None)
        finished = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    def test_the_first_commands_of_the_readme(environment: Path, tmp_path: Path) -> None:
        program = str(environment / "kernelcast")
        version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
        assert run(environment, tmp_path, program, "--version") == f"kernelcast {version}\n"
        run(environment, tmp_path, program, "examples")
        commands = [line for line in commands_in(ROOT / "README.md") if "examples/" in line]
        assert len(commands) > 5
        for line in commands:
            assert run(environment, tmp_path, program, *shlex.split(line)[1:])

    def test_what_is_imported_is_the_wheel(environment: Path, tmp_path: Path) -> None:
        code = "import kernelcast; print(kernelcast.__file__)"
        place = run(environment, tmp_path, str(environment / "python"), "-c", code)
        assert Path(place.strip()).is_relative_to(environment.parent)
        found = run(environment, tmp_path, str(environment / "kernelcast"), "doctor", "--json")
        assert str(environment.parent.resolve()) in found
