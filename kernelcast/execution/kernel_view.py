"""A kernel in a line, and as a table of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kernelcast.notebook import InNotebooks, Table

if TYPE_CHECKING:
    from kernelcast.execution.runnable import RunnableKernel

__all__ = ["KernelView"]


class KernelView(InNotebooks):
    """What notebooks and messages show of a kernel."""

    @property
    def label(self) -> str:
        """The name."""
        return f"kernel {cast('RunnableKernel', self).name}"

    def table(self) -> Table:
        """The parameters with their types and sizes."""
        parameters = cast("RunnableKernel", self).kernel.parameters
        rows = ((item.name, item.type.value, item.size) for item in parameters)
        return ("parameter", "type", ">bytes"), rows
