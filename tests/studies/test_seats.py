"""Teams of more than two: seats in a design, episodes of three and four, their logs, tables and crowds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.analysis import analyse_data, default_plan, preregistration
from cobandit.engine.choice import NotCompiled
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
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.crowd import _prepared
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


def mixed(*agents, **changes):
    """The three-seat design with agents of their own in seats of the condition "naive"."""
    naive, aware = THREE.to_dict()["conditions"]
    return StudyDesign.from_dict(THREE.to_dict() | {"conditions": [naive | {"agents": list(agents)}, aware]} | changes)


MIXED = mixed({"seat": "Sauce", "agent": "partner-aware-ucb", "options": {"window": 3}})


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


class TestMixedTeams:
    """AIs of one team that play different algorithms."""

    def test_every_seat_has_its_agent_and_streams_stay(self):
        plans = {plan.condition: plan for plan in ParticipantPlan(MIXED, 3, 0).episodes if not plan.practice}
        agents = plans["naive"].ready_agents()
        assert [agents[seat].name for seat in (1, 2)] == ["naive-ucb", "partner-aware-ucb"]
        assert (agents[1].options["exploration"], agents[2].options["window"]) == (0.01, 3)
        assert {agent.name for agent in plans["aware"].ready_agents().values()} == {"partner-aware-ucb"}
        assert plans["naive"].ready_agents()[2].rng.random() == agents[2].rng.random()

    def test_it_is_verified_and_simulated_as_it_is_played(self):
        people = [("softmax", seed, seed % 2) for seed in range(4)]
        data = rehearsed_data(MIXED, people)
        assert verify_study(data) == []
        with pytest.raises(NotCompiled, match="agent of its own in a seat"):
            _prepared(MIXED, [make_behaviour("softmax")])
        crowd = simulate_participants(MIXED, "softmax", 2)
        episode = rehearse(MIXED, "softmax", int(crowd.seeds[0]), int(crowd.orders[0]))[-1]
        place = 0, crowd.conditions.index(episode.plan.condition), 0
        assert crowd.task_regret[place] == episode.trajectory().task_regret[-1]
        assert "Sauce: partner-aware-ucb" in analyse_data(data).methods

    def test_texts_and_expectations(self):
        plan = default_plan(MIXED)
        assert "Sauce: partner-aware-ucb" in preregistration(MIXED, plan, "osf")
        regret = {design: default_plan(design).hypotheses[0].direction for design in (THREE, MIXED)}
        assert regret == {THREE: "less", MIXED: "two-sided"}

    def test_designs_without_stay_as_they_are(self):
        assert mixed().digest == THREE.digest != MIXED.digest
        assert StudyDesign.from_dict(MIXED.to_dict()) == MIXED

    @pytest.mark.parametrize(
        ("agents", "message"),
        [
            ([{"seat": "Souce", "agent": "naive-ucb"}], "seat.*Souce.*Did you mean 'Sauce'"),
            (
                [{"seat": "You", "agent": "naive-ucb"}],
                "agents of the condition 'naive' must name seats of AIs, got 'You'",
            ),
            ([{"seat": "Sauce", "agent": "naive-ucb"}] * 2, "'Sauce' twice"),
            ([{"seat": "Sauce", "agent": "nobody"}], "nobody"),
        ],
    )
    def test_every_mistake_is_named(self, agents, message):
        with pytest.raises(cb.CobanditError, match=message):
            mixed(*agents)

    def test_a_team_of_two_has_a_single_ai(self):
        data = load_design("burger").to_dict()
        data["conditions"][0]["agents"] = [{"seat": "Robot", "agent": "naive-ucb"}]
        with pytest.raises(cb.InvalidInput, match="must be left out in a team of two"):
            StudyDesign.from_dict(data)

    def test_agents_of_seats_are_checked_like_those_of_conditions(self):
        own = {"seat": "Sauce", "agent": "bank"}
        with pytest.raises(cb.CobanditError, match="bank"):
            mixed(own, delay=2)
