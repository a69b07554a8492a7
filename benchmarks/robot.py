"""Burgers of the simulated arm: how many stand, what each costs and how much is sent for it.

``python -m benchmarks robot`` takes about fifty minutes of processor time with its 1,000 seeds in three conditions,
spread over all cores. ``COBANDIT_ROBOT_SEEDS=100`` makes it a short one; ``200:1000`` leaves out the first 200.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from benchmarks.report import Report
from cobandit.robot import CONFIGURATIONS, Recording, simulate_burger
from cobandit.robot.layout import ITEMS, Layout

CONDITIONS = ((0.0, 0.0), (0.005, 0.002), (0.010, 0.002))
"""Noise of a look, and error of the height of the stack, in metres."""
HELD_TO = {0.0: 99.0, 0.005: 97.0}
"""Burgers in a hundred that must stand."""


class Stacked(NamedTuple):
    """What came of one burger."""

    seed: int
    stands: bool
    retries: int
    seconds: float
    size: int
    off_axis: float
    """Millimetres."""


@dataclass
class Tally:
    """What came of the burgers of one condition."""

    stood: int = 0
    retries: int = 0
    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    off_axis: list[float] = field(default_factory=list)
    fell: list[int] = field(default_factory=list)

    def add(self, burger: Stacked) -> None:
        """One more burger."""
        self.seconds.append(burger.seconds)
        self.sizes.append(burger.size)
        self.retries += burger.retries
        self.off_axis.append(burger.off_axis)
        if burger.stands:
            self.stood += 1
        else:
            self.fell.append(burger.seed)

    def words(self) -> str:
        """On one line."""
        count = len(self.seconds)
        return (
            f"{self.stood} of {count} stand; farthest layer off axis mean {np.mean(self.off_axis):.1f}, p95 "
            f"{np.percentile(self.off_axis, 95):.1f} mm; {self.retries} retries; {np.mean(self.seconds):.2f} CPU s, "
            f"p95 {np.percentile(self.seconds, 95):.2f}; {np.mean(self.sizes) / 1e3:.1f} KB, at most "
            f"{max(self.sizes) / 1e3:.1f}; fell: {self.fell}"
        )


def off_axis(recording: Recording) -> float:
    """How far the farthest layer lies from the plate's axis, in metres."""
    plate = np.array(Layout().plate)
    return max(float(np.linalg.norm(recording.positions(item)[-1, :2] - plate)) for item in ITEMS)


def stack(seed: int) -> list[Stacked]:
    """The burger of a seed under each condition."""
    burgers = []
    for condition in CONDITIONS:
        began = time.process_time()
        recording = simulate_burger(CONFIGURATIONS[seed % 4], seed, *condition)
        seconds = time.process_time() - began
        retries = sum(event.action == "retry" for event in recording.events)
        size, off = len(recording.to_bytes()), 1e3 * off_axis(recording)
        burgers.append(Stacked(seed, recording.status == "done", retries, seconds, size, off))
    return burgers


def asked_seeds() -> range:
    """``N`` or ``FIRST:END`` of the environment."""
    first, _, end = os.environ.get("COBANDIT_ROBOT_SEEDS", "1000").rpartition(":")
    return range(int(first or 0), int(end))


def add_lines(report: Report) -> None:
    seeds = asked_seeds()
    tallies = [Tally() for _ in CONDITIONS]
    with ProcessPoolExecutor() as pool:
        for done, burgers in enumerate(pool.map(stack, seeds), 1):
            for tally, burger in zip(tallies, burgers, strict=True):
                tally.add(burger)
            if done % 50 == 0 or done == len(seeds):
                for (noise, _), tally in zip(CONDITIONS, tallies, strict=True):
                    print(f"{1e3 * noise:g} mm: {tally.words()}", flush=True)
    for (noise, height), tally in zip(CONDITIONS, tallies, strict=True):
        title = f"burgers, {1e3 * noise:g} mm noise, {1e3 * height:g} mm height error"
        held = HELD_TO.get(noise)
        percent = 100 * tally.stood / len(seeds)
        met = None if held is None else percent >= held
        report.add(f"{title}: stand", percent, "%", f"at least {held:g}" if held else "", met)
        report.add(f"{title}: farthest layer, p95", float(np.percentile(tally.off_axis, 95)), "mm")
        report.at_most(f"{title}: CPU of a burger, mean", float(np.mean(tally.seconds)), "s", 1.5)
        report.at_most(f"{title}: largest recording", max(tally.sizes) / 1e3, "KB", 60)
