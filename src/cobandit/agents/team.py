"""A team: one kind of agent for every place, one agent per place, or one joint controller."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

from cobandit.agents.base import Agent, Controller
from cobandit.agents.identity import class_identity, class_path
from cobandit.agents.lookup import agent_class, known_class
from cobandit.agents.protocol import check_protocols
from cobandit.base.checks import is_list, short_repr
from cobandit.base.errors import AgentError, InvalidInput, UnknownName
from cobandit.base.html import html_table
from cobandit.problem.described import classes_by_name

TeamLike: TypeAlias = (
    "Team | str | Agent | Controller | type[Agent] | type[Controller] | Sequence[Agent | str | type[Agent]]"
)
"""What is taken for a team wherever one is expected: see `Team.from_any`."""


class Team:
    """The players of a problem.

    ``Team.of(kind, **options)`` puts one kind of agent on every place, whatever the number of agents;
    ``Team([...])`` takes one agent per place. An agent is given as an object, as its class or as its registry name, and
    ``Team.of("knowledge-gradient+bank")`` is short for ``Team(["knowledge-gradient", "bank"])``. A team never
    changes: engines play with clones.

    Some agents follow a protocol that every member must know (`steered`, `elected`); a team that mixes them with others
    is refused. ``check_protocol=False`` allows it, for instance to measure how badly such a team plays.
    """

    agent_kind: ClassVar[Any] = Agent
    controller_kind: ClassVar[Any] = Controller
    base_name: ClassVar[str] = "cobandit.Agent"

    @staticmethod
    def class_of(name: str) -> Any:
        """Return the class of a registered agent; teams of Markov problems have other names."""
        return agent_class(name)

    @staticmethod
    def known_class(name: str) -> Any:
        """Return the class that is registered under a name, or None."""
        return known_class(name)

    @classmethod
    def make(cls, name: str, **options: Any) -> Any:
        """Return a registered agent by name."""
        return cls.class_of(name).of(**options)

    def __init__(self, members: Iterable[Any], *, check_protocol: bool = True) -> None:
        single = self.agent_kind, self.controller_kind, str, bytes, Mapping, type
        if isinstance(members, single) or not is_list(members):
            hint = " Team.of(...) makes a whole team of one kind." if isinstance(members, single) else ""
            raise InvalidInput(f"members must be a list with one agent per place, got {short_repr(members)}.{hint}")
        # By its type, what `make_agent` gives may be a joint controller, so types alone cannot refuse it.
        agents: list[Any] = []
        for place, given in enumerate(members):
            member = self._player(f"members[{place}]", given)
            if isinstance(member, self.controller_kind):
                raise InvalidInput(
                    f"members[{place}] is {member.title}, a joint controller for the whole team: "
                    f"use Team.of({self._short_name(member)})."
                )
            agents.append(member)
        self.members: tuple[Any, ...] = tuple(agents)
        self.controller: Any = None
        self._anywhere: Any = None
        if len(self.members) < 2:
            raise InvalidInput(f"members must hold at least 2 agents, got {len(self.members)}.")
        if check_protocol:
            check_protocols(self.members)

    @classmethod
    def of(cls, kind: object, **options: Any) -> Self:
        """Return a team of one kind: a registry name or a class, with options, or an agent to copy to every place.

        Names joined by ``+`` are one agent for each place; an option goes to every one of them that has it.
        """
        if isinstance(kind, str) and "+" in kind and cls.known_class(kind) is None:
            return cls._mixed([name.strip() for name in kind.split("+")], options)
        player = cls._player("kind", kind, options)
        team = cls.__new__(cls)
        team.members = ()
        team.controller = player if isinstance(player, cls.controller_kind) else None
        team._anywhere = player if isinstance(player, cls.agent_kind) else None
        return team

    @classmethod
    def from_any(cls, team: object, name: str = "team") -> Self:
        """Return the team that is meant: a `Team` as it is, or whatever `of` or ``Team([...])`` takes."""
        if isinstance(team, Team) and team.agent_kind is cls.agent_kind:
            return team  # type: ignore[return-value]
        if isinstance(team, (list, tuple)):
            return cls(team)
        if isinstance(team, (str, cls.agent_kind, cls.controller_kind)) or (
            isinstance(team, type) and issubclass(team, (cls.agent_kind, cls.controller_kind))
        ):
            return cls.of(team)
        raise InvalidInput(
            f"{name} must be a {cls.base_name.rpartition('.')[0]}.Team, the name or class of an agent, or a list of "
            f"agents, got {short_repr(team)}."
        )

    @classmethod
    def _player(cls, what: str, given: object, options: Mapping[str, Any] | None = None) -> Any:
        """Return the agent or controller that is given as an object, a class or a registry name."""
        kinds = cls.agent_kind, cls.controller_kind
        kind = cls.class_of(given) if isinstance(given, str) else given
        if isinstance(kind, type) and issubclass(kind, kinds):
            try:
                return kind.of(**(options or {}))  # type: ignore[attr-defined]
            except TypeError as error:
                raise InvalidInput(
                    f"{what} is {kind.__name__}, which cannot be made from its options: {error}."
                ) from None
        if not isinstance(kind, kinds):
            raise InvalidInput(f"{what} must be an agent, its class or its registry name, got {short_repr(given)}.")
        if options:
            raise InvalidInput(f"options {short_repr(options)} go with a name; {kind} has its own already.")
        return kind

    @classmethod
    def _mixed(cls, names: list[str], options: Mapping[str, Any]) -> Self:
        """Return a team with one named agent for each place, each with those of the options that it has."""
        known = {name: {row[0] for row in cls.class_of(name).option_rows()} for name in names}
        for key in options:
            if not any(key in rows for rows in known.values()):
                raise UnknownName(f"option of {', '.join(known)} called", key, sorted(set().union(*known.values())))
        chosen = [{key: value for key, value in options.items() if key in known[name]} for name in names]
        return cls([cls._player("kind", name, own) for name, own in zip(names, chosen, strict=True)])

    @property
    def lineup(self) -> tuple[Any, ...]:
        """The agent that fills every place, or the controller, alone; or one agent per place."""
        lone = self.controller or self._anywhere
        return self.members if lone is None else (lone,)

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
        """Return the players: fresh clones for ``count`` seats, or only the joint controller."""
        return self.agents(count) if self.controller is None else (self.controller.clone(),)

    def playing(self, problem: Any) -> Self:
        """Return the team as it plays a problem: where its roles are elected, every agent in the form that elects.

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
        """Return the same team with other options, for every player that has them; the others stay as they are."""

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
        """Return the team as plain data (for provenance and JSON)."""
        described = [self._described(player) for player in self.lineup]
        return {"members": described} if self.members else described[0]

    def _described(self, player: Any) -> dict[str, Any]:
        registered = self.known_class(player.title)
        # Without its class, an agent with the name of a registered one would be taken for that one.
        clash = {} if registered in (None, type(player)) else {"class": class_path(type(player))}
        return {"agent": player.title, **clash, **player.options}

    def identities(self) -> list[dict[str, Any]]:
        """Return name, module, class and source digest of each agent, which results are stored with."""
        return [
            {"agent": player.title, **class_identity(type(player), self.known_class(player.title))}
            for player in self.lineup
        ]

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], own: Iterable[type] = ()) -> Self:
        """Create the team from the result of `describe`, also after conversion to JSON and back.

        ``own`` contains the classes of agents that are not registered: ``Team.from_dict(text, own=[MyAgent])``.
        """
        classes = _own_classes(own)
        if not isinstance(description, Mapping) or ("agent" in description) == ("members" in description):
            raise InvalidInput(
                f"The description of a team must be a dict with 'agent' or 'members', got {short_repr(description)}."
            )
        if "agent" in description:
            return cls.of(_described_player(cls, description, classes))
        members = description["members"]
        if not isinstance(members, (list, tuple)) or len(description) > 1:
            raise InvalidInput(
                f"The description of a team is {short_repr(description)}; 'members', a list of agents, is needed alone."
            )
        return cls([_described_player(cls, member, classes) for member in members], check_protocol=False)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.describe() == other.describe()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if not self.members:
            return f"Team.of({self._short_name(self.lineup[0])})"
        return f"Team([{', '.join(map(repr, self.members))}])"

    def _repr_html_(self) -> str:
        rows = [(place, player.title, player.options) for place, player in enumerate(self.lineup)]
        heads = ("agent", "options") if not self.members else ("place", "agent", "options")
        cells = [
            (
                *([str(place)] if self.members else []),
                title,
                ", ".join(f"{key}={value!r}" for key, value in own.items()),
            )
            for place, title, own in rows
        ]
        return html_table(f"Team: {self.label}", heads, cells)

    def _short_name(self, player: Any) -> str:
        """Return the arguments of `of` that make a player: its name with the options that are not the default."""
        if self.known_class(player.title) is not type(player):
            return repr(player)
        defaults = {name: default for name, default, _ in player.option_rows()}
        changed = [f"{key}={value!r}" for key, value in player.options.items() if value != defaults.get(key)]
        return ", ".join([repr(player.title), *changed])


