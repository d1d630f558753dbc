"""What pyproject.toml cannot say: a wheel brings compiled code.

That is the libraries of `kernelcast capture` and the code of the simulators; without it kernelcast
compiles them when they are first needed. An editable installation has the latter, in its sources.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
CAPTURE = ROOT / "kernelcast" / "program_capture"


def client_build():
    """The module that builds them, without the package around it."""
    spec = importlib.util.spec_from_file_location("client_build", CAPTURE / "client_build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def make_machine_code(root: Path, folder: Path) -> str:
    """Compiles the simulators of the package below `root` into a folder; why it failed, or ""."""
    paths = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "kernelcast.machine_code", str(folder)]
    finished = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.PIPE,
        text=True,
    )
    return finished.stderr.strip().rpartition("\n")[2] if finished.returncode else ""


class BuildWithCode(build_py):
    """Builds libraries and code into the package; what cannot be built is left out."""

    def run(self):
        """Copies the package, then adds the libraries and the code."""
        super().run()
        if self.editable_mode:
            self._add_machine_code(ROOT, ROOT / "simcore")
            return
        package = Path(self.build_lib) / "kernelcast"
        folder = package / "program_capture" / "client" / "built"
        shutil.rmtree(folder, ignore_errors=True)
        module = client_build()
        try:
            module.build(folder)
        except module.BuildFailed as error:
            self.announce(f"kernelcast capture: {error}", level=3)
        self._add_machine_code(package.parent, package / "simcore")

    def _add_machine_code(self, root, simcore):
        self.announce("compiling the simulators, which takes a minute", level=3)
        reason = make_machine_code(root.resolve(), simcore.resolve() / "machine_code")
        if reason:
            self.announce(f"the simulators are compiled when they are needed: {reason}", level=3)


class PlatformWheel(bdist_wheel):
    """What is built is of one platform, and of any Python."""

    def finalize_options(self):
        """Says so."""
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        """The tag of the wheel: py3, none, the platform."""
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildWithCode, "bdist_wheel": PlatformWheel})
