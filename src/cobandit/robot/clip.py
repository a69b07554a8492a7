"""A recording as a film: mp4 or webm where an encoder is there, else a small animated PNG for any browser."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from cobandit.base.checks import real, whole
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.files import make_folder
from cobandit.robot.animated import write_animated_png
from cobandit.robot.recording import Recording
from cobandit.robot.rendering import FrameRenderer, Image
from cobandit.robot.scene import scene_description

CODECS = {
    ".mp4": ["-c:v", "libx264", "-preset", "veryslow", "-pix_fmt", "yuv420p", "-movflags", "+faststart"],
    ".webm": ["-c:v", "libvpx-vp9", "-b:v", "0", "-row-mt", "1", "-pix_fmt", "yuv420p", "-deadline", "good"],
}
QUALITY = {".mp4": 27, ".webm": 43}
KINDS = (*CODECS, ".png")
WIDTHS = {".png": 640}
"""The default width of a clip in pixels, by its kind; an animated picture is a larger file than a film of its size."""
USUAL_WIDTH = 960
PNG_EVERY = 3
"""Of the frames of a film an animated picture has each third."""
HOLD = 0.8
"""Seconds for which the finished burger is looked at."""


class NoEncoder(CobanditError):
    """No program on this machine makes the film that was asked for."""


def encoder() -> str | None:
    """ffmpeg, of the system or of an installed ``imageio-ffmpeg``; None where there is neither."""
    program = shutil.which("ffmpeg")
    if program is None and importlib.util.find_spec("imageio_ffmpeg") is not None:
        import imageio_ffmpeg

        try:
            program = str(imageio_ffmpeg.get_ffmpeg_exe())
        except RuntimeError:  # the package came without a program for this machine
            return None
    return program


def checked_path(path: Path) -> Path:
    """Return the path of a film, or raise an error if its kind is unknown or cannot be made on this machine."""
    if path.suffix.lower() not in KINDS:
        raise InvalidInput(f"The file must be a name that ends in {', '.join(KINDS)}, got {str(path)!r}.")
    if path.suffix.lower() in CODECS and encoder() is None:
        raise NoEncoder(
            f"{path.suffix} needs ffmpeg: install it, or pip install imageio-ffmpeg, or ask for a name that ends in "
            ".png, a smaller animated picture that needs nothing."
        )
    make_folder(path.parent)
    return path


class ClipMaker:
    """Draws recordings in one scene and size. A missing library is an error when the maker is created."""

    def __init__(self, width: int = 960, height: int = 600, skin: str = "own") -> None:
        even = whole(1, 2000)
        self._size = 2 * even("half the width", width / 2), 2 * even("half the height", height / 2)
        scene = scene_description(skin)
        self.credit = scene["credit"]
        self._renderer = FrameRenderer(scene, *self._size)

    def __enter__(self) -> ClipMaker:
        return self

    def __exit__(self, *_: object) -> None:
        self._renderer.__exit__()

    def write(self, recording: Recording, path: Path, speed: float = 3.0, fps: int = 25) -> Path:
        """Write the recording as a film that runs ``speed`` times faster than the robot."""
        self.write_all(recording, [path], speed, fps)
        return path

    def write_all(self, recording: Recording, paths: Sequence[Path], speed: float = 3.0, fps: int = 25) -> None:
        """Write the recording as several kinds of files; every frame is drawn once."""
        speed, fps = real(0.1, 50)("speed", speed), whole(1, 60)("fps", fps)
        paths = [checked_path(path) for path in paths]
        every = PNG_EVERY
        if all(path.suffix.lower() == ".png" for path in paths):  # draw only the frames that the file will contain
            every, fps = 1, max(1, round(fps / PNG_EVERY))
        numbers = np.arange(0, recording.frames - 1, recording.fps * speed / fps)
        images = [zlib.compress(self._renderer.draw(recording, float(number)).tobytes(), 1) for number in numbers]
        last = zlib.compress(self._renderer.draw(recording, recording.frames - 1).tobytes(), 1)
        images += [last] * round(HOLD * fps)
        for path in paths:
            frames = (self._unpacked(image) for image in images)
            if path.suffix.lower() == ".png":
                thinned = images[::-every][::-1]  # the last one among them
                sample = [self._unpacked(image) for image in thinned[:: max(1, len(thinned) // 12)]]
                write_animated_png(path, map(self._unpacked, thinned), sample, max(1, round(fps / every)))
            else:
                encode(path, frames, self._size, fps)

    def _unpacked(self, image: bytes) -> Image:
        width, height = self._size
        return np.frombuffer(zlib.decompress(image), np.uint8).reshape(height, width, 3)


def encode(path: Path, frames: Iterable[Image], size: tuple[int, int], fps: int) -> None:
    """Encode frames of one size as a film with ffmpeg; the file name determines its kind."""
    width, height = size
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps), "-i", "-"]
    codec = [*CODECS[path.suffix.lower()], "-crf", str(QUALITY[path.suffix.lower()])]
    partial = path.with_name(f".partial-{path.name}")
    # Without the encoder's name and version the same frames give the same bytes.
    command = [
        str(encoder()),
        "-y",
        "-loglevel",
        "error",
        *raw,
        "-an",
        *codec,
        "-fflags",
        "+bitexact",
        "-flags",
        "+bitexact",
    ]
    with subprocess.Popen([*command, str(partial)], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stderr is not None
        try:
            for frame in frames:
                program.stdin.write(frame.tobytes())
            program.stdin.close()
        except BrokenPipeError:
            pass  # the program has ended, and says why
        except BaseException:
            program.kill()
            partial.unlink(missing_ok=True)
            raise
        trouble = program.stderr.read().decode(errors="replace").strip()
    if program.returncode:
        partial.unlink(missing_ok=True)
        raise NoEncoder(
            f"ffmpeg made no {path.suffix} of it: {trouble.splitlines()[-1] if trouble else 'no reason given'}."
        )
    partial.replace(path)
