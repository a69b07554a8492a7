"""The recipes of CONTRIBUTING: what they name exists, and the one for agents works in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## Recipes\n")[1].split("\n## ")[0]
NAMED = re.findall(r"`([A-Za-z_][\w./-]*)`", RECIPES)
NEW = re.compile("your|Your")

AGENT = '''
from dataclasses import dataclass
from typing import ClassVar

from cobandit.agents.base import Agent, option
from cobandit.base.checks import whole


@dataclass
class FixedArm(Agent):
    """Plays one arm in every round."""

    name: ClassVar[str] = "fixed-arm"
    label: ClassVar[str] = "Fixed Arm"
    paper: ClassVar[str] = "beyond the paper"

    fixed: int = option(0, "the arm that is played", whole(0, 1))

    def choose(self):
        return self.fixed

    def observe(self, team_action, reward):
        pass
'''

FOLLOWED = """
import sys
import cobandit as cb
from cobandit.analysis.words import agent_label
from cobandit.cli import completion
from cobandit.cli.options import agent_help

assert cb.__file__.startswith(sys.argv[1]), cb.__file__
assert cb.FixedArm is cb.AGENTS["fixed-arm"]
assert "FixedArm" in cb.__all__ and "FixedArm" in dir(cb)
assert completion.agents("fix") == ["fixed-arm"]
assert "fixed-arm" in agent_help()["team"] and "fixed" in agent_help()["option"]
assert agent_label("fixed-arm") == "Fixed Arm"
try:
    cb.Team.of("fixed-amr")
except cb.UnknownName as error:
    assert "Did you mean 'fixed-arm'?" in str(error)
problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
result = cb.simulate(problem, cb.Team.of("fixed-arm", fixed=1), horizon=5, runs=1, seed=0)
print(result.trajectory(0).actions.tolist())
"""


def test_every_file_of_a_recipe_exists():
    paths = [name for name in NAMED if "/" in name and not NEW.search(name)]
    assert len(paths) > 20
    assert not [path for path in paths if not (ROOT / path).exists()]
    folders = [Path(name).parent for name in NAMED if "/" in name and NEW.search(name)]
    assert folders
    assert not [folder for folder in folders if not (ROOT / folder).is_dir()]


@pytest.mark.parametrize("heading", re.findall(r"^### (.+)$", RECIPES, re.MULTILINE))
def test_every_name_of_a_recipe_is_in_one_of_its_files(heading):
    recipe = RECIPES.split(f"### {heading}\n")[1].split("\n### ")[0]
    named = re.findall(r"`([A-Za-z_][\w./-]*)`", recipe)
    files = [ROOT / name for name in named if "/" in name and not NEW.search(name)]
    sources = [path for file in files for path in (sorted(file.rglob("*.py")) if file.is_dir() else [file])]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources if path.is_file())
    words = [part for name in named if "/" not in name and not NEW.search(name) for part in name.split(".")]
    assert not [word for word in words if word not in text]


def test_there_is_a_recipe_for_each_kind_of_part():
    kinds = ("agent", "index", "figure panel", "study design", "database column", "robot driver", "MDP agent")
    assert not [kind for kind in kinds if not re.search(f"^### Add an? {kind}", RECIPES, re.MULTILINE)]


def test_the_recipe_for_agents_in_a_copy_of_the_package(tmp_path):
    package = tmp_path / "cobandit"
    shutil.copytree(ROOT / "src" / "cobandit", package, ignore=shutil.ignore_patterns("__pycache__", "static", "*.mp4"))
    (package / "agents" / "fixed_arm.py").write_text(AGENT, encoding="utf-8")
    registry = package / "agents" / "registry.py"
    lines = registry.read_text(encoding="utf-8").replace(
        "from cobandit.agents.base import Agent as Agent",
        "from cobandit.agents.base import Agent as Agent\nfrom cobandit.agents.fixed_arm import FixedArm as FixedArm",
    )
    registry.write_text(
        lines.replace('    "naive-ucb":', '    "fixed-arm": FixedArm,\n    "naive-ucb":'), encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", FOLLOWED, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{[[1, 1]] * 5}\n", done.stderr
