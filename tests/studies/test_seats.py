"""Teams of more than two: seats in a design, episodes of three and four, their logs, tables and crowds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.studies import (
    Episode,
    ParticipantPlan,
    load_design,
    participant_view,
    read_export,
    rehearse,
    rehearsed_data,
    simulate_participants,
    tables,
    verify_study,
    write_export,
)
from cobandit.studies.design import Seat, StudyDesign, WarmStart

THREE = load_design("three-seats")
WARM = replace(THREE, warm_start=WarmStart(agent="naive-ucb", rounds=10))


def seated(*players, labels=2, **changes):
    """The three-seat design with other seats; each observes a little less than the one before."""
    seats = tuple(
        Seat(
            name=f"Seat {i}",
            player=player,
            observability=1.0 - i / 10,
            arms=tuple(f"Arm {i}{arm}" for arm in range(labels)),
        )
        for i, player in enumerate(players)
    )
    plain = THREE.to_dict() | {"seats": [seat.to_dict() for seat in seats], "translations": {}, "languages": ["en"]}
    plain |= {
        "partners": [],
        "arms": [2, 2],
        "observability": [],
        "task": plain["task"] | {"arms": [], "participant": ""},
    } | changes
    return StudyDesign.from_dict(plain)


class TestDesigns:
    def test_short_form_and_seats_say_the_same(self):
        burger = load_design("burger")
        assert [(seat.name, seat.player, seat.observability) for seat in burger.seating] == [
            ("You", "participant", 1.0),
            ("Robot", "agent", 0.5),
        ]
        assert tuple(seat.arms for seat in burger.seating) == burger.task.arms
        assert "seats" not in burger.essence()

    def test_what_follows_from_the_seats(self):
        assert THREE.arms == (2, 2, 2)
        assert THREE.observability == (1.0, 0.8, 0.5)
        assert THREE.task.participant == "You"
        assert (THREE.participant_seat, THREE.agent_seats) == (0, (1, 2))
        assert THREE.texts()["seats.1"] == "Topping"
        assert StudyDesign.from_dict(THREE.to_dict()).digest == THREE.digest

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"observability": [1.0, 0.5]}, "observability is .*but the seats say"),
            ({"arms": [3, 3, 3]}, "arms is .*but the seats say"),
            ({"seats": []}, "exactly 2 are needed where the design lists no seats"),
            ({"seats": [seat.to_dict() for seat in THREE.seats[1:]]}, "0 participants among 2 seats"),
            ({"seats": [THREE.seats[0].to_dict(), THREE.seats[0].to_dict()]}, "'You' twice"),
            ({"seats": [THREE.seats[0].to_dict() | {"player": "partner"}]}, "player of a seat"),
            ({"seats": [THREE.seats[0].to_dict()]}, "one other seat are needed"),
        ],
    )
    def test_every_mistake_is_named(self, changes, message):
        with pytest.raises(cb.CobanditError, match=message):
            StudyDesign.from_dict(THREE.to_dict() | changes)

    def test_scenes_for_two_are_refused(self):
        task = THREE.to_dict()["task"] | {"kind": "burger"}
        with pytest.raises(cb.InvalidInput, match="drawn for two"):
            StudyDesign.from_dict(THREE.to_dict() | {"task": task})

    def test_two_people_need_a_group(self):
        with pytest.raises(cb.InvalidInput, match=r"require each other, but the design has 2; add .group."):
            seated("participant", "participant", "agent")

    def test_more_team_actions_than_a_page_can_show(self):
        with pytest.raises(cb.InvalidInput, match="4096 team actions; a page shows at most 81"):
            seated("participant", *["agent"] * 5, labels=4)


@pytest.mark.parametrize(
    "design",
    [THREE, WARM, seated("agent", "participant", "agent"), seated("agent", "agent", "participant", "agent")],
    ids=["first", "warm start", "middle", "four"],
)
class TestEpisodes:
    def test_every_seat_plays_sees_and_is_rebuilt(self, design):
        for episode in rehearse(design, "softmax", seed=5, order=1):
            seats = len(design.seating)
            assert all(len(r.arms) == len(r.seen) == len(r.predictions) == seats for r in episode.rounds)
            luck = episode.plan.luck()[episode.plan.warm_rounds :]
            assert [r.reward for r in episode.rounds] == [luck[(r.t - 1, *r.arms)] for r in episode.rounds]
            again = Episode.rebuild(episode.plan, episode.rounds)
            assert (again.head, again.rounds) == (episode.head, episode.rounds)

    def test_ranks_by_observability_predict_those_above(self, design):
        aware = next(e for e in rehearse(design, "softmax", seed=5, order=0) if e.plan.condition == "aware")
        ranks = design.problem.known_ranks()
        last = aware.rounds[-1]
        for i, j in itertools.product(range(len(ranks)), repeat=2):
            foreseen = last.predictions[i][j] is not None
            assert foreseen == (i != design.participant_seat and ranks[j] < ranks[i])

    def test_ais_of_one_episode_draw_apart(self, design):
        plan = ParticipantPlan(design, 3, 0).episode(0)
        draws = [agent.rng.random() for agent in plan.ready_agents().values()]
        assert len(set(draws)) == len(design.agent_seats)

    def test_moves_of_the_ais_come_first(self, design):
        arms = design.arms[design.participant_seat]
        futures = set()
        for arm in range(arms):
            episode = Episode.open(ParticipantPlan(design, 3, 1).episode(0))
            played = episode.play(1, arm)
            futures.add(tuple(played.arms[seat] for seat in design.agent_seats))
        assert len(futures) == 1

    def test_the_view_counts_every_team_action(self, design):
        episode = rehearse(design, "softmax", seed=5, order=1)[0]
        view = participant_view(episode)
        assert len(view["counts"]) == math.prod(design.arms)
        assert sum(cell["good"] + cell["bad"] for cell in view["counts"]) == episode.played
        assert len(view["latest"]["labels"]) == len(design.seating)

    def test_a_study_verifies_and_travels_as_tables(self, design, tmp_path):
        data = rehearsed_data(design, [("softmax", 1, 0), ("knowledge-gradient", 2, 1)])
        assert verify_study(data) == []
        long = tables(data)["long"]
        last = len(design.seating) - 1
        assert {f"arm_{last}", f"seen_{last}", f"label_{last}"} <= set(long)
        assert [name for name in long if name.startswith("predicted")] == [
            f"predicted_{i}_{j}" for i, j in design.predictions
        ]
        for format in ("csv", "parquet"):
            write_export(data, tmp_path / format, format)
            again, found, _ = read_export(tmp_path / format)
            assert again.digest == design.digest
            for name, values in long.items():
                np.testing.assert_array_equal(found["long"][name], values, err_msg=name)

    def test_crowds_play_the_very_rounds_of_a_rehearsal(self, design):
        slow, quick = (simulate_participants(design, "softmax", 6, seed=2, engine=e) for e in ("reference", "fast"))
        np.testing.assert_array_equal(slow.regret_curves, quick.regret_curves)
        np.testing.assert_array_equal(slow.good, quick.good)
