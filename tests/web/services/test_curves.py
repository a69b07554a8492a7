"""Regret curves while a study runs."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest

from cobandit.studies import ParticipantPlan, StudyDesign, load_design
from cobandit.web.storage.episodes import finished_episodes
from cobandit.web.storage.rounds import arms_by_episode

STUDY = "/api/admin/studies/1"


def test_curves_are_the_means_of_what_was_lost(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    people = [site.person() for _ in range(3)]
    lost: dict[str, dict[str, list[list[float]]]] = {}
    for i, person in enumerate(people):
        [(seed, order)] = site.query("SELECT seed, order_index FROM participants WHERE token = :t", t=person.token)
        plan = ParticipantPlan(short, int(seed), order)
        state = person.state()
        # The last one leaves in the middle of an episode, which then does not count.
        while state["step"]["kind"] != "thanks" and not (i == 2 and state["step"]["id"] == "episode-2"):
            if state["step"]["kind"] != "episode":
                state = person.answer(state["step"]["id"], person.good_answers(state, short)).json()["state"]
                continue
            number = state["episode"]["index"]
            moves = [(t, (t * (i + 1)) % 2, uuid.uuid4().hex) for t in range(1, state["episode"]["rounds"] + 1)]
            played = person.send(number, *moves).json()["rounds"]
            episode = plan.episode(number)
            if not episode.practice:
                total, curve = 0.0, []
                for r in played:
                    total += float(episode.means.max()) - float(episode.means[r["arms"][0], r["arms"][1]])
                    curve.append(total)
                lost.setdefault(episode.condition, {}).setdefault(person.token, []).append(curve)
            state = person.state()
        if i == 2:
            person.send(2, (1, 0, uuid.uuid4().hex))
        curves = admin.get(f"{STUDY}/curves").json()  # asked in between: what is new is added to what was known
        assert curves["rounds"] == [1, 2, 3, 4, 5]
        assert curves["pending"] == 0
        for shown in curves["conditions"]:
            mine = lost.get(shown["name"], {})
            each = [[sum(point) / len(point) for point in zip(*curves, strict=True)] for curves in mine.values()]
            assert shown["n"] == len(each)
            assert shown["episodes"] == sum(map(len, mine.values()))
            for t in range(5) if each else ():
                values = [curve[t] for curve in each]
                mean = sum(values) / len(values)
                assert shown["mean"][t] == pytest.approx(mean, abs=1e-12)
                if len(values) > 1:
                    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
                    assert shown["se"][t] == pytest.approx(spread, abs=1e-12)
                else:
                    assert shown["se"] is None
    admin.delete(f"{STUDY}/participants/{site.public_id(people[0].token)}")
    after = admin.get(f"{STUDY}/curves").json()["conditions"]
    assert sum(curve["episodes"] for curve in after) == 4 + 1


def test_long_curves_are_thinned(open_site: Callable[..., Any], sqlite: str) -> None:
    data = load_design("burger").to_dict() | {"name": "long", "rounds": 450, "languages": ["en"], "translations": {}}
    design = StudyDesign.from_dict(data)
    site = open_site(sqlite, design)
    person = site.person("long")
    person.go_on(design, "episode-0")
    arms = []
    for first in (1, 151, 301):
        moves = [(t, t % 2, uuid.uuid4().hex) for t in range(first, first + 150)]
        arms += [r["arms"] for r in person.send(0, *moves).json()["rounds"]]
    curves = site.client(headers={"authorization": f"Bearer {site.login()}"}).get(f"{STUDY}/curves").json()
    assert len(curves["rounds"]) == 200
    assert (curves["rounds"][0], curves["rounds"][-1]) == (1, 450)
    [(seed, order)] = site.query("SELECT seed, order_index FROM participants")
    means = ParticipantPlan(design, int(seed), order).episode(0).means
    whole = np.cumsum([means.max() - means[tuple(pair)] for pair in arms])
    [shown] = [curve for curve in curves["conditions"] if curve["n"]]
    assert shown["mean"] == pytest.approx([whole[t - 1] for t in curves["rounds"]])


def test_only_what_is_new_is_read(
    site: Any, short: StudyDesign, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    looked: list[int | None] = []

    def noting(connection: Any, numbers: Any) -> Any:
        read.extend(numbers)
        return arms_by_episode(connection, numbers)

    def looking(connection: Any, study: int, kind: str, since: int | None = None) -> Any:
        looked.append(since)
        return finished_episodes(connection, study, kind, since)

    monkeypatch.setattr("cobandit.web.services.curves.arms_by_episode", noting)
    monkeypatch.setattr("cobandit.web.services.curves.finished_episodes", looking)
    first, second = site.person(), site.person()
    first.go_on(short, "episode-3")
    known = admin.get(f"{STUDY}/curves").json()
    assert len(read) == len(set(read)) == 2
    looked.clear()
    assert admin.get(f"{STUDY}/curves").json() == known
    assert (len(read), looked) == (2, [])  # nothing is new: not even a list is read
    second.go_on(short, "episode-2")
    admin.get(f"{STUDY}/curves")
    assert len(read) == len(set(read)) == 3
    assert None not in looked
    admin.delete(f"{STUDY}/participants/{site.public_id(first.token)}")
    after = admin.get(f"{STUDY}/curves").json()
    assert looked[-1] is None  # somebody is gone, so everything is looked through
    assert sum(curve["episodes"] for curve in after["conditions"]) == 1
    assert len(read) == 3
