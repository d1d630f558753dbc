"""Kernels that one thing holds up, each of another kind: the headline names it.

First advice, first cause and `topdown` name it, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.inputs.native.tools import toolset
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.topdown_analysis.simulated import simulated_topdown
from tests.models.test_planted_bottlenecks import (
    CHAINS,
    DEVICES,
    START,
    STREAM,
    loop,
    rows,
    shared,
)
from tests.simcore.timing.test_textures import BODY as TEXTURE_READS

_SUM = " ".join(f"add.f32 %f2, %f2, %f{i};" for i in range(3, 10))
END = f"{_SUM} st.global.f32 [%rd2], %f2;"


@dataclass(frozen=True)
class Plant:
    """A kernel and its launch; one of `components` holds it up.

    `waves` of thread blocks that fill the GPU, and as many `more`; none: one on each SM.
    """

    name: str
    components: tuple[Component, ...]
    body: str
    waves: int = 2
    more: int = 0
    threads: int = 256
    shared_bytes: int = 0

    def thread_blocks(self, sms: int, per_sm: int) -> int:
        return self.waves * per_sm * sms + self.more or sms


def each(instruction: str) -> str:
    """The instruction with each of eight registers in the place of {}."""
    return " ".join(instruction.replace("{}", str(i)) for i in range(2, 10))


def reused() -> str:
    """All thread blocks read the same words, past L1."""
    load = """
        mad.lo.u32 %r7, %r9, 256, %r1; mul.wide.u32 %rd4, %r7, 4; add.u64 %rd4, %rd1, %rd4;
        ld.global.cg.f32 %f2, [%rd4]; ld.global.cg.f32 %f3, [%rd4+1024];
        ld.global.cg.f32 %f4, [%rd4+2048]; ld.global.cg.f32 %f5, [%rd4+3072];
        add.f32 %f1, %f1, %f2; add.f32 %f6, %f6, %f3; add.f32 %f7, %f7, %f4; add.f32 %f8, %f8, %f5;
    """
    return f"{loop(load, 64)} mov.f32 %f2, %f1; {END}"


def copied() -> str:
    """Each thread reads 64 bytes, 16 at a time, as neighbours do."""
    loads = " ".join(
        f"""
            ld.global.v4.f32 {{%f{4 * i + 2}, %f{4 * i + 3}, %f{4 * i + 4}, %f{4 * i + 5}}}, [%rd4];
            add.u64 %rd4, %rd4, %rd5;
        """
        for i in range(4)
    )
    total = " ".join(f"add.f32 %f2, %f2, %f{i};" for i in range(3, 18))
    return f"""
        mul.wide.u32 %rd4, %r4, 16; add.u64 %rd4, %rd1, %rd4; mul.wide.u32 %rd5, %r5, 16;
        {loads} {total} st.global.f32 [%rd2], %f2;
    """


COPY = copied()
ONE_CHAIN = " ".join(["fma.rn.f32 %f2, %f2, %f1, %f1;"] * 16)
MEET = "fma.rn.f32 %f2, %f2, %f1, %f1; bar.sync 0;"
LATENCY = (Component.MEMORY_LATENCY, Component.OCCUPANCY)
PLANTS = (
    Plant("stream", (Component.DRAM_BANDWIDTH,), COPY, waves=8),
    Plant("one warp", LATENCY, rows("1", "%r5"), waves=0, threads=64),
    Plant("occupancy 1", LATENCY, STREAM, threads=64, shared_bytes=45000),
    Plant("launch", (Component.LAUNCH_OVERHEAD,), "st.global.f32 [%rd2], %f1;", 0, threads=64),
    Plant("tail", (Component.TAIL,), f"{loop(CHAINS, 64)} {END}", 1, 1, 1024, 45000),
    Plant("barriers", (Component.BARRIER,), f"{loop(MEET, 400)} {END}", 0, threads=1024),
    Plant("fences", (Component.FENCE,), f"{loop('membar.gl;', 100)} {END}"),
    Plant("chain", (Component.ARITHMETIC_LATENCY,), f"{loop(ONE_CHAIN, 300)} {END}", 0, 0, 64),
    Plant("fp32", (Component.FP32,), f"{loop(CHAINS, 100)} {END}"),
    Plant(
        "special functions",
        (Component.SPECIAL_FUNCTION,),
        f"{loop(each('ex2.approx.f32 %f{}, %f{};'), 100)} {END}",
    ),
    Plant(
        "conversions",
        (Component.CONVERSION,),
        f"{loop(each('cvt.rni.s32.f32 %r1{}, %f{}; cvt.rn.f32.s32 %f{}, %r1{};'), 50)} {END}",
    ),
    Plant("shared memory", (Component.SHARED_PIPE,), f"{shared(1)} {END}", waves=4),
    Plant("reuse in L2", (Component.L2_BANDWIDTH,), reused()),
)


def planted(plant: Plant, name: str) -> KernelProfile:
    device = kc.device(name)
    text = f"""
        .version 8.0\n.target sm_75\n.address_size 64
        .const .align 4 .b8 table[256]; .shared .align 4 .b8 tile[6144];
        .visible .entry k(.param .u64 a, .param .u64 b) {{ {START} {plant.body} ret; }}
    """

    def profile(thread_blocks: int) -> KernelProfile:
        words = [np.zeros(thread_blocks * plant.threads * count, np.float32) for count in (32, 1)]
        trace = kc.load_ptx(text)["k"].run(
            grid=thread_blocks,
            block=plant.threads,
            args=words,
            shared_bytes=plant.shared_bytes,
            devices=[device],
        )
        return trace.profile(device)

    sms = device.architecture.sm_count
    timed = profile(sms * 8192 // plant.threads).derived(timed_warps)
    assert timed is not None
    return profile(plant.thread_blocks(sms, timed.thread_blocks_per_sm))


def check(found: Estimate, components: tuple[Component, ...]) -> None:
    names = [component.value for component in components]
    assert found.bottleneck in names, (found.headline, found.advice)
    assert f"limited by {found.bottleneck}: {found.gain:.2f}x " in found.headline
    assert found.causes[0].startswith(f"{found.bottleneck}: {found.gain:.2f}x ")
    assert f"without {found.bottleneck} " in str(found.advice[0])
    assert found.advice[0].gain == found.gain


@pytest.mark.drawn(8)
@pytest.mark.parametrize(
    ("plant", "name"),
    [
        pytest.param(plant, name, id=f"{plant.name}, {name}")
        for number, plant in enumerate(PLANTS)
        for name in (*DEVICES[:2], *(DEVICES[2:] if number < 5 else ()))
    ],
)
def test_the_headline_names_what_holds_the_kernel_up(plant: Plant, name: str) -> None:
    profile = planted(plant, name)
    found = kc.estimate(profile)
    check(found, plant.components)
    assert simulated_topdown(profile, kc.device(name)).bottleneck == (
        f"{found.bottleneck}: {found.gain_text}"
    )


@pytest.mark.drawn(2)
@pytest.mark.skipif(toolset(80) is None, reason="no assembler; CI has it")
@pytest.mark.parametrize("name", ["stream", "tail", "barriers", "fp32"])
def test_headlines_of_machine_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the assembler makes of these kernels is held up by what holds them up."""
    monkeypatch.setenv("KERNELCAST_CODE", "native")
    plant = next(plant for plant in PLANTS if plant.name == name)
    profile = planted(plant, "a100-80gb")
    assert profile.code == "sm_80"
    check(kc.estimate(profile), plant.components)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", DEVICES[:2])
