"""Answers the requests of a recording, without the program."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernelcast.program_capture.arena import CallError
from kernelcast.program_capture.calls.memory import COPY_WORDS
from kernelcast.program_capture.calls.table import CALLS
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.program_capture.protocol import Action, CopyRequest, Kind, words
from kernelcast.program_capture.recording import Frame, read_recording
from kernelcast.program_capture.result import CaptureResult, ProcessResult
from kernelcast.program_capture.session import Session
from kernelcast.program_capture.work_folder import work_folder
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.launch.device_memory import DeviceMemory

__all__ = ["replay_recording"]


def replay_recording(
    path: Path, devices: Sequence[Device], options: CaptureOptions | None = None
) -> CaptureResult:
    """Makes the launches of a recording again and estimates them on devices.

    The device that the program saw need not be among them. Raises InputError for a file that is no
    recording.
    """
    chosen = options or CaptureOptions()
    began = time.monotonic()
    command, frames = read_recording(path)
    sessions: dict[int, Session] = {}
    with work_folder() as folder:
        try:
            for frame in frames:
                if frame.process not in sessions:
                    sessions[frame.process] = _session(devices, folder, chosen)
                    sessions[frame.process].process = frame.process
                _answer(sessions[frame.process], frame)
        except KeyboardInterrupt:
            chosen.tell("interrupted: what follows is of the launches until now")
        finally:
            processes = [ProcessResult.of(session) for session in sessions.values()]
            for session in sessions.values():
                session.end()
    return CaptureResult(command, 0, processes, time.monotonic() - began)


def _session(devices: Sequence[Device], folder: Path, options: CaptureOptions) -> Session:
    own = Path(tempfile.mkdtemp(dir=folder))
    actor = _Actor()
    session = Session.begin(devices, own, options, actor.act)
    session.arena.capacity_bytes = 1 << 62  # the program had room
    actor.memory = session.arena.memory
    return session


class _Actor:
    """Does what the program did for its requests."""

    memory: DeviceMemory

    def act(self, action: Action, payload: bytes) -> None:
        """Copies on the device; what came from the host is in the recording."""
        if action is Action.ACT_COPY:
            copy_on_device(self.memory, CopyRequest(*words(payload, COPY_WORDS)))


def _answer(session: Session, frame: Frame) -> None:
    if frame.kind is None:
        address, content = frame.data
        session.arena.memory.write(address, np.frombuffer(content, np.uint8))
        return
    try:
        CALLS[frame.kind](session, frame.payload)
    except CallError:  # the program was told, and went on
        return
    if frame.kind is Kind.COPY:
        copy_on_device(session.arena.memory, CopyRequest(*words(frame.payload, COPY_WORDS)))


def copy_on_device(memory: DeviceMemory, request: CopyRequest) -> None:
    """Does a copy whose two sides are in the memory; none where one is the host's own."""
    if memory.find(request.to) is None or memory.find(request.source) is None:
        return
    for layer in range(request.depth):
        for row in range(request.height):
            to = request.to + layer * request.to_slice + row * request.to_pitch
            source = request.source + layer * request.source_slice + row * request.source_pitch
            memory.copy(to, source, request.width)
