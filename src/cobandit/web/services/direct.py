"""The common move, played and queued for storing in one go: the next round of an episode that is in memory.

It is nearly all that a server is asked while a study runs. It does what `Participants.play` does and answers with the
same bytes; whatever is not just that is left to it, with nothing changed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from cobandit.studies import Episode, Round
from cobandit.web.services.participants import Participants
from cobandit.web.services.people import ActiveParticipant
from cobandit.web.storage.database import Database
from cobandit.web.storage.moves import StoreRounds
from cobandit.web.storage.rounds import Move, arms_text
from cobandit.web.storage.values import now_ms

STATE = "direct_rounds"
"""Under which name the server's lifespan hands its `DirectRounds` to its connections."""

Answer = Callable[[bytes | None], None]
"""What is to be called with the body of the answer, once the round is on disk; None: it could not be stored so."""

_BODY = re.compile(
    rb'\{"episode":(0|[1-9][0-9]{0,5}),"moves":\[\{"t":([1-9][0-9]{0,8}),"arm":(0|[1-9][0-9]{0,5}),'
    rb'"key":"([A-Za-z0-9-]{8,64})"(?:,"ms":(0|[1-9][0-9]{0,8}))?\}\]\}'
)
"""One move exactly as pages send it, and not a byte else."""

_GOOD = {None: b"null", True: b"true", False: b"false"}


class DirectRounds:
    """Takes in moves for the participants of one server."""

    def __init__(self, database: Database, participants: Participants) -> None:
        self._database, self._participants = database, participants
        self._people = participants.people

    def take(self, token: str, body: bytes, answer: Answer) -> bool:
        """Play the move of a request and queue it for storing; False: it is none for here, and nothing was done."""
        match = _BODY.fullmatch(body)
        if match is None or not self._people.turns.take(token):
            return False
        number, t, arm, key, ms = match.groups()
        queued = False
        try:
            move = Move(int(t), int(arm), key.decode("ascii"), None if ms is None else int(ms))
            person = self._people.in_memory(token)
            episode = None if person is None else self._next(person, int(number), move)
            if person is not None and episode is not None:
                self._queue(person, episode, move, answer)
                queued = True
            return queued
        finally:
            if not queued:
                self._people.turns.pass_on(token)

    def _next(self, person: ActiveParticipant, number: int, move: Move) -> Episode | None:
        """The running episode, where the move is of its next round, which is neither the first nor the last."""
        step, episode = person.step, person.episode
        if step.kind != "episode" or step.number != number or episode is None or episode.plan.index != number:
            return None
        if number not in person.stored.episodes or move.t != episode.played + 1 or episode.left < 2:
            return None
        fits = move.arm < episode.own_arms and self._participants.robot_of(person) is None
        return episode if fits else None

    def _queue(self, person: ActiveParticipant, episode: Episode, move: Move, answer: Answer) -> None:
        number = episode.plan.index
        try:
            played = episode.play(move.t, move.arm)
            now = max(now_ms(), person.opened_at)  # the clock may have been set back
            stored = person.stored.episodes[number].id
            job = StoreRounds(
                person.record.id, person.revision, stored, episode, ((played, move),), person.opened_at, now
            )
            self._database.submit(job, functools.partial(self._stored, person, episode, played, move, answer))
        except BaseException:
            self._people.forget(person.token)  # whose episode may be a round ahead of what is stored
            raise

    def _stored(
        self,
        person: ActiveParticipant,
        episode: Episode,
        played: Round,
        move: Move,
        answer: Answer,
        result: object,
        error: BaseException | None,
    ) -> None:
        if error is None:
            person.keys.append(move.key)
            person.revision += 1
        else:
            self._people.forget(person.token)
        self._people.turns.pass_on(person.token)
        answer(_answer_body(episode, played, person.study.design.participant_seat) if error is None else None)


def _answer_body(episode: Episode, played: Round, seat: int) -> bytes:
    seen = played.seen[seat]
    return b'{"episode":%d,"rounds":[{"t":%d,"arms":%s,"good":%s}],"played":%d,"left":%d,"finished":false}' % (
        episode.plan.index,
        played.t,
        arms_text(played.arms).encode("ascii"),
        _GOOD[None if seen is None else bool(seen)],
        episode.played,
        episode.left,
    )
