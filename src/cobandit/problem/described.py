"""A problem made again from its description, such as `Problem.describe` gives and a result's file holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from cobandit.base.checks import is_list, short_repr
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.problem.drifting import DRIFTING
from cobandit.problem.means import FixedMeans, RandomMeans
from cobandit.problem.observation import OBSERVATIONS
from cobandit.problem.rewards import REWARDS

KEYS = ("arms", "means", "reward", "observation", "weights", "roles")
OPTIONAL = ("delay", "relabel", "actions")


def described_fields(description: object, own: Iterable[type] = ()) -> dict[str, Any]:
    """Return the fields of the `Problem` in a description; ``own`` contains the user-defined classes."""
    if not isinstance(description, Mapping):
        raise InvalidInput(f"The description of a problem must be a dict, got {short_repr(description)}.")
    missing = [key for key in KEYS if key not in description]
    if missing:
        raise InvalidInput(f"The description of a problem lacks {missing[0]!r}; `Problem.describe` has it.")
    for key in description:
        if key not in KEYS + OPTIONAL:
            raise UnknownName("part of a problem called", key, KEYS + OPTIONAL)
    classes = classes_by_name(own)
    arms, means, roles = _tuples(description["arms"]), description["means"], description["roles"]
    if not isinstance(means, Mapping):
        model: Any = FixedMeans(arms, _tuples(means))
    else:
        model = described_model("means", means, classes, DRIFTING if "name" in means else RandomMeans)
    return {
        "means": model,
        "reward": described_model("reward", description["reward"], classes, REWARDS),
        "observation": described_model("observation", description["observation"], classes, OBSERVATIONS),
        "weights": _tuples(description["weights"]),
        "roles": _tuples(roles) if is_list(roles) else roles,
        "delay": description.get("delay", 0),
        "relabel": description.get("relabel", False),
        "actions": description.get("actions", "observed"),
    }


def classes_by_name(own: Iterable[type]) -> dict[str, type]:
    """Return the user-defined classes by the names that descriptions use."""
    if not isinstance(own, Iterable) or getattr(own, "ndim", 1) == 0:
        raise InvalidInput(f"own must be a list of classes, got {short_repr(own)}.")
    classes = tuple(own)
    for kind in classes:
        if not isinstance(kind, type):
            raise InvalidInput(f"own holds {short_repr(kind)}; classes are needed, such as own=[MyReward].")
    return {name: kind for kind in classes for name in (kind.__name__, kind.__qualname__)}


def described_model(what: str, description: object, own: Mapping[str, type], ours: object) -> Any:
    """Return the model in a description: ``ours`` is a class, or a table of classes by the names of models."""
    if not isinstance(description, Mapping):
        raise InvalidInput(f"{what} must be a dict with the fields of its model, got {short_repr(description)}.")
    rest = dict(description)
    name, foreign = rest.pop("name", None), rest.pop("class", None)
    if foreign is not None:
        if foreign not in own:
            raise InvalidInput(
                f"{what} is of the class {foreign!r}, which is not one of ours; hand it in: own=[{foreign}]."
            )
        kind: Any = own[foreign]
    elif isinstance(ours, Mapping):
        if name not in ours:
            raise UnknownName(f"{what} model", name, ours)
        kind = ours[name]
    else:
        kind = ours
    known = {spec.name for spec in fields(kind) if spec.init} if hasattr(kind, "__dataclass_fields__") else set(rest)
    for key in rest:
        if key not in known:
            raise UnknownName(f"field of {kind.__name__} called", key, sorted(known))
    try:
        return kind(**{key: _tuples(value) for key, value in rest.items()})
    except TypeError as error:
        raise InvalidInput(f"{what} {short_repr(description)} does not describe a {kind.__name__}: {error}.") from None


def _tuples(value: object) -> Any:
    """Convert the lists of JSON to the tuples of frozen models."""
    return tuple(_tuples(part) for part in value) if isinstance(value, (list, tuple)) else value
