"""Triton's way from a function to machine code, with the assembler that is asked for it anyway.

Triton runs an assembler of its own behind PTX. What is executed here is what the assembler of
`inputs.native` makes of that PTX; once is enough.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from kernelcast.errors import CompilationError, InputError
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.sources import architecture_name

__all__ = ["assembled_once"]

_STAGE = "cubin"
_KEY = "assembled by kernelcast"
"""What Triton keeps of such kernels is kept apart from what it keeps of its own."""


@contextmanager
def assembled_once() -> Iterator[None]:
    """Machine code of kernels that Triton compiles within is that of `inputs.native`.

    It is Triton's own where our assembler is not installed or refuses the PTX.
    """
    runtime = importlib.import_module("triton").knobs.runtime
    before = getattr(runtime, "add_stages_inspection_hook", None)

    def changed_stages(*given: Any) -> tuple[str, str] | None:
        others = None if before is None else before(*given)
        if not given:  # Triton asks what tells these stages from others
            key, digest = others or ("", "")
            return f"{key} {_KEY}", f"{digest} {_KEY}"
        _, stages, options, *_ = given
        _take_over(stages, options)
        return None

    if not hasattr(runtime, "add_stages_inspection_hook"):
        yield
        return
    runtime.add_stages_inspection_hook = changed_stages
    try:
        yield
    finally:
        runtime.add_stages_inspection_hook = before


def _take_over(stages: MutableMapping[str, Any], options: Any) -> None:
    own = stages.get(_STAGE)
    if own is None:
        return
    architecture = int(options.arch.removeprefix("sm"))

    def machine_code(ptx: str, metadata: Any) -> bytes:
        title = f"{metadata['name']} (PTX by Triton)"
        try:
            return assemble(ptx, architecture_name(ptx, architecture), title)
        except (CompilationError, InputError):
            made: bytes = own(ptx, metadata)
            return made

    stages[_STAGE] = machine_code
