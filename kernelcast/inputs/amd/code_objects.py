"""What files of AMD's machine code hold."""

from __future__ import annotations

from kernelcast.ptx_frontend.amdgcn.code_object import bundled, is_bundle, read_code_object

__all__ = ["amd_contents"]

_MOST_NAMES = 5


def amd_contents(content: bytes) -> str:
    """Says of a code object, or of a bundle of them, what it is for and that it is not executed.

    InputError when it cannot be read.
    """
    objects = bundled(content) if is_bundle(content) else {"": content}
    read = [read_code_object(part) for part in objects.values()]
    kernels = list(dict.fromkeys(kernel.name for item in read for kernel in item.kernels))
    shown = ", ".join(kernels[:_MOST_NAMES]) + (", ..." if len(kernels) > _MOST_NAMES else "")
    architectures = ", ".join(dict.fromkeys(item.architecture for item in read)) or "no GPU"
    return (
        f"machine code for AMD's {architectures}, with the kernels {shown or '(none)'}: AMD's "
        "machine code is not executed; give the HIP source, or LLVM IR (--save-temps of hipcc)"
    )
