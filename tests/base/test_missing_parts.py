"""What Python programs meet where optional parts, or parts of Python itself, are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLIND = """
import sys
from importlib.machinery import PathFinder
hidden = {hidden!r}
class Blind(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Blind
import cobandit as cb
"""


def run_without(hidden: list[str], program: str) -> str:
    script = BLIND.format(hidden=hidden) + program
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("hidden", "use", "message"),
    [
        ("mujoco", "cb.robot.SimulatedArm", "cobandit.robot.SimulatedArm needs the extra 'robot': pip install"),
        ("mujoco", "cb.robot.simulate_burger", "cobandit.robot.simulate_burger needs the extra 'robot': pip install"),
        ("roslibpy", "cb.robot.RosbridgeArm", "cobandit.robot.RosbridgeArm needs the extra 'ros': pip install"),
        ("numba", "cb.compiled", "cobandit.compiled needs the extra 'fast': pip install"),
        ("numba", "__import__('cobandit.compiled')", "cobandit.compiled needs the extra 'fast': pip install"),
    ],
)
def test_a_name_without_its_extra_gives_the_command_that_installs_it(hidden: str, use: str, message: str) -> None:
    program = f"try:\n    {use}\nexcept cb.MissingExtra as error:\n    print(error)\n"
    assert run_without([hidden], program).startswith(message)


def test_experiments_work_in_a_python_without_processes(tmp_path) -> None:
    # The import machinery of the parent must not have brought the module along either.
    program = f"""
sys.modules["_multiprocessing"] = None
from cobandit.experiments import Curve, Panel, Processes, Settings, compare_teams, run
import cobandit.report
problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]])
curve = Curve("naive", "naive", problem, cb.Team.of("naive-ucb"))
panel = Panel("tiny", "tiny", "nothing", "all", (curve,), horizon=20)
(result,) = run((panel,), Settings(runs=4, seed=1, horizon=20), {str(tmp_path)!r}, Processes(2))
print(result.curves[0].curve.name, cb.experiments.compare_teams(problem, ["naive-ucb"], 20, 4).labels)
"""
    assert run_without([], program) == "naive ['naive-ucb']\n"
