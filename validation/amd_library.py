"""Makes the modules of the device library for AMD's GPUs from their sources.

Run `python validation/amd_library.py` when a source has changed. A clang compiles them;
`LIBRARY_CLANG` is the one whose output the tree has.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.inputs.amd import generated_code

__all__ = ["LIBRARY_CLANG", "compiled_library"]

LIBRARY_CLANG = "clang-19"
_FOLDER = Path(generated_code.__file__).parent / "library"
_OPTIONS = (
    *("-x", "hip", "-std=c++17", "-fgpu-rdc", "--cuda-device-only", "--offload-arch=gfx90a"),
    *("-nogpuinc", "-nogpulib", "-O2", "-ffp-contract=off", "-fno-math-errno"),
    *("-fno-slp-vectorize", "-cuid=0", "-emit-llvm", "-S", "-o", "-"),
)
_OF_COMPILER = re.compile(
    r"^(?:!llvm\.ident|!\d+ = !\{!\"[^\"]*clang|@__hip_cuid|@llvm\.compiler\.used).*\n",
    re.MULTILINE,
)
"""What names the compiler, and the one source that a program is linked from."""


def compiled_library() -> dict[str, str]:
    """The module of every source by the name of its file, without that of the compiler.

    InputError when there is no such clang.
    """
    program = shutil.which(LIBRARY_CLANG)
    if program is None:
        raise InputError(f"{LIBRARY_CLANG} is not installed")
    found: dict[str, str] = {}
    for source in sorted(_FOLDER.glob("*.hip")):
        command = [program, *_OPTIONS, source.name]
        done = subprocess.run(command, cwd=_FOLDER, capture_output=True, check=True, text=True)
        found[f"{source.stem}.ll"] = _OF_COMPILER.sub("", done.stdout)
    return found


if __name__ == "__main__":
    for name, text in compiled_library().items():
        (_FOLDER / name).write_text(text)
