"""The choice probabilities of the models once more: plain Python, one round after another.

Nothing of `cobandit.analysis` is used here. A history is a list of (team action, seen reward or None); the person's own
arm is ``action[seat]``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from scipy import integrate, stats


def cells(arms):
    return list(itertools.product(*(range(count) for count in arms)))


def aimed(values, arms, seat, temperature):
    """Probability of each own arm under a softmax over team actions."""
    top = max(values.values())
    weights = {
        cell: (1.0 if value == top else 0.0) if math.isinf(top) else math.exp((value - top) / temperature)
        for cell, value in values.items()
    }
    total = sum(weights.values())
    return [sum(w for cell, w in weights.items() if cell[seat] == arm) / total for arm in range(arms[seat])]


def with_random(probabilities, share):
    return [share / len(probabilities) + (1 - share) * p for p in probabilities]


def chance(history, arms, seat, horizon):
    return [1 / arms[seat]] * arms[seat]


def win_stay_lose_shift(history, arms, seat, horizon, slip):
    count = arms[seat]
    if not history:
        return [1 / count] * count
    won, rewards = True, []
    for _, seen in history:
        if seen is not None:
            rewards.append(seen)
            won = seen > 0 and seen >= sum(rewards) / len(rewards)
    last = history[-1][0][seat]
    sure = [
        (1.0 if arm == last else 0.0) if won or count == 1 else (0.0 if arm == last else 1 / (count - 1))
        for arm in range(count)
    ]
    return with_random(sure, slip)


def means(history, arms, extra=0.0, prior=1):
    values = {}
    for cell in cells(arms):
        seen = [reward for action, reward in history if action == cell and reward is not None]
        values[cell] = (sum(seen) + extra) / (len(seen) + prior)
    return values


def epsilon_greedy(history, arms, seat, horizon, epsilon):
    values = means(history, arms, 0.5)
    top = [cell for cell, value in values.items() if abs(value - max(values.values())) < 1e-12]
    return with_random([sum(c[seat] == arm for c in top) / len(top) for arm in range(arms[seat])], epsilon)


def softmax(history, arms, seat, horizon, temperature, memory):
    kept = [entry for entry in history if entry[1] is not None][-int(memory) :]
    return aimed(means(kept, arms, 0.5), arms, seat, temperature)


def recency_softmax(history, arms, seat, horizon, rate, temperature):
    values = dict.fromkeys(cells(arms), 0.5)
    for action, reward in history:
        if reward is not None:
            values[action] = (1 - rate) * values[action] + rate * reward
    return aimed(values, arms, seat, temperature)


def recency_softmax_own_arms(history, arms, seat, horizon, rate, temperature):
    alone = [((action[seat],), reward) for action, reward in history]
    return recency_softmax(alone, (arms[seat],), 0, horizon, rate, temperature)


def forgetful_knowledge_gradient(history, arms, seat, horizon, recall, temperature):
    counts, sums = dict.fromkeys(cells(arms), 0.0), dict.fromkeys(cells(arms), 0.0)
    for age, (action, reward) in enumerate(reversed(history)):
        if reward is not None:
            counts[action] += recall**age
            sums[action] += reward * recall**age
    now = {cell: (1 + sums[cell]) / (2 + counts[cell]) for cell in counts}
    values = {}
    for cell, mean in now.items():
        others = [value for other, value in now.items() if other != cell]
        good = max([(2 + sums[cell]) / (3 + counts[cell]), *others])
        bad = max([(1 + sums[cell]) / (3 + counts[cell]), *others])
        rise = mean * good + (1 - mean) * bad - max(now.values())
        values[cell] = mean + (horizon - len(history) - 1) * rise
    return aimed(values, arms, seat, temperature)


def softmax_ucb(history, arms, seat, horizon, exploration, temperature, lapse):
    values = {}
    for cell in cells(arms):
        seen = [reward for action, reward in history if action == cell and reward is not None]
        width = math.sqrt(2 * exploration * math.log(horizon) / len(seen)) if seen else math.inf
        values[cell] = sum(seen) / len(seen) + width if seen else math.inf
    return with_random(aimed(values, arms, seat, temperature), lapse)


def naive_ts(history, arms, seat, horizon):
    posteriors = {}
    for cell in cells(arms):
        seen = [reward for action, reward in history if action == cell and reward is not None]
        posteriors[cell] = stats.beta(1 + sum(seen), 1 + len(seen) - sum(seen))

    def wins(cell):
        def density(x):
            return posteriors[cell].pdf(x) * math.prod(p.cdf(x) for c, p in posteriors.items() if c != cell)

        return integrate.quad(density, 0, 1, epsabs=1e-11, epsrel=1e-11, limit=200)[0]

    return [sum(wins(cell) for cell in posteriors if cell[seat] == arm) for arm in range(arms[seat])]


ORACLES: dict[str, Callable[..., Any]] = {
    "chance": chance,
    "win-stay-lose-shift": win_stay_lose_shift,
    "epsilon-greedy": epsilon_greedy,
    "softmax": softmax,
    "recency-softmax": recency_softmax,
    "recency-softmax-own-arms": recency_softmax_own_arms,
    "forgetful-knowledge-gradient": forgetful_knowledge_gradient,
    "softmax-ucb": softmax_ucb,
    "naive-ts": naive_ts,
}


def log_likelihood(name, episodes, arms, seat, horizon, *parameters):
    """Log probability of the person's choices in all episodes, each a history."""
    total = 0.0
    for history in episodes:
        for t, (action, _) in enumerate(history):
            total += math.log(ORACLES[name](history[:t], arms, seat, horizon, *parameters)[action[seat]])
    return total
