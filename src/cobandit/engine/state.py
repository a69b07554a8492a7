"""The state of a partner as plain data for JSON, and the agent made from it, which plays on as the first would have.

A state has a version, holds no code and loads none. `encoding` writes what the agent remembers, with its random stream.
The checksum reveals a state that was changed or cut short.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from cobandit.agents.base import Agent, Briefing, resume
from cobandit.agents.beliefs import Memory
from cobandit.agents.checks import is_arm
from cobandit.agents.foresight import Window
from cobandit.agents.lookup import agent_class, plugin_agents
from cobandit.agents.registry import AGENTS
from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import AgentError, InvalidInput
from cobandit.engine.encoding import Reader, Unreadable, Unwritable, Writer

FORMAT = 1
"""The format of `Partner.state`. It rises when an agent of the library comes to remember something else."""

_KEYS: dict[str, tuple[type, ...]] = {
    "cobandit": (str,),
    "format": (int,),
    "agent": (str,),
    "class": (str, type(None)),
    "options": (dict,),
    "briefing": (dict,),
    "random": (dict,),
    "round": (int,),
    "pending": (int, type(None)),
    "memory": (dict,),
    "checksum": (str,),
}
"""The keys of a state, each with its types."""

_TYPES = {str: "a string", int: "an integer", dict: "an object", type(None): "None"}


def write_state(agent: Agent, pending: int | None) -> dict[str, Any]:
    """Return the state of an agent in mid-run; ``pending`` is its choice of the current round, if it has made one."""
    from cobandit import __version__

    kind, writer = type(agent), Writer()
    state: dict[str, Any] = {
        "cobandit": __version__,
        "format": FORMAT,
        "agent": agent.title,
        "class": None if AGENTS.get(agent.title) is kind else f"{kind.__module__}.{kind.__qualname__}",
        "round": agent.round,
        "pending": pending,
    }
    try:
        what, hint = "option ", "make it a name or a number, from which reset makes the rest"
        state["options"] = writer.write_attributes(_init_options(agent))
        what, hint = "", "reset it with a numpy.random.Generator"
        state["briefing"] = writer.write(agent.briefing, "briefing")
        state["random"] = writer.write(agent.rng, "rng")
        hint = f"override dump_memory and load_memory in {kind.__name__} to leave it out and make it anew"
        state["memory"] = writer.write_attributes(agent.dump_memory())
    except Unwritable as error:
        raise AgentError(
            f"{agent.title} cannot be written as plain data: its {what}{error}; {hint}. "
            f"Numbers, strings, None, tuples, lists, dicts, deques and numpy arrays can be written."
        ) from None
    return state | {"checksum": _checksum(state)}


def read_state(state: object, agent: object = None) -> tuple[Agent, int | None]:
    """Return the agent of a state and its pending choice; ``agent``, or its class, is needed if none is registered."""
    checked = _checked_state(state)
    reader = Reader()
    parts = {name: _read_part(reader, checked, name) for name in ("options", "briefing", "random", "memory")}
    briefing, rng = parts["briefing"], parts["random"]
    if not isinstance(briefing, Briefing) or not isinstance(rng, np.random.Generator):
        raise InvalidInput("The state holds no briefing or no random generator; a whole state is needed.")
    player = _new_agent(checked, parts["options"], agent)
    player.reset(briefing, copy.deepcopy(rng))  # reset may draw, and the stream itself must stay where it is
    fresh = dict(vars(player))
    try:
        resume(player, checked["round"], parts["memory"], rng)
    except Exception as error:  # whatever Python says of a memory that is not this agent's
        if checked["class"] is not None:
            raise
        raise InvalidInput(
            f"The memory of the state does not fit {player.title} ({type(error).__name__}: {error}); "
            "a whole state of it is needed."
        ) from error
    if checked["class"] is None:
        _check_fit(player, fresh)
    pending: int | None = checked["pending"]
    if pending is not None and not is_arm(pending, briefing.own_arms):
        raise InvalidInput(
            f"The pending choice of the state is {short_repr(pending)}; "
            f"None or an arm from 0 to {briefing.own_arms - 1} is needed."
        )
    return player, pending


def _init_options(agent: Agent) -> dict[str, Any]:
    return {spec.name: getattr(agent, spec.name) for spec in dataclasses.fields(agent) if spec.init}


def _checked_state(state: object) -> dict[str, Any]:
    """Return a state that is whole, of a known format, and unchanged since it was written."""
    if not isinstance(state, Mapping):
        hint = " json.loads makes one of the text." if isinstance(state, (str, bytes)) else ""
        raise InvalidInput(f"state is {short_repr(state)}; the dict that Partner.state() gave is needed.{hint}")
    if "format" not in state:
        raise InvalidInput(
            f"state is {short_repr(dict(state))}, without a format; what Partner.state() gave is needed."
        )
    if whole(1)("The format of the state", state["format"]) > FORMAT:
        raise InvalidInput(
            f"The state has format {state['format']}, written by cobandit {short_repr(state.get('cobandit'))}; "
            f"this version reads format {FORMAT}. Install a newer cobandit."
        )
    missing = [key for key in _KEYS if key not in state]
    unknown = [key for key in state if key not in _KEYS]
    if missing or unknown:
        what = f"has no {missing[0]}" if missing else f"has a key {short_repr(unknown[0])} that belongs to no state"
        raise InvalidInput(f"The state {what}; a whole state, as Partner.state() gave it, is needed.")
    for key, kinds in _KEYS.items():
        if not isinstance(state[key], kinds):
            needed = " or ".join(_TYPES[kind] for kind in kinds)
            raise InvalidInput(f"{key} of the state is {short_repr(state[key])}; {needed} is needed.")
    whole(1)("round of the state", state["round"])
    if _checksum({key: value for key, value in state.items() if key != "checksum"}) != state["checksum"]:
        raise InvalidInput(
            "The checksum of the state does not fit what it holds: it was changed or cut short since it was written. "
            "Take an older state, or rebuild the partner with Partner.from_log."
        )
    return dict(state)


def _checksum(state: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the contents; 1 and 1.0 count as the same, as in many readers of JSON."""

    def plain(value: object) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [plain(entry) for entry in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    try:
        text = json.dumps(plain(state), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"The state holds what JSON cannot ({error}); a state as it was written is needed."
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()


def _read_part(reader: Reader, state: dict[str, Any], name: str) -> Any:
    try:
        return (reader.read_attributes if name in ("options", "memory") else reader.read)(state[name])
    except Unreadable as error:
        raise InvalidInput(
            f"The {name} of the state cannot be read ({error}); a state as Partner.state() gave it is needed."
        ) from error


def _new_agent(state: dict[str, Any], options: dict[str, Any], agent: object) -> Agent:
    """Return the agent of a state, before its reset."""
    name, path = state["agent"], state["class"]
    if agent is None:
        if path is not None and name not in AGENTS:
            agent = _brought_class(name, path)
        if path is not None and agent is None:
            raise InvalidInput(
                f"The state is that of {short_repr(path)}, which is not an agent of the library; "
                f"give its class, such as Partner.from_state(state, agent={path.rpartition('.')[2]})."
            )
        agent = agent_class(name) if agent is None else agent
    kind = agent if isinstance(agent, type) else type(agent)
    if not issubclass(kind, Agent):
        raise InvalidInput(f"agent is {short_repr(agent)}; the class of an agent, or an agent, is needed.")
    if name != (vars(kind).get("name") or kind.__name__):
        raise InvalidInput(f"agent is {short_repr(agent)}, but the state is that of {short_repr(name)}.")
    if isinstance(agent, Agent):
        if Writer().write_attributes(_init_options(agent)) != state["options"]:
            raise InvalidInput(f"agent is {agent}, but the state was written with options {short_repr(options)}.")
        return agent.clone()
    try:
        return kind.of(**options)
    except TypeError as error:
        raise InvalidInput(
            f"{kind.__name__} cannot be made from its options alone ({error}); "
            f"give an agent in place of the class: agent={kind.__name__}(...)."
        ) from error


def _brought_class(name: str, path: str) -> Any:
    """Return the class of a state if an installed package registers it under this name, else None."""
    if all(plugin.name != name for plugin in plugin_agents()):
        return None
    kind = agent_class(name)
    return kind if f"{kind.__module__}.{kind.__qualname__}" == path else None


def _check_fit(agent: Agent, fresh: dict[str, Any]) -> None:
    """Require that a registered agent remembers values of the same types and shapes as a fresh one."""
    now = vars(agent)
    for name in sorted(set(fresh) | set(now)):
        if name not in fresh or name not in now or not _alike(fresh[name], now[name]):
            raise InvalidInput(
                f"The memory of the state does not fit {agent.title}, see {name}; a whole state of it is needed."
            )


def _alike(value: object, other: object) -> bool:
    if value is None or other is None:
        return True
    if isinstance(value, (Memory, Window)):
        return (
            type(value) is type(other)
            and set(vars(value)) == set(vars(other))
            and all(_alike(member, vars(other)[name]) for name, member in vars(value).items())
        )
    if isinstance(value, np.ndarray):
        return isinstance(other, np.ndarray) and value.shape == other.shape and value.dtype == other.dtype
    numbers = (int, float)
    return type(value) is type(other) or (type(value) in numbers and type(other) in numbers)
