"""A recorded burger, small enough to be sent: the poses of all moving bodies, and captions with frames.

The format (version 1), gzipped as a whole: the four bytes ``CBRR``; the version and the length of the header, both
uint32; the header, JSON in UTF-8 padded with blanks to a multiple of four bytes; then the poses, int16, little-endian.
The poses are channel-major and delta-coded: body after body as in ``header["bodies"]``, of each the seven channels x,
y, z (units of 0.1 mm) and w, x, y, z of its quaternion (units of 1/32767), of each channel all frames; the first frame
absolute, every later one as its difference from the previous frame, modulo 2^16.
"""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.robot.burger import Configuration, checked_configuration
from cobandit.robot.driver import STATUSES, Status
from cobandit.robot.layout import SCENE

MAGIC = b"CBRR"
VERSION = 1
POSITION_UNIT = 1e-4
QUATERNION_UNIT = 1 / 32767
CHANNELS = 7
MOST_BYTES = 50_000_000
"""No recording unpacks to more; a longer one is not ours."""


@dataclass(frozen=True)
class Event:
    """What begins at a frame, for a caption: ``action`` is "pick", "place", "person", "home", "retry" or "end"."""

    frame: int
    action: str
    item: str
    by: Literal["person", "robot", "experimenter"]
    text: str


@dataclass(frozen=True, eq=False)
class Recording:
    """Everything that moved while one burger was stacked, at ``fps`` frames per second of the robot's time.

    ``poses`` is int16 of shape (frames, bodies, 7), in the units of the format.
    """

    configuration: Configuration
    seed: int
    fps: int
    bodies: tuple[str, ...]
    poses: NDArray[np.int16]
    events: tuple[Event, ...]
    status: Status
    message: str
    scene: str = SCENE

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return len(self.poses)

    @property
    def duration(self) -> float:
        """Seconds of the robot's time."""
        return self.frames / self.fps

    def positions(self, body: str) -> NDArray[np.float64]:
        """Return the positions of a body in metres: (frames, 3)."""
        return self.poses[:, self.bodies.index(body), :3].astype(np.float64) * POSITION_UNIT

    def header(self) -> dict[str, Any]:
        """Return the header before the poses."""
        return {
            "version": VERSION,
            "scene": self.scene,
            "configuration": list(self.configuration),
            "seed": self.seed,
            "fps": self.fps,
            "frames": self.frames,
            "bodies": list(self.bodies),
            "events": [asdict(event) for event in self.events],
            "status": self.status,
            "message": self.message,
        }

    def to_bytes(self) -> bytes:
        """Return the recording in its format; the same recording gives the same bytes."""
        header = json.dumps(self.header(), separators=(",", ":"), ensure_ascii=False).encode()
        header += b" " * (-len(header) % 4)
        delta = np.diff(self.poses, axis=0, prepend=np.zeros_like(self.poses[:1]))  # wraps around, as it is read
        channels = np.ascontiguousarray(delta.transpose(1, 2, 0)).astype("<i2")
        packed = MAGIC + struct.pack("<II", VERSION, len(header)) + header + channels.tobytes()
        return gzip.compress(packed, 9, mtime=0)

    @classmethod
    def from_bytes(cls, data: bytes) -> Recording:
        """Return a recording back from its format; anything else is refused."""
        header, body = _unpacked(data)
        try:
            frames, bodies = int(header["frames"]), tuple(map(str, header["bodies"]))
            delta = np.frombuffer(body, "<i2").astype(np.int16).reshape(len(bodies), CHANNELS, frames)
            events = tuple(Event(**event) for event in header["events"])
            configuration = checked_configuration(header["configuration"])
            seed, fps, status = int(header["seed"]), int(header["fps"]), header["status"]
            message, scene = str(header["message"]), str(header["scene"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"The recording is damaged: {type(error).__name__}: {error}") from error
        if status not in STATUSES or fps < 1:
            raise InvalidInput(f"The recording is damaged: its status is {short_repr(status)}, its fps {fps}.")
        poses = np.ascontiguousarray(np.cumsum(delta, axis=2, dtype=np.int16).transpose(2, 0, 1))
        return cls(configuration, seed, fps, bodies, poses, events, status, message, scene)


def _unpacked(data: bytes) -> tuple[Mapping[str, Any], bytes]:
    """Return the header and the bytes of the poses."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InvalidInput(f"The recording must be the bytes that Recording.to_bytes gave, got {short_repr(data)}.")
    try:
        unpacker = zlib.decompressobj(wbits=31)
        packed = unpacker.decompress(bytes(data), MOST_BYTES)
        if not unpacker.eof:
            raise ValueError("it is cut short, or too long")
        if packed[:4] != MAGIC:
            raise ValueError(f"it begins with {packed[:4]!r}")
        version, length = struct.unpack_from("<II", packed, 4)
        if version != VERSION:
            raise ValueError(f"its version is {version}, and this package reads version {VERSION}")
        header = json.loads(packed[12 : 12 + length])
        if not isinstance(header, dict):
            raise ValueError("its header is no table")
    except (ValueError, zlib.error, struct.error) as error:
        raise InvalidInput(f"This is no recording of a burger: {error}.") from error
    return header, packed[12 + length :]


def quantised(positions: NDArray[np.float64], quaternions: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return poses in the units of the format; signs of quaternions are continuous, so that frames can be blended."""
    quaternions = quaternions.copy()
    for frame in range(1, len(quaternions)):
        turned = (quaternions[frame] * quaternions[frame - 1]).sum(axis=-1) < 0
        quaternions[frame, turned] *= -1
    units = np.concatenate([positions / POSITION_UNIT, quaternions / QUATERNION_UNIT], axis=2)
    clipped: NDArray[np.float64] = np.clip(np.rint(units), -32768, 32767)
    return clipped.astype(np.int16)
