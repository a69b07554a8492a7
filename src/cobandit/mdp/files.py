"""Markov problems in TOML files: of the library by name, or states and team actions written out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from cobandit.base.checks import is_list, one_per_agent, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.files import checked_path
from cobandit.base.toml import parse_toml
from cobandit.mdp.model import MarkovProblem, make_problem
from cobandit.problem import Gaussian
from cobandit.problem.means import Tensor, checked_arms

SEATS = ("observability", "observation", "noise", "roles", "weights")
WRITTEN_OUT = ("states", "steps", "arms", "start", "moves", "sd", "ceiling", *SEATS)
MOVE = ("state", "action", "mean", "to")


def load_problem(path: str | os.PathLike[str]) -> MarkovProblem:
    """Load the problem of a TOML file; `parse_problem` describes the format."""
    source = checked_path("path", path)
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(source)!r} cannot be read as a TOML file: {error}.") from None
    return parse_problem(text, str(source))


def parse_problem(text: str, where: str = "the text") -> MarkovProblem:
    """Return the problem that a TOML text describes.

    Either ``problem = "burger-line"`` with the options of that problem; or ``states`` (a list of names, or how many),
    ``arms``, ``steps``, ``start`` (a state, or a chance for each) and a list of ``moves``, one for each state and team
    action: ``{state = "hall", action = [0, 1], mean = 0.4, to = {hall = 0.1, door = 0.9}}``. A team action that is left
    out pays nothing and stays where it is. ``sd`` makes the rewards Gaussian. ``observability``, ``observation``,
    ``noise``, ``roles`` and ``weights`` are as in `Problem.bernoulli`.
    """
    data = parse_toml(text, where)
    if "problem" in data:
        name = data.pop("problem")
        for key in ("name", "reward"):
            if key in data:
                raise InvalidInput(f"{where} has {key!r}, which no problem has; sd makes the rewards Gaussian.")
        reward = _gaussian(data.pop("sd")) if "sd" in data else None
        return make_problem(name, reward=reward, **data)
    for key in data:
        if key not in WRITTEN_OUT:
            raise UnknownName(f"key of {where} called", key, ("problem", *WRITTEN_OUT))
    for key in ("states", "arms", "steps", "moves"):
        if key not in data:
            raise InvalidInput(f"{where} has neither 'problem', the name of one, nor {key!r}; one of them is needed.")
    names = _state_names(data["states"])
    arms = checked_arms(data["arms"])
    means, transitions = _moves(data["moves"], names, arms)
    seats = {key: data[key] for key in (*SEATS, "ceiling") if key in data}
    reward = _gaussian(data["sd"]) if "sd" in data else None
    start = _start(data.get("start", names[0]), names)
    return MarkovProblem.of(transitions, means, data["steps"], start=start, reward=reward, **seats)


def _gaussian(sd: Any) -> Gaussian:
    return Gaussian.of(sd, ())


def _state_names(states: Any) -> list[str]:
    if is_list(states):
        names = [str(name) for name in states]
    else:
        names = [str(state) for state in range(whole(1, 10_000)("states", states))]
    if not names or len(set(names)) < len(names):
        raise InvalidInput(f"states must be at least one state, each with its own name, got {short_repr(states)}.")
    return names


def _number(name: str, state: Any, names: list[str]) -> int:
    if str(state) not in names:
        raise UnknownName(f"state (in {name}) called", state, names)
    return names.index(str(state))


def _chances(name: str, given: Any, names: list[str]) -> Tensor:
    """Return a chance for each state: a table of them, or one state for sure."""
    chances = np.zeros(len(names))
    table = given if isinstance(given, Mapping) else {given: 1.0}
    for state, chance in table.items():
        if isinstance(chance, (bool, str)) or not isinstance(chance, (int, float)):
            raise InvalidInput(f"{name} gives state {state!r} {short_repr(chance)}; a chance from 0 to 1 is needed.")
        chances[_number(name, state, names)] = chance
    return chances


def _start(given: Any, names: list[str]) -> Any:
    return given if is_list(given) and not isinstance(given, Mapping) else _chances("start", given, names)


def _moves(moves: Any, names: list[str], arms: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    means = np.zeros((len(names), *arms))
    transitions = np.zeros((*means.shape, len(names)))
    for state in range(len(names)):
        transitions[state, ..., state] = 1.0
    if not isinstance(moves, list):
        raise InvalidInput(f"moves must be a list of tables, got {short_repr(moves)}.")
    for i, move in enumerate(moves):
        name = f"moves[{i}]"
        if not isinstance(move, Mapping):
            raise InvalidInput(f"{name} must be a table with state, action, mean and to, got {short_repr(move)}.")
        for key in move:
            if key not in MOVE:
                raise UnknownName(f"key of {name} called", key, MOVE)
        for key in ("state", "action"):
            if key not in move:
                raise InvalidInput(f"{name} must have the field {key!r}.")
        state = _number(name, move["state"], names)
        action = one_per_agent(f"{name}.action", move["action"], len(arms), whole(0))
        if any(arm >= size for arm, size in zip(action, arms, strict=True)):
            raise InvalidInput(f"{name}.action is {list(action)}; arms from 0 are needed, fewer than {list(arms)}.")
        mean = move.get("mean", 0.0)
        if isinstance(mean, (bool, str)) or not isinstance(mean, (int, float)):
            raise InvalidInput(f"{name}.mean must be a number, got {short_repr(mean)}.")
        means[(state, *action)] = mean
        if "to" in move:
            transitions[(state, *action)] = _chances(f"{name}.to", move["to"], names)
    return means, transitions
