"""A kernel in a line, and as a table of its parameters."""

from __future__ import annotations

from kernelcast.notebook import InNotebooks, Table
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["KernelView"]


class KernelView(InNotebooks):
    """What notebooks and messages show of a kernel."""

    kernel: Kernel

    @property
    def label(self) -> str:
        """The name."""
        return f"kernel {self.kernel.name}"

    def table(self) -> Table:
        """The parameters with their types and sizes."""
        rows = ((item.name, item.type.value, item.size) for item in self.kernel.parameters)
        return ("parameter", "type", ">bytes"), rows
