"""Shell completion of the names of agents, teams, problems, panels and designs.

``cobandit --install-completion`` sets up a shell. Modules are imported only when a completion is requested.
"""

from __future__ import annotations

from collections.abc import Iterable


def agents(incomplete: str) -> list[str]:
    """Return the agents of this and of other packages."""
    from cobandit.agents.lookup import known_agents

    return _beginning(known_agents(), incomplete)


def partners(incomplete: str) -> list[str]:
    """Return the agents that can be the partner of a person."""
    from cobandit.agents import AGENTS, Controller, known_agents

    return [
        name for name in _beginning(known_agents(), incomplete) if not issubclass(AGENTS.get(name, object), Controller)
    ]


def lineups(incomplete: str) -> list[str]:
    """Return the agents, also after a plus sign: the members of a mixed team."""
    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in agents(last)]


def problems(incomplete: str) -> list[str]:
    """Return the names of means."""
    from cobandit.problem.named import known_means

    return _beginning(known_means(), incomplete)


def panels(incomplete: str) -> list[str]:
    """Return the panels of the paper's figures, and those of Markov problems."""
    from cobandit.experiments.figures import CURIOSITY_GROUP, HIDDEN_ACTIONS, MARKOV_GROUP, PANELS, STANDOFF, THEORY

    names = [*PANELS, THEORY, STANDOFF, HIDDEN_ACTIONS, CURIOSITY_GROUP, MARKOV_GROUP]
    if incomplete.startswith(MARKOV_GROUP):  # they are many, and take a while to load
        from cobandit.experiments.figures.markov import MARKOV

        names += MARKOV
    return _beginning(names, incomplete)


def markov_problems(incomplete: str) -> list[str]:
    """Return the problems of `cobandit.mdp`; if none matches, the shell offers files."""
    from cobandit.mdp import DYNAMICS

    return _beginning(DYNAMICS, incomplete)


def markov_lineups(incomplete: str) -> list[str]:
    """Return the agents of `cobandit.mdp`, also after a plus sign."""
    from cobandit.mdp import AGENTS

    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in _beginning(AGENTS, last)]


def arena_settings(incomplete: str) -> list[str]:
    """Return the settings of the arena."""
    from cobandit.experiments.arena.settings import SETTINGS

    return _beginning((setting.name for setting in SETTINGS), incomplete)


def arena_leaders(incomplete: str) -> list[str]:
    """Return the agents that can lead in the arena."""
    from cobandit.experiments.arena.entries import LEADERS

    return _beginning((entry.name for entry in LEADERS), incomplete)


def arena_followers(incomplete: str) -> list[str]:
    """Return the agents that can follow in the arena."""
    from cobandit.experiments.arena.entries import FOLLOWERS

    return _beginning((entry.name for entry in FOLLOWERS), incomplete)


def designs(incomplete: str) -> list[str]:
    """Return the shipped study designs; if none matches, the shell offers files."""
    from cobandit.studies.design import shipped_designs

    return _beginning(shipped_designs(), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
