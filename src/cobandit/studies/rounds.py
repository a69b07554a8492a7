"""One stored round of a study, and the chain of hashes that makes changes to it detectable.

Arms, seen rewards and predictions are tuples over the seats of the design. A hash of version 2 starts with ``2:`` and
covers those tuples; one of version 1, of studies of two that began before, covers a value per seat. Version 3 (``3:``)
is for episodes with several recorded seats: it also covers who made each move and the evidence for it. An episode
keeps the version it was opened with, which is that of its latest hash.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from cobandit.base.checks import MOST, Check, one_of, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.json_types import JsonObject
from cobandit.base.records import fingerprint, optional

HASH_VERSION = 2
"""The version of the hashes of new episodes in which one seat is recorded."""

TEAM_HASH_VERSION = 3
"""The version of the hashes of new episodes in which several seats are recorded."""

Arms = tuple[int, ...]
Seen = tuple[float | None, ...]
Predictions = tuple[tuple[int | None, ...], ...]
By = tuple[str, ...]
Evidence = tuple[str | None, ...]

# Stored hashes cannot be renewed without the proof that they give, so each version stays readable for ever, and a hash
# names its own version: version 1 had no prefix.
_PREFIXES = {2: "2:", 3: "3:"}
_PLAIN = re.compile(r"[0-9a-f:]*")


def hash_version(hash: str) -> int:
    """Return the version of a hash, from its prefix."""
    return next((version for version, prefix in _PREFIXES.items() if hash.startswith(prefix)), 1)


def chain_version(rounds: Sequence[Round], head: str | None, default: int = HASH_VERSION) -> int:
    """Return the hash version of an episode: that of its first round, else of ``head``, else ``default``."""
    known = rounds[0].hash if rounds else head
    return default if known is None else hash_version(known)


def seal(contents: Mapping[str, Any], version: int) -> str:
    """Return the hash of plain data in a version."""
    return _PREFIXES.get(version, "") + fingerprint(contents)


@dataclass(frozen=True)
class Choice:
    """The arm of a recorded seat; ``by`` says who chose it: "person", "service" or "takeover".

    ``evidence`` is the SHA-256 of what a service was asked and answered.
    """

    arm: int
    by: str = "person"
    evidence: str | None = None


@dataclass(frozen=True)
class Round:
    """One round; ``arms[i]``, ``seen[i]`` and ``predictions[i]`` belong to seat i.

    ``t`` counts from 1 (the warm start ends with round 0), arms are as labelled in the episode, ``reward`` is r*,
    ``seen[i]`` is what seat i saw of it (None: it knows it saw nothing) and ``predictions[i][j]`` the arm that seat i
    foresaw for seat j (None: it foresaw none). Where several seats are recorded, ``by[i]`` says who chose in seat i
    ("person", "service", "takeover" or "agent") and ``evidence[i]`` is the SHA-256 of what a service was asked and
    answered; both are empty in all other episodes.
    """

    t: int
    arms: Arms
    reward: float
    seen: Seen
    predictions: Predictions
    previous: str
    hash: str = ""
    by: By = ()
    evidence: Evidence = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the round as plain data."""
        recorded = {"by": list(self.by), "evidence": list(self.evidence)} if self.by else {}
        return {
            "t": self.t,
            "arms": list(self.arms),
            "reward": self.reward,
            "seen": list(self.seen),
            "predictions": [list(row) for row in self.predictions],
            "previous": self.previous,
            "hash": self.hash,
        } | recorded

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Round:
        """Return the round of plain data from `to_dict`."""
        known = [spec.name for spec in fields(cls)]
        for key in data:
            if key not in known:
                raise UnknownName("part of a round called", key, known)
        for key in known:
            if key not in data and key not in ("by", "evidence"):
                raise InvalidInput(f"The round must have the field {key!r}.")
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
            _over_seats("by", data["by"], _player, seats) if data.get("by") else (),
            _over_seats("evidence", data["evidence"], optional(_text), seats) if data.get("evidence") else (),
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
        recorded: tuple[By, Evidence] = ((), ()),
    ) -> Round:
        """Return a round with its hash, as `sealed` does, without a second copy; ``recorded``: by and evidence."""
        text = _plain_text(t, arms, reward, seen, predictions, previous, recorded) if version in _PREFIXES else None
        if text is None or bool(recorded[0]) != (version == TEAM_HASH_VERSION):
            return cls(t, arms, reward, seen, predictions, previous, "", *recorded).sealed(version)
        own = _PREFIXES[version] + hashlib.sha256(text.encode("ascii")).hexdigest()
        return cls(t, arms, reward, seen, predictions, previous, own, *recorded)

    def own_hash(self, version: int) -> str:
        """Return the hash of the contents and of the previous round."""
        contents = self.to_dict()
        del contents["hash"]
        if version < TEAM_HASH_VERSION:
            contents = {name: value for name, value in contents.items() if name not in ("by", "evidence")}
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
        """Return the same round with its hash."""
        return replace(self, hash=self.own_hash(version))

    def columns(self) -> dict[str, Any]:
        """Return every value by its column name: ``t``, ``arm_0``, ..., ``predicted_1_0``, ..."""
        values: JsonObject = {"t": self.t}
        values |= {f"arm_{i}": arm for i, arm in enumerate(self.arms)}
        values["reward"] = self.reward
        values |= {f"seen_{i}": seen for i, seen in enumerate(self.seen)}
        for i, row in enumerate(self.predictions):
            values |= {f"predicted_{i}_{j}": arm for j, arm in enumerate(row) if i != j}
        values |= {f"by_{i}": by for i, by in enumerate(self.by)}
        values |= {f"evidence_{i}": evidence for i, evidence in enumerate(self.evidence)}
        return values | {"previous": self.previous, "hash": self.hash}


