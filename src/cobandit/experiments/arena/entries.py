"""The players of the arena: leaders, followers, whole teams, and user-defined agents (``module:Class``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cobandit.agents import Agent, Controller, Team, make_agent
from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.loading import load_named
from cobandit.experiments.arena.settings import Setting
from cobandit.mdp import MarkovAgent, MarkovController
from cobandit.mdp import Team as MarkovTeam
from cobandit.mdp import make_agent as make_markov_agent

Player = Agent | Controller | MarkovAgent | MarkovController

BASELINE = "partner-aware-ucb"
"""The team that ratios are taken to: partner-aware UCB with window 1 and the companion's index."""
CENTRAL = "centralised-ucb"
"""The one brain that ratios are taken to."""
MARKOV_BASELINE, MARKOV_CENTRAL = "partner-aware-ucbvi", "centralised-ucbvi"
"""The same two teams where problems have states."""
MARKOV_STEERED, MARKOV_NAIVE = "steered-ucbvi", "naive-ucbvi"
STEERED = "steered"
REPORTS = "steered-reports"
"""The steered team whose follower reports; it plays where reports are on."""
ONE_BRAIN = "one-brain"
"""The index of the steered team without the steering: what the protocol alone costs."""
BANK = "bank"
HANDSHAKE = "handshake"
ELECTED = "elected"
ELECTED_AWARE = "elected-aware"

TOLD = ("leader_sight", "follower_sight", "everybody_sight")
"""What a setting can tell an entry: the value of an option may be one of these words."""


@dataclass(frozen=True)
class Entry:
    """One player of the arena: a registered agent with options, or an ``own`` one.

    An option whose value is one of `TOLD` is taken from the setting. ``human`` marks models of people. With
    ``leaders_eyes`` one brain sees what the leader sees, and nothing else. A ``markov`` entry plays where problems have
    states, any other one where they have none.
    """

    name: str
    label: str
    agent: str
    options: Mapping[str, Any] = field(default_factory=dict)
    human: bool = False
    leaders_eyes: bool = False
    own: Player | None = None
    markov: bool = False

    def player(self, setting: Setting) -> Player:
        """Return the agent for a setting."""
        if self.own is not None:
            return self.own
        options = {key: getattr(setting, value) if value in TOLD else value for key, value in self.options.items()}
        return make_markov_agent(self.agent, **options) if self.markov else make_agent(self.agent, **options)


STATES = (MarkovAgent, MarkovController)
OWN = (Agent, Controller, *STATES)
BRAINS = (Controller, MarkovController)

_AWARE = {"index": "companion"}
_WINDOW_1 = {"window": 1, **_AWARE}

LEADERS: tuple[Entry, ...] = (
    Entry("partner-aware-ucb", "partner-aware UCB", "partner-aware-ucb", _WINDOW_1),
    Entry("partner-aware-ts", "partner-aware Thompson", "partner-aware-ts"),
    Entry("steered", "steered", "steered", {"leader_sight": "leader_sight"}),
    Entry("recency-softmax", "softmax with recency", "recency-softmax", human=True),
    Entry("row-softmax", "softmax, own arms", "recency-softmax", {"values": "own-arms", "rate": 0.2}, human=True),
    Entry("win-stay-lose-shift", "win-stay lose-shift", "win-stay-lose-shift", human=True),
    Entry("epsilon-greedy", "epsilon-greedy", "epsilon-greedy", {"epsilon": 0.1}, human=True),
    Entry("greedy", "greedy", "epsilon-greedy", {"epsilon": 0.0}, human=True),
    Entry("knowledge-gradient", "knowledge gradient", "knowledge-gradient", human=True),
    Entry("forgetful-kg", "forgetful knowledge gradient", "forgetful-knowledge-gradient", human=True),
    Entry("row-ucb", "UCB, own arms", "very-naive-ucb", {"index": "anytime"}, human=True),
)
FOLLOWERS: tuple[Entry, ...] = (
    Entry("window-1", "partner-aware UCB, window 1", "partner-aware-ucb", _WINDOW_1),
    Entry("window-5", "partner-aware UCB, window 5", "partner-aware-ucb", {"window": 5, **_AWARE}),
    Entry("window-25", "partner-aware UCB, window 25", "partner-aware-ucb", {"window": 25, **_AWARE}),
    Entry("partner-aware-ts", "partner-aware Thompson", "partner-aware-ts"),
    Entry("naive-ucb", "naive UCB", "naive-ucb", _AWARE),
    Entry("bank", "bank", "bank", {"sight": "follower_sight"}),
    Entry("steered", "steered", "steered", {"leader_sight": "leader_sight"}),
    Entry(HANDSHAKE, "handshake", "handshake", {"leader_sight": "leader_sight", "sight": "follower_sight"}),
)
WINDOWS = ("window-1", "window-5", "window-25")
"""The followers by Alg. 1."""

