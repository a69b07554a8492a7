"""Crowds of simulated teams: the same on both engines, and the members of a team share what a team shares."""

import numpy as np
import pytest

import cobandit as cb
from cobandit.studies import load_design
from cobandit.studies.crowd import simulate_participants
from cobandit.studies.rehearse import rehearse_team
from tests.team_designs import team_design

MIXTURE = [("softmax", 0.4), ("epsilon-greedy", 0.3), ("win-stay-lose-shift", 0.2), ("knowledge-gradient", 0.1)]
DESIGNS = {"burger-pair": load_design("burger-pair"), "three-and-an-ai": team_design(people=3, ais=1)}


@pytest.mark.parametrize("name", DESIGNS)
def test_both_engines_play_the_same_teams(name):
    design = DESIGNS[name]
    people = 6 * len(design.participant_seats)
    fast, plain = (
        simulate_participants(design, MIXTURE, people, 3, engine=engine, checkpoints=2, alike=0.5)
        for engine in ("fast", "reference")
    )
    np.testing.assert_array_equal(fast.regret_curves, plain.regret_curves)
    np.testing.assert_array_equal(fast.good, plain.good)
    assert (fast.engine, plain.engine) == ("fast", "reference")


def test_a_team_is_that_of_a_rehearsal():
    design = DESIGNS["burger-pair"]
    crowd = simulate_participants(design, MIXTURE, 8, 1)
    for team in range(4):
        mine = slice(2 * team, 2 * team + 2)
        kinds = [crowd.behaviours[kind] for kind in crowd.kinds[mine]]
        members = rehearse_team(design, kinds, int(crowd.seeds[2 * team]), int(crowd.orders[2 * team]))
        for place, episodes in enumerate(members):
            for episode in episodes:
                column = crowd.conditions.index(episode.plan.condition)
                assert crowd.task_regret[2 * team + place, column, 0] == pytest.approx(
                    episode.trajectory().task_regret[-1]
                )


def test_teams_share_seed_order_and_what_they_play_together():
    crowd = simulate_participants(DESIGNS["burger-pair"], MIXTURE, 60, 2)
    assert crowd.team_size == 2
    for values in (crowd.seeds, crowd.orders, crowd.good[:, 0, 0]):
        np.testing.assert_array_equal(values[0::2], values[1::2])
    assert crowd.orders[::2].tolist()[:7] == [0, 1, 2, 3, 4, 5, 0]  # counterbalanced by team
    assert not np.array_equal(crowd.good[0::2, 1, 0], crowd.good[1::2, 1, 0])
    more = simulate_participants(DESIGNS["burger-pair"], MIXTURE, 80, 2)
    np.testing.assert_array_equal(more.good[:60], crowd.good)


def test_members_may_be_alike():
    kinds = simulate_participants(DESIGNS["burger-pair"], MIXTURE, 400, 2).kinds.reshape(-1, 2)
    same = simulate_participants(DESIGNS["burger-pair"], MIXTURE, 400, 2, alike=1.0).kinds.reshape(-1, 2)
    assert 0.2 < (kinds[:, 0] == kinds[:, 1]).mean() < 0.45
    np.testing.assert_array_equal(same[:, 0], same[:, 1])
    np.testing.assert_array_equal(same[:, 0], kinds[:, 0])


def test_refusals():
    with pytest.raises(cb.InvalidInput, match="participants must be a multiple of 2, the people of a team, got 5"):
        simulate_participants(DESIGNS["burger-pair"], "softmax", 5)
    with pytest.raises(cb.InvalidInput, match="alike"):
        simulate_participants(DESIGNS["burger-pair"], "softmax", 4, alike=1.5)
