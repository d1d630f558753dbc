"""What compiled functions are told of their branches."""

from __future__ import annotations

from typing import Any

import llvmlite.ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["unlikely"]


def _emit_expect(_typing: Any, _condition: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        truth = llvmlite.ir.IntType(1)
        declare: Any = cgutils.get_or_insert_function
        expect = declare(
            builder.module, llvmlite.ir.FunctionType(truth, (truth, truth)), "llvm.expect.i1"
        )
        return builder.call(expect, (arguments[0], truth(0)))

    return types.boolean(types.boolean), emit


unlikely: Any = intrinsic(_emit_expect)
"""The condition itself, which is false as a rule: what follows if it holds is laid out apart, and
does not take registers from the rest."""
