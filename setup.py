"""What pyproject.toml cannot say: a wheel brings the libraries of `kernelcast capture`."""

import importlib.util
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

CAPTURE = Path(__file__).parent / "kernelcast" / "capture"


def client_build():
    """The module that builds them, without the package around it."""
    spec = importlib.util.spec_from_file_location("client_build", CAPTURE / "client_build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class BuildWithClient(build_py):
    """Builds the libraries into the package; without a C compiler they are left out."""

    def run(self):
        """Copies the package, then adds the libraries."""
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / "kernelcast" / "capture" / "client" / "built"
        shutil.rmtree(folder, ignore_errors=True)
        module = client_build()
        try:
            module.build(folder)
        except module.BuildFailed as error:
            self.announce(f"kernelcast capture: {error}", level=3)


class PlatformWheel(bdist_wheel):
    """The libraries are of one platform, and of any Python."""

    def finalize_options(self):
        """Says so."""
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        """The tag of the wheel: py3, none, the platform."""
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildWithClient, "bdist_wheel": PlatformWheel})
