"""How fast will this kernel run on a GPU that I do not have, and why?

The public names, imported when first used: `import kernelcast` itself loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelcast.address_extraction import address_kernel as address_kernel
    from kernelcast.address_file import load_address_kernel as load_address_kernel
    from kernelcast.api import device as device
    from kernelcast.api import devices as devices
    from kernelcast.api import estimate as estimate
    from kernelcast.api import is_trace_file as is_trace_file
    from kernelcast.api import load as load
    from kernelcast.api import load_metrics as load_metrics
    from kernelcast.api import load_ptx as load_ptx
    from kernelcast.api import load_trace as load_trace
    from kernelcast.api import reference_utilization as reference_utilization
    from kernelcast.api import save_trace as save_trace
    from kernelcast.architectures import WhatIf as WhatIf
    from kernelcast.architectures import whatif as whatif
    from kernelcast.errors import KernelcastError as KernelcastError
    from kernelcast.inputs.numba_kernel import NumbaKernel as NumbaKernel
    from kernelcast.inputs.numba_kernel import from_numba as from_numba
    from kernelcast.inputs.opencl_program import OpenclKernel as OpenclKernel
    from kernelcast.inputs.opencl_program import OpenclProgram as OpenclProgram
    from kernelcast.inputs.opencl_program import opencl_program as opencl_program
    from kernelcast.inputs.pystencils import PystencilsKernel as PystencilsKernel
    from kernelcast.inputs.pystencils import from_pystencils as from_pystencils
    from kernelcast.inputs.triton_kernel import TritonKernel as TritonKernel
    from kernelcast.inputs.triton_kernel import from_triton as from_triton
    from kernelcast.kernel_trace import KernelTrace as KernelTrace
    from kernelcast.models.estimate import Estimate as Estimate
    from kernelcast.models.topdown import ApplicationTopDown as ApplicationTopDown
    from kernelcast.rank_launches import RankOptions as RankOptions
    from kernelcast.rank_launches import rank as rank
    from kernelcast.ranking import Ranking as Ranking
    from kernelcast.runnable import LoadedModule as LoadedModule
    from kernelcast.runnable import RunnableKernel as RunnableKernel
    from kernelcast.sampling import Sampling as Sampling
    from kernelcast.simcore.address.kernel import AddressKernel as AddressKernel
    from kernelcast.simcore.device import Device as Device
    from kernelcast.simcore.image_formats import ChannelOrder as ChannelOrder
    from kernelcast.simcore.image_formats import ChannelType as ChannelType
    from kernelcast.simcore.image_formats import ImageKind as ImageKind
    from kernelcast.simcore.images import Addressing as Addressing
    from kernelcast.simcore.images import Filter as Filter
    from kernelcast.simcore.images import Image as Image
    from kernelcast.simcore.images import Sampler as Sampler
    from kernelcast.simcore.launch import Limits as Limits
    from kernelcast.simcore.launch import LocalBytes as LocalBytes
    from kernelcast.simcore.profile import KernelProfile as KernelProfile
    from kernelcast.simcore.profile import WorkType as WorkType
    from kernelcast.simcore.tensor_maps import Fill as Fill
    from kernelcast.simcore.tensor_maps import Swizzle as Swizzle
    from kernelcast.simcore.tensor_maps import TensorElement as TensorElement
    from kernelcast.simcore.tensor_maps import TensorMap as TensorMap
    from kernelcast.simcore.textures import ReadMode as ReadMode
    from kernelcast.simcore.textures import Surface as Surface
    from kernelcast.simcore.textures import Texture as Texture
    from kernelcast.topdown_analysis import topdown as topdown
    from kernelcast.trust import Trust as Trust
    from kernelcast.workload import Workload as Workload
    from kernelcast.workload_file import load_workload as load_workload

__all__ = [
    "AddressKernel",
    "Addressing",
    "ApplicationTopDown",
    "ChannelOrder",
    "ChannelType",
    "Device",
    "Estimate",
    "Fill",
    "Filter",
    "Image",
    "ImageKind",
    "KernelProfile",
    "KernelTrace",
    "KernelcastError",
    "Limits",
    "LoadedModule",
    "LocalBytes",
    "NumbaKernel",
    "OpenclKernel",
    "OpenclProgram",
    "PystencilsKernel",
    "RankOptions",
    "Ranking",
    "ReadMode",
    "RunnableKernel",
    "Sampler",
    "Sampling",
    "Surface",
    "Swizzle",
    "TensorElement",
    "TensorMap",
    "Texture",
    "TritonKernel",
    "Trust",
    "WhatIf",
    "WorkType",
    "Workload",
    "__version__",
    "address_kernel",
    "device",
    "devices",
    "estimate",
    "from_numba",
    "from_pystencils",
    "from_triton",
    "is_trace_file",
    "load",
    "load_address_kernel",
    "load_metrics",
    "load_ptx",
    "load_trace",
    "load_workload",
    "opencl_program",
    "rank",
    "reference_utilization",
    "save_trace",
    "topdown",
    "whatif",
]

_HOMES = {
    "AddressKernel": "kernelcast.simcore.address.kernel",
    "Addressing": "kernelcast.simcore.images",
    "ApplicationTopDown": "kernelcast.models.topdown",
    "ChannelOrder": "kernelcast.simcore.image_formats",
    "ChannelType": "kernelcast.simcore.image_formats",
    "Device": "kernelcast.simcore.device",
    "Estimate": "kernelcast.models.estimate",
    "Fill": "kernelcast.simcore.tensor_maps",
    "Filter": "kernelcast.simcore.images",
    "Image": "kernelcast.simcore.images",
    "ImageKind": "kernelcast.simcore.image_formats",
    "KernelProfile": "kernelcast.simcore.profile",
    "KernelTrace": "kernelcast.kernel_trace",
    "KernelcastError": "kernelcast.errors",
    "Limits": "kernelcast.simcore.launch",
    "LoadedModule": "kernelcast.runnable",
    "LocalBytes": "kernelcast.simcore.launch",
    "NumbaKernel": "kernelcast.inputs.numba_kernel",
    "OpenclKernel": "kernelcast.inputs.opencl_program",
    "OpenclProgram": "kernelcast.inputs.opencl_program",
    "PystencilsKernel": "kernelcast.inputs.pystencils",
    "RankOptions": "kernelcast.rank_launches",
    "Ranking": "kernelcast.ranking",
    "ReadMode": "kernelcast.simcore.textures",
    "RunnableKernel": "kernelcast.runnable",
    "Sampler": "kernelcast.simcore.images",
    "Sampling": "kernelcast.sampling",
    "Surface": "kernelcast.simcore.textures",
    "Swizzle": "kernelcast.simcore.tensor_maps",
    "TensorElement": "kernelcast.simcore.tensor_maps",
    "TensorMap": "kernelcast.simcore.tensor_maps",
    "Texture": "kernelcast.simcore.textures",
    "TritonKernel": "kernelcast.inputs.triton_kernel",
    "Trust": "kernelcast.trust",
    "WhatIf": "kernelcast.architectures",
    "WorkType": "kernelcast.simcore.profile",
    "Workload": "kernelcast.workload",
    "address_kernel": "kernelcast.address_extraction",
    "device": "kernelcast.api",
    "devices": "kernelcast.api",
    "estimate": "kernelcast.api",
    "from_numba": "kernelcast.inputs.numba_kernel",
    "from_pystencils": "kernelcast.inputs.pystencils",
    "from_triton": "kernelcast.inputs.triton_kernel",
    "is_trace_file": "kernelcast.api",
    "load": "kernelcast.api",
    "load_address_kernel": "kernelcast.address_file",
    "load_metrics": "kernelcast.api",
    "load_ptx": "kernelcast.api",
    "load_trace": "kernelcast.api",
    "load_workload": "kernelcast.workload_file",
    "opencl_program": "kernelcast.inputs.opencl_program",
    "rank": "kernelcast.rank_launches",
    "reference_utilization": "kernelcast.api",
    "save_trace": "kernelcast.api",
    "topdown": "kernelcast.topdown_analysis",
    "whatif": "kernelcast.architectures",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # The installed package's metadata is the one place that holds the version.
        return importlib.import_module("importlib.metadata").version("kernelcast")
    if name not in _HOMES:
        raise AttributeError(f"module 'kernelcast' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
