"""``python -m benchmarks [NAME ...]``: claimed figures. The names are those of `PIECES` and `ALONE`, and ``all``.

Ratios of times taken in one run are the point, and the version before is measured in the same run; the times
themselves are for this machine at this hour. Nothing here is a test: a miss is printed, not raised.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import engine, interop, library, mdp, outside, partner, robot, robot_page, studies, teams
from benchmarks.report import Report

PIECES = {
    "engine": engine.add_lines,
    "library": library.add_lines,
    "studies": studies.add_lines,
    "teams": teams.add_lines,
}
ALONE = {
    "interop": interop.add_lines,
    "mdp": mdp.add_lines,
    "partner": partner.add_lines,
    "robot": robot.add_lines,
    "robot-page": robot_page.add_lines,
    "studies-quick": studies.add_quick_lines,
    "moves": studies.add_move_lines,
    "wrk": outside.add_lines,
}
"""Asked for by name alone: environments, Markov problems, half an hour on all cores, a browser, a part of another."""


def main(asked: list[str]) -> None:
    pieces = PIECES | ALONE
    known = [*pieces, "all"]
    if not set(asked) <= set(known):
        sys.exit(f"{' '.join(asked)} was asked for; there are {', '.join(known)}.")
    chosen = [*PIECES] if not asked or "all" in asked else asked
    report = Report()
    for piece in chosen:
        pieces[piece](report)
    report.show()
    name = "benchmarks" if chosen == [*PIECES] else f"benchmarks-{'-'.join(chosen)}"
    report.save(Path("out") / f"{name}.json")


if __name__ == "__main__":
    main(sys.argv[1:])
