"""Means by name: those of the paper's simulations, and those of other packages (group ``cobandit.problems``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cobandit.base.checks import short_repr
from cobandit.base.errors import CobanditError, InvalidInput, UnknownName
from cobandit.base.plugins import PROBLEMS, find_plugin, plugin_names
from cobandit.problem.drifting import RandomWalkMeans
from cobandit.problem.means import RandomMeans, local_optima, two_corners

Arms = tuple[int, ...]

FIXED = [[0.8, 0.4], [0.2, 0.6]]
"""The matrix of the paper's simulations, with two local optima."""


def _fixed(arms: Arms | None) -> object:
    return FIXED


def _random(arms: Arms | None) -> object:
    return RandomMeans((2, 2) if arms is None else arms)


def _local_optima(arms: Arms | None) -> object:
    sizes = arms or (2, 2)
    if len(set(sizes)) != 1 or len(sizes) != 2:
        raise InvalidInput(f"arms is {short_repr(arms)}; the means 'local-optima' need (K, K), such as (3, 3).")
    return local_optima(sizes[0])


def _corners(arms: Arms | None) -> object:
    if arms is not None and set(arms) != {2}:
        raise InvalidInput(f"arms is {short_repr(arms)}; the means 'corners' need 2 for each agent, such as (2, 2, 2).")
    return two_corners(2 if arms is None else len(arms))


def _random_walk(arms: Arms | None) -> object:
    return RandomWalkMeans((2, 2) if arms is None else arms)


NAMED_MEANS: dict[str, Callable[[Arms | None], Any]] = {
    "fixed": _fixed,
    "random": _random,
    "local-optima": _local_optima,
    "corners": _corners,
    "random-walk": _random_walk,
}
"""Functions that make means for the given numbers of arms (None: the function chooses)."""


def known_means() -> list[str]:
    """Return every name that `named_means` knows, ours first."""
    return [*NAMED_MEANS, *(name for name in plugin_names(PROBLEMS) if name not in NAMED_MEANS)]


def named_means(name: str, arms: Arms | None = None) -> Any:
    """Return the means of that name as `Problem` takes them; an unknown name gets the nearest right one."""
    if isinstance(name, str) and name in NAMED_MEANS:
        return NAMED_MEANS[name](arms)
    plugin = find_plugin(PROBLEMS, name)
    if plugin is None:
        raise UnknownName("kind of means", name, known_means())
    make = plugin.load()
    if not callable(make):
        raise plugin.error(f"is {short_repr(make)}; a function from arms to means is needed")
    try:
        return make(arms)
    except CobanditError:
        raise
    except Exception as error:
        raise plugin.error(f"cannot make means for arms {short_repr(arms)}: {type(error).__name__}: {error}") from error
