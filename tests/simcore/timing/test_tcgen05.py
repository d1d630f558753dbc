"""`tcgen05.mma` in the timing simulator, against closed forms of rate and latency.

The tensor unit works while the thread that asked goes on, until it waits for the mbarrier of a
commit.
"""

from __future__ import annotations

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from tests.ptx_frontend.sass.native_programs import needs_tools

DEVICE = load_device("b200")
COLUMNS, TRIPS = 256, 24
MULTIPLY_ADDS = 128 * COLUMNS * 16
DESCRIPTOR = 1 << 4 | COLUMNS // 8 << 17 | 8 << 24
SHARED = 1 << 16 | 64 << 32 | 1 << 46 | 2 << 61
HEAD = """.version 8.7
.target sm_100a
.address_size 64
.shared .align 1024 .b8 tile[49152]; .shared .align 8 .b64 bar; .shared .align 4 .b32 place;
.visible .entry k(.param .u64 p0) {
.reg .pred %p<4>; .reg .pred %first; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f1;
ld.param.u64 %rd0, [p0]; mov.u32 %r0, %tid.x; setp.eq.u32 %first, %r0, 0; mov.u32 %r1, bar;
mov.u32 %r2, place; mov.u32 %r3, 0; mov.f32 %f1, 0f00000000;
@%first mbarrier.init.shared.b64 [%r1], 1;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 256; bar.sync 0;
ld.shared.b32 %r4, [%r2]; mov.u32 %r5, tile; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd1, %r5;
"""
END = """tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 256;
st.global.f32 [%rd0], %f1; ret; }"""
PRODUCT = f"@%first tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd2, %rd3, {DESCRIPTOR}, %first;"
COMMIT = "@%first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];"
WAIT = """and.b32 %r6, %r3, 1;
    W: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], %r6; @!%p3 bra W;"""


def work(chain: int) -> str:
    return "\n".join("fma.rn.f32 %f1, %f1, %f1, %f1;" for _ in range(chain))


def run(body: str, products: int = 1, code: str = "source") -> LaunchTiming:
    begin = f"or.b64 %rd2, %rd1, {SHARED}; add.u64 %rd3, %rd2, 1024; L: "
    again = f"add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, {TRIPS}; @%p2 bra L;"
    text = HEAD + begin + body.replace("PRODUCTS", PRODUCT * products) + again + END
    kernel = kc.load_ptx(text)["k"]
    trace = kernel.run(
        grid=1, block=32, args=[np.zeros(32, np.float32)], devices=[DEVICE], code=code
    )
    found = trace.profile(DEVICE).derived(timed_warps)
    assert found is not None
    return launch_timing(found, DEVICE, is_exact=True)


def unit_cycles() -> float:
    assert DEVICE.tensor is not None
    rate = DEVICE.tensor.multiply_adds_per_cycle("fp16")
    assert rate is not None
    return MULTIPLY_ADDS / rate


def more_per_trip(body: str, products: int, code: str) -> float:
    """Cycles of a trip with twice as many products, less those of one with so many."""
    few, many = (run(body, count, code).cycles for count in (products, 2 * products))
    return (many - few) / TRIPS


@pytest.mark.parametrize(("products", "code"), [(4, "source"), (8, "source"), (4, "native")])
def test_products_one_after_the_other_take_the_unit(products: int, code: str) -> None:
    if code == "native":
        needs_tools("sm_100a")
    found = more_per_trip(f"PRODUCTS {COMMIT} {WAIT}", products, code)
    assert found == pytest.approx(products * unit_cycles(), rel=0.05)


def test_a_wait_takes_the_latency_of_the_last_product() -> None:
    assert DEVICE.tensor is not None
    waits = run(f"PRODUCTS {COMMIT} {WAIT}", 4).cycles / TRIPS
    never = run(f"PRODUCTS {COMMIT}", 4).cycles / TRIPS
    assert never == pytest.approx(4 * unit_cycles(), rel=0.1)
    assert waits - never > 0.5 * DEVICE.tensor.latency_cycles


def test_the_thread_that_asked_goes_on() -> None:
    """Work of its own hides behind a product; only the longer one counts."""
    chain = 24
    alone = run(f"{work(chain)} {COMMIT} {WAIT}", 1).cycles
    product = run(f"PRODUCTS {COMMIT} {WAIT}").cycles
    both = run(f"PRODUCTS {COMMIT} {work(chain)} {WAIT}").cycles
    after = run(f"PRODUCTS {COMMIT} {WAIT} {work(chain)}").cycles
    assert max(alone, product) <= both < 1.15 * max(alone, product)
    assert after > product + 0.8 * 4 * chain * TRIPS > 1.2 * both
