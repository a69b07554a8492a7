"""Choice probabilities: those of the library's agents, and those of an independent implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cobandit.agents import Briefing
from cobandit.analysis import CHOICE_MODELS
from cobandit.analysis.choices import Choices
from cobandit.base.errors import InvalidInput, UnknownName
from tests.analysis import choice_oracle

VALUES = {
    "chance": (),
    "win-stay-lose-shift": (0.2,),
    "epsilon-greedy": (0.3,),
    "softmax": (0.2, 3),
    "recency-softmax": (0.4, 0.3),
    "recency-softmax-own-arms": (0.6, 0.2),
    "forgetful-knowledge-gradient": (0.8, 0.5),
    "softmax-ucb": (0.3, 0.2, 0.1),
    "naive-ts": (),
}
SETTINGS = {
    "two by two": ((2, 2), 0, 1.0),
    "second of two seats": ((2, 3), 1, 1.0),
    "three seats, some rounds unseen": ((2, 3, 2), 1, 0.6),
    "alone": ((3,), 0, 0.8),
}


def random_episodes(arms, seat, sight, rounds=12, episodes=2, seed=5):
    """Histories of random actions: team action and seen reward, None where nothing was seen."""
    rng = np.random.default_rng(seed)
    return [
        [
            (
                tuple(int(rng.integers(count)) for count in arms),
                float(rng.integers(2)) if rng.random() < sight else None,
            )
            for _ in range(rounds)
        ]
        for _ in range(episodes)
    ]


def choices_of(episodes, arms, seat, horizon):
    """The histories as the models take them."""
    first = (arms[seat], *(count for i, count in enumerate(arms) if i != seat))
    shape = (len(episodes), max(map(len, episodes)))
    own, cells = np.full(shape, -1), np.full(shape, -1)
    seen, counted = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    for e, history in enumerate(episodes):
        for t, (action, reward) in enumerate(history):
            turned = (action[seat], *(arm for i, arm in enumerate(action) if i != seat))
            own[e, t], cells[e, t] = action[seat], np.ravel_multi_index(turned, first)
            seen[e, t] = math.nan if reward is None else reward
            counted[e, t] = True
    horizons = np.full(len(episodes), horizon)
    return Choices("p", seat, first, horizons, own, cells, seen, counted, tuple(map(str, range(len(episodes)))))


def test_every_model_is_tested():
    assert set(VALUES) == set(CHOICE_MODELS) == set(choice_oracle.ORACLES)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", CHOICE_MODELS)
def test_probabilities_are_those_of_the_oracle(name, setting):
    arms, seat, sight = SETTINGS[setting]
    length = 5 if name == "naive-ts" else 12  # its oracle integrates numerically
    episodes = random_episodes(arms, seat, sight, length)
    logs = CHOICE_MODELS[name].prepare(choices_of(episodes, arms, seat, 15))(np.array([VALUES[name]], dtype=float))
    rounds = [(history[:t], history[t][0][seat]) for history in episodes for t in range(len(history))]
    expected = [choice_oracle.ORACLES[name](past, arms, seat, 15, *VALUES[name])[own] for past, own in rounds]
    np.testing.assert_allclose(np.exp(logs[0]), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("setting", ["two by two", "three seats, some rounds unseen"])
@pytest.mark.parametrize("name", CHOICE_MODELS)
def test_the_agent_of_the_library_chooses_with_these_probabilities(name, setting):
    arms, seat, sight = SETTINGS[setting]
    model, draws = CHOICE_MODELS[name], 2000
    history = random_episodes(arms, seat, sight, rounds=10, episodes=1)[0]
    agent = model.make(VALUES[name])
    ranks = tuple(range(len(arms)))
    agent.reset(Briefing(seat, arms, ranks, 10, observation="missed-known"), np.random.default_rng(3))
    squares, known = 0.0, 0
    probabilities = np.exp(
        model.prepare(choices_of([history], arms, seat, 10))(np.array([VALUES[name]], dtype=float))[0]
    )
    for t, (action, reward) in enumerate(history):
        share = np.mean([agent.choose() == action[seat] for _ in range(draws)])
        p = probabilities[t]
        if 1e-6 < p < 1 - 1e-6:
            squares += (share - p) ** 2 / (p * (1 - p) / draws)
            known += 1
        else:
            assert share == pytest.approx(p, abs=0.002)
        agent.observe(action, reward)
    assert squares < known + 5 * math.sqrt(2 * known) + 1  # chi-squared, far above its 99.9 % quantile


@pytest.mark.parametrize("name", CHOICE_MODELS)
def test_many_points_at_once_are_each_of_them(name):
    arms, seat, sight = SETTINGS["second of two seats"]
    model = CHOICE_MODELS[name]
    likelihood = model.prepare(choices_of(random_episodes(arms, seat, sight), arms, seat, 12))
    rng = np.random.default_rng(1)
    points = np.array([[rng.uniform(0.05, 0.9) for _ in VALUES[name]] for _ in range(4)]).reshape(4, -1)
    if model.whole is not None:
        points[:, -1] = [1, 2, 5, 2]
    together = likelihood(points)
    for place, point in enumerate(points):
        np.testing.assert_array_equal(together[place], likelihood(point[np.newaxis])[0])


def test_rounds_after_the_end_of_an_episode_change_nothing():
    whole, short = random_episodes((2, 2), 0, 1.0)
    padded = choices_of([whole, short[:5]], (2, 2), 0, 12)
    for name, model in CHOICE_MODELS.items():
        point = np.array([VALUES[name]], dtype=float)
        alone = [model.prepare(choices_of([part], (2, 2), 0, 12))(point).sum() for part in (whole, short[:5])]
        assert model.prepare(padded)(point).sum() == pytest.approx(sum(alone), abs=1e-9)


def test_scales_turn_round():
    for model in CHOICE_MODELS.values():
        for parameter in model.smooth:
            for value in (parameter.low, math.sqrt(parameter.low * parameter.high), parameter.high):
                assert parameter.natural(parameter.fitted(value)) == pytest.approx(value, rel=1e-9)
                ahead = parameter.natural(parameter.fitted(value) + 1e-6)
                assert (ahead - value) / 1e-6 == pytest.approx(parameter.slope(value), rel=1e-3)


def test_unknown_models_are_refused():
    from cobandit.analysis.choice_models import chosen_models

    with pytest.raises(UnknownName, match="softmax"):
        chosen_models(["sofmax"])
    names: list[object] = [[], "", 3]
    for nothing in names:
        with pytest.raises((InvalidInput, UnknownName)):
            chosen_models(nothing)
