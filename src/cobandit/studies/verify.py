"""Is a stored study what really happened? Every AI move, every reward and every hash is computed again.

What the participant picked is taken from the log; all else follows from the plan. A person who can write to the log
and knows the code could forge a whole episode, so keep the last hash of each episode (`Episode.head`) elsewhere too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.studies.data import StudyData
from cobandit.studies.episode import Episode
from cobandit.studies.plan import EpisodePlan, ParticipantPlan
from cobandit.studies.rounds import Round, chain_version


@dataclass(frozen=True)
class Difference:
    """One stored value that comes out otherwise; ``recomputed`` None: it cannot be computed."""

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
    """Every difference between stored rounds and what they must be.

    ``finished``: the episode is said to be complete, so that rounds missing at its end are found; ``head``: the last
    hash as it was kept elsewhere. Where a round is missing, later moves cannot be computed again; their hashes are.
    """
    differences: list[Difference] = []
    version = chain_version(rounds, head)
    seat, seats = plan.design.participant_seat, len(plan.design.seating)
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
                computed = _contents(replay.play(stored.t, stored.arms[seat]))
            except InvalidInput:
                differs(f"arm_{seat}", stored.arms[seat], None)
                replay = None
            else:
                for name, value in _contents(stored).items():
                    differs(name, value, computed[name])
        differs("previous", stored.previous, before)
        differs("hash", stored.hash, stored.own_hash(version))
        before = stored.hash
        expected = stored.t + 1
    if finished and expected != plan.rounds + 1:
        differences.append(Difference(plan.index, expected, "t", None, expected))
    if head is not None and head != before:
        differences.append(Difference(plan.index, expected - 1, "head", head, before))
    return differences


def _contents(played: Round) -> dict[str, Any]:
    """What a round holds by column, but for the hashes."""
    return {name: value for name, value in played.columns().items() if name not in ("previous", "hash")}


def verify_participant(
    plan: ParticipantPlan, logs: Mapping[int, Sequence[Round]], *, finished: bool = False
) -> list[Difference]:
    """Every difference in the episodes of one participant; ``logs`` holds stored rounds by episode."""
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


def verify_study(data: StudyData) -> list[tuple[str, Difference]]:
    """Every difference in a stored study, each with the participant's id.

    An episode that says it is finished must have all its rounds, and a finished participant all episodes; the hash
    that is kept beside an episode must be that of its last round.
    """
    differences: list[tuple[str, Difference]] = []
    for person in data.participants:
        plan = person.plan(data.design)
        for episode in () if plan is None else plan.episodes:
            stored = person.episodes.get(episode.index)
            if stored is None and person.status != "finished":
                continue
            done = person.status == "finished" or (stored is not None and stored.finished_at is not None)
            rounds, head = ((), None) if stored is None else (stored.rounds(), stored.head)
            episode_differences = verify_episode(episode, rounds, finished=done, head=head)
            differences += [(person.id, difference) for difference in episode_differences]
    return differences
