"""One round of a study as it is stored, and the chain of hashes that vouches for it.

Arms, seen rewards and predictions are tuples over the seats of the design. A hash of version 2 starts with ``2:`` and
covers those tuples; one of version 1, of studies of two that began before, covers a value per seat. An episode keeps
the version it was opened with, which is that of its latest hash.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from cobandit.base.checks import MOST, Check, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.records import fingerprint, optional

HASH_VERSION = 2
"""The version of the hashes of new episodes."""

Arms = tuple[int, ...]
Seen = tuple[float | None, ...]
Predictions = tuple[tuple[int | None, ...], ...]

_PREFIX = "2:"
_PLAIN = re.compile(r"[0-9a-f:]*")


def hash_version(hash: str) -> int:
    """The version of a hash, as it tells itself."""
    return 2 if hash.startswith(_PREFIX) else 1


def chain_version(rounds: Sequence[Round], head: str | None) -> int:
    """The version of an episode's hashes: that of its first round, else of the hash kept apart, else today's."""
    vouching = rounds[0].hash if rounds else head
    return HASH_VERSION if vouching is None else hash_version(vouching)


def seal(contents: Mapping[str, Any], version: int) -> str:
    """The hash of plain data in a version."""
    return fingerprint(contents) if version == 1 else _PREFIX + fingerprint(contents)


@dataclass(frozen=True)
class Round:
    """One round; ``arms[i]``, ``seen[i]`` and ``predictions[i]`` belong to seat i.

    ``t`` counts from 1 (the warm start ends with round 0), arms are as labelled in the episode, ``reward`` is r*,
    ``seen[i]`` is what seat i saw of it (None: it knows it saw nothing) and ``predictions[i][j]`` the arm that seat i
    foresaw for seat j (None: it foresaw none).
    """

    t: int
    arms: Arms
    reward: float
    seen: Seen
    predictions: Predictions
    previous: str
    hash: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The round as plain data."""
        return {
            "t": self.t,
            "arms": list(self.arms),
            "reward": self.reward,
            "seen": list(self.seen),
            "predictions": [list(row) for row in self.predictions],
            "previous": self.previous,
            "hash": self.hash,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Round:
        """From plain data, as `to_dict` gives it."""
        known = [spec.name for spec in fields(cls)]
        for key in data:
            if key not in known:
                raise UnknownName("part of a round called", key, known)
        for key in known:
            if key not in data:
                raise InvalidInput(f"The round has no {key}; it is needed.")
        arms = _over_seats("arms", data["arms"], _integer, None)
        seats = len(arms)
        rows = _over_seats("predictions", data["predictions"], _as_is, seats)
        return cls(
            _integer("t", data["t"]),
            arms,
            _finite("reward", data["reward"]),
            _over_seats("seen", data["seen"], optional(_finite), seats),
            tuple(_over_seats(f"predictions[{i}]", row, optional(_integer), seats) for i, row in enumerate(rows)),
            str(data["previous"]),
            str(data["hash"]),
        )

    @classmethod
    def seal(
        cls,
        t: int,
        arms: Arms,
        reward: float,
        seen: Seen,
        predictions: Predictions,
        previous: str,
        version: int = HASH_VERSION,
    ) -> Round:
        """A round with its hash: the same as `sealed` gives, without making it twice."""
        text = _plain_text(t, arms, reward, seen, predictions, previous) if version == 2 else None
        if text is None:
            return cls(t, arms, reward, seen, predictions, previous).sealed(version)
        own = _PREFIX + hashlib.sha256(text.encode("ascii")).hexdigest()
        return cls(t, arms, reward, seen, predictions, previous, own)

    def own_hash(self, version: int) -> str:
        """The hash that the contents and the round before ask for."""
        contents = self.to_dict()
        del contents["hash"]
        if version == 1:
            mine, other = self.seen
            contents = {
                "t": self.t,
                "arm_0": self.arms[0],
                "arm_1": self.arms[1],
                "reward": self.reward,
                "seen_0": mine,
                "seen_1": other,
                "predicted_1_0": self.predictions[1][0],
                "previous": self.previous,
            }
        return seal(contents, version)

    def sealed(self, version: int = HASH_VERSION) -> Round:
        """The same round with its hash."""
        return replace(self, hash=self.own_hash(version))

    def columns(self) -> dict[str, Any]:
        """Every value under the name it has in a table: ``t``, ``arm_0``, ..., ``predicted_1_0``, ..."""
        values: dict[str, Any] = {"t": self.t}
        values |= {f"arm_{i}": arm for i, arm in enumerate(self.arms)}
        values["reward"] = self.reward
        values |= {f"seen_{i}": seen for i, seen in enumerate(self.seen)}
        for i, row in enumerate(self.predictions):
            values |= {f"predicted_{i}_{j}": arm for j, arm in enumerate(row) if i != j}
        return values | {"previous": self.previous, "hash": self.hash}


def _plain_text(t: int, arms: Arms, reward: float, seen: Seen, predictions: Predictions, previous: str) -> str | None:
    """What `base.records.canonical` writes of a round whose values are plain numbers; None, where that is not certain.

    Every round of a study comes this way, and the general encoder would cost it several times as much.
    """
    listed = [_list_text(row) for row in (arms, seen, (t, reward), *predictions)]
    if None in listed or not _PLAIN.fullmatch(previous):
        return None
    foreseen = ",".join(map(str, listed[3:]))
    return (
        f'{{"arms":{listed[0]},"predictions":[{foreseen}],"previous":"{previous}","reward":{reward!r},'
        f'"seen":{listed[1]},"t":{t}}}'
    )


def _list_text(values: Sequence[int | float | None]) -> str | None:
    parts = []
    for value in values:
        if value is None:
            parts.append("null")
        elif type(value) is int or (type(value) is float and math.isfinite(value)):
            parts.append(repr(value))
        else:  # a type of its own may be written otherwise
            return None
    return f"[{','.join(parts)}]"


def _as_is(name: str, value: object) -> Any:
    return value


def _over_seats(name: str, value: object, check: Check, seats: int | None) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)) or (seats is not None and len(value) != seats):
        needed = "a list over the seats" if seats is None else f"a list over the {seats} seats"
        raise InvalidInput(f"{name} is {short_repr(value)}; {needed} is needed.")
    return tuple(check(f"{name}[{i}]", part) for i, part in enumerate(value))


_integer, _finite = whole(-MOST, MOST), real(-math.inf)
