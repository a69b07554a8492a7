"""What a shell offers when somebody presses Tab: names of agents, teams, problems, panels and designs.

``cobandit --install-completion`` sets a shell up. Nothing is loaded before somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable


def agents(incomplete: str) -> list[str]:
    """Agents, ours and those of other packages."""
    from cobandit.agents.lookup import known_agents

    return _beginning(known_agents(), incomplete)


def partners(incomplete: str) -> list[str]:
    """Agents that can sit beside a person."""
    from cobandit.agents import AGENTS, Controller, known_agents

    return [
        name for name in _beginning(known_agents(), incomplete) if not issubclass(AGENTS.get(name, object), Controller)
    ]


def lineups(incomplete: str) -> list[str]:
    """Agents, also behind a plus sign: the members of a mixed team."""
    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in agents(last)]


def problems(incomplete: str) -> list[str]:
    """Means that go by a name."""
    from cobandit.problem.named import known_means

    return _beginning(known_means(), incomplete)


def panels(incomplete: str) -> list[str]:
    """The panels of the paper's figures, and those of Markov problems."""
    from cobandit.experiments.figures import MARKOV_GROUP, PANELS, STANDOFF, THEORY

    names = [*PANELS, THEORY, STANDOFF, MARKOV_GROUP]
    if incomplete.startswith(MARKOV_GROUP):  # they are many, and take a while to load
        from cobandit.experiments.figures.markov import MARKOV

        names += MARKOV
    return _beginning(names, incomplete)


def markov_problems(incomplete: str) -> list[str]:
    """The problems of `cobandit.mdp`; where none fits, the shell offers files."""
    from cobandit.mdp import DYNAMICS

    return _beginning(DYNAMICS, incomplete)


def markov_lineups(incomplete: str) -> list[str]:
    """The agents of `cobandit.mdp`, also behind a plus sign."""
    from cobandit.mdp import AGENTS

    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in _beginning(AGENTS, last)]


def arena_settings(incomplete: str) -> list[str]:
    """The settings of the arena."""
    from cobandit.experiments.arena.settings import SETTINGS

    return _beginning((setting.name for setting in SETTINGS), incomplete)


def arena_leaders(incomplete: str) -> list[str]:
    """Who can lead in the arena."""
    from cobandit.experiments.arena.entries import LEADERS

    return _beginning((entry.name for entry in LEADERS), incomplete)


def arena_followers(incomplete: str) -> list[str]:
    """Who can follow in the arena."""
    from cobandit.experiments.arena.entries import FOLLOWERS

    return _beginning((entry.name for entry in FOLLOWERS), incomplete)


def designs(incomplete: str) -> list[str]:
    """The shipped designs of studies; where none fits, the shell offers files."""
    from cobandit.studies.design import shipped_designs

    return _beginning(shipped_designs(), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
