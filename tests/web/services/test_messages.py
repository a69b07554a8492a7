"""Messages to participants: stored once, delivered by every way, shown until they are dismissed; on both databases."""

from __future__ import annotations

import itertools
import json
from typing import Any

from cobandit.studies import StudyDesign
from tests.clients import PATIENCE
from tests.web.servers import until
from tests.web.services.test_team_actions import (
    act,
    address,
    command,
    entries,
    events,
    name_of,
    researcher,
    team_name,
    team_site,
)
from tests.web.team_people import at_episode, episode_of, in_lobby, key, team_of, wait

__all__ = ["address", "team_site"]  # fixtures


class TestMessages:
    def test_one_participant_until_it_is_dismissed(self, team_site: Any) -> None:
        site = team_site()
        admin, person, other = researcher(site), in_lobby(site), in_lobby(site)
        sent = {"text": "  Please come to room 4.  ", "participant": name_of(site, person), "key": "a-key-of-the-page"}
        assert [act(admin, "messages", **sent)["people"] for _ in range(2)] == [1, 1]
        [message] = person.state()["messages"]
        assert message["text"] == "Please come to room 4."
        assert "messages" not in other.state()
        note = f"{person.path}/messages/{message['key']}"
        for dismissed in (False, False, True, True, False):
            assert person.client.post(note, json={"dismissed": dismissed}).status_code == 204
        assert "messages" not in person.state()
        assert person.client.get(f"{person.path}/messages").json() == {"messages": []}
        kinds = events(site, person)
        assert [kind for kind, _ in kinds] == ["message", "message-shown", "message-dismissed"]
        assert kinds[0][1]["text"] == "Please come to room 4."
        assert events(site, other) == []
        [entry] = entries(site, "message-sent")
        assert (entry["people"], entry["to"]) == (1, "participant")
        assert "room" not in json.dumps(entry)
        assert name_of(site, person) not in json.dumps(entry)

    def test_a_team_hears_it_by_the_stream(self, team_site: Any) -> None:
        site = team_site()
        admin, people = researcher(site), team_of(site)
        at_episode(people)
        waiting = in_lobby(site)
        with people[1].client.stream("GET", f"{people[1].path}/stream", timeout=PATIENCE) as response:
            lines = response.iter_lines()
            opening, *_ = itertools.islice(lines, 3)
            assert opening == "event: team"
            assert act(admin, "messages", text="Nearly done.", team=team_name(site))["people"] == 2
            kind, data, _ = itertools.islice(lines, 3)
            assert (kind, json.loads(data.removeprefix("data: "))["text"]) == ("event: message", "Nearly done.")
        moved = site.client().post(
            f"{people[0].path}/rounds",
            json={"episode": episode_of(people[0]), "moves": [{"t": 1, "arm": 0, "key": "k" * 16}]},
        )
        assert [message["text"] for message in moved.json()["messages"]] == ["Nearly done."]
        assert "messages" not in waiting.state()

    def test_the_lobby_hears_it_by_the_stream(self, team_site: Any) -> None:
        site = team_site()
        admin, person = researcher(site), in_lobby(site)
        wait(person)
        act(admin, "messages", text="The lobby is slow today.")
        with site.client().stream("GET", f"{person.path}/stream", timeout=PATIENCE) as response:
            kinds = (line for line in response.iter_lines() if line.startswith("event: "))
            assert next(kind for kind in kinds if kind != "event: lobby") == "event: message"

    def test_another_process_delivers_it(self, team_site: Any, open_site: Any) -> None:
        site = team_site()
        person = in_lobby(site)
        other = open_site(site.config.database)
        act(researcher(other), "messages", text="From next door.", participant=name_of(site, person))
        until(lambda: person.client.get(f"{person.path}/messages").json()["messages"])
        [message] = person.state()["messages"]
        elsewhere = other.client()
        elsewhere.post(f"{person.path}/messages/{message['key']}", json={"dismissed": True})
        until(lambda: person.client.get(f"{person.path}/messages").json()["messages"] == [])

    def test_it_survives_a_restart(self, team_site: Any, open_site: Any) -> None:
        site = team_site()
        person = in_lobby(site)
        act(researcher(site), "messages", text="Wait for me.", participant=name_of(site, person))
        again = open_site(site.config.database)
        until(lambda: again.client().get(f"{person.path}/messages").json()["messages"])

    def test_a_study_of_single_people(
        self, open_site: Any, address: str, short: StudyDesign, problem: Any, monkeypatch: Any
    ) -> None:
        site = open_site(address, short)
        admin, person, done, gone = researcher(site), site.person(), site.person(), site.person()
        person.go_on(short, "episode-1")
        done.go_on(short)
        site.change("UPDATE participants SET last_seen = last_seen - 100000000 WHERE token = :token", token=gone.token)
        assert act(admin, "messages", text="A break of ten minutes.")["people"] == 1
        moved = person.send(person.state()["episode"]["index"], (1, 0, key())).json()
        assert [message["text"] for message in moved["messages"]] == ["A break of ten minutes."]
        assert "messages" not in gone.state()
        [link] = admin.post("/api/admin/studies/1/links", json={"count": 1}).json()
        invited = {"text": "Hello", "participant": link["participant"]}
        problem(admin.post("/api/admin/studies/1/messages", json=invited), 409, "not-begun")

    def test_bad_messages_are_refused(self, team_site: Any) -> None:
        site = team_site()
        admin = researcher(site)
        wrong: list[dict[str, Any]] = [{"text": text} for text in ("", "   ", "x" * 501, 7, "a\0b")]
        wrong += [{}, {"text": "a", "more": 1}, {"text": "a", "kind": "everybody"}]
        for body in (*wrong, {"text": "a", "participant": "p", "team": "t"}):
            assert admin.post("/api/admin/studies/1/messages", json=body).status_code == 422, body
        assert site.query("SELECT count(*) FROM messages") == [(0,)]

    def test_deleting_a_participant_deletes_their_messages(self, team_site: Any) -> None:
        site = team_site()
        admin, person = researcher(site), in_lobby(site)
        act(admin, "messages", text="Secret 4711", participant=name_of(site, person))
        assert admin.delete(f"/api/admin/studies/1/participants/{name_of(site, person)}").status_code == 200
        for table in ("messages", "events", "audit"):
            assert "4711" not in str(site.query(f"SELECT * FROM {table}"))


def test_the_command(team_site: Any, address: str) -> None:
    site = team_site()
    person = in_lobby(site)
    words = ("message", "team", "Good morning", "--database", address)
    assert "Nothing was sent." in command(*words, stdin="n\n").stderr
    assert "Sent to 1 person." in command(*words, "--yes").stderr
    assert json.loads(command(*words, "--to", name_of(site, person), "--json").stdout)["people"] == 1
    until(lambda: len(person.client.get(f"{person.path}/messages").json()["messages"]) == 2)
    for wrong in (
        ("message", "team", " ", "--database", address, "--yes"),
        ("message", "team", "a", "--database", address, "--to", "t-nobody"),
        ("message", "team", "a", "--database", address, "--to", "p-nobody"),
        ("message", "team", "a", "--database", address, "--kind", "all", "--yes"),
        ("teams", "team", "--database", address, "--end", "a", "--replace", "b"),
        ("teams", "team", "--database", address, "--replace", name_of(site, person), "--yes"),
    ):
        assert command(*wrong).exit_code == 2, wrong
