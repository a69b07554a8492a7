"""What may happen to a participant: arriving, answering, playing. Nothing is answered before it is committed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cobandit.base.json_types import JsonObject
from cobandit.studies import Episode, participant_view
from cobandit.studies.journey import (
    check_answers,
    consent_payload,
    debriefing_payload,
    journey,
    named_partner,
    page_texts_of,
    partner_payload,
    seat_texts,
    step_payload,
    task_payload,
    wrong_quiz_answers,
)
from cobandit.studies.leaving import SCREENED_OUT, is_screened_out
from cobandit.web.refusals import Refused, conflict, not_found
from cobandit.web.security import new_token
from cobandit.web.services.admission import reason_to_refuse, refused
from cobandit.web.services.arrivals import Arrival, add_arrival, known_participant
from cobandit.web.services.new_moves import new_moves
from cobandit.web.services.page_events import store_events, store_wrong_attempt
from cobandit.web.services.people import UNKNOWN_LINK, ActiveParticipant, People
from cobandit.web.services.places import take_order, take_place
from cobandit.web.services.recruiting import note_unfilled, thanks_for, unfilled
from cobandit.web.services.results import results_of
from cobandit.web.services.robot.stage import Stage
from cobandit.web.services.together import Together, answer_view
from cobandit.web.services.withdrawal import withdraw, withdrawn_state
from cobandit.web.storage.answers import add_answer
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.events import Event, event_by_key
from cobandit.web.storage.moves import StoreRounds
from cobandit.web.storage.participants import (
    mark_seen,
    touch,
)
from cobandit.web.storage.rounds import Move
from cobandit.web.storage.studies import Study, all_studies, find_study, locked_study, study_by_id
from cobandit.web.storage.values import now_ms

MOST_MOVES = 200


@dataclass(frozen=True)
class Given:
    """The answers to a step as they came: how long they took (ms), and the page's own name for this attempt."""

    answers: object
    ms: int | None = None
    key: str | None = None


