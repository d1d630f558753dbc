"""The time line against closed forms: streams, events, copies, kernels side by side, graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernelcast.program_capture.timeline.span import SpanKind
from kernelcast.program_capture.timeline.streams import Streams
from kernelcast.program_capture.timeline.timeline import DeviceTimeline, Work
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.host_link_facts import HostLinkFacts

_CALL_S, _LATENCY_S = 2e-6, 5e-6
_RATE, _PAGEABLE_RATE = 20e9, 10e9
_LINK = HostLinkFacts(_RATE, _PAGEABLE_RATE, _LATENCY_S, _CALL_S)
_US = 1e-6


@pytest.fixture(scope="module")
def device() -> Device:
    return replace(load_device("a100-40gb"), host_link=_LINK)


@pytest.fixture
def timeline(device: Device) -> DeviceTimeline:
    found = DeviceTimeline(device)
    for stream in (16, 17):
        found.streams.create(stream, 0)
    return found


def _kernel(
    timeline: DeviceTimeline, seconds: float, stream: int = 0, share: float = 1.0
) -> tuple[float, float]:
    span = timeline.add(
        Work(SpanKind.KERNEL, len(timeline.spans), stream, seconds=seconds, share=share)
    )
    return span.start_s, span.end_s


def _copy(
    timeline: DeviceTimeline,
    kind: SpanKind = SpanKind.TO_DEVICE,
    stream: int = 0,
    *,
    size: int = 20_000_000,
    is_pinned: bool = True,
    is_async: bool = True,
) -> tuple[float, float]:
    span = timeline.add(Work(kind, 0, stream, bytes=size, is_pinned=is_pinned, is_async=is_async))
    return span.start_s, span.end_s


def test_launches_of_a_stream_follow_each_other(timeline: DeviceTimeline) -> None:
    assert _kernel(timeline, 10 * _US) == pytest.approx((_CALL_S, _CALL_S + 10 * _US))
    assert _kernel(timeline, 10 * _US) == pytest.approx((_CALL_S + 10 * _US, _CALL_S + 20 * _US))
    assert timeline.host_s == pytest.approx(2 * _CALL_S), "the host does not wait"
    timeline.synchronize(None)
    assert timeline.host_s == pytest.approx(_CALL_S + 20 * _US)
    assert timeline.waited_s == pytest.approx(20 * _US - _CALL_S)


def test_short_kernels_wait_for_their_launches(timeline: DeviceTimeline) -> None:
    for number in range(1, 6):
        start, end = _kernel(timeline, 0.5 * _US)
        assert (start, end) == pytest.approx((number * _CALL_S, number * _CALL_S + 0.5 * _US))


def test_a_copy_takes_its_latency_and_its_bytes(timeline: DeviceTimeline) -> None:
    start, end = _copy(timeline)
    assert end - start == pytest.approx(_LATENCY_S + 20_000_000 / _RATE)
    assert timeline.host_s == pytest.approx(_CALL_S)
    start, end = _copy(timeline, is_pinned=False, is_async=False)
    assert end - start == pytest.approx(_LATENCY_S + 20_000_000 / _PAGEABLE_RATE)
    assert timeline.host_s == pytest.approx(end), "the host waits"


def test_each_direction_of_the_link_does_one_copy_at_a_time(timeline: DeviceTimeline) -> None:
    whole = _LATENCY_S + 20_000_000 / _RATE
    first = _copy(timeline, stream=16)
    second = _copy(timeline, stream=17)
    back = _copy(timeline, SpanKind.TO_HOST, stream=17)
    assert second == pytest.approx((first[1], first[1] + whole))
    assert back[0] == pytest.approx(second[1]), "it is in the same stream"
    timeline.streams.create(18, 0)
    other = _copy(timeline, SpanKind.TO_HOST, stream=18)
    assert other[0] == pytest.approx(back[1]), "its direction is taken"


def test_copies_and_kernels_of_different_streams_overlap(timeline: DeviceTimeline) -> None:
    copied = _copy(timeline, stream=16)
    ran = _kernel(timeline, 100 * _US, stream=17)
    assert copied[0] < ran[0] < copied[1]
    assert ran == pytest.approx((2 * _CALL_S, 2 * _CALL_S + 100 * _US))


def test_kernels_share_the_sms_as_long_as_there_is_room(timeline: DeviceTimeline) -> None:
    half = _kernel(timeline, 100 * _US, stream=16, share=0.5)
    beside = _kernel(timeline, 40 * _US, stream=17, share=0.5)
    assert half[0] < beside[0] == pytest.approx(2 * _CALL_S)
    timeline.streams.create(18, 0)
    third = _kernel(timeline, 10 * _US, stream=18, share=0.4)
    assert third[0] == pytest.approx(beside[1]), "where the shorter one was"
    timeline.streams.create(19, 0)
    large = _kernel(timeline, 10 * _US, stream=19, share=1.0)
    assert large[0] == pytest.approx(half[1])


def test_the_default_stream_waits_for_all_that_block(timeline: DeviceTimeline) -> None:
    timeline.streams.create(18, 1)  # does not block
    first = _kernel(timeline, 50 * _US, stream=16, share=0.1)
    free = _kernel(timeline, 500 * _US, stream=18, share=0.1)
    default = _kernel(timeline, 10 * _US, stream=0, share=0.1)
    after = _kernel(timeline, 10 * _US, stream=17, share=0.1)
    assert default[0] == pytest.approx(first[1])
    assert after[0] == pytest.approx(default[1])
    assert free[1] > after[1]


def test_events_join_streams(timeline: DeviceTimeline) -> None:
    first = _kernel(timeline, 80 * _US, stream=16, share=0.2)
    timeline.record(5, 16)
    timeline.wait_for(17, 5)
    timeline.wait_for(17, 6)  # was not recorded
    second = _kernel(timeline, 10 * _US, stream=17, share=0.2)
    assert second[0] == pytest.approx(first[1])
    timeline.record(7, 17)
    assert timeline.events[7] - timeline.events[5] == pytest.approx(10 * _US)
    timeline.synchronize_event(5)
    assert timeline.host_s == pytest.approx(first[1])


def test_a_stream_is_waited_for_alone(timeline: DeviceTimeline) -> None:
    short = _kernel(timeline, 20 * _US, stream=16, share=0.2)
    long = _kernel(timeline, 900 * _US, stream=17, share=0.2)
    timeline.synchronize(16)
    assert timeline.host_s == pytest.approx(short[1])
    assert timeline.end_s == pytest.approx(long[1])


def test_time_of_the_host_delays_what_follows(timeline: DeviceTimeline) -> None:
    timeline.pass_host_time(1e-3)
    assert _kernel(timeline, _US)[0] == pytest.approx(1e-3 + _CALL_S)


def test_fills_and_copies_on_the_device_take_its_bandwidth(timeline: DeviceTimeline) -> None:
    size, rate = 1 << 30, timeline.device.dram.bandwidth_bytes_per_s
    assert timeline.device.timing is not None
    overhead = timeline.device.timing.launch_overhead_s
    fill = _copy(timeline, SpanKind.FILL, size=size)
    assert fill[1] - fill[0] == pytest.approx(size / rate + overhead)
    moved = _copy(timeline, SpanKind.ON_DEVICE, size=size)
    assert moved[1] - moved[0] == pytest.approx(2 * size / rate + overhead)


def test_nodes_of_a_graph_begin_when_those_before_them_are_done(timeline: DeviceTimeline) -> None:
    before = _kernel(timeline, 30 * _US, stream=16, share=0.1)
    timeline.begin_graph()
    ends = {}
    for node, after, seconds in ((100, [16], 10), (101, [100], 20), (102, [100], 70)):
        timeline.begin_node(node, after)
        span = timeline.add(
            Work(SpanKind.KERNEL, 0, node, seconds=seconds * _US, share=0.1, is_in_graph=True)
        )
        ends[node] = span.end_s
    timeline.end_nodes(16, [100, 101, 102])
    assert ends[100] == pytest.approx(before[1] + 10 * _US)
    assert ends[101] == pytest.approx(ends[100] + 20 * _US)
    assert ends[102] == pytest.approx(ends[100] + 70 * _US)
    assert _kernel(timeline, _US, stream=16)[0] == pytest.approx(ends[102])
    assert timeline.host_s == pytest.approx(3 * _CALL_S), "a graph is given at once"


def test_a_stream_that_was_destroyed_is_still_waited_for() -> None:
    streams = Streams()
    streams.create(16, 0)
    streams.give(16, 5.0)
    streams.destroy(16)
    assert streams.done_at(None) == 5.0
    assert streams.free_at(0) == 5.0
