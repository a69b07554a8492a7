"""Checks of team actions and rewards on their way to an agent, and of the arms that players choose."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Sequence

import numpy as np

from cobandit.base.checks import is_list, short_repr
from cobandit.base.errors import AgentError, InvalidInput

HIDDEN = -1
"""Replaces the arm of a partner in an observed team action if the problem hides it."""


def checked_action(team_action: object, arms: tuple[int, ...]) -> tuple[int, ...]:
    """Return a team action as a tuple of integers, one legal arm for each agent."""
    if type(team_action) is tuple and len(team_action) == len(arms):
        agent = 0  # counted by hand: this runs in every round, and zip or enumerate would cost more than the rest
        for arm in team_action:
            if type(arm) is not int or not 0 <= arm < arms[agent]:
                break
            agent += 1  # noqa: SIM113
        else:
            return team_action
    return _cleaned_action(team_action, arms)


def _cleaned_action(team_action: object, arms: tuple[int, ...]) -> tuple[int, ...]:
    if not is_list(team_action) or len(given := list(team_action)) != len(arms):
        raise InvalidInput(
            f"team_action must be a tuple of {len(arms)} arms, one for each agent, got {short_repr(team_action)}."
        )
    for agent, (arm, size) in enumerate(zip(given, arms, strict=True)):
        if not is_arm(arm, size):
            raise InvalidInput(
                f"team_action is {short_repr(team_action)}; "
                f"the arms of agent {agent} are the integers from 0 to {size - 1}."
            )
    return tuple(int(arm) for arm in given)


def masked_action(team_action: object, arms: tuple[int, ...], agent: int) -> tuple[int, ...]:
    """Return a team action as an agent observes it if partners' arms are hidden: all but its own are `HIDDEN`.

    The others may be given as legal arms, as `HIDDEN` or as None.
    """
    if is_list(team_action) and len(given := list(team_action)) == len(arms):
        team_action = tuple(
            0 if seat != agent and (arm is None or (isinstance(arm, numbers.Integral) and int(arm) == HIDDEN)) else arm
            for seat, arm in enumerate(given)
        )
    own = checked_action(team_action, arms)[agent]
    return tuple(own if seat == agent else HIDDEN for seat in range(len(arms)))


def checked_choice(chosen: object, arms: tuple[int, ...], players: Sequence[object], t: int) -> tuple[int, ...]:
    """Return the team action of round ``t`` as integers; ``players`` is one joint controller, or an agent per place."""
    if not isinstance(chosen, tuple) or len(chosen) != len(arms):
        raise AgentError(
            f"{players[0]} chose {short_repr(chosen)} in round {t}; "
            f"a tuple of {len(arms)} arms, one for each agent, is needed."
        )
    for place, (arm, size) in enumerate(zip(chosen, arms, strict=True)):
        if not is_arm(arm, size):
            raise AgentError(
                f"{players[min(place, len(players) - 1)]} at place {place} chose {short_repr(arm)} in round {t}; "
                f"its arms are the integers from 0 to {size - 1}."
            )
    return tuple(int(arm) for arm in chosen)


def is_arm(arm: object, size: int) -> bool:
    """Return whether this is one of ``size`` arms."""
    return isinstance(arm, numbers.Integral) and not isinstance(arm, bool) and 0 <= int(arm) < size


def checked_reward(name: str, reward: object, binary: bool) -> float | None:
    """Return a seen reward as a finite float, or None; refuse a binary reward outside [0, 1]."""
    if reward is None or (type(reward) is float and 0.0 <= reward <= 1.0):
        return reward
    number = np.nan
    if isinstance(reward, (numbers.Real, np.bool_)):
        with contextlib.suppress(OverflowError):
            number = float(reward)
    if not np.isfinite(number):
        raise InvalidInput(
            f"{name} is {short_repr(reward)}; "
            "a finite number is needed, or None where nothing was seen and that is known."
        )
    if binary and not 0.0 <= number <= 1.0:
        raise InvalidInput(
            f"{name} is {short_repr(reward)}; the briefing says that rewards are 0 or 1. "
            "Where they are not, brief the agent with binary=False."
        )
    return number
