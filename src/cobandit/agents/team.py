"""A team: one kind of agent for every place, one agent per place, or one joint controller."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from cobandit.agents.base import Agent, Controller
from cobandit.agents.registry import make_agent
from cobandit.base.checks import short_repr
from cobandit.base.errors import AgentError, InvalidInput
from cobandit.problem.described import classes_by_name


class Team:
    """The players of a problem.

    ``Team.of(name, **options)`` puts one registered kind of agent on every place, whatever the number of
    agents; ``Team([...])`` takes one agent per place, of any kinds. A team never changes: engines
    play with clones.
    """

    agent_kind: ClassVar[Any] = Agent
    controller_kind: ClassVar[Any] = Controller
    maker: ClassVar[str] = "cobandit.make_agent"
    base_name: ClassVar[str] = "cobandit.Agent"

    @staticmethod
    def make(name: str, **options: Any) -> Any:
        """A registered agent by name; teams of another room have other names."""
        return make_agent(name, **options)

    def __init__(self, members: Iterable[Any]) -> None:
        if isinstance(members, (self.agent_kind, self.controller_kind, str)) or not isinstance(members, Iterable):
            hint = f" Team.of({members!r}) makes a whole team of one kind." if isinstance(members, str) else ""
            raise InvalidInput(f"members is {short_repr(members)}; a list with one agent per place is needed.{hint}")
        # By its type, what `make_agent` gives may be a joint controller, so types alone cannot refuse it.
        agents: list[Any] = []
        for place, member in enumerate(members):
            if isinstance(member, self.controller_kind):
                own_name = repr(member.title) if member.title == member.name else f"{member.title}()"
                raise InvalidInput(
                    f"members[{place}] is {member.title}, a joint controller for the whole team: "
                    f"use Team.of({own_name})."
                )
            if not isinstance(member, self.agent_kind):
                hint = ""
                if isinstance(member, str):
                    hint = f" {self.maker}({member!r}) makes one by name."
                elif isinstance(member, type):
                    hint = f" Call the class: {member.__name__}()."
                raise InvalidInput(f"members[{place}] is {short_repr(member)}; an agent is needed.{hint}")
            agents.append(member)
        self.members: tuple[Any, ...] = tuple(agents)
        self.controller: Any = None
        self._anywhere: Any = None
        if len(self.members) < 2:
            raise InvalidInput(f"members has {len(self.members)} agents; a team has at least 2.")

    @classmethod
    def of(cls, kind: Any, **options: Any) -> Self:
        """A team of one kind: a registry name with options, or an agent to copy to every place."""
        if isinstance(kind, str):
            player = cls.make(kind, **options)
        elif isinstance(kind, (cls.agent_kind, cls.controller_kind)):
            if options:
                raise InvalidInput(f"options {short_repr(options)} go with a name; {kind} has its own already.")
            player = kind
        else:
            hint = f" Call the class: {kind.__name__}()." if isinstance(kind, type) else ""
            raise InvalidInput(
                f"The kind of a team is {short_repr(kind)}; a registry name or an agent is needed.{hint}"
            )
        team = cls.__new__(cls)
        team.members = ()
        team.controller = player if isinstance(player, cls.controller_kind) else None
        team._anywhere = player if isinstance(player, cls.agent_kind) else None
        return team

    def agents(self, count: int) -> tuple[Any, ...]:
        """Fresh clones for ``count`` places (none where a joint controller plays)."""
        if self.controller is not None:
            return ()
        if self._anywhere is not None:
            return tuple(self._anywhere.clone() for _ in range(count))
        if len(self.members) != count:
            raise InvalidInput(f"The team has {len(self.members)} agents, but the problem has {count}.")
        return tuple(member.clone() for member in self.members)

    def players(self, count: int) -> tuple[Any, ...]:
        """Whoever decides: fresh clones for ``count`` places, or the joint controller alone."""
        return self.agents(count) if self.controller is None else (self.controller.clone(),)

    def playing(self, problem: Any) -> Self:
        """The team as it plays a problem: where its roles are elected, every agent in the form that elects.

        A joint controller needs no leader and stays as it is.
        """
        if problem.roles != "elected" or self.controller is not None:
            return self
        if self._anywhere is not None:
            return self.of(electing_form(self._anywhere))
        forms = [electing_form(member) for member in self.members]
        if len({(getattr(form, "play", form.title), getattr(form, "sweeps", 0)) for form in forms}) > 1:
            raise InvalidInput(
                f"roles is 'elected', but the members elect in different ways: {self.label}; "
                "a team of one kind is needed."
            )
        return type(self)(forms)

    def with_options(self, **options: Any) -> Self:
        """The same team with other options, for every player that has them; the others stay as they are."""

        def changed(player: Any) -> Any:
            known = {row[0] for row in player.option_rows()}
            wanted = {key: value for key, value in options.items() if key in known}
            return type(player).of(**(player.options | wanted)) if wanted else player

        lone = self.controller or self._anywhere
        kind = type(self)
        return kind.of(changed(lone)) if lone is not None else kind([changed(member) for member in self.members])

    @property
    def label(self) -> str:
        """A short name for tables and legends."""
        if self.controller is not None or self._anywhere is not None:
            player = self.controller or self._anywhere
            assert player is not None
            return str(player.title)
        return " + ".join(member.title for member in self.members)

    def describe(self) -> dict[str, Any]:
        """The team as plain data (for provenance and JSON)."""
        lone = self.controller or self._anywhere
        if lone is not None:
            return {"agent": lone.title, **lone.options}
        return {"members": [{"agent": member.title, **member.options} for member in self.members]}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], own: Iterable[type] = ()) -> Self:
        """The team that `describe` told of, also after a way through JSON.

        ``own`` holds the classes of agents that are not registered: ``Team.from_dict(text, own=[MyAgent])``.
        """
        classes = classes_by_name(own)
        if not isinstance(description, Mapping) or ("agent" in description) == ("members" in description):
            raise InvalidInput(
                f"The description of a team is {short_repr(description)}; a dict with 'agent' or 'members' is needed."
            )
        if "agent" in description:
            return cls.of(_described_player(cls, description, classes))
        members = description["members"]
        if not isinstance(members, (list, tuple)) or len(description) > 1:
            raise InvalidInput(
                f"The description of a team is {short_repr(description)}; 'members', a list of agents, is needed alone."
            )
        return cls([_described_player(cls, member, classes) for member in members])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.describe() == other.describe()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lone = self.controller or self._anywhere
        return f"Team.of({lone})" if lone is not None else f"Team([{', '.join(map(str, self.members))}])"


def electing_form(player: Any) -> Any:
    """The agent that plays for this one where roles are elected, as its very class names it in ``electing``.

    It is named as ``"module:function"`` or is the function itself, which takes the agent and gives one with
    ``elected_ranks``. A subclass does not inherit it: its methods may be others.
    """
    named = type(player).__dict__.get("electing")
    if isinstance(named, str) and named:
        module, _, function = named.partition(":")
        named = getattr(importlib.import_module(module), function)
    elect = getattr(named, "__func__", named)
    if not callable(elect):
        raise InvalidInput(
            f"roles is 'elected', but {player.title} cannot elect a leader; "
            "steered, elected, partner-aware-ucb and partner-aware-ts can. For others take 'random', or give the ranks."
        )
    form = elect(player)
    if not isinstance(form, Agent) or not hasattr(type(form), "elected_ranks"):
        raise AgentError(f"{player.title} elects as {short_repr(form)}; an agent with elected_ranks is needed.")
    return form


def _described_player(team: type[Team], description: Any, own: Mapping[str, type]) -> Any:
    """The agent that a description tells of: its class by name, the rest its options."""
    if not isinstance(description, Mapping) or not isinstance(description.get("agent"), str):
        raise InvalidInput(
            f"The description of an agent is {short_repr(description)}; a dict with 'agent' and its options is needed."
        )
    name = description["agent"]
    options = {str(key): value for key, value in description.items() if key != "agent"}
    if name not in own:
        return team.make(name, **options)
    kind: Any = own[name]
    if not issubclass(kind, (team.agent_kind, team.controller_kind)):
        raise InvalidInput(f"own holds {kind.__name__}, which is no subclass of {team.base_name}.")
    return kind.of(**options)
