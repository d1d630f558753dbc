"""What a worker of a sweep frees is not cleared again before its next use."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
import numpy as np
from kernelcast.studies.freed_memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(5_000_000)  # 40 MB: by default the system gets what is larger than 32 MiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if sys.argv[1] == "kept":
    keep_freed_memory()
faults()
print(sum(faults() for _ in range(20)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is one of glibc")
def test_the_system_clears_no_page_twice() -> None:
    def counted(how: str) -> int:
        command = [sys.executable, "-c", _FAULTS, how]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert counted("kept") < 100 < counted("returned")
