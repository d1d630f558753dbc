"""`python -m kernelcast`, and the command `kernelcast`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

INTERRUPTED = 130


def main() -> int:
    """Runs the process's own command line; Ctrl-C during imports ends it quietly, too."""
    try:
        return _command_line()()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


def _command_line() -> Callable[[], int]:
    """The command line. What is imported stays: Python's collector need not look through it."""
    gc.disable()
    try:
        from kernelcast.cli import main as run_command
    finally:
        gc.enable()
    gc.freeze()
    return run_command


if __name__ == "__main__":
    sys.exit(main())