class Participants:
    """Everything that participants ask for."""

    def __init__(
        self,
        database: Database,
        *,
        demo: bool = False,
        consent_elsewhere: bool = False,
        robot: Stage | None = None,
    ) -> None:
        self._database = database
        self._demo = demo
        self._consent_elsewhere = consent_elsewhere
        self._robot = robot
        self.people = People(database)
        self.together = Together(database, self.people)
        self.messages = self.together.messages

    # Studies

    async def studies(self) -> list[Study]:
        """Return every study."""
        return await self._database.ask(all_studies)

    async def study(self, name: str, version: int | None = None) -> Study:
        """Return a study, by default its newest version."""
        study = await self._database.ask(lambda connection: find_study(connection, name, version))
        if study is None:
            raise not_found(f"There is no study called {name!r} here.")
        return study

    async def turned_away(self, study: Study) -> str | None:
        """Return why the open link is closed (a code of `services.admission.REASONS`); None: it is open."""
        return await self._database.ask(
            lambda connection: reason_to_refuse(connection, study, consent_elsewhere=self._consent_elsewhere)
        )

    async def describe(self, study: Study, language: str | None) -> JsonObject:
        """Return what the page needs before consent, and nothing else of the design."""
        design = study.design
        refused = await self.turned_away(study)
        chosen = _language(design.languages, language)
        texts = page_texts_of(design, None, chosen)
        return {
            "study": design.name,
            "title": texts["title"],
            "open": refused is None,
            "refused": refused,
            "demo": self._demo,
            "language": chosen,
            "languages": list(design.languages),
            "consent": consent_payload(design, chosen),
            "texts": texts,
        }

    # Arriving

    async def refuse_unfilled(self, study: Study, parameters: Mapping[str, str], *, note: bool = True) -> None:
        """Refuse a link that the recruiting service has not filled in; ``note``: store it for the researcher."""
        name = unfilled(parameters, study.design)
        if name is None:
            return
        value = parameters[name]
        with contextlib.suppress(Refused):  # a busy database: they are turned away all the same
            if note:
                await self._database.commit(
                    lambda connection: note_unfilled(connection, study.id, name, value, now_ms()),
                )
        raise Refused(
            422,
            "unfilled",
            f"The link says {name}={value[:80]!r}, a placeholder that the recruiting service should have replaced by "
            "the participant's ID. Researcher: compare the link with the guide, 'Which link to paste'.",
        )

    async def arrive(self, study: Study, arrival: Arrival) -> tuple[str, bool]:
        """Return the token of a participant, and whether they are new; the same key or id gives the same
        participant.
        """
        if arrival.kind == "demo" and not self._demo:
            raise Refused(403, "forbidden", "This server does not run demos; start it with --demo.")
        design = study.design
        consent = check_answers(design, journey(design).find("consent"), {"version": arrival.consent_version})
        language = _language(design.languages, arrival.language)

        def job(connection: Connection) -> tuple[str, bool]:
            known = known_participant(connection, study.id, arrival)
            if known is None:
                # Again with the study locked: of two arrivals with one key, the second must find the first. A violated
                # constraint would put the key into PostgreSQL's log.
                locked_study(connection, study.id)
                known = known_participant(connection, study.id, arrival)
            if known is not None:
                return known.token, False
            self._admit(connection, study.id, arrival.kind)
            token, now = new_token(), now_ms()
            participant = add_arrival(connection, study.id, arrival, token=token, language=language, now=now)
            add_answer(connection, participant, "consent", consent, now, None)
            return token, True

        return await self._database.commit(job)

    def _admit(self, connection: Connection, study: int, kind: str, *, invited: bool = False) -> None:
        """Refuse a real person who may not begin; in the transaction that gives them their place."""
        if kind != "real":
            return
        # Locked, so that of two simultaneous arrivals the second finds the last place taken.
        reason = reason_to_refuse(
            connection, locked_study(connection, study), invited=invited, consent_elsewhere=self._consent_elsewhere
        )
        if reason is not None:
            raise refused(reason)

    # The participant's position

    async def state(self, token: str, language: str | None = None, spoken: Sequence[str] = ()) -> JsonObject:
        """Return everything the page needs to draw the current step.

        ``spoken`` are the browser's languages, for participants who have not chosen one yet.
        """
        try:
            async with self.people.person(token, fresh=True) as person:
                if person.step.kind == "consent" and person.record.kind == "real":
                    await self._refuse_before_consent(person.record.study_id)
                known = person.study.design.languages
                if language not in known and person.record.language is None:
                    language = next((other for other in spoken if other in known), None)
                return await self._state(person, language)
        except Refused as error:
            withdrawn = await withdrawn_state(self._database, token, language) if error.status == 404 else None
            if withdrawn is None:
                raise
            return withdrawn

    async def withdraw(self, token: str, language: str | None = None) -> JsonObject:
        """End a participation for good, and delete or anonymise the data; again, it changes nothing."""
        await withdraw(self._database, self.people, self.together.teams, token, self.robot_of)
        return await self.state(token, language)

    async def _refuse_before_consent(self, number: int) -> None:
        """Refuse a visitor who may not begin before they read the consent."""

        def ask(connection: Connection) -> str | None:
            study = study_by_id(connection, number)  # as it is now: memory may have it as it was
            elsewhere = self._consent_elsewhere
            if study is None:
                raise not_found(UNKNOWN_LINK)
            return reason_to_refuse(connection, study, invited=True, consent_elsewhere=elsewhere)

        reason = await self._database.ask(ask)
        if reason is not None:
            raise refused(reason)

    async def _state(self, person: ActiveParticipant, language: str | None) -> JsonObject:
        record, step, design = person.record, person.step, person.study.design
        chosen = _language(design.languages, language or record.language)
        state: JsonObject = {
            "participant": record.public_id,
            "study": design.name,
            "version": design.version,
            "title": design.texts(chosen)["title"],
            "kind": record.kind,
            "language": chosen,
            "languages": list(design.languages),
            "step": {"kind": step.kind, "id": step.id},
            "progress": person.journey.progress(person.done),
            "limits": design.limits.to_dict(),
            "withdrawal": design.withdrawal.data,
            "texts": page_texts_of(design, step, chosen),
            "task": task_payload(design, chosen, person.seat),
        }
        state["texts"] |= seat_texts(design, person.seat, chosen)
        if (partner := partner_payload(person.plan, step, chosen, person.last_met)) is not None:
            state |= {"partner": partner, "texts": state["texts"] | named_partner(design, partner)}
        if step.kind == "partner":
            state["sets"] = design.sets
        if step.kind in ("episode", "rest") and design.episodes > 1:
            state["results"] = await results_of(self._database, person)
        if step.kind == "episode":
            assert step.number is not None
            state |= await self._episode_state(person, step.number, chosen)
            state |= await self._robot_state(person, step.number, state["episode"])
        elif step.kind == "rest":
            assert step.number is not None
            view = (await self._episode_state(person, step.number - 1, chosen))["episode"]
            known = ("practice", "set", "sets", "good", "rounds", "score")
            rest = {key: view[key] for key in known if key in view}
            rounds = view["rounds"] // design.task.steps
            state["rest"] = rest | {"done": view["episode"], "of": view["episodes"], "rounds": rounds}
        elif step.kind == "thanks":
            if (robot := self.robot_of(person)) is not None:
                robot.dismiss(person)
            thanks = thanks_for(person.study, record, person.stored.outcome)
            state["thanks"] = thanks | debriefing_payload(design, chosen)
        elif step.kind == "lobby":
            state["lobby"] = await self.together.lobby_view(person)
        else:
            state |= step_payload(design, person.plan, step, chosen, attempts=record.quiz_attempts)
        return self.messages.added_to(state, person.token)

    async def _episode_state(self, person: ActiveParticipant, number: int, language: str) -> JsonObject:
        """Return what the page shows of an episode, and of the team that plays it."""
        if not self._is_recorded(person, number):
            episode = await self.people.episode(person, number)
            return {"episode": participant_view(episode, language) | {"index": number}}
        game, position = await self.together.current(person, number)
        view = participant_view(game.episode, language, person.seat)
        return {"episode": view | {"index": number}, "team": self.together.state(game, person, language, position)}

    def robot_of(self, person: ActiveParticipant, number: int | None = None) -> Stage | None:
        """Return the robot, where it plays along: in the participant's study, or in one of the episodes."""
        if self._robot is None or not self._robot.covers(person):
            return None
        condition = None if number is None or person.plan is None else person.plan.episode(number).condition
        return self._robot if condition is None or person.study.design.has_robot(condition) else None

    async def _robot_state(self, person: ActiveParticipant, number: int, view: JsonObject) -> JsonObject:
        """Return what the page needs from the robot, if there is one, with the robot's part of the latest round."""
        if (robot := self.robot_of(person, number)) is None:
            if (resting := self.robot_of(person)) is not None:
                resting.dismiss(person)  # others may have it during this episode
            return {}
        if view["latest"] is not None:
            view["latest"] |= await robot.round_view(person, number, view["latest"]["t"])
        return {"robot": await robot.view(person)}

    async def robot(self, token: str) -> JsonObject | None:
        """Return how the robot is getting on with the person's burger; None where there is no robot."""
        async with self.people.person(token) as person:
            robot = self.robot_of(person, _episode_number(person))
            return None if robot is None else await robot.view(person)

    async def placed(self, token: str, request: int) -> None:
        """Record that the person has placed the item that the robot waits for."""
        async with self.people.person(token) as person:
            if (robot := self.robot_of(person, _episode_number(person))) is None:
                raise not_found("There is no robot here.")
            await robot.placed(request, person)

    # Answering

    async def answer(self, token: str, step_id: str, given: Given, language: str | None = None) -> JsonObject:
        """Take the answers to a step; the same again is answered again, others come too late.

        An attempt at a quiz counts once for a key, however often it is sent.
        """

        async def once(person: ActiveParticipant) -> JsonObject:
            wrong = await self._answer(person, step_id, given, language)
            return {"accepted": not wrong, "wrong": wrong, "state": await self._state(person, language)}

        return await self.people.retry_stale(token, once, lambda person: self._state(person, language))

    async def _answer(self, person: ActiveParticipant, step_id: str, sent: Given, language: str | None) -> list[str]:
        design, record = person.study.design, person.record
        step = person.journey.find(step_id)
        given = check_answers(design, step, sent.answers)
        if step.id in person.done:
            if person.stored.answers.get(step.id) == given:
                return []
            raise conflict("already-answered", "This was answered before; the first answers count.")
        if step != person.step:
            raise conflict("wrong-step", f"The step {step.id!r} is not the current one, which is {person.step.id!r}.")
        wrong = wrong_quiz_answers(design, given) if step.kind == "quiz" else []
        chosen = _language(design.languages, language or record.language)
        key = None if sent.key is None else f"quiz:{sent.key}"  # no key of a page's own event has a colon

        def job(connection: Connection) -> None:
            before = None if key is None or not wrong else event_by_key(connection, record.id, key)
            if before is not None and before.data["answers"] != given:
                raise conflict("already-answered", "This attempt was sent with its key and other answers before.")
            if before is not None:
                return  # counted when it came first
            now = now_ms()
            changes: JsonObject = {} if chosen == record.language else {"language": chosen}
            if step.kind == "quiz":
                changes["quiz_attempts"] = record.quiz_attempts + 1
            if step.kind == "consent":
                self._admit(connection, person.study.id, record.kind, invited=True)
                seed, order = take_place(connection, person.study.id, record.kind, now)
                changes |= {"seed": str(seed), "order_index": order, "consented_at": now}
            if step.kind == "demographics":
                # Someone whom a researcher has removed stays removed.
                screened = {"ending": record.ending or SCREENED_OUT} if is_screened_out(design, given) else {}
                changes |= screened or take_order(connection, record, design, given, now)
            if "ending" in changes or (not wrong and person.journey.current(person.done | {step.id}).kind == "thanks"):
                changes["finished_at"] = max(now, record.consented_at or now)  # the clock may have been set back
            # First, so that the second of two requests fails here, and not because of an existing row.
            touch(connection, record.id, person.revision, now, **changes)
            if not wrong:
                add_answer(connection, record.id, step.id, given, now, sent.ms)
            else:
                attempt = Event(now, "quiz-wrong", {"answers": given, "wrong": wrong}, key)
                store_wrong_attempt(connection, record.id, attempt, record.quiz_attempts)

        await self.people.write(person, job)
        await self.people.refresh(person)
        return wrong

    # Playing

    async def play(self, token: str, number: int, moves: Sequence[Move], language: str | None = None) -> JsonObject:
        """Play rounds of an episode, all or none; those stored under the same keys are answered from the store."""

        async def once(person: ActiveParticipant) -> JsonObject:
            self._check_step(person, number)
            seat = person.seat
            if self._is_recorded(person, number):
                return await self.together.play(person, number, moves, language)
            episode = await self._play(person, number, moves)
            views = [answer_view(episode, move.t, seat) for move in moves]
            if (robot := self.robot_of(person, number)) is not None:
                views = [view | await robot.round_view(person, number, view["t"]) for view in views]
            return {
                "episode": number,
                "rounds": views,
                "played": episode.played,
                "left": episode.left,
                "finished": episode.finished,
            }

        reply = await self.people.retry_stale(token, once, lambda person: self._state(person, language))
        return self.messages.added_to(reply, token)

    def _is_recorded(self, person: ActiveParticipant, number: int) -> bool:
        # Asked for every move: most designs record one seat, and making a plan would take longer than the rest.
        return person.study.design.has_recorded_seats and person.is_recorded(number)

    def _check_step(self, person: ActiveParticipant, number: int) -> None:
        step, current = person.step, _episode_number(person)
        if number != current and not (number in person.stored.episodes and f"episode-{number}" in person.done):
            raise conflict("wrong-step", f"Episode {number} is not being played; the current step is {step.id!r}.")

    async def _play(self, person: ActiveParticipant, number: int, moves: Sequence[Move]) -> Episode:
        episode = await self.people.episode(person, number)
        new = new_moves(episode, person.keys, moves)
        if not new:
            return episode
        robot = self.robot_of(person, number)
        if robot is not None:
            robot.admit(person, len(new))
        participant, known = person.record.id, person.stored.episodes.get(number)
        episode_id = None if known is None else known.id
        played = [(episode.play(move.t, move.arm), move) for move in new]
        now = max(now_ms(), person.opened_at)  # the clock may have been set back
        happened = [] if robot is None else robot.events(person, number, [r for r, _ in played], now)

        job = StoreRounds(participant, person.revision, episode_id, episode, played, person.opened_at, now, happened)
        await self.people.write(person, job)
        if robot is not None:
            robot.stored(person, happened)
        person.keys += [move.key for move in new]
        person.revision += 1
        if known is None or episode.finished:
            await self.people.refresh(person)
        return episode

    # Events

    async def note(self, token: str, events: Sequence[Event]) -> None:
        """Store what happened at the page, once for a key, and mark the participant as present."""
        async with self.people.person(token) as person:
            participant = person.record.id

            def job(connection: Connection) -> None:
                # First: of two processes with the same events one waits here, and then finds what the other has stored.
                # By the link, which memory may know longer than the database: an anonymous participant has no events.
                if not mark_seen(connection, token, now_ms()):
                    raise not_found(UNKNOWN_LINK)
                store_events(connection, participant, events)

            await self._database.commit(job)


def _episode_number(person: ActiveParticipant) -> int | None:
    """Return the number of the episode that is being played, if one is."""
    return person.step.number if person.step.kind == "episode" else None


def _language(known: Sequence[str], wanted: str | None) -> str:
    """Return the language asked for, where the study speaks it; else its first."""
    return wanted if wanted is not None and wanted in known else known[0]
