"""The probability that a group of Beta-distributed variables contains the largest one (Thompson sampling's choice)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEWEST_NODES = 48

NODES_PER_ROOT = 10
"""Nodes for each square root of a count: the narrowest posterior of n rewards has a width of about 1/(2 sqrt(n))."""

VALUES_AT_ONCE = 4_000_000


def best_group_probabilities(ones: Array, zeros: Array) -> Array:
    """Return the probability of each group (cases x groups) to contain the largest of all variables.

    ``ones`` and ``zeros`` are cases x groups x members; each variable is Beta(1 + ones, 1 + zeros). The integral of
    sum_c f_c(x) prod_{d != c} F_d(x) over a group's members c is taken by Gauss and Legendre's rule. Equal cases are
    computed once.
    """
    from scipy.special import betainc, betaln

    shape = ones.shape
    flat = np.concatenate([ones.reshape(len(ones), -1), zeros.reshape(len(zeros), -1)], axis=1)
    cases, place = np.unique(flat, axis=0, return_inverse=True)
    members = flat.shape[1] // 2
    pairs, of_pair = np.unique(
        np.stack([cases[:, :members].ravel(), cases[:, members:].ravel()], axis=1), axis=0, return_inverse=True
    )
    of_pair = of_pair.reshape(-1, members)
    nodes = max(FEWEST_NODES, NODES_PER_ROOT * math.isqrt(int(pairs.sum(axis=1).max(initial=0.0)) + 1))
    x, weights = np.polynomial.legendre.leggauss(nodes)
    x, weights = 0.5 * (x + 1.0), 0.5 * weights
    a, b = 1.0 + pairs[:, :1], 1.0 + pairs[:, 1:]
    below = np.maximum(betainc(a, b, x), 1e-300)
    density = np.exp((a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - betaln(a, b))
    rate = density / below
    result = np.empty((len(cases), shape[1]))
    step = max(1, VALUES_AT_ONCE // (members * nodes))
    for first in range(0, len(cases), step):
        picked = of_pair[first : first + step]
        every = np.prod(below[picked], axis=1) * weights
        rates = rate[picked].reshape(len(picked), shape[1], -1, nodes).sum(axis=2)
        result[first : first + step] = np.einsum("cgn,cn->cg", rates, every)
    result /= result.sum(axis=1, keepdims=True)
    return result[place.reshape(-1)]
