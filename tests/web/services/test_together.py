"""People who play in one team: lobby, moves of all members, time-outs, leaving, deletion, export; on both databases."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from cobandit.studies import count_moves, tables, verify_study
from cobandit.web.services.lobby import visit
from cobandit.web.storage.participants import participant_by_token
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.values import now_ms
from tests.team_designs import team_design
from tests.web.servers import until
from tests.web.team_people import (
    DESIGN,
    at_episode,
    episode_of,
    has_played,
    in_lobby,
    key,
    rounds_after,
    stored,
    team_of,
    wait,
)


class TestLobby:
    def test_two_people_become_one_team(self, team_site: Any) -> None:
        site = team_site()
        first, second = in_lobby(site), in_lobby(site)
        alone = wait(first)["lobby"]
        assert (alone["waiting"], alone["needed"], alone["check_in"], alone["expired"]) == (1, 2, None, False)
        assert wait(first)["lobby"]["joined"] is True  # again changes nothing
        assert wait(second)["state"]["step"]["kind"] == "partner"
        assert wait(first)["state"]["step"]["kind"] == "partner"
        assert site.query("SELECT count(*) FROM teams") == [(1,)]
        assert site.query("SELECT count(*) FROM lobby") == [(0,)]
        seats = {person.state()["task"]["seat"] for person in (first, second)}
        assert seats == {0, 1}

    @pytest.mark.parametrize("ending", ["ai", "dismiss"])
    def test_the_page_knows_how_a_wait_ends(self, team_site: Any, ending: str) -> None:
        site = team_site(team_design(group={"when_short": ending}))
        assert wait(in_lobby(site))["lobby"]["when_short"] == ending

    def test_orders_are_balanced_by_team(self, team_site: Any) -> None:
        site = team_site()
        for _ in range(4):
            team_of(site)
        counts = site.query("SELECT order_index, count(*) FROM teams GROUP BY order_index ORDER BY order_index")
        assert counts == [(0, 2), (1, 2)]

    def test_who_has_waited_long_is_asked_and_asked_once(self, team_site: Any) -> None:
        site = team_site()
        first = in_lobby(site)
        wait(first)
        site.change("UPDATE lobby SET ready_at = ready_at - 60000")
        second = in_lobby(site)
        assert wait(second)["lobby"]["waiting"] == 2
        asked = wait(first)["lobby"]
        assert 0 < asked["check_in"]["seconds_left"] <= 30
        assert wait(first, ready=True)["lobby"] is None
        assert wait(second)["lobby"] is None

    def test_who_does_not_answer_makes_room_for_others(self, team_site: Any) -> None:
        site = team_site()
        first, second, third = (in_lobby(site) for _ in range(3))
        wait(first)
        site.change("UPDATE lobby SET ready_at = ready_at - 90000")
        wait(second)
        site.change("UPDATE lobby SET asked_at = asked_at - 60000 WHERE asked_at IS NOT NULL")
        assert wait(first)["lobby"]["expired"] is True
        assert wait(third)["lobby"] is None
        assert wait(second)["lobby"] is None
        assert wait(first, ready=True)["lobby"]["expired"] is False

    def test_a_visit_that_comes_late_does_not_join_again(self, team_site: Any) -> None:
        site = team_site()
        first, second = in_lobby(site), in_lobby(site)
        wait(first)
        with site.database.read() as connection:
            study = find_study(connection, "team")
            assert study is not None
            before = participant_by_token(connection, first.token)
        assert before is not None
        wait(second)  # forms the team while a visit of the first is under way
        with site.database.write() as connection:
            visit(connection, study, before, True, now_ms())
        assert site.query("SELECT count(*) FROM lobby") == [(0,)]
        assert wait(first)["state"]["step"]["kind"] == "partner"

    @pytest.mark.parametrize("rule", ["ai", "dismiss"])
    def test_nobody_comes(self, team_site: Any, rule: str) -> None:
        design = team_design(group={"when_short": rule, "short_code": "SHORT1"})
        site = team_site(design)
        person = in_lobby(site, design)
        wait(person)
        site.change("UPDATE lobby SET until = until - 400000")
        until(lambda: site.query("SELECT count(*) FROM lobby") == [(0,)])
        state = person.state()
        if rule == "dismiss":
            assert state["thanks"] | {"debriefing": None} == {
                "code": "SHORT1",
                "return_url": None,
                "ending": "short",
                "debriefing": None,
            }
            assert verify_study(stored(site)) == []
            return
        (shown,) = at_episode([person], design)  # the part that was meant for two people
        assert shown["partner"] == {"name": "an AI", "look": "teal", "names": []}
        assert shown["team"]["notice"] is None  # nobody has left
        person.go_on(design)
        assert person.state()["step"]["kind"] == "thanks"
        data = stored(site)
        assert verify_study(data) == []
        together = next(log for log in data.participants[0].episodes.values() if log.by)
        assert sorted(together.by[0]) == ["person", "takeover"]


class TestMoves:
    def test_a_team_plays_from_lobby_to_code(self, team_site: Any) -> None:
        site = team_site()
        people = team_of(site)
        at_episode(people)
        for t in range(1, 5):
            waiting = people[0].send(episode_of(people[0]), (t, 0, key())).json()
            assert (waiting["rounds"], waiting["waiting"], waiting["played"]) == ([], True, t - 1)
            sealed = people[1].send(episode_of(people[1]), (t, 1, key())).json()
            assert sealed["rounds"][0]["arms"] == [0, 1]
            assert "waiting" not in sealed
        for person in people:
            person.go_on(DESIGN, arm=1)
            assert person.state()["step"]["kind"] == "thanks"
        data = stored(site)
        assert verify_study(data) == []
        assert str(count_moves(data)) == "8 moves recomputed, 16 recorded"
        long = tables(data)["long"]
        assert set(long["by_1"]) >= {"person"}
        assert set(long["ms_0"][long["by_0"] == "person"]) == {500.0}
        assert len(set(long["team"])) == 1

    def test_a_move_is_stored_once(self, team_site: Any, problem: Any) -> None:
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        episode, name = episode_of(first), key()
        answers = [first.send(episode, (1, 0, name)).json() for _ in range(3)]
        assert answers[0] == answers[1] == answers[2]
        problem(first.send(episode, (1, 0, key())), 409, "already-played")
        problem(first.send(episode, (1, 1, name)), 409, "already-played")
        problem(first.send(episode, (2, 0, key())), 409, "out-of-order")
        second.send(episode, (1, 1, key()))
        assert first.send(episode, (1, 0, name)).json()["rounds"][0]["arms"] == [0, 1]
        problem(first.send(episode, (2, 0, name)), 409, "already-played")
        assert site.query("SELECT t, seat, arm FROM moves ORDER BY t, seat") == [(1, 0, 0), (1, 1, 1)]

    def test_each_is_shown_what_their_seat_saw(self, team_site: Any) -> None:
        design = team_design(rounds=30)
        site = team_site(design)
        people = team_of(site, design)
        at_episode(people, design)
        for t in range(1, 31):
            for person in people:
                assert person.send(episode_of(person), (t, 0, key())).status_code == 200
        log = next(log for log in stored(site).participants[0].episodes.values() if log.by)
        shown = [[r["good"] for r in rounds_after(person, 0)] for person in people]
        assert shown == [[bool(seen) for seen in column] for column in log.seen.T.tolist()]
        assert sum(shown[1]) < sum(shown[0])

    def test_pending_moves_survive_a_restart(self, team_site: Any, open_site: Any) -> None:
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        name = key()
        first.send(episode_of(first), (1, 1, name))
        again = open_site(site.config.database)
        second.client = again.client()
        assert second.send(episode_of(second), (1, 0, key())).json()["rounds"][0]["arms"] == [1, 0]
        assert first.send(episode_of(first), (1, 1, name)).json()["rounds"][0]["arms"] == [1, 0]

    def test_three_people_and_an_ai(self, team_site: Any) -> None:
        design = team_design(3, 1, rounds=2)
        site = team_site(design)
        people = team_of(site, design)
        at_episode(people, design)
        for t in (1, 2):
            answers = [person.send(episode_of(person), (t, 1, key())).json() for person in people]
            assert [bool(answer["rounds"]) for answer in answers] == [False, False, True]
        assert verify_study(stored(site)) == []


class TestTimeouts:
    def test_an_agent_moves_for_who_is_late_and_the_chain_verifies(self, team_site: Any, problem: Any) -> None:
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        first.send(episode_of(first), (1, 0, key()))
        site.change("UPDATE episodes SET deadline = deadline - 120000, round_at = round_at - 120000")
        until(lambda: len(rounds_after(first, 0)) == 1)
        problem(second.send(episode_of(second), (1, 0, key())), 409, "already-played")
        assert site.query("SELECT seat, by FROM moves ORDER BY seat") == [(0, "person"), (1, "takeover")]
        assert second.send(episode_of(second), (2, 0, key())).json()["waiting"] is True  # back in time
        assert verify_study(stored(site)) == []

    @pytest.mark.parametrize("rule", ["ai", "end"])
    def test_after_some_in_a_row_the_seat_is_taken_over_for_good(self, team_site: Any, problem: Any, rule: str) -> None:
        design = team_design(group={"timeouts": 2, "when_left": rule})
        site = team_site(design)
        first, second = team_of(site, design)
        at_episode([first, second], design)
        for t in (1, 2):
            first.send(episode_of(first), (t, 0, key()))
            site.change("UPDATE episodes SET deadline = deadline - 120000, round_at = round_at - 120000")
            until(functools.partial(has_played, site, t))
        refused = second.send(episode_of(second), (3, 0, key()))
        assert refused.status_code == 409
        assert second.state()["step"]["kind"] == "survey"
        if rule == "end":
            assert first.state()["step"]["kind"] == "survey"
        else:
            assert first.state()["team"]["notice"] == "Your partner has left. An AI plays on."
            assert first.state()["partner"]["name"] == "another participant"  # as the part began
            for t in (3, 4):
                assert len(first.send(episode_of(first), (t, 0, key())).json()["rounds"]) == 1
        for person in (first, second):
            assert person.go_on(design)["step"]["kind"] == "thanks"
        data = stored(site)
        assert verify_study(data) == []
        assert {person.team.left_reason for person in data.participants} == (
            {None, "timeout"} if rule == "ai" else {"partner", "timeout"}
        )

    def test_who_is_late_for_an_episode_has_left(self, team_site: Any) -> None:
        site = team_site()
        first, second = team_of(site)
        state = at_episode([first])[0]
        assert state["team"]["meeting"]["here"] == 1
        assert first.send(state["episode"]["index"], (1, 0, key())).json()["error"] == "out-of-order"
        site.change("UPDATE teams SET meet_by = meet_by - 400000")
        until(lambda: first.state()["team"]["meeting"] is None)
        assert len(first.send(state["episode"]["index"], (1, 0, key())).json()["rounds"]) == 1
        assert second.state()["step"]["kind"] == "survey"
        assert first.state()["partner"]["name"] == "an AI"


class TestDeleting:
    def test_arms_stay_and_the_person_goes(self, team_site: Any) -> None:
        site = team_site()
        first, second = team_of(site)
        at_episode([first, second])
        for person in (first, second):
            person.send(episode_of(person), (1, 1, key()))
        gone = site.public_id(second.token)
        admin = site.client()
        admin.headers["authorization"] = f"Bearer {site.login()}"
        assert admin.delete(f"/api/admin/studies/1/participants/{gone}").status_code == 200
        assert site.query("SELECT arm, by, key, ms FROM moves WHERE seat = 1") == [(1, "person", None, None)]
        assert second.client.get(second.path).status_code == 404
        assert len(first.send(episode_of(first), (2, 0, key())).json()["rounds"]) == 1
        data = stored(site)
        assert verify_study(data) == []
        assert [person.id for person in data.participants] == [site.public_id(first.token)]
        last = site.public_id(first.token)
        assert admin.delete(f"/api/admin/studies/1/participants/{last}").status_code == 200
        for table in ("teams", "members", "moves", "episodes", "rounds"):
            assert site.query(f"SELECT count(*) FROM {table}") == [(0,)], table
