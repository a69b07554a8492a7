"""Researchers and teams: the monitor, ending a team, replacing a member, messages; on both databases."""

from __future__ import annotations

import functools
import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from cobandit.cli import app
from cobandit.studies import StudyDesign, verify_study
from cobandit.web.access import grant_login
from cobandit.web.services.accounts import add_account
from tests.clients import PATIENCE
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


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """A database of either kind."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def team_site(open_site: Callable[..., Any], address: str) -> Callable[..., Any]:
    """Start a server with a study for teams."""
    return lambda design=DESIGN: open_site(address, design)


def researcher(site: Any) -> Any:
    """Return a client that sees the conditions."""
    return site.client(headers={"authorization": f"Bearer {site.login()}"})


def account(site: Any, role: str) -> Any:
    """Return a client of a new account, which is blind."""
    with site.database.write() as connection:
        add_account(connection, "owner", f"{role}-1", role)
        token, _ = grant_login(connection, f"{role}-1", "program")
    return site.client(headers={"authorization": f"Bearer {token}"})


def look(admin: Any, **wanted: Any) -> dict[str, Any]:
    response = admin.get("/api/admin/studies/1/teams", params=wanted)
    assert response.status_code == 200, response.text
    return dict(response.json())


def act(admin: Any, path: str, **body: Any) -> dict[str, Any]:
    response = admin.post(f"/api/admin/studies/1/{path}", json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def name_of(site: Any, person: Any) -> str:
    return str(site.public_id(person.token))


def team_name(site: Any) -> str:
    [(name,)] = site.query("SELECT public_id FROM teams")
    return str(name)


def entries(site: Any, action: str) -> list[Any]:
    rows = site.query("SELECT details FROM audit WHERE action = :action ORDER BY number", action=action)
    return [json.loads(row.details) for row in rows]


def events(site: Any, person: Any) -> list[tuple[str, Any]]:
    """What an export holds of the messages of a person."""
    mine = next(one for one in stored(site).participants if one.id == name_of(site, person))
    return [(event.kind, event.data) for event in mine.events if event.kind.startswith("message")]


class TestMonitor:
    def test_the_lobby(self, team_site: Any) -> None:
        site = team_site()
        admin, person = researcher(site), in_lobby(site)
        assert look(admin)["lobby"] == []
        wait(person)
        [waiting] = look(admin)["lobby"]
        assert (waiting["participant"], waiting["check_in"]) == (name_of(site, person), "ready")
        assert waiting["until"] - waiting["joined_at"] == 300_000
        for change, state in (
            ("ready_at = ready_at - 90000", "unasked"),
            ("asked_at = ready_at + 90000", "asked"),
            ("asked_at = asked_at - 90000", "expired"),
            ("asked_at = NULL, seen_at = seen_at - 90000", "away"),
        ):
            site.change(f"UPDATE lobby SET {change}")
            assert look(admin)["lobby"][0]["check_in"] == state

    def test_who_waits_for_whom(self, team_site: Any) -> None:
        site = team_site()
        admin = researcher(site)
        people = team_of(site)
        names = [name_of(site, person) for person in people]
        view = look(admin)
        assert view["lobby"] == []
        assert view["group"]["size"] == 2
        [team] = view["teams"]
        assert team["status"] == "apart"
        assert [member["participant"] for member in team["members"]] == names
        at_episode(people[:1])
        [team] = look(admin)["teams"]
        assert team["status"] == "meeting"
        assert (team["waiting"]["seats"], team["waiting"]["for"]) == ([0], [1])
        at_episode(people)
        [team] = look(admin)["teams"]
        assert (team["status"], team["condition"], team["round"], team["rounds"]) == ("playing", "human", 1, 4)
        assert team["waiting"] is None
        people[1].send(episode_of(people[1]), (1, 1, key()))
        [team] = look(admin)["teams"]
        assert (team["waiting"]["seats"], team["waiting"]["for"]) == ([1], [0])
        assert team["waiting"]["deadline"] == team["round_at"] + 60_000
        assert team["waiting"]["since"] >= team["round_at"]
        assert "arm" not in json.dumps(team)

    def test_takeovers_are_counted_with_agent_and_reason(self, team_site: Any) -> None:
        design = team_design(group={"timeouts": 2})
        site = team_site(design)
        first, second = team_of(site, design)
        at_episode([first, second], design)
        for t in (1, 2):
            first.send(episode_of(first), (t, 0, key()))
            site.change("UPDATE episodes SET deadline = deadline - 120000, round_at = round_at - 120000")
            until(functools.partial(has_played, site, t))
        view = look(researcher(site))
        [team] = view["teams"]
        [taken] = team["takeovers"]
        assert (taken["seat"], taken["moves"], taken["agents"]) == (1, 2, ["partner-aware-ucb"])
        assert taken["reason"] == team["members"][1]["left"]["reason"] == "timeout"
        assert view["counts"] == {"active": 1, "over": 0, "takeovers": 2, "left": {"timeout": 1}}
        blind = look(account(site, "assistant"))
        assert blind["teams"][0]["takeovers"] == []
        assert blind["teams"][0]["members"][1]["left"] == {"at": None, "reason": None}
        assert blind["counts"] == {"active": 1, "over": 0, "takeovers": None, "left": {"left": 1}}

    def test_a_blind_account_reads_takeovers_where_people_meet_in_every_condition(self, team_site: Any) -> None:
        plain = team_design(group={"timeouts": 2})
        design = replace(plain, conditions=tuple(replace(each, alone=False) for each in plain.conditions))
        site = team_site(design)
        first, second = team_of(site, design)
        at_episode([first, second], design)
        first.send(episode_of(first), (1, 0, key()))
        admin = account(site, "assistant")
        [team] = look(admin)["teams"]
        assert (team["status"], team["round"], team["condition"]) == ("playing", 1, None)
        assert (team["waiting"]["seats"], team["waiting"]["for"]) == ([0], [1])
        site.change("UPDATE episodes SET deadline = deadline - 120000, round_at = round_at - 120000")
        until(functools.partial(has_played, site, 1))
        [team] = look(admin)["teams"]
        assert (team["takeovers"][0]["moves"], team["takeovers"][0]["agents"]) == (1, None)

    @pytest.mark.parametrize("role", ["assistant", "researcher", "owner"])
    def test_a_blind_account_reads_no_condition(self, team_site: Any, role: str) -> None:
        design = DESIGN
        if role == "researcher":  # people meet in both conditions, of which one is longer
            lengths = zip(DESIGN.conditions, (4, 6), strict=True)
            design = replace(DESIGN, conditions=tuple(replace(each, alone=False, rounds=n) for each, n in lengths))
        site = team_site(design)
        people = team_of(site, design)
        at_episode(people, design)
        people[0].send(episode_of(people[0]), (1, 0, key()))
        admin = account(site, role)
        view = look(admin)
        assert view["blind"] is True
        said = re.sub(r"\b[pt]-\w+", "", json.dumps(view))  # a random pseudonym may contain any of these words
        assert not [word for word in ("human", "ucb", "arm") if word in said], said
        [team] = view["teams"]
        # A wait or a shared round would tell which condition has two people in a team, or how many rounds it has.
        hidden = ("condition", "set", "round", "rounds", "round_at", "waiting")
        assert [team[name] for name in hidden] == [None] * len(hidden)
        assert team["status"] == "at-work"
        assert {member["step"] for member in team["members"]} == {None}
        if role != "assistant":
            act(admin, "unblind")
            assert look(admin)["teams"][0]["condition"] in [each.name for each in design.conditions if not each.alone]

    def test_a_study_of_single_people_has_none(self, open_site: Any, address: str, short: StudyDesign) -> None:
        view = look(researcher(open_site(address, short)))
        assert (view["group"], view["lobby"], view["teams"], view["services"]) == (None, [], [], None)

    def test_teams_that_are_over_are_listed_apart(self, team_site: Any) -> None:
        site = team_site()
        admin = researcher(site)
        people = team_of(site)
        at_episode(people)
        for t in range(1, 5):
            for person in people:
                person.send(episode_of(person), (t, 0, key()))
        for person in people:
            person.go_on(DESIGN)
        assert (look(admin)["teams"], look(admin)["counts"]["over"]) == ([], 1)
        [team] = look(admin, over=True)["teams"]
        assert (team["status"], team["members"][0]["status"]) == ("over", "finished")
        name = team["members"][0]["participant"]
        path = f"/api/admin/studies/1/participants/{name}/remove"
        assert admin.post(path, json={"reason": "took part twice"}).status_code == 200
        [team] = look(admin, over=True)["teams"]
        assert (team["status"], team["members"][0]["status"]) == ("over", "removed")

    def test_the_pulse_follows_lobby_and_teams(self, team_site: Any) -> None:
        site = team_site()
        person = in_lobby(site)
        ticks = []
        with researcher(site).stream("GET", "/api/admin/studies/1/stream", timeout=PATIENCE) as response:
            lines = (line for line in response.iter_lines() if line.startswith("id:"))
            ticks.append(next(lines))
            wait(person)
            ticks.append(next(lines))
        assert ticks[0] != ticks[1]


class TestEnding:
    def test_members_go_on_to_the_survey(self, team_site: Any, problem: Any) -> None:
        site = team_site()
        admin, people = researcher(site), team_of(site)
        at_episode(people)
        people[0].send(episode_of(people[0]), (1, 0, key()))
        act(admin, f"teams/{team_name(site)}/end", message="We have to stop here.")
        for person in people:
            state = person.state()
            assert state["step"]["kind"] == "survey"
            assert [message["text"] for message in state["messages"]] == ["We have to stop here."]
            assert person.send(episode_of(person), (1, 0, key())).status_code == 409
            assert person.go_on(DESIGN)["step"]["kind"] == "thanks"
        data = stored(site)
        assert verify_study(data) == []
        assert {person.team.left_reason for person in data.participants} == {"researcher"}
        assert site.query("SELECT deadline FROM episodes WHERE team_id IS NOT NULL") == [(None,)]
        [entry] = entries(site, "team-ended")
        assert entry["team"] == team_name(site)
        assert len(entry["participants"]) == 2
        assert not [name for name in (name_of(site, person) for person in people) if name in json.dumps(entry)]
        again = admin.post(f"/api/admin/studies/1/teams/{team_name(site)}/end", json={})
        problem(again, 409, "left")
        assert len(entries(site, "team-ended")) == 1

    def test_before_an_episode(self, team_site: Any) -> None:
        site = team_site()
        people = team_of(site)
        act(researcher(site), f"teams/{team_name(site)}/end")
        for person in people:
            assert person.go_on(DESIGN)["step"]["kind"] == "thanks"
        assert verify_study(stored(site)) == []

    def test_while_one_waits_for_the_other(self, team_site: Any) -> None:
        site = team_site()
        people = team_of(site)
        at_episode(people[:1])
        act(researcher(site), f"teams/{team_name(site)}/end")
        assert site.query("SELECT meet_by FROM teams") == [(None,)]
        assert site.query("SELECT count(*) FROM episodes WHERE team_id IS NOT NULL") == [(0,)]
        for person in people:
            assert person.go_on(DESIGN)["step"]["kind"] == "thanks"
        assert verify_study(stored(site)) == []


class TestReplacing:
    def test_an_ai_plays_on_with_the_others(self, team_site: Any, problem: Any) -> None:
        site = team_site(team_design(group={"when_left": "end"}))  # the researcher's word goes before the design's
        admin, people = researcher(site), team_of(site)
        first, second = people
        at_episode(people)
        first.send(episode_of(first), (1, 0, key()))
        act(admin, f"teams/{team_name(site)}/replace", participant=name_of(site, second))
        assert len(rounds_after(first, 0)) == 1  # it was the last move that was missing
        assert second.send(episode_of(second), (2, 0, key())).status_code == 409
        assert second.state()["step"]["kind"] == "survey"
        assert first.state()["team"]["notice"] is not None
        for t in (2, 3, 4):
            assert len(first.send(episode_of(first), (t, 0, key())).json()["rounds"]) == 1
        for person in people:
            assert person.go_on(DESIGN)["step"]["kind"] == "thanks"
        data = stored(site)
        assert verify_study(data) == []
        assert look(admin, over=True)["teams"][0]["members"][0]["left"] is None
        assert len(entries(site, "member-replaced")) == 1
        gone = admin.post(
            f"/api/admin/studies/1/teams/{team_name(site)}/replace", json={"participant": name_of(site, second)}
        )
        problem(gone, 409, "left")

    def test_a_move_that_was_made_stays(self, team_site: Any) -> None:
        site = team_site()
        first, second = people = team_of(site)
        at_episode(people)
        second.send(episode_of(second), (1, 1, key()))
        act(researcher(site), f"teams/{team_name(site)}/replace", participant=name_of(site, second))
        assert first.send(episode_of(first), (1, 0, key())).json()["rounds"][0]["arms"] == [0, 1]
        assert site.query("SELECT by FROM moves WHERE seat = 1 AND t = 1") == [("person",)]
        assert len(first.send(episode_of(first), (2, 0, key())).json()["rounds"]) == 1

    def test_who_is_waited_for_before_an_episode(self, team_site: Any) -> None:
        site = team_site()
        first, second = people = team_of(site)
        state = at_episode(people[:1])[0]
        act(researcher(site), f"teams/{team_name(site)}/replace", participant=name_of(site, second))
        assert first.state()["team"]["meeting"] is None
        assert len(first.send(state["episode"]["index"], (1, 0, key())).json()["rounds"]) == 1
        assert second.go_on(DESIGN)["step"]["kind"] == "thanks"
        assert verify_study(stored(site)) == []

    def test_who_waits_before_an_episode(self, team_site: Any) -> None:
        site = team_site()
        first, second = people = team_of(site)
        at_episode(people[:1])
        act(researcher(site), f"teams/{team_name(site)}/replace", participant=name_of(site, first))
        assert site.query("SELECT meet_by FROM teams") == [(None,)]
        at_episode([second])
        assert second.state()["team"]["meeting"] is None
        assert len(second.send(episode_of(second), (1, 0, key())).json()["rounds"]) == 1

    def test_the_last_member_ends_the_team(self, team_site: Any) -> None:
        site = team_site()
        admin, people = researcher(site), team_of(site)
        at_episode(people)
        for person in people:
            act(admin, f"teams/{team_name(site)}/replace", participant=name_of(site, person))
            assert person.state()["step"]["kind"] == "survey"
        assert site.query("SELECT deadline FROM episodes WHERE team_id IS NOT NULL") == [(None,)]
        assert verify_study(stored(site)) == []

    def test_racing_with_moves_it_stays_exactly_once(self, team_site: Any, open_site: Any) -> None:
        """Two servers on one database: at one, members move; at the other, a member is replaced."""
        design = team_design(rounds=6)
        site = team_site(design)
        other = open_site(site.config.database)
        admin = researcher(other)
        for number in range(6):
            people = team_of(site, design)
            at_episode(people, design)
            [(team,)] = site.query("SELECT public_id FROM teams ORDER BY id DESC LIMIT 1")
            answers: dict[str, Any] = {}
            start = threading.Barrier(3)

            def move(seat: int, people: list[Any] = people, answers: Any = answers, start: Any = start) -> None:
                start.wait(PATIENCE)
                answers[f"move-{seat}"] = people[seat].send(episode_of(people[seat]), (1, 1, f"key-{seat}-of-round-1"))

            def replace(
                team: str = team, people: list[Any] = people, answers: Any = answers, start: Any = start
            ) -> None:
                body = {"participant": name_of(site, people[1])}
                start.wait(PATIENCE)
                answers["replace"] = admin.post(f"/api/admin/studies/1/teams/{team}/replace", json=body)

            threads = [threading.Thread(target=move, args=(seat,)) for seat in (0, 1)]
            threads.append(threading.Thread(target=replace))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            assert answers["replace"].status_code == 200, answers["replace"].text
            assert answers["move-0"].status_code == 200, answers["move-0"].text
            [(by, name)] = site.query(
                "SELECT moves.by, moves.key FROM moves JOIN episodes ON episodes.id = moves.episode_id JOIN teams ON "
                "teams.id = episodes.team_id WHERE teams.public_id = :team AND moves.seat = 1 AND t = 1",
                team=team,
            )
            accepted = answers["move-1"].status_code == 200
            assert (by, name) == (("person", "key-1-of-round-1") if accepted else ("takeover", None)), number
            until(functools.partial(rounds_after, people[0], 0))
            for t in range(2, 7):
                assert len(people[0].send(episode_of(people[0]), (t, 0, key())).json()["rounds"]) == 1
        assert verify_study(stored(site)) == []
        assert len(entries(site, "member-replaced")) == 6

    def test_another_process_sealed_the_round_before(self, team_site: Any, open_site: Any) -> None:
        site = team_site()
        first, second = people = team_of(site)
        at_episode(people)
        second.client = open_site(site.config.database).client()
        second.state()
        for person in (second, first):
            person.send(episode_of(person), (1, 0, key()))  # sealed by the server of the first
        assert second.send(episode_of(second), (2, 0, key())).json()["waiting"] is True


def test_roles(team_site: Any, problem: Any) -> None:
    site = team_site()
    people = team_of(site)
    at_episode(people)
    assistant, team = account(site, "assistant"), team_name(site)
    path = f"/api/admin/studies/1/teams/{team}"
    problem(assistant.post(f"{path}/end", json={}), 403, "not-allowed")
    problem(assistant.post(f"{path}/replace", json={"participant": name_of(site, people[0])}), 403, "not-allowed")
    assert act(assistant, "messages", text="Good morning", team=team)["people"] == 2
    assert (entries(site, "team-ended"), entries(site, "member-replaced")) == ([], [])
    assert site.client().get("/api/admin/studies/1/teams").status_code == 401
    admin = account(site, "researcher")
    problem(admin.post("/api/admin/studies/1/teams/t-nobody/end", json={}), 404, "not-found")
    problem(admin.post(f"{path}/replace", json={"participant": "p-nobody"}), 404, "not-found")
    problem(admin.get("/api/admin/studies/9/teams"), 404, "not-found")
    act(admin, f"teams/{team}/replace", participant=name_of(site, people[0]))


def command(*words: str, stdin: str = "") -> Any:
    return CliRunner().invoke(app, ["study", *words], input=stdin)


class TestCommands:
    """The command line beside a running server."""

    def test_teams_are_shown_without_conditions(self, team_site: Any, address: str) -> None:
        site = team_site()
        people, waiting = team_of(site), in_lobby(site)
        at_episode(people)
        wait(waiting)
        people[0].send(episode_of(people[0]), (1, 0, key()))
        done = command("teams", "team", "--database", address)
        said = " ".join(done.stdout.split())
        assert done.exit_code == 0
        assert f"{team_name(site)} (at-work)" in said
        assert "round 1 of 4" not in said  # people meet in one condition only: a round would reveal it
        assert "waits for" not in said
        assert f"{name_of(site, waiting)} has waited" in said
        shown = re.sub(r"\b[pt]-\w{8}\b", "", said)  # pseudonyms are random letters
        assert not [word for word in ("human", "ucb") if word in shown]
        view = json.loads(command("teams", "team", "--database", address, "--json").stdout)
        assert (view["blind"], view["counts"]["active"]) == (True, 1)

    def test_a_running_server_applies_actions(self, team_site: Any, address: str) -> None:
        site = team_site()
        first, second = people = team_of(site)
        at_episode(people)
        first.send(episode_of(first), (1, 0, key()))
        words = ("teams", "team", "--database", address, "--replace", name_of(site, second))
        assert "Nothing was changed." in command(*words, stdin="n\n").stderr
        assert second.state()["step"]["kind"] == "episode"
        assert command(*words, stdin="y\n").exit_code == 0
        assert len(first.send(episode_of(first), (2, 0, key())).json()["rounds"]) == 1
        assert second.state()["step"]["kind"] == "survey"
        ended = ("teams", "team", "--database", address, "--end", team_name(site), "--yes")
        assert command(*ended).exit_code == 0
        assert first.state()["step"]["kind"] == "survey"
        again = command(*ended)
        assert again.exit_code == 2
        assert "is over" in again.stderr
        assert verify_study(stored(site)) == []
        [(by,)] = site.query("SELECT by FROM audit WHERE action = 'team-ended'")
        assert "command line" in by

    def test_deleting_a_member_frees_the_team(self, team_site: Any, address: str) -> None:
        site = team_site()
        first, second = people = team_of(site)
        at_episode(people)
        for person in people:
            person.send(episode_of(person), (1, 1, key()))
        gone = ("delete-participant", "team", name_of(site, second), "--database", address, "--yes")
        assert command(*gone).exit_code == 0
        assert site.query("SELECT arm, by, key, ms FROM moves WHERE seat = 1") == [(1, "person", None, None)]
        assert len(first.send(episode_of(first), (2, 0, key())).json()["rounds"]) == 1
