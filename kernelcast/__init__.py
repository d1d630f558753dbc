"""How fast will this kernel run on a GPU that I do not have, and why?

The public names, imported when first used: `import kernelcast` itself loads nothing heavy. `api` is
the place to begin.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kernelcast.simcore.device.section import offer_sections

if TYPE_CHECKING:
    from kernelcast.address.extraction import address_kernel as address_kernel
    from kernelcast.address.file import load_address_kernel as load_address_kernel
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
    from kernelcast.checking.check import CheckOptions as CheckOptions
    from kernelcast.checking.check import CheckReport as CheckReport
    from kernelcast.checking.check import check as check
    from kernelcast.checking.program import ProgramCheckReport as ProgramCheckReport
    from kernelcast.checking.program import check_program as check_program
    from kernelcast.errors import KernelcastError as KernelcastError
    from kernelcast.execution.kernel_trace import KernelTrace as KernelTrace
    from kernelcast.execution.prepared import PreparedLaunch as PreparedLaunch
    from kernelcast.execution.run_options import RunOptions as RunOptions
    from kernelcast.execution.runnable import LoadedModule as LoadedModule
    from kernelcast.execution.runnable import RunnableKernel as RunnableKernel
    from kernelcast.execution.sampling import Sampling as Sampling
    from kernelcast.inputs.cupy_kernel import from_cupy as from_cupy
    from kernelcast.inputs.numba_kernel import NumbaKernel as NumbaKernel
    from kernelcast.inputs.numba_kernel import from_numba as from_numba
    from kernelcast.inputs.opencl.program import OpenclKernel as OpenclKernel
    from kernelcast.inputs.opencl.program import OpenclProgram as OpenclProgram
    from kernelcast.inputs.opencl.program import opencl_program as opencl_program
    from kernelcast.inputs.pallas_kernel import from_pallas as from_pallas
    from kernelcast.inputs.pystencils import PystencilsKernel as PystencilsKernel
    from kernelcast.inputs.pystencils import from_pystencils as from_pystencils
    from kernelcast.inputs.triton_kernel import TritonKernel as TritonKernel
    from kernelcast.inputs.triton_kernel import from_triton as from_triton
    from kernelcast.models.estimate import Estimate as Estimate
    from kernelcast.models.topdown import ApplicationTopDown as ApplicationTopDown
    from kernelcast.program_capture.capturing import capture_program as capture_program
    from kernelcast.program_capture.extraction import LaunchExtraction as LaunchExtraction
    from kernelcast.program_capture.options import CaptureOptions as CaptureOptions
    from kernelcast.program_capture.replay import replay_recording as replay_recording
    from kernelcast.program_capture.result import CaptureResult as CaptureResult
    from kernelcast.ranking.launches import RankOptions as RankOptions
    from kernelcast.ranking.launches import rank as rank
    from kernelcast.ranking.ranking import Ranking as Ranking
    from kernelcast.ranking.variants import TunedVariant as TunedVariant
    from kernelcast.ranking.variants import VariantOptions as VariantOptions
    from kernelcast.ranking.variants import VariantTuning as VariantTuning
    from kernelcast.ranking.variants import tune_workload as tune_workload
    from kernelcast.reporting import write_program_report as write_program_report
    from kernelcast.reporting import write_report as write_report
    from kernelcast.simcore.address.kernel import AddressKernel as AddressKernel
    from kernelcast.simcore.device.device import Device as Device
    from kernelcast.simcore.isa.ir.image_formats import ChannelOrder as ChannelOrder
    from kernelcast.simcore.isa.ir.image_formats import ChannelType as ChannelType
    from kernelcast.simcore.isa.ir.image_formats import ImageKind as ImageKind
    from kernelcast.simcore.launch.allocations import Allocation as Allocation
    from kernelcast.simcore.launch.device_memory import DeviceMemory as DeviceMemory
    from kernelcast.simcore.launch.images import Addressing as Addressing
    from kernelcast.simcore.launch.images import Filter as Filter
    from kernelcast.simcore.launch.images import Image as Image
    from kernelcast.simcore.launch.images import Sampler as Sampler
    from kernelcast.simcore.launch.launch import Limits as Limits
    from kernelcast.simcore.launch.launch import LocalBytes as LocalBytes
    from kernelcast.simcore.launch.tensor_maps import Fill as Fill
    from kernelcast.simcore.launch.tensor_maps import Swizzle as Swizzle
    from kernelcast.simcore.launch.tensor_maps import TensorElement as TensorElement
    from kernelcast.simcore.launch.tensor_maps import TensorMap as TensorMap
    from kernelcast.simcore.launch.textures import ReadMode as ReadMode
    from kernelcast.simcore.launch.textures import Surface as Surface
    from kernelcast.simcore.launch.textures import Texture as Texture
    from kernelcast.simcore.memory.contents.cache_contents import CacheContents as CacheContents
    from kernelcast.simcore.profile.profile import KernelProfile as KernelProfile
    from kernelcast.simcore.profile.profile import WorkType as WorkType
    from kernelcast.studies.plan import SweptKernel as SweptKernel
    from kernelcast.studies.sweep import Sweep as Sweep
    from kernelcast.studies.values import Interval as Interval
    from kernelcast.studies.values import Sample as Sample
    from kernelcast.studies.values import Space as Space
    from kernelcast.topdown_analysis.combined import topdown as topdown
    from kernelcast.torch_modules.estimating import estimate_module as estimate_module
    from kernelcast.torch_modules.module_estimate import ModuleEstimate as ModuleEstimate
    from kernelcast.torch_modules.module_estimate import ModuleKernel as ModuleKernel
    from kernelcast.torch_modules.module_estimate import ModuleTotal as ModuleTotal
    from kernelcast.triton_calls.session import CallSession as CallSession
    from kernelcast.triton_calls.session import CapturedCall as CapturedCall
    from kernelcast.triton_calls.session import capture as capture
    from kernelcast.triton_calls.session import estimate_call as estimate_call
    from kernelcast.triton_calls.tuning import TunedConfig as TunedConfig
    from kernelcast.triton_calls.tuning import TuneOptions as TuneOptions
    from kernelcast.triton_calls.tuning import Tuning as Tuning
    from kernelcast.triton_calls.tuning import triton_perf_model as triton_perf_model
    from kernelcast.triton_calls.tuning import tune as tune
    from kernelcast.trust import Trust as Trust
    from kernelcast.workload.file import load_workload as load_workload
    from kernelcast.workload.workload import Workload as Workload

__all__ = [
    "AddressKernel",
    "Addressing",
    "Allocation",
    "ApplicationTopDown",
    "CacheContents",
    "CallSession",
    "CaptureOptions",
    "CaptureResult",
    "CapturedCall",
    "ChannelOrder",
    "ChannelType",
    "CheckOptions",
    "CheckReport",
    "Device",
    "DeviceMemory",
    "Estimate",
    "Fill",
    "Filter",
    "Image",
    "ImageKind",
    "Interval",
    "KernelProfile",
    "KernelTrace",
    "KernelcastError",
    "LaunchExtraction",
    "Limits",
    "LoadedModule",
    "LocalBytes",
    "ModuleEstimate",
    "ModuleKernel",
    "ModuleTotal",
    "NumbaKernel",
    "OpenclKernel",
    "OpenclProgram",
    "PreparedLaunch",
    "ProgramCheckReport",
    "PystencilsKernel",
    "RankOptions",
    "Ranking",
    "ReadMode",
    "RunOptions",
    "RunnableKernel",
    "Sample",
    "Sampler",
    "Sampling",
    "Space",
    "Surface",
    "Sweep",
    "SweptKernel",
    "Swizzle",
    "TensorElement",
    "TensorMap",
    "Texture",
    "TritonKernel",
    "Trust",
    "TuneOptions",
    "TunedConfig",
    "TunedVariant",
    "Tuning",
    "VariantOptions",
    "VariantTuning",
    "WhatIf",
    "WorkType",
    "Workload",
    "__version__",
    "address_kernel",
    "capture",
    "capture_program",
    "check",
    "check_program",
    "device",
    "devices",
    "estimate",
    "estimate_call",
    "estimate_module",
    "from_cupy",
    "from_numba",
    "from_pallas",
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
    "replay_recording",
    "save_trace",
    "topdown",
    "triton_perf_model",
    "tune",
    "tune_workload",
    "whatif",
    "write_program_report",
    "write_report",
]

_HOMES = {
    "AddressKernel": "kernelcast.simcore.address.kernel",
    "Addressing": "kernelcast.simcore.launch.images",
    "Allocation": "kernelcast.simcore.launch.allocations",
    "ApplicationTopDown": "kernelcast.models.topdown",
    "CacheContents": "kernelcast.simcore.memory.contents.cache_contents",
    "CallSession": "kernelcast.triton_calls.session",
    "CaptureOptions": "kernelcast.program_capture.options",
    "CaptureResult": "kernelcast.program_capture.result",
    "CapturedCall": "kernelcast.triton_calls.session",
    "ChannelOrder": "kernelcast.simcore.isa.ir.image_formats",
    "ChannelType": "kernelcast.simcore.isa.ir.image_formats",
    "CheckOptions": "kernelcast.checking.check",
    "CheckReport": "kernelcast.checking.check",
    "ProgramCheckReport": "kernelcast.checking.program",
    "Device": "kernelcast.simcore.device.device",
    "DeviceMemory": "kernelcast.simcore.launch.device_memory",
    "Estimate": "kernelcast.models.estimate",
    "Fill": "kernelcast.simcore.launch.tensor_maps",
    "Filter": "kernelcast.simcore.launch.images",
    "Image": "kernelcast.simcore.launch.images",
    "ImageKind": "kernelcast.simcore.isa.ir.image_formats",
    "Interval": "kernelcast.studies.values",
    "KernelProfile": "kernelcast.simcore.profile.profile",
    "KernelTrace": "kernelcast.execution.kernel_trace",
    "KernelcastError": "kernelcast.errors",
    "LaunchExtraction": "kernelcast.program_capture.extraction",
    "Limits": "kernelcast.simcore.launch.launch",
    "LoadedModule": "kernelcast.execution.runnable",
    "LocalBytes": "kernelcast.simcore.launch.launch",
    "ModuleEstimate": "kernelcast.torch_modules.module_estimate",
    "ModuleKernel": "kernelcast.torch_modules.module_estimate",
    "ModuleTotal": "kernelcast.torch_modules.module_estimate",
    "NumbaKernel": "kernelcast.inputs.numba_kernel",
    "OpenclKernel": "kernelcast.inputs.opencl.program",
    "OpenclProgram": "kernelcast.inputs.opencl.program",
    "PreparedLaunch": "kernelcast.execution.prepared",
    "PystencilsKernel": "kernelcast.inputs.pystencils",
    "RankOptions": "kernelcast.ranking.launches",
    "Ranking": "kernelcast.ranking.ranking",
    "ReadMode": "kernelcast.simcore.launch.textures",
    "RunOptions": "kernelcast.execution.run_options",
    "RunnableKernel": "kernelcast.execution.runnable",
    "Sample": "kernelcast.studies.values",
    "Sampler": "kernelcast.simcore.launch.images",
    "Sampling": "kernelcast.execution.sampling",
    "Space": "kernelcast.studies.values",
    "Surface": "kernelcast.simcore.launch.textures",
    "Sweep": "kernelcast.studies.sweep",
    "SweptKernel": "kernelcast.studies.plan",
    "Swizzle": "kernelcast.simcore.launch.tensor_maps",
    "TensorElement": "kernelcast.simcore.launch.tensor_maps",
    "TensorMap": "kernelcast.simcore.launch.tensor_maps",
    "Texture": "kernelcast.simcore.launch.textures",
    "TritonKernel": "kernelcast.inputs.triton_kernel",
    "Trust": "kernelcast.trust",
    "TuneOptions": "kernelcast.triton_calls.tuning",
    "TunedConfig": "kernelcast.triton_calls.tuning",
    "TunedVariant": "kernelcast.ranking.variants",
    "Tuning": "kernelcast.triton_calls.tuning",
    "VariantOptions": "kernelcast.ranking.variants",
    "VariantTuning": "kernelcast.ranking.variants",
    "WhatIf": "kernelcast.architectures",
    "WorkType": "kernelcast.simcore.profile.profile",
    "Workload": "kernelcast.workload.workload",
    "address_kernel": "kernelcast.address.extraction",
    "capture": "kernelcast.triton_calls.session",
    "capture_program": "kernelcast.program_capture.capturing",
    "check": "kernelcast.checking.check",
    "check_program": "kernelcast.checking.program",
    "device": "kernelcast.api",
    "devices": "kernelcast.api",
    "estimate": "kernelcast.api",
    "estimate_call": "kernelcast.triton_calls.session",
    "estimate_module": "kernelcast.torch_modules.estimating",
    "from_cupy": "kernelcast.inputs.cupy_kernel",
    "from_numba": "kernelcast.inputs.numba_kernel",
    "from_pallas": "kernelcast.inputs.pallas_kernel",
    "from_pystencils": "kernelcast.inputs.pystencils",
    "from_triton": "kernelcast.inputs.triton_kernel",
    "is_trace_file": "kernelcast.api",
    "load": "kernelcast.api",
    "load_address_kernel": "kernelcast.address.file",
    "load_metrics": "kernelcast.api",
    "load_ptx": "kernelcast.api",
    "load_trace": "kernelcast.api",
    "load_workload": "kernelcast.workload.file",
    "opencl_program": "kernelcast.inputs.opencl.program",
    "rank": "kernelcast.ranking.launches",
    "reference_utilization": "kernelcast.api",
    "replay_recording": "kernelcast.program_capture.replay",
    "save_trace": "kernelcast.api",
    "topdown": "kernelcast.topdown_analysis.combined",
    "triton_perf_model": "kernelcast.triton_calls.tuning",
    "tune": "kernelcast.triton_calls.tuning",
    "tune_workload": "kernelcast.ranking.variants",
    "whatif": "kernelcast.architectures",
    "write_program_report": "kernelcast.reporting",
    "write_report": "kernelcast.reporting",
}


def _sections_of_models() -> Mapping[str, Any]:
    sections: Mapping[str, Any] = importlib.import_module("kernelcast.models").SECTIONS
    return sections


offer_sections(_sections_of_models)


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
