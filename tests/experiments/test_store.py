"""Chunks on disk."""

import subprocess
import sys

SCRIPT = """
import sys
from pathlib import Path
import cobandit as cb
from cobandit import experiments
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
    cb.simulate(problem, cb.Team.of("naive-ucb"), 20, 4, 0, out=folder / "runs.parquet")
    settings = experiments.Settings(runs=2, horizon=20)
    experiments.run([experiments.panel("sim1-left")], settings, folder / "panels", experiments.Processes(1))
    assert "pandas" not in sys.modules
"""


def test_to_write_and_to_read_takes_no_pandas(tmp_path) -> None:
    """Arrow imports it without being asked, in every worker, for longer than all else takes."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
