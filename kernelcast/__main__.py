"""`python -m kernelcast`."""

from __future__ import annotations

import sys

from kernelcast.cli import main

if __name__ == "__main__":
    sys.exit(main())
