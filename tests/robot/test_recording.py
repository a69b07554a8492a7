"""The format of recordings: there and back, small, and nothing else is taken for one."""

from __future__ import annotations

import gzip
import json
import struct

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.robot import Event, Recording
from cobandit.robot.recording import MOST_BYTES, quantised


@pytest.fixture
def recording() -> Recording:
    random = np.random.default_rng(0)
    poses = random.integers(-32768, 32767, (9, 3, 7), endpoint=True).astype(np.int16)
    events = (Event(0, "person", "patty", "person", "Person places the patty"), Event(8, "end", "x", "robot", "Grün"))
    return Recording((0, 1), 7, 25, ("a", "b", "hand"), poses, events, "done", "The burger stands.")


def packed(recording: Recording) -> bytearray:
    return bytearray(gzip.decompress(recording.to_bytes()))


def test_there_and_back(recording):
    data = recording.to_bytes()
    back = Recording.from_bytes(data)
    np.testing.assert_array_equal(back.poses, recording.poses)
    assert back.header() == recording.header()
    assert back.events == recording.events
    assert back.to_bytes() == data
    assert (back.frames, back.duration) == (9, 9 / 25)


def test_is_read_by_its_description_alone(recording):
    """As docs/reference/robot.md tells it, without our own reader."""
    data = gzip.decompress(recording.to_bytes())
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length % 4) == (b"CBRR", 1, 0)
    header = json.loads(data[12 : 12 + length])
    channels = np.frombuffer(data, "<i2", offset=12 + length).reshape(len(header["bodies"]), 7, header["frames"])
    value = 0
    for frame in range(header["frames"]):
        value = (value + int(channels[1, 2, frame]) + 32768) % 65536 - 32768
        assert value == recording.poses[frame, 1, 2]
    np.testing.assert_allclose(recording.positions("b")[:, 2], recording.poses[:, 1, 2] * 1e-4)


def test_quaternions_are_blended_the_short_way():
    positions = np.zeros((3, 1, 3))
    turns = np.array([[[1.0, 0, 0, 0]], [[-1.0, 0, 0, 0]], [[0.0, 0, 0, 1]]])
    poses = quantised(positions, turns)
    assert poses[:, 0, 3].tolist() == [32767, 32767, 0]
    far = quantised(np.full((1, 1, 3), 99.0), turns[:1])
    assert far[0, 0, :3].tolist() == [32767] * 3


class TestOtherThings:
    @pytest.mark.parametrize(
        "data",
        [b"", b"CBRR", gzip.compress(b""), gzip.compress(b"GIF89a" * 9), b"\x1f\x8b\x08"],
        ids=["nothing", "no gzip", "packed nothing", "packed picture", "cut short"],  # packed bytes hold the time
    )
    def test_no_recordings(self, data):
        with pytest.raises(InvalidInput, match="no recording"):
            Recording.from_bytes(data)

    @pytest.mark.parametrize("data", [None, "CBRR", 5, []])
    def test_no_bytes(self, data):
        with pytest.raises(InvalidInput, match="bytes"):
            Recording.from_bytes(data)

    def test_cut_short(self, recording):
        with pytest.raises(InvalidInput, match="cut short"):
            Recording.from_bytes(recording.to_bytes()[:-20])

    def test_another_version(self, recording):
        data = packed(recording)
        data[4] = 9
        with pytest.raises(InvalidInput, match="version is 9"):
            Recording.from_bytes(gzip.compress(bytes(data)))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (b'"frames":9', b'"frames":8'),
            (b'"status":"done"', b'"status":"gone"'),
            (b'"seed"', b'"sead"'),
            (b'"fps":25', b'"fps":-5'),
        ],
    )
    def test_damaged_headers(self, recording, old, new):
        data = bytes(packed(recording))
        assert old in data
        with pytest.raises(InvalidInput, match="damaged"):
            Recording.from_bytes(gzip.compress(data.replace(old, new)))

    def test_too_long_to_unpack(self):
        with pytest.raises(InvalidInput, match="too long"):
            Recording.from_bytes(gzip.compress(b"CBRR" + bytes(MOST_BYTES)))
