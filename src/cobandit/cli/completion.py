"""What a shell offers when somebody presses Tab: names of agents, teams, problems, panels and designs.

``cobandit --install-completion`` sets a shell up. Nothing is loaded before somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable


def agents(incomplete: str) -> list[str]:
    """Agents, ours and those of other packages."""
    from cobandit.agents.registry import known_agents

    return _beginning(known_agents(), incomplete)


def lineups(incomplete: str) -> list[str]:
    """Agents, also behind a plus sign: the members of a mixed team."""
    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in agents(last)]


def problems(incomplete: str) -> list[str]:
    """Means that go by a name."""
    from cobandit.problem.named import known_means

    return _beginning(known_means(), incomplete)


def panels(incomplete: str) -> list[str]:
    """The panels of the paper's figures."""
    from cobandit.experiments.figures import PANELS, STANDOFF, THEORY

    return _beginning([*PANELS, THEORY, STANDOFF], incomplete)


def designs(incomplete: str) -> list[str]:
    """The shipped designs of studies; where none fits, the shell offers files."""
    from cobandit.studies.design import shipped_designs

    return _beginning(shipped_designs(), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
