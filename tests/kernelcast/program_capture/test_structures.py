"""The client's structures lie in memory as the headers say that programs are compiled with."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kernelcast.program_capture import protocol
from kernelcast.program_capture.client_build import CLIENT_SOURCES
from tests.kernelcast.program_capture.building import c_compiler, cuda_home

_SAME = {
    "copy_3d": (
        "struct cudaMemcpy3DParms",
        "src_array=srcArray src_pos=srcPos src=srcPtr dst_array=dstArray dst_pos=dstPos dst=dstPtr "
        "size=extent kind=kind",
    ),
    "resource": (
        "struct cudaResourceDesc",
        "kind=resType of.of_array=res.array.array of.of_mipmapped=res.mipmap.mipmap "
        "of.linear.ptr=res.linear.devPtr of.linear.format=res.linear.desc "
        "of.linear.bytes=res.linear.sizeInBytes of.pitched.ptr=res.pitch2D.devPtr "
        "of.pitched.format=res.pitch2D.desc of.pitched.width=res.pitch2D.width "
        "of.pitched.height=res.pitch2D.height of.pitched.pitch=res.pitch2D.pitchInBytes",
    ),
    "texture_description": (
        "struct cudaTextureDesc",
        "address_mode=addressMode filter_mode=filterMode read_mode=readMode srgb=sRGB "
        "border=borderColor is_normalized=normalizedCoords anisotropy=maxAnisotropy "
        "mipmap_filter=mipmapFilterMode mipmap_bias=mipmapLevelBias mipmap_low=minMipmapLevelClamp "
        "mipmap_high=maxMipmapLevelClamp no_trilinear=disableTrilinearOptimization "
        "seamless=seamlessCubemap",
    ),
    "function_attributes": (
        "struct cudaFuncAttributes",
        "shared_bytes=sharedSizeBytes constant_bytes=constSizeBytes local_bytes=localSizeBytes "
        "max_threads=maxThreadsPerBlock registers=numRegs ptx_version=ptxVersion "
        "binary_version=binaryVersion cache_mode=cacheModeCA "
        "max_dynamic_shared_bytes=maxDynamicSharedSizeBytes carveout=preferredShmemCarveout "
        "cluster_must_be_set=clusterDimMustBeSet cluster=requiredClusterWidth "
        "cluster_policy=clusterSchedulingPolicyPreference "
        "non_portable_cluster=nonPortableClusterSizeAllowed",
    ),
    "pointer_attributes": (
        "struct cudaPointerAttributes",
        "type=type device=device device_pointer=devicePointer host_pointer=hostPointer",
    ),
    "kernel_node": (
        "struct cudaKernelNodeParams",
        "function=func grid=gridDim block=blockDim shared_bytes=sharedMemBytes "
        "arguments=kernelParams extra=extra",
    ),
    "fill_node": (
        "struct cudaMemsetParams",
        "to=dst pitch=pitch value=value element_bytes=elementSize width=width height=height",
    ),
    "host_node": ("struct cudaHostNodeParams", "function=fn data=userData"),
    "launch_configuration": (
        "cudaLaunchConfig_t",
        "grid=gridDim block=blockDim shared_bytes=dynamicSmemBytes stream=stream attributes=attrs "
        "attribute_count=numAttrs",
    ),
    "launch_attribute": ("cudaLaunchAttribute", "id=id value=val"),
    "memory_location": ("struct cudaMemLocation", "type=type id=id"),
}
"""Ours, that of CUDA, and which member is which."""


def test_structures_are_those_of_the_headers(tmp_path: Path) -> None:
    lines = ["#include <cuda_runtime_api.h>", "#include <stddef.h>", "#include <stdint.h>"]
    # Names that both have, such as dim3 and extent, are told apart by a prefix.
    lines += ["#define dim3 kc_dim3", '#include "cuda_types.h"', "#undef dim3"]
    for ours, (theirs, members) in _SAME.items():
        lines.append(f'_Static_assert(sizeof({ours}) == sizeof({theirs}), "{ours}");')
        for pair in members.split():
            mine, _, other = pair.partition("=")
            lines.append(
                f"_Static_assert(offsetof({ours}, {mine}) == offsetof({theirs}, {other}), "
                f'"{ours}.{mine}");'
            )
    lines += [
        '_Static_assert(sizeof(kc_channels) == sizeof(struct cudaChannelFormatDesc), "channels");',
        '_Static_assert(sizeof(kc_extent) == sizeof(struct cudaExtent), "extent");',
        '_Static_assert(sizeof(position) == sizeof(struct cudaPos), "position");',
        '_Static_assert(sizeof(pitched_pointer) == sizeof(struct cudaPitchedPtr), "pointer");',
        '_Static_assert(offsetof(cudaLaunchAttribute, val) == 8, "value");',
    ]
    source = tmp_path / "same.c"
    source.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [
            *(c_compiler(), "-std=gnu11", "-D_GNU_SOURCE", "-DCUDART_MAJOR=13", "-fsyntax-only"),
            *(f"-I{cuda_home() / 'include'}", f"-I{CLIENT_SOURCES}", str(source)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr


def _enumerated(prefix: str) -> dict[str, int]:
    text = (CLIENT_SOURCES / "protocol.h").read_text(encoding="utf-8")
    found = re.findall(rf"\b{prefix}(\w+) = (\d+)", text)
    return {name: int(number) for name, number in found}


def test_both_sides_number_requests_alike() -> None:
    ours = {kind.name: kind.value for kind in protocol.Kind}
    spaces = {space.name: space.value for space in protocol.Space}
    actions = {action.name: action.value for action in protocol.Action}
    assert _enumerated("KC_") == {**ours, **spaces, **actions}


def test_both_sides_have_the_same_constants() -> None:
    text = (CLIENT_SOURCES / "protocol.h").read_text(encoding="utf-8")
    assert f"#define KC_PROTOCOL_VERSION {protocol.PROTOCOL_VERSION}\n" in text
    assert f"#define KC_NO_ANSWER {protocol.NO_ANSWER:#x}u" in text
    assert protocol.ALL_STREAMS == 2**64 - 1
    assert "#define KC_ALL_STREAMS UINT64_MAX" in text


@pytest.mark.parametrize(
    ("ours", "fields"),
    [
        ("kc_copy", protocol.CopyRequest._fields),
        ("kc_launch", protocol.LaunchRequest._fields),
        ("kc_texture", protocol.TextureRequest._fields),
    ],
)
def test_both_sides_have_the_same_words(ours: str, fields: tuple[str, ...]) -> None:
    text = (CLIENT_SOURCES / "protocol.h").read_text(encoding="utf-8")
    found = re.search(r"typedef struct \{\s*uint64_t ([^}]*);\s*\} " + ours + ";", text)
    assert found is not None
    declared = re.split(r",\s*", " ".join(found[1].split()))
    words = sum(int(count or 1) for count in re.findall(r"\w+(?:\[(\d+)\])?(?:,|$)", found[1]))
    names = [name.partition("[")[0] for name in declared]
    renamed = {"from": "source", "from_pitch": "source_pitch", "from_slice": "source_slice"}
    mine = [renamed.get(name, name) for name in names]
    if ours == "kc_texture":
        mine = [word for name in mine for word in _axes(name)]
        assert words == len(fields)
    assert mine == list(fields)


def _axes(name: str) -> list[str]:
    return [f"{name}_{axis}" for axis in "xyz"] if name == "address_mode" else [name]
