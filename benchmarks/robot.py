"""Burgers of the simulated arm: how many stand, what each costs and how much is sent for it.

``python -m benchmarks robot`` takes about forty minutes of one core with its 1,000 seeds in three conditions;
``COBANDIT_ROBOT_SEEDS=100`` makes it a short one.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.report import Report
from cobandit.robot import CONFIGURATIONS, Recording, simulate_burger
from cobandit.robot.layout import ITEMS, Layout

CONDITIONS = ((0.0, 0.0), (0.005, 0.002), (0.010, 0.002))
"""Noise of a look, and error of the height of the stack, in metres."""
HELD_TO = {0.0: 99.0, 0.005: 97.0}
"""Burgers in a hundred that must stand."""


@dataclass
class Tally:
    """What came of the burgers of one condition."""

    stood: int = 0
    retries: int = 0
    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    off_axis: list[float] = field(default_factory=list)
    fell: list[int] = field(default_factory=list)

    def add(self, seed: int, recording: Recording, seconds: float) -> None:
        """One more burger."""
        self.seconds.append(seconds)
        self.sizes.append(len(recording.to_bytes()))
        self.retries += sum(event.action == "retry" for event in recording.events)
        self.off_axis.append(1e3 * off_axis(recording))
        if recording.status == "done":
            self.stood += 1
        else:
            self.fell.append(seed)

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


def add_lines(report: Report) -> None:
    seeds = int(os.environ.get("COBANDIT_ROBOT_SEEDS", "1000"))
    tallies = {condition: Tally() for condition in CONDITIONS}
    for seed in range(seeds):
        for condition, tally in tallies.items():
            began = time.process_time()
            recording = simulate_burger(CONFIGURATIONS[seed % 4], seed, *condition)
            tally.add(seed, recording, time.process_time() - began)
        if seed % 50 == 49:
            for (noise, _), tally in tallies.items():
                print(f"{1e3 * noise:g} mm: {tally.words()}", flush=True)
    for (noise, height), tally in tallies.items():
        title = f"burgers, {1e3 * noise:g} mm noise, {1e3 * height:g} mm height error"
        held = HELD_TO.get(noise)
        percent = 100 * tally.stood / seeds
        met = None if held is None else percent >= held
        report.add(f"{title}: stand", percent, "%", f"at least {held:g}" if held else "", met)
        report.add(f"{title}: farthest layer, p95", float(np.percentile(tally.off_axis, 95)), "mm")
        report.at_most(f"{title}: CPU of a burger, mean", float(np.mean(tally.seconds)), "s", 1.5)
        report.at_most(f"{title}: largest recording", max(tally.sizes) / 1e3, "KB", 60)