def test_headlines_of_texture_reads(name: str) -> None:
    """Texels of one row, again and again: the units that read them are the limit."""
    reads = "".join(
        f"tex.2d.v4.f32.f32 {{%f{i}, %f{i + 1}, %f{i + 2}, %f{i + 3}}}, [%rd1, {{%f1, %f2}}];"
        for i in range(3, 35, 4)
    )
    texture = kc.Texture(np.zeros((2, 32, 1), np.float32))
    device = kc.device(name)
    trace = kc.load_ptx(TEXTURE_READS.format(reads=reads))["k"].run(
        grid=16 * device.architecture.sm_count,
        block=512,
        args=[texture, np.zeros(512, np.float32)],
        code="source",
        devices=[device],
    )
    check(kc.estimate(trace.profile(device)), (Component.TEXTURE,))


def test_what_is_equally_busy_is_named_together() -> None:
    """Additions of both kinds in turn: each takes its lanes of a V100 for two cycles."""
    pair = " ".join(
        f"add.f32 %f{i}, %f{i}, %f1; add.u32 %r{i + 8}, %r{i + 8}, %r4;" for i in range(2, 10)
    )
    clear = " ".join(f"mov.u32 %r{i + 8}, %r1;" for i in range(2, 10))
    total = " ".join(f"xor.b32 %r10, %r10, %r{i + 8};" for i in range(3, 10))
    body = f"{clear} {pair * 40} {total} cvt.rn.f32.u32 %f11, %r10; add.f32 %f2, %f2, %f11; {END}"
    found = kc.estimate(planted(Plant("issue and fp32", (), body, waves=4), "v100-pcie"))
    assert "fp32 lanes and integer lanes" in found.bottleneck
    assert f"{found.gain:.2f}x if they were all free" in found.headline
    assert not any(advice.gain > 1.3 for advice in found.advice[1:] if advice.gain is not None)
