"""LLVM IR for one of AMD's GPUs as IR for any of them.

Compilers write the processor, its features, and what they have found out of the code for it beside
every function; the version of the code object says where the sizes of a launch lie.
"""

from __future__ import annotations

import re

__all__ = ["retargeted"]

_OF_TARGET = re.compile(
    r' "(?:target-cpu|target-features|tune-cpu|uniform-work-group-size|amdgpu-(?:no-[\w-]+'
    r'|waves-per-eu|agpr-alloc|memory-bound|wave-limiter))"(?:="[^"]*")?'
)
_APART = re.compile(r"^(attributes #\d+ = \{(?! [^\n]*\boptnone\b)[^\n]*) noinline ", re.MULTILINE)
"""How functions are marked that compilers would call: here all are a part of their callers, but
where nothing is to be optimised."""
_VERSION = re.compile(r'!"amdhsa_code_object_version", i32 \d+')
_CODE_OBJECT = '!"amdhsa_code_object_version", i32 500'
_FLAGS = re.compile(r"^!llvm\.module\.flags = !\{(.*)\}$", re.MULTILINE)
_NUMBER = 1 << 20
"""The node of metadata that is added: no module has as many."""


def retargeted(ir: str) -> str:
    """The module without what is of one processor, for code objects of version 5."""
    plain = _APART.sub(r"\1 alwaysinline ", _OF_TARGET.sub("", ir))
    if _VERSION.search(plain):
        return _VERSION.sub(_CODE_OBJECT, plain)
    node = f"!{_NUMBER} = !{{i32 1, {_CODE_OBJECT}}}\n"
    if _FLAGS.search(plain):
        return _FLAGS.sub(rf"!llvm.module.flags = !{{\1, !{_NUMBER}}}", plain) + "\n" + node
    return f"{plain}\n!llvm.module.flags = !{{!{_NUMBER}}}\n{node}"
