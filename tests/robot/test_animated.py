"""Animated PNG files: small, and another library reads from them what was drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cobandit.robot.animated import write_animated_png

FRAMES = 30


def moving_square() -> list[NDArray[np.uint8]]:
    """A square that crosses a gradient, and stays where it is for the last third."""
    frames = []
    for t in range(FRAMES):
        frame = np.zeros((60, 96, 3), np.uint8)
        frame[..., 0] = np.linspace(0, 255, 96, dtype=np.uint8)
        at = min(t, 2 * FRAMES // 3)
        frame[20:40, at : at + 20] = (0, 200, 80)
        frames.append(frame)
    return frames


def test_what_was_drawn_is_read_again(tmp_path: Path) -> None:
    drawn = moving_square()
    write_animated_png(tmp_path / "square.png", drawn, drawn[::5], 10)
    with Image.open(tmp_path / "square.png") as film:
        durations, shown = [], []
        for k in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(k)
            shown.append(np.asarray(film.convert("RGB")).astype(int))
            durations.append(film.info["duration"])
    moving = 2 * FRAMES // 3 + 1
    assert len(shown) == moving
    assert durations == [100.0] * (moving - 1) + [100.0 * (FRAMES - moving + 1)]
    for k, frame in enumerate(shown):
        assert np.abs(frame - drawn[k]).max() <= 8  # as coarse as the colours are counted


def test_only_what_has_changed_is_stored(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 320, 3), dtype=np.uint8)
    frames = []
    for t in range(40):
        frame = noise.copy()
        frame[90:110, 4 * t : 4 * t + 20] = 255
        frames.append(frame)
    write_animated_png(tmp_path / "one.png", frames[:1], frames[:1], 10)
    write_animated_png(tmp_path / "all.png", frames, frames[:1], 10)
    assert (tmp_path / "all.png").stat().st_size < 2 * (tmp_path / "one.png").stat().st_size
