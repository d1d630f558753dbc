"""`python -m kernelcast`, and the command `kernelcast`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Runs the process's own command line; Ctrl-C during imports ends it quietly, too."""
    try:
        from kernelcast.cli import main as run_command

        return run_command()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
