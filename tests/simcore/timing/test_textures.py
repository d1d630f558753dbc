"""Reads of textures beside closed forms: texels a cycle, filtering and wide texels."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.device.texture_facts import TextureFacts
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing

WARPS = 16
FEW, MANY = 16, 24
BODY = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 o) {{
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<99>;
    ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [o];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; cvt.rn.f32.u32 %f1, %r2; mov.f32 %f2, 0f3F000000;
    {reads}
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3; st.global.f32 [%rd2], %f3; ret;
}}
"""


@cache
def kernel(count: int) -> RunnableKernel:
    """Each warp reads a row of 32 texels again and again, without waiting for one another."""
    reads = "".join(
        "tex.2d.v4.f32.f32 {{%f{}, %f{}, %f{}, %f{}}}, [%rd1, {{%f1, %f2}}];".format(
            *range(3 + 4 * number, 7 + 4 * number)
        )
        for number in range(count)
    )
    return kc.load_ptx(BODY.format(reads=reads))["k"]


@cache
def executed(components: int, filtering: kc.Filter, count: int) -> KernelTrace:
    """A trace that knows no device, so that all devices share it."""
    texture = kc.Texture(np.zeros((2, 32, components), np.float32), filter=filtering)
    out = np.zeros(32 * WARPS, np.float32)
    return kernel(count).run(
        grid=1, block=32 * WARPS, args=[texture, out], code="as-written", record_paths=True
    )


def timed(device: Device, components: int, filtering: kc.Filter, count: int) -> LaunchTiming:
    found = executed(components, filtering, count).profile(device).derived(timed_warps)
    assert found is not None
    return launch_timing(found, device)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("texels", [2.0, 4.0])
@pytest.mark.parametrize(
    ("components", "filtering", "slower"),
    [
        (1, kc.Filter.NEAREST, 1),
        (4, kc.Filter.NEAREST, 1),
        (1, kc.Filter.LINEAR, 1),
        (2, kc.Filter.LINEAR, 2),
        (4, kc.Filter.LINEAR, 4),
    ],
)
def test_reads_take_their_texels(
    components: int, filtering: kc.Filter, slower: int, texels: float
) -> None:
    """32 lanes over the texels of a cycle; filtered ones of 8 and 16 bytes two and four times.

    Reads more than others, so that what comes before the first and after the last is left out.
    """
    device = replace(load_device("v100-pcie"), texture=TextureFacts(texels, 4))
    many, few = (timed(device, components, filtering, count).cycles for count in (MANY, FEW))
    expected = WARPS * (MANY - FEW) * 32 / texels * slower
    assert many - few == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("name", known_devices())
def test_every_device_says_how_fast_it_reads_textures(name: str) -> None:
    device = load_device(name)
    found = {key for key in device.provenance if key.startswith("texture.")}
    assert found == {f"texture.{item.name}" for item in fields(TextureFacts)}