TEAMS: tuple[Entry, ...] = (
    Entry(BASELINE, "partner-aware UCB, window 1", "partner-aware-ucb", _WINDOW_1),
    Entry("aware-window-5", "partner-aware UCB, window 5", "partner-aware-ucb", {"window": 5, **_AWARE}),
    Entry("aware-window-25", "partner-aware UCB, window 25", "partner-aware-ucb", {"window": 25, **_AWARE}),
    Entry("aware-paper-index", "partner-aware UCB, window 1, the paper's index", "partner-aware-ucb", {"window": 1}),
    Entry("partner-aware-ts", "partner-aware Thompson", "partner-aware-ts"),
    Entry("naive-ucb", "naive UCB", "naive-ucb", _AWARE),
    Entry("naive-ts", "naive Thompson", "naive-ts"),
    Entry("very-naive-ucb", "very naive UCB", "very-naive-ucb", _AWARE),
    Entry("mucb-intervals", "mUCB intervals", "mucb-intervals"),
    Entry("mdsee", "mDSEE", "mdsee"),
    Entry(STEERED, "steered", "steered", {"leader_sight": "leader_sight"}),
    Entry(
        "steered-anytime", "steered, rounds unknown", "steered", {"index": "gittins", "leader_sight": "leader_sight"}
    ),
    Entry(
        REPORTS,
        "steered, with reports",
        "steered",
        {"leader_sight": "leader_sight", "follower_sight": "follower_sight"},
    ),
    Entry("steered-ucb", "steered, UCB", "steered", {"index": "ucb"}),
    Entry(HANDSHAKE, "handshake", "handshake", {"leader_sight": "leader_sight", "sight": "follower_sight"}),
    Entry(ELECTED, "steered, elected leader", "elected"),
    Entry(ELECTED_AWARE, "partner-aware UCB, elected leader", "elected", {"play": "partner-aware"}),
    Entry(CENTRAL, "centralised UCB", "centralised-ucb", _AWARE),
    Entry("centralised-gittins", "one brain, all eyes", "centralised-gittins", {"sight": "everybody_sight"}),
    Entry(
        ONE_BRAIN, "one brain, the leader's eyes", "centralised-gittins", {"sight": "leader_sight"}, leaders_eyes=True
    ),
)
MARKOV_TEAMS: tuple[Entry, ...] = (
    Entry(MARKOV_BASELINE, "partner-aware UCBVI", "partner-aware-ucbvi", markov=True),
    Entry("aware-ucbvi-window-5", "partner-aware UCBVI, window 5", "partner-aware-ucbvi", {"window": 5}, markov=True),
    Entry("aware-ucbvi-repeat-3", "partner-aware UCBVI, repeat 3", "partner-aware-ucbvi", {"repeat": 3}, markov=True),
    Entry("joint-max-ucbvi", "partner-aware UCBVI, joint-max backup", "joint-max-ucbvi", markov=True),
    Entry(MARKOV_STEERED, "steered UCBVI", "steered-ucbvi", markov=True),
    Entry(MARKOV_NAIVE, "naive UCBVI", "naive-ucbvi", markov=True),
    Entry("naive-psrl", "naive PSRL", "naive-psrl", markov=True),
    Entry("very-naive-ucbvi", "very naive UCBVI", "very-naive-ucbvi", markov=True),
    Entry(MARKOV_CENTRAL, "centralised UCBVI", "centralised-ucbvi", markov=True),
    Entry("centralised-psrl", "centralised PSRL", "centralised-psrl", markov=True),
    Entry("one-brain-ucbvi", "one brain, UCBVI, the leader's eyes", "centralised-ucbvi", {"eyes": "best"}, markov=True),
)
"""Whole teams where problems have states."""
AWARE = (BASELINE, "aware-window-5", "aware-window-25", "aware-paper-index")
"""The teams of partner-aware UCB, the best of which a steered team is compared with."""

SLOW_WHERE_LARGE = ("partner-aware-ts", "naive-ts")
"""They draw from the posterior of every team action in every round."""


def chosen(what: str, known: Sequence[Entry], names: Iterable[str]) -> tuple[Entry, ...]:
    """Return the entries of these names, all where none is named."""
    by_name = {entry.name: entry for entry in known}
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in by_name:
            raise UnknownName(what, name, by_name)
    return tuple(by_name[name] for name in wanted) or tuple(known)


def own_entry(described: object) -> Entry:
    """Return the entry of a user-defined agent: ``"module:Class"``, an agent, a controller, or its class."""
    kind = load_named(described) if isinstance(described, str) else described
    if isinstance(kind, type) and issubclass(kind, OWN):
        try:
            player = kind.of()
        except TypeError as error:
            raise InvalidInput(f"{kind.__name__} cannot be made without options: {error}.") from error
    elif isinstance(kind, OWN):
        player = kind
    else:
        raise InvalidInput(
            f"{short_repr(described)} is no subclass of cobandit.Agent or cobandit.Controller, "
            "nor of cobandit.mdp.MarkovAgent or cobandit.mdp.MarkovController."
        )
    slug = re.sub(r"[^a-z0-9]+", "-", player.title.lower()).strip("-") or "agent"
    return Entry(f"own-{slug}", str(player), player.title, own=player, markov=isinstance(player, STATES))


def whole_team(entry: Entry, setting: Setting) -> Team:
    """Return every place for one entry."""
    return MarkovTeam.of(entry.player(setting)) if entry.markov else Team.of(entry.player(setting))


def yardsticks(setting: Setting) -> tuple[str, str]:
    """Return the two teams that ratios are taken to in a setting."""
    return (MARKOV_BASELINE, MARKOV_CENTRAL) if setting.markov else (BASELINE, CENTRAL)


def pair(leader: Entry, follower: Entry, setting: Setting, ranks: Sequence[int]) -> Team:
    """Return a leader and followers of one kind, each in its place."""
    members = [(leader if rank == 0 else follower).player(setting) for rank in ranks]
    # The ranking measures the cost of a protocol with partners that do not follow it.
    return Team([member for member in members if isinstance(member, Agent)], check_protocol=False)
