"""The language model with the demo endpoint: short plays, worked out by hand."""

from __future__ import annotations

from cobandit import LanguageModelAgent
from tests.golden.conftest import play


def test_the_demo_tries_everything_and_then_follows_the_index():
    # T = 2000, c = .025: the index is mean + sqrt(.05 log 2000 / n) = mean + .616 / sqrt(n), infinite where n = 0; ties
    # go to the first in row-major order. Aims: AA, then AB, then BA, then BB; after one reward each
    # AA 1.616, AB .616, BA .616, BB .616: AA. AA (2, sum 1): .5 + .436 = .936: AA again; (3, sum 1): .333 + .356 =
    # .689: AA; (4, sum 1): .25 + .308 = .558, below .616: AB.
    arms = play(
        LanguageModelAgent(fallback="naive-ucb"),
        place=1,
        partner=[0, 0, 1, 1, 0, 0, 0],
        seen=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    )
    assert arms == [0, 1, 0, 1, 0, 0, 0, 1]


def test_a_seed_is_drawn_for_each_sampled_answer():
    # One draw in each round; naive UCB, the fallback, draws nothing. Aims: AA, AB, then BA.
    agent = LanguageModelAgent(fallback="naive-ucb", temperature=0.5)
    arms = play(agent, place=0, partner=[0, 1], seen=[1.0, 0.0], draws=[[0.25], [0.5], [0.75]])
    assert arms == [0, 0, 1]
