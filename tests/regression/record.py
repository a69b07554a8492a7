"""Records what the engines do today: ``python -m tests.regression.record`` writes ``recorded.json`` anew.

Only for a change of behaviour that is meant, and then with a word on it in the CHANGELOG. A case that the reference
engine plays, too, must give the same there, else nothing is written.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cobandit as cb
from cobandit.studies import load_design
from tests.regression.cases import SHIPPED, all_cases

TARGET = Path(__file__).with_name("recorded.json")


def main() -> None:
    designs = {name: load_design(name) for name in SHIPPED}
    recorded: dict[str, Any] = {}
    for case in all_cases(designs):
        if case.name in recorded:
            sys.exit(f"There are two cases {case.name!r}.")
        outcomes = [case.play(engine, threads) for engine, threads in case.ways]
        digests = [outcome.digests() for outcome in outcomes]
        kept = digests[0] | digests[-1]  # a rehearsal's practice is played by the reference alone
        for (engine, threads), made in zip(case.ways, digests, strict=True):
            if any(kept[part] != digest for part, digest in made.items()):
                sys.exit(f"{case.name}: {engine} with {threads} threads disagrees.")
        recorded[case.name] = {"shown": outcomes[0].shown, "sha256": kept}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=TARGET.parent, check=True)
    whole = {
        "recorded_by": f"cobandit {cb.__version__}",
        "commit": commit.stdout.strip(),
        "designs": {name: design.to_dict() for name, design in designs.items()},
        "cases": recorded,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(whole[key])}" for key in ("recorded_by", "commit", "designs")]
    rows = [f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in recorded.items()]
    TARGET.write_text("{" + ",\n".join(lines) + ',\n"cases": {\n' + ",\n".join(rows) + "\n}}\n")
    print(f"{len(recorded)} cases, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