def _own_classes(own: Iterable[type]) -> dict[str, type]:
    """Return the classes by every name under which a description may know them; a shared name is refused."""
    classes = classes_by_name(own)
    for kind in tuple(dict.fromkeys(classes.values())):
        for name in (class_path(kind), str(vars(kind).get("name") or "")):
            if name and classes.setdefault(name, kind) is not kind:
                raise InvalidInput(
                    f"own must hold classes with different names, got {class_path(classes[name])} and "
                    f"{class_path(kind)}, both {name!r}."
                )
    return classes


def require_visible_actions(problem: Any, players: Iterable[Any]) -> None:
    """Refuse agents that need their partners' arms if the problem hides them."""
    for player in players if problem.hides_actions else ():
        if isinstance(player, Agent) and player.needs_actions:
            raise InvalidInput(
                f"actions is 'hidden', but {player.title} needs the arms of its partners. Use an agent that does not, "
                "such as mucb, mdsee or very-naive-ucb, or actions='observed'. An agent of your own that can do "
                "without them declares needs_actions = False."
            )


def electing_form(player: Any) -> Any:
    """Return the agent that plays for this one where roles are elected, as its own class names it in ``electing``.

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


def _described_player(team: type[Team], description: object, own: Mapping[str, type]) -> Any:
    """Return the agent in a description: its class by name, the rest its options."""
    if not isinstance(description, Mapping) or not isinstance(description.get("agent"), str):
        raise InvalidInput(
            f"The description of an agent must be a dict with 'agent' and its options, got {short_repr(description)}."
        )
    name, path = description["agent"], description.get("class")
    options = {str(key): value for key, value in description.items() if key not in ("agent", "class")}
    kind: Any = own.get(name if path is None else path)
    if kind is None and path is not None:
        raise InvalidInput(
            f"The agent {name!r} is of the class {path}, not the registered agent of that name; "
            f"own must hold this class: own=[{path.rpartition('.')[2]}]."
        )
    if kind is None:
        return team.class_of(name).of(**options)
    if not issubclass(kind, (team.agent_kind, team.controller_kind)):
        raise InvalidInput(f"own holds {kind.__name__}, which is no subclass of {team.base_name}.")
    return kind.of(**options)