def _plain_text(
    t: int,
    arms: Arms,
    reward: float,
    seen: Seen,
    predictions: Predictions,
    previous: str,
    recorded: tuple[By, Evidence],
) -> str | None:
    """Return the text that `base.records.canonical` writes for a round of plain numbers; None for other values.

    This function runs once for every round of a study, and the general encoder is several times slower.
    """
    listed = [_list_text(row) for row in (arms, seen, (t, reward), *predictions)]
    if None in listed or not _PLAIN.fullmatch(previous):
        return None
    foreseen = ",".join(map(str, listed[3:]))
    moved = _moved_text(*recorded)
    if moved is None:
        return None
    return (
        f'{{"arms":{listed[0]}{moved},"predictions":[{foreseen}],"previous":"{previous}","reward":{reward!r},'
        f'"seen":{listed[1]},"t":{t}}}'
    )


def _moved_text(by: By, evidence: Evidence) -> str | None:
    if not by:
        return ""
    if not all(name in BY for name in by) or not all(proof is None or _PLAIN.fullmatch(proof) for proof in evidence):
        return None
    proofs = ["null" if proof is None else f'"{proof}"' for proof in evidence]
    return f',"by":["{_BETWEEN.join(by)}"],"evidence":[{",".join(proofs)}]'


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


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, got {short_repr(value)}.")
    return value


def _as_is(name: str, value: object) -> Any:
    return value


def _over_seats(name: str, value: object, check: Check, seats: int | None) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)) or (seats is not None and len(value) != seats):
        needed = "a list over the seats" if seats is None else f"a list over the {seats} seats"
        raise InvalidInput(f"{name} must be {needed}, got {short_repr(value)}.")
    return tuple(check(f"{name}[{i}]", part) for i, part in enumerate(value))


BY = ("person", "service", "takeover", "agent")
"""Who may have chosen an arm."""

_BETWEEN = '","'

_player = one_of(BY, "maker of a move")
_integer, _finite = whole(-MOST, MOST), real(-math.inf)
