"""Real packages that bring agents, problems and designs: written, and found on the path as installed ones are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

AGENT = r'''
"""An agent of another package."""

from dataclasses import dataclass

import cobandit as cb


@dataclass
class Stubborn(cb.Agent):
    """Never leaves its arm."""

    name = "stubborn"

    arm: int = 0

    def choose(self):
        return self.arm % self.briefing.own_arms

    def observe(self, team_action, reward):
        pass


def three_arms(arms):
    """Means whose best team action is the last one."""
    return [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.3, 0.4, 0.9]]


def design():
    """The burger study under another name, with this agent in it."""
    text = cb.studies.design_text("burger")
    text = text.replace('name = "burger"', 'name = "stubborn-burger"', 1)
    naive = 'name = "naive-ucb"\nagent = "naive-ucb"\noptions = { exploration = 0.01 }'
    return text.replace(naive, 'name = "stubborn"\nagent = "stubborn"')


NOT_AN_AGENT = 7
'''

ENTRIES = {
    "cobandit.agents": {"stubborn": "stubborn_agents:Stubborn"},
    "cobandit.problems": {"last-is-best": "stubborn_agents:three_arms"},
    "cobandit.designs": {"stubborn-burger": "stubborn_agents:design"},
}

Entries = dict[str, dict[str, str]]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a package on the path with the metadata that an installer writes."""

    def put(entries: Entries = ENTRIES, package: str = "stubborn-agents", source: str = AGENT) -> Path:
        site = tmp_path / f"site-{package}"
        module = package.replace("-", "_")
        about = site / f"{module}-1.2.dist-info"
        about.mkdir(parents=True)
        (site / f"{module}.py").write_text(source, encoding="utf-8")
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n", encoding="utf-8")
        lines = [
            line
            for group, named in entries.items()
            for line in (f"[{group}]", *(f"{name} = {target}" for name, target in named.items()))
        ]
        (about / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, module, raising=False)
        return site

    return put
