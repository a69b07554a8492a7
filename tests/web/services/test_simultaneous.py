"""Members who are absent, and that no member can learn of a move before their own; on both databases."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import event

from cobandit.studies import verify_study
from tests.clients import PATIENCE
from tests.team_designs import team_design
from tests.web.servers import until
from tests.web.team_people import (
    at_episode,
    episode_of,
    has_played,
    in_lobby,
    key,
    stored,
    team_of,
    wait,
)


def first_event(person: Any, last: str | None = None) -> tuple[str, Any]:
    """Open a stream, as a browser that comes back does, and return its first event."""
    headers = {} if last is None else {"last-event-id": last}
    with person.client.stream("GET", f"{person.path}/stream", timeout=PATIENCE, headers=headers) as response:
        assert response.status_code == 200
        lines = response.iter_lines()
        kind, data = itertools.islice(lines, 2)
        return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


class TestAbsence:
    """Connections that were cut, tabs, restarts, people who vanish or are deleted in the middle of a round."""

    def test_a_stream_that_comes_back_has_what_was_missed(self, team_site: Any) -> None:
        site = team_site()
        people = team_of(site)
        at_episode(people)
        for t in (1, 2, 3):
            for person in people:
                person.send(episode_of(person), (t, 0, key()))
        first, second = people
        kind, data = first_event(first, f"{episode_of(first)}-1")
        assert (kind, [r["t"] for r in data["rounds"]]) == ("sealed", [2, 3])
        for last in (None, "", "nonsense", "99-1", "9" * 30):  # a page that has had no event: the latest round
            kind, data = first_event(second, last)
            assert (kind, [r["t"] for r in data["rounds"]]) == ("sealed", [3])

    def test_two_tabs_of_one_member(self, team_site: Any, problem: Any) -> None:
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        tab = site.client()
        episode = episode_of(first)
        first.send(episode, (1, 0, key()))
        other = [{"t": 1, "arm": 1, "key": key(), "ms": 1}]
        problem(tab.post(f"{first.path}/rounds", json={"episode": episode, "moves": other}), 409, "already-played")
        assert tab.get(first.path).json()["team"]["moved"] is True
        twice = [{"t": 1, "arm": 1, "key": key()}, {"t": 1, "arm": 1, "key": key()}]
        problem(
            second.client.post(f"{second.path}/rounds", json={"episode": episode, "moves": twice}),
            409,
            "already-played",
        )
        second.send(episode, (1, 1, key()))
        assert verify_study(stored(site)) == []

    @pytest.mark.parametrize("moved", [True, False])
    def test_nobody_waits_for_a_member_who_was_deleted(self, team_site: Any, moved: bool) -> None:
        design = team_design(seats=[seat | {"timeout_seconds": 0} for seat in team_design().to_dict()["seats"]])
        site = team_site(design)
        first, second = team_of(site, design)
        at_episode([first, second] if moved else [first], design)
        if moved:
            assert first.send(episode_of(first), (1, 0, key())).json()["waiting"] is True
        admin = site.client()
        admin.headers["authorization"] = f"Bearer {site.login()}"
        gone = site.public_id(second.token)
        assert admin.delete(f"/api/admin/studies/1/participants/{gone}").status_code == 200
        until(lambda: has_played(site, 1) if moved else first.state()["team"]["meeting"] is None)
        assert len(first.send(episode_of(first), (1 + moved, 0, key())).json()["rounds"]) == 1
        first.go_on(design)
        assert first.state()["step"]["kind"] == "thanks"
        assert verify_study(stored(site)) == []

    def test_everybody_vanishes_and_comes_back_for_the_survey(self, team_site: Any) -> None:
        design = team_design(3, 1, group={"timeouts": 1})
        site = team_site(design)
        people = team_of(site, design)
        at_episode(people, design)
        site.change("UPDATE episodes SET deadline = 1, round_at = round_at - 900000 WHERE team_id IS NOT NULL")
        until(lambda: gone(site) == 3)
        assert has_played(site, 1)
        assert site.query("SELECT deadline FROM episodes WHERE team_id IS NOT NULL") == [
            (None,)
        ]  # nobody is waited for
        for person in people:
            assert person.state()["step"]["kind"] != "episode" or not person.state().get("team")
            person.go_on(design)
            assert person.state()["step"]["kind"] == "thanks"
        data = stored(site)
        assert verify_study(data) == []
        assert {person.team.left_reason for person in data.participants} == {"timeout"}

    def test_a_restart_in_the_lobby(self, team_site: Any, open_site: Any) -> None:
        site = team_site()
        first, second = in_lobby(site), in_lobby(site)
        assert wait(first)["lobby"]["joined"] is True
        again = open_site(site.config.database)
        second.client = again.client()
        assert wait(second)["lobby"] is None
        assert wait(first)["lobby"] is None
        assert site.query("SELECT count(*) FROM teams") == [(1,)]


def gone(site: Any) -> int:
    return int(site.query("SELECT count(*) FROM members WHERE left_at IS NOT NULL")[0][0])


class TestLeaks:
    """Nothing that a member gets before their own move depends on whether another member has moved."""

    def requests(self, person: Any) -> dict[str, Callable[[], Any]]:
        """Every request that a member may send before their own move, with refusals of all kinds."""
        episode, client, path = episode_of(person), person.client, person.path

        def move(t: int, arm: int, name: str, number: int = episode) -> Any:
            moves = [{"t": t, "arm": arm, "key": name, "ms": 1}]
            return client.post(f"{path}/rounds?language=en", json={"episode": number, "moves": moves})

        return {
            "state": lambda: client.get(path),
            "page": lambda: client.get(f"/p/{person.token}"),
            "team": lambda: client.get(f"{path}/team", params={"episode": episode, "after": 0}),
            "team of another episode": lambda: client.get(f"{path}/team", params={"episode": 7, "after": 0}),
            "no such arm": lambda: move(1, 7, "x" * 16),
            "too early": lambda: move(2, 0, "y" * 16),
            "no such round": lambda: move(99, 0, "z" * 16),
            "another episode": lambda: move(1, 0, "w" * 16, 5),
            "malformed": lambda: client.post(f"{path}/rounds", json={"episode": episode}),
            "lobby": lambda: client.post(f"{path}/lobby", json={}),
            "answer": lambda: client.post(f"{path}/answers/survey-1", json={"answers": {}}),
            "events": lambda: client.post(
                f"{path}/events", json={"events": [{"kind": "hidden", "at": 1, "data": {}, "key": "e" * 16}]}
            ),
            "robot": lambda: client.get(f"{path}/robot"),
        }

    def answers(self, site: Any, person: Any) -> dict[str, Any]:
        """Status, headers, bytes, and the statements that the server sent to its database, by request."""
        seen = {}
        for name, send in self.requests(person).items():
            with statements(site.app.state.database) as sent:
                answer = send()
            headers = {k: v for k, v in answer.headers.items() if k != "date"}
            # Seconds that are left go by meanwhile; every other byte is compared.
            body = re.sub(rb'"seconds_left":\d+', b'"seconds_left":0', answer.content)
            seen[name] = answer.status_code, headers | {"content-length": len(body)}, body, list(sent)
        return seen

    def test_answers_are_the_same_with_and_without_a_pending_move(self, team_site: Any) -> None:
        """Byte for byte, and by the same statements: the time that an answer takes has no other cause either."""
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        self.answers(site, second)  # once before: whatever is read for the first time is in memory then
        before = self.answers(site, second)
        assert {status for status, *_ in before.values()} == {200, 204, 409, 422}
        first.send(episode_of(first), (1, 0, key()))
        after = self.answers(site, second)
        for name, answer in before.items():
            assert after[name] == answer, name

    def test_a_member_who_has_moved_finds_a_difference(self, team_site: Any) -> None:
        """What is compared above is not the same whatever happens."""
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        before = self.answers(site, second)
        second.send(episode_of(second), (1, 0, key()))
        assert self.answers(site, second)["state"] != before["state"]

    def test_nothing_waits_while_the_move_of_another_is_stored(self, team_site: Any) -> None:
        """The turn of a team is held as long as a move is being written; reading and refusing do without it."""
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        self.answers(site, second)
        teams = site.app.state.participants.together.teams
        (team,) = site.query("SELECT id FROM teams")[0]
        before = self.answers(site, second)
        assert teams._turns.take(str(team))
        try:
            held = self.answers(site, second)
        finally:
            teams._turns.pass_on(str(team))
        assert held == before

    def test_a_pending_move_wakes_no_stream(self, team_site: Any) -> None:
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        with second.client.stream("GET", f"{second.path}/stream", timeout=PATIENCE) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            lines = response.iter_lines()
            assert next(lines) == "event: team"
            assert next(lines).startswith("data: ")
            assert next(lines) == ""
            revision = site.query("SELECT revision FROM teams")
            first.send(episode_of(first), (1, 0, key()))
            assert site.query("SELECT revision FROM teams") == revision
            third = site.client()
            third.post(
                f"{second.path}/rounds",
                json={"episode": episode_of(second), "moves": [{"t": 1, "arm": 1, "key": "k" * 16}]},
            )
            kind, data, _ = itertools.islice(lines, 3)
            assert kind == "event: sealed"  # the very next event is the round, sealed by the own move
            assert json.loads(data.removeprefix("data: "))["rounds"][0]["arms"] == [0, 1]


@contextlib.contextmanager
def statements(database: Any) -> Iterator[list[str]]:
    """Collect the SQL that is sent to a database meanwhile, without what the server does by the clock."""
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
        if not any(word in statement for word in BY_THE_CLOCK):
            sent.append(statement)

    engines = database.reading, database.writing
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


BY_THE_CLOCK = (
    "BEGIN",
    "SELECT settings.value",
    "deadline <=",
    "meet_by <=",
    "until <=",
    "SELECT teams.id, teams.revision",
)
"""Parts of statements with which the server looks for what is due, and for what other processes have written."""
