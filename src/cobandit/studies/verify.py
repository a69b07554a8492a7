"""Is a stored study what really happened? Every AI move, every reward and every hash is computed again.

What the participant picked is taken from the log; all else follows from the plan. A person who can write to the log
and knows the code could forge a whole episode, so keep the last hash of each episode (`Episode.head`) elsewhere too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.engine.simulation import Progress
from cobandit.studies.data import NO_MOVE, EpisodeData, StudyData
from cobandit.studies.episode import Episode
from cobandit.studies.plan import EpisodePlan, ParticipantPlan
from cobandit.studies.rounds import Round, chain_version


@dataclass(frozen=True)
class Difference:
    """One stored value that differs from the recomputed one; ``recomputed`` None: it cannot be computed."""

    episode: int
    t: int
    field: str
    stored: Any
    recomputed: Any

    def __str__(self) -> str:
        return (
            f"episode {self.episode}, round {self.t}: {self.field} is stored as {short_repr(self.stored)}, "
            f"recomputed {short_repr(self.recomputed)}"
        )


def verify_episode(
    plan: EpisodePlan, rounds: Sequence[Round], *, finished: bool = False, head: str | None = None
) -> list[Difference]:
    """Return every difference between the stored rounds and the rounds that the plan implies.

    ``finished``: the episode must be complete, so missing rounds at its end are reported; ``head``: the last hash, from
    another source. After a missing round, later moves cannot be recomputed; their hashes are still checked.
    """
    differences: list[Difference] = []
    version = chain_version(rounds, head, plan.version)
    seat, seats = plan.own_seat, len(plan.design.seating)
    opened = Episode.open(plan, version)
    replay: Episode | None = opened
    before = opened.head
    expected = 1
    for stored in rounds:

        def differs(name: str, in_log: object, computed: object, t: int = stored.t) -> None:
            if in_log != computed:
                differences.append(Difference(plan.index, t, name, in_log, computed))

        if stored.t != expected:
            differs("t", stored.t, expected)
            replay = None
        if len(stored.arms) != seats:
            differs("seats", len(stored.arms), seats)
            replay = None
        if replay is not None:
            try:
                computed = _contents(replay.replay_round(stored))
            except InvalidInput:
                differs(f"arm_{seat}", stored.arms[seat], None)
                replay = None
            else:
                for name, value in _contents(stored).items():
                    differs(name, value, computed.get(name))
        differs("previous", stored.previous, before)
        differs("hash", stored.hash, stored.own_hash(version))
        before = stored.hash
        expected = stored.t + 1
    if finished and expected != plan.rounds + 1:
        differences.append(Difference(plan.index, expected, "t", None, expected))
    if head is not None and head != before:
        differences.append(Difference(plan.index, expected - 1, "head", head, before))
    return differences


def _contents(played: Round) -> dict[str, object]:
    """Return the values of a round by column, without the hashes."""
    return {name: value for name, value in played.columns().items() if name not in ("previous", "hash")}


def verify_participant(
    plan: ParticipantPlan, logs: Mapping[int, Sequence[Round]], *, finished: bool = False
) -> list[Difference]:
    """Return every difference in the episodes of one participant; ``logs`` contains stored rounds by episode."""
    differences: list[Difference] = []
    for index in logs:
        if not 0 <= index < len(plan):
            raise InvalidInput(
                f"logs holds episode {short_repr(index)}; the participant has episodes 0 to {len(plan) - 1}."
            )
    for episode in plan.episodes:
        if finished or episode.index in logs:
            differences += verify_episode(episode, logs.get(episode.index, ()), finished=finished)
    return differences


def verify_study(data: StudyData, progress: Progress | None = None) -> list[tuple[str, Difference]]:
    """Return every difference in a stored study, each with the participant's id.

    A finished episode must have all its rounds, and a finished participant all episodes; the hash that is stored with
    an episode must be that of its last round. ``progress(done, all)`` counts participants.
    """
    differences: list[tuple[str, Difference]] = []
    for verified, person in enumerate(data.participants, start=1):
        plan = person.plan(data.design)
        for episode in () if plan is None else plan.episodes:
            stored = person.episodes.get(episode.index)
            if stored is None and not person.has_played_all:
                continue
            done = person.has_played_all or (stored is not None and stored.finished_at is not None)
            rounds, head = ((), None) if stored is None else (stored.rounds(), stored.head)
            episode_differences = verify_episode(episode, rounds, finished=done, head=head)
            episode_differences += [] if stored is None else _changed_moves(episode.index, stored)
            differences += [(person.id, difference) for difference in episode_differences]
        if progress is not None:
            progress(verified, len(data.participants))
    return differences


def _changed_moves(index: int, log: EpisodeData) -> list[Difference]:
    """Return the stored moves of members whose arm is not that of the sealed round."""
    if log.seat_arms is None:
        return []
    changed = (log.seat_arms != NO_MOVE) & (log.seat_arms != log.arms)
    return [
        Difference(
            index, int(log.t[row]), f"move of seat {seat}", int(log.seat_arms[row, seat]), int(log.arms[row, seat])
        )
        for row, seat in np.argwhere(changed).tolist()
    ]


@dataclass(frozen=True)
class MoveCounts:
    """How many moves of a stored study follow from others, and how many are inputs of people and services."""

    recomputed: int
    recorded: int

    def __str__(self) -> str:
        return f"{self.recomputed:,} moves recomputed, {self.recorded:,} recorded"


def count_moves(data: StudyData) -> MoveCounts:
    """Count the moves that `verify_study` recomputes (agents, takeovers) and those that it takes from the log."""
    recomputed = recorded = 0
    teams: set[tuple[str, int]] = set()
    for person in data.participants:
        plan = person.plan(data.design)
        for index, log in person.episodes.items() if plan is not None else ():
            assert plan is not None
            if person.team is not None and plan.episode(index).together:
                if (person.team.id, index) in teams:
                    continue  # members share the episode
                teams.add((person.team.id, index))
            inputs = sum(by in ("person", "service") for row in log.by_seat(plan.episode(index)) for by in row)
            recorded += inputs
            recomputed += log.arms.size - inputs
    return MoveCounts(recomputed, recorded)
