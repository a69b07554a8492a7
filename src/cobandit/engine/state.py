"""The state of a partner as plain data for JSON, and the agent made from it, which plays on as the first would have.

A state has a version, holds no code and loads none. `encoding` writes what the agent remembers, with its random stream.
The checksum reveals a state that was changed or cut short; what has a fitting checksum was written here.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from cobandit.agents.base import Agent, resume
from cobandit.agents.lookup import agent_class, plugin_agents
from cobandit.agents.registry import AGENTS
from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import AgentError, CobanditError, InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.engine.encoding import Json, Reader, Unwritable, Writer

FORMAT = 1
"""The format of `Partner.state`. It rises when an agent of the library comes to remember something else."""


def write_state(agent: Agent, pending: int | None) -> JsonObject:
    """Return the state of an agent in mid-run; ``pending`` is its choice of the current round, if it has made one."""
    from cobandit import __version__

    kind, writer = type(agent), Writer()
    option_hint = "make it a name or a number, from which reset makes the rest"
    stream_hint = "reset it with a numpy.random.Generator"
    memory_hint = f"override dump_memory and load_memory in {kind.__name__} to leave it out and create it again"
    state: dict[str, Any] = {
        "cobandit": __version__,
        "format": FORMAT,
        "agent": agent.title,
        "class": None if AGENTS.get(agent.title) is kind else _path(kind),
        "round": agent.round,
        "pending": pending,
        "options": _written(writer, agent, "option ", agent.named_options(), option_hint),
        "briefing": writer.write(agent.briefing),
        "random": _written(writer, agent, "", {"rng": agent.rng}, stream_hint)["rng"],
        "memory": _written(writer, agent, "", agent.dump_memory(), memory_hint),
    }
    return state | {"checksum": _checksum(state)}


def _written(writer: Writer, agent: Agent, what: str, values: Mapping[str, object], hint: str) -> dict[str, Json]:
    written = {}
    for name in sorted(values):
        try:
            written[name] = writer.write(values[name])
        except (Unwritable, RecursionError) as error:
            held = error if isinstance(error, Unwritable) else "values that are nested too deeply"
            raise AgentError(
                f"{agent.title} cannot be written as plain data: its {what}{name} holds {held}; {hint}. "
                "Numbers, strings, None, tuples, lists, dicts, deques and numpy arrays can be written."
            ) from None
    return written


def read_state(state: object, agent: object = None) -> tuple[Agent, int | None]:
    """Return the agent of a state and its pending choice; ``agent``, or its class, is needed if none is registered."""
    checked = _checked_state(state)
    try:
        return _restored(checked, agent), checked["pending"]
    except CobanditError:
        raise
    except Exception as error:  # any error of Python about a memory that belongs to another agent
        if checked.get("class") is not None:
            raise
        raise InvalidInput(
            f"state must be a complete state of {checked.get('agent')}, got one that does not fit "
            f"({type(error).__name__}: {error})."
        ) from error


def _restored(state: JsonObject, agent: object) -> Agent:
    reader = Reader()
    options = reader.attributes(state["options"])
    briefing, rng = reader.read(state["briefing"]), reader.read(state["random"])
    memory = reader.attributes(state["memory"])
    player = _new_agent(state, options, agent)
    player.reset(briefing, copy.deepcopy(rng))  # reset may draw, and the stream itself must stay where it is
    fresh = set(vars(player))
    resume(player, whole(1)("round of the state", state["round"]), memory, rng)
    if state["class"] is None and (odd := sorted(fresh ^ set(vars(player)))):
        raise InvalidInput(
            f"state must be a complete state of {player.title}, got one whose memory differs in {odd[0]}."
        )
    return player


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _checked_state(state: object) -> JsonObject:
    """Return a state that is of a known format and unchanged since it was written."""
    if not isinstance(state, Mapping) or "format" not in state:
        hint = " json.loads makes one of the text." if isinstance(state, (str, bytes)) else ""
        raise InvalidInput(f"state must be the dict that Partner.state() returned, got {short_repr(state)}.{hint}")
    if whole(1)("The format of the state", state["format"]) > FORMAT:
        raise InvalidInput(
            f"The state has format {state['format']}, written by cobandit {short_repr(state.get('cobandit'))}; "
            f"this version reads format {FORMAT}. Install a newer cobandit."
        )
    if _checksum({key: value for key, value in state.items() if key != "checksum"}) != state.get("checksum"):
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
            f"state must be plain JSON, as Partner.state() returned it, got a value that is not ({error})."
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()


def _new_agent(state: dict[str, Any], options: dict[str, Any], agent: object) -> Agent:
    """Return the agent of a state, before its reset."""
    name, path = state["agent"], state["class"]
    if agent is None and (path is None or any(plugin.name == name for plugin in plugin_agents())):
        agent = agent_class(name)
        if path not in (None, _path(agent)):
            agent = None
    if agent is None:
        raise InvalidInput(
            f"The state is that of {short_repr(path)}, which is not an agent of the library; "
            f"give its class, such as Partner.from_state(state, agent={path.rpartition('.')[2]})."
        )
    kind = agent if isinstance(agent, type) else type(agent)
    if not issubclass(kind, Agent):
        raise InvalidInput(f"agent must be the class of an agent, or an agent, got {short_repr(agent)}.")
    if name != (vars(kind).get("name") or kind.__name__):
        raise InvalidInput(f"agent is {short_repr(agent)}, but the state is that of {short_repr(name)}.")
    if isinstance(agent, Agent):
        if Writer().attributes(agent.named_options()) != state["options"]:
            raise InvalidInput(f"agent is {agent}, but the state was written with options {short_repr(options)}.")
        return agent.clone()
    try:
        return kind.of(**options)
    except TypeError as error:
        raise InvalidInput(
            f"{kind.__name__} cannot be made from its options alone ({error}); "
            f"give an agent in place of the class: agent={kind.__name__}(...)."
        ) from error
