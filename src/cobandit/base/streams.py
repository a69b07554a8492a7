"""Every random stream of the package: one way to make one, and one table of what each is for.

A stream is the SFC64 generator of ``SeedSequence(root, spawn_key=address)``; the first part of the address is its
purpose. Run r of seed s has the streams ``SeedSequence(s).spawn(runs)[r].spawn(2 + 2 N)``: set-up (means, spreads,
roles), rewards, one per agent's observation, one per agent's own choices. A joint controller uses the choices of
agent 0. Two more streams follow for problems that need them: the transitions of a Markov problem
(`transition_stream`) and the arm labels of a relabelled problem (`label_stream`). SFC64 because it is quick, needs
nothing wider than 64 bits and so is easy to repeat in compiled code.
"""

from __future__ import annotations

import enum
import secrets
from dataclasses import dataclass

import numpy as np

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput

SETUP, REWARDS, FIRST_OBSERVATION = 0, 1, 2


class StudyStream(enum.IntEnum):
    """Of one participant; the root is the SHA-256 of design and seed, and from `BEHAVIOUR` to `ANSWERS` the seed."""

    MEANS = 0
    LUCK = 1
    SIGHT = 2
    CHOICES = 3
    WARM_START = 4
    SURVEY = 5
    PARTNERS = 6
    BEHAVIOUR = 7
    ORDER = 8
    ANSWERS = 9
    TAKEOVER = 10
    QUESTIONS = 11
    DRIFT = 12
    ROLES = 13


class CrowdStream(enum.IntEnum):
    """Of simulated participants in bulk; the root is the seed of the crowd, of the power analysis or calibration."""

    PEOPLE = 9
    BEHAVIOURS = 10
    ORDERS = 11
    CROWDS = 12
    POPULATIONS = 13
    CASINOS = 14
    ALIKE = 15
    DROPOUTS = 16
    FITTED = 17
    RECOVERY = 18


class BotStream(enum.IntEnum):
    """Of one bot; the root is the SHA-256 of its name."""

    BEHAVIOUR = 0
    ANSWERS = 1
    PACE = 2


class RobotStream(enum.IntEnum):
    """Of a simulated robot arm; the root is its seed, and the number of the burger follows."""

    WORLD = 0


MOST_RUNS = 2**32 - 1
"""The number of a run is one 32-bit word of its seed."""


def bit_generator(root: int, *address: int) -> np.random.SFC64:
    """Return the bits of one stream."""
    return np.random.SFC64(np.random.SeedSequence(root, spawn_key=address))


def generator(root: int, *address: int) -> np.random.Generator:
    """Return the random stream of an address."""
    return np.random.Generator(bit_generator(root, *address))


def stream_count(agents: int) -> int:
    """Return how many streams a run of ``agents`` agents has."""
    return 2 + 2 * agents


def transition_stream(agents: int) -> int:
    """Return the number of the stream that draws the states of a Markov problem."""
    return stream_count(agents)


def label_stream(agents: int) -> int:
    """Return the number of the stream that draws the arm labels of a relabelled problem."""
    return stream_count(agents) + 1


def checked_seed(seed: object) -> int:
    """Return the seed as an integer; None draws a fresh one from the system."""
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, (np.random.Generator, np.random.SeedSequence)):
        raise InvalidInput(
            f"seed must be an integer of at least 0, so that a run can be repeated, got {short_repr(seed)}."
        )
    return int(whole(0)("seed", seed))


@dataclass(frozen=True)
class Streams:
    """The generators of one run."""

    setup: np.random.Generator
    rewards: np.random.Generator
    observations: tuple[np.random.Generator, ...]
    choices: tuple[np.random.Generator, ...]
    labels: np.random.Generator | None = None

    @classmethod
    def of(cls, seed: int, run: int, agents: int, relabel: bool = False) -> Streams:
        """Return the streams of one run of one seed; ``relabel`` adds the one that draws the arm labels."""
        labels = generator(seed, run, label_stream(agents)) if relabel else None
        streams = [generator(seed, run, stream) for stream in range(stream_count(agents))]
        middle = FIRST_OBSERVATION + agents
        observations, choices = tuple(streams[FIRST_OBSERVATION:middle]), tuple(streams[middle:])
        return cls(streams[SETUP], streams[REWARDS], observations, choices, labels)
