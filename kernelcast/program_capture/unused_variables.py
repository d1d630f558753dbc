"""Variables of a module that no kernel uses: programs copy to and from them all the same."""

from __future__ import annotations

import re
from dataclasses import replace

from kernelcast.ptx_frontend.ptx.lowering.module import lower
from kernelcast.ptx_frontend.ptx.text.parser import parse
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["kernel_with_variable"]

_NAME = "kernelcast$user"
_USER = """
.visible .entry {kernel}() {{
.reg .b64 %address;
mov.u64 %address, {variable};
ret;
}}
"""


def kernel_with_variable(text: str, variable: str) -> Kernel | None:
    """A kernel that uses a variable of a PTX text; None where it has none of that name.

    PtxSyntaxError when the text is no PTX.
    """
    if not re.search(rf"(?<![\w$.]){re.escape(variable)}(?![\w$.])", text):
        return None
    source = SourceText("a module", text + _USER.format(kernel=_NAME, variable=variable))
    module = parse(source)
    kept = tuple(it for it in module.functions if not it.is_entry or it.name == _NAME)
    return lower(replace(module, functions=kept), source).kernels.get(_NAME)
