"""The setting of a team: which agent plays in which seat, with whom, and what late rewards count as."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cobandit.agents.base import Agent, Controller
from cobandit.agents.lookup import agent_class
from cobandit.agents.team import electing_form
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.engine.environment import Environment, run_streams
from cobandit.engine.partner import Partner
from cobandit.engine.partner_game import DefaultReward, PartnerGame
from cobandit.problem import Problem
from cobandit.web.refusals import conflict

MOST_SEATS = 8
MOST_CELLS = 1024
"""How many team actions a team may have: an agent keeps numbers for each of them, and reads them in every round."""

NOT_SERVED = {"language-model": "it would spend the server's money; cobandit llm and studies can use it"}


@dataclass(frozen=True)
class TeamSetting:
    """What every game of a team is made from. Arguments have the meaning that they have for `cobandit.Partner`."""

    agent: str
    arms: tuple[int, ...]
    seat: int
    horizon: int = 1000
    options: Mapping[str, Any] = field(default_factory=dict)
    observability: tuple[float, ...] | None = None
    observation: str = "missed"
    noise: tuple[float, ...] | None = None
    roles: Any = "observability"
    binary: bool | None = None
    shadow: bool = False
    default: DefaultReward | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TeamSetting:
        """Return the setting that `to_dict` has written."""
        given = dict(data)
        for name in ("arms", "observability", "noise"):
            given[name] = None if given.get(name) is None else tuple(given[name])
        if isinstance(given.get("roles"), list):
            given["roles"] = tuple(given["roles"])
        if given.get("default") is not None:
            given["default"] = DefaultReward(**given["default"])
        return cls(**given)

    def to_dict(self) -> JsonObject:
        """Return the setting as plain data for JSON."""
        plain = asdict(self) | {"options": dict(self.options), "arms": list(self.arms)}
        for name in ("observability", "noise", "roles"):
            if isinstance(plain[name], tuple):
                plain[name] = list(plain[name])
        return plain

    def check(self) -> None:
        """Refuse a setting from which no game can be made, before it is stored."""
        if not 1 <= len(self.arms) <= MOST_SEATS or math.prod(self.arms) > MOST_CELLS:
            raise InvalidInput(
                f"arms must be those of at most {MOST_SEATS} seats with at most {MOST_CELLS:,} team actions, got "
                f"{list(self.arms)!r:.80}."
            )
        if self.observability is None and self.roles == "observability":
            raise InvalidInput(
                "observability must be given, or roles where it is unknown: 'elected', 'random', or each seat's rank."
            )
        self.new_game(0)

    def new_agent(self) -> Agent:
        """Return the agent as it plays in this team, before its reset."""
        if self.agent in NOT_SERVED:
            raise InvalidInput(f"agent must be one that plays by itself, got {self.agent!r}: {NOT_SERVED[self.agent]}.")
        kind = agent_class(self.agent)
        if issubclass(kind, Controller) or kind.oracle:
            raise InvalidInput(f"agent must be one that sits in one seat and knows no means, got {self.agent!r}.")
        agent = kind.of(**self.options)
        assert isinstance(agent, Agent)
        elected: Agent = electing_form(agent) if self.roles == "elected" else agent
        return elected

    def new_game(self, seed: int) -> PartnerGame:
        """Return a game in its first round. Drawn roles are those of a simulation with this seed."""
        agent, roles = self.new_agent(), self.roles
        setting: JsonObject = {"observation": self.observation, "noise": self.noise}
        problem = Problem.bernoulli("random", self.observability, arms=self.arms, roles=roles, **setting)
        if problem.draws_roles:
            roles = Environment(problem, run_streams(problem, seed, 0)).instance.ranks
        partner = Partner(
            agent,
            self.arms,
            self.seat,
            self.horizon,
            observability=self.observability,
            roles=roles,
            binary=self.binary,
            seed=seed,
            **setting,
        )
        return PartnerGame(partner, self.default)

    def restored_game(self, state: Mapping[str, Any]) -> PartnerGame:
        """Return a game from an exported state, which must be that of the same agent in the same team."""
        game = PartnerGame.from_state(state, self.new_agent(), self.default)
        mine, given = self.new_game(0).partner.briefing, game.partner.briefing
        for name in ("arms", "agent", "observation", "binary", "actions"):
            if getattr(mine, name) != getattr(given, name):
                what = "seat" if name == "agent" else name
                raise conflict(
                    "other-team", f"The state has {what} {getattr(given, name)!r}, the team {getattr(mine, name)!r}."
                )
        return game


def ranks_of_game(game: PartnerGame) -> list[int]:
    """Return each seat's rank, 0 for the leader: as given, as drawn, or as elected so far."""
    agent: Any = game.partner.agent
    elected = getattr(agent, "elected_ranks", None)
    return [int(rank) for rank in (agent.briefing.ranks if elected is None else elected)]
