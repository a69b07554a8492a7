"""How quickly whole studies with simulated participants are played: ``python -m benchmarks.crowds``.

Held to: 1000 burger studies of 58 participants in under 20 s on two cores, kernels on disk.
"""

from __future__ import annotations

import time

from benchmarks.measure import best_of
from cobandit.studies.crowd import simulate_participants

MIXTURE = [("softmax", 1), ("win-stay-lose-shift", 1), ("epsilon-greedy", 1), ("knowledge-gradient", 1)]


def crowd_seconds(design: str, participants: int, threads: int = 2) -> float:
    """Seconds of a whole `simulate_participants` call, kernels compiled beforehand."""

    def once() -> float:
        start = time.perf_counter()
        simulate_participants(design, MIXTURE, participants, 0, threads=threads)
        return time.perf_counter() - start

    simulate_participants(design, MIXTURE, 1, 0)
    return best_of(once)


def main() -> None:
    one, two = crowd_seconds("burger", 58_000, 1), crowd_seconds("burger", 58_000)
    print(f"1000 burger studies of 58, two threads: {two:.2f} s (held to: under 20)")
    print(f"the same, one thread / two threads: {one / two:.2f}")
    print(f"one casino study of 24, two threads: {crowd_seconds('casino', 24):.2f} s")


if __name__ == "__main__":
    main()
