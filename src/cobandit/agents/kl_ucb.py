"""The index of KL-UCB: the largest mean that the seen rewards do not contradict (Garivier and Cappe, COLT 2011).

    f_a(t) = max { q in [mu-hat_a, 1] : n_a kl(mu-hat_a, q) <= 4 c log t },   kl(p, q) the divergence of Bernoulli means

By Pinsker's inequality, kl(p, q) >= 2 (p - q)^2, it is at most the index ``anytime`` with the same c. With c = 1/4 the
threshold is log t: theirs without the term 3 log log t, which they advise to omit in practice. For normal rewards of
standard deviation 1/2 the divergence is 2 (p - q)^2, and the index is ``anytime`` itself.

Both engines run this function: plain Python here, compiled unchanged in `engine.fast.kinds.ucb`.
"""

from __future__ import annotations

import math

ACCURACY = 1e-9
"""Newton's method stops after a step as small as this; it converges quadratically, so the error is far smaller."""


def kl_bound(mean: float, step: float) -> float:
    """Return the largest q with kl(mean, q) <= 2 step^2, which is at most mean + step.

    Newton's method on a convex function, from the right of the root: every iterate is an upper bound. It starts at
    the lower of two upper bounds, Pinsker's and the one by kl(p, q) >= p log p + (1 - p) log((1 - p) / (1 - q)).

    >>> round(kl_bound(0.5, 0.1), 6)
    0.599008
    """
    if mean >= 1.0 or step <= 0.0:  # an untried action has an infinite mean
        return mean
    threshold = 2.0 * step * step
    if mean <= 0.0:
        return -math.expm1(-threshold)
    rest = 1.0 - mean
    at_mean = mean * math.log(mean) + rest * math.log(rest)
    q = min(mean + step, 1.0 - math.exp((at_mean - threshold) / rest))
    while q < 1.0:
        excess = at_mean - mean * math.log(q) - rest * math.log(1.0 - q) - threshold
        move = excess * q * (1.0 - q) / (q - mean)
        if move <= 0.0 or q - move <= mean:  # rounding is all that is left
            break
        q -= move
        if move <= ACCURACY:
            break
    return q
