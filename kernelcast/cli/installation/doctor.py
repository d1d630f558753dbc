"""`kernelcast doctor`: which compilers, tools and libraries are there; what others would add."""

from __future__ import annotations

from kernelcast.cli import options
from kernelcast.cli.terminal import show, show_line

__all__ = ["doctor"]


def doctor(verbose: options.Verbose = 0, json: options.Json = False) -> None:
    """Which compilers, tools, libraries and devices are there, and what the missing ones would add.

    Nothing of it is needed to estimate PTX; exit status 0 whatever is missing.
    """
    from kernelcast.installation import components
    from kernelcast.report.installation import installation_record, installation_table
    from kernelcast.report.records import to_json

    found = tuple(components())
    if json:
        show_line(to_json(installation_record(found)))
    else:
        show(installation_table(found, verbose))
