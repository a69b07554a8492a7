"""Frozen records read from TOML or JSON: each field carries its own check, and an unknown key is refused.

A record can be made of plain data (`Record.read`) or of values; both ways run the same checks, and
``Record.read(name, record.to_dict())`` gives an equal record back.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

from cobandit.base.checks import Check, short_repr, with_schema
from cobandit.base.errors import InvalidInput, UnknownName

LONGEST_TEXT = 20_000
LONGEST_NAME = 255
_SLUG = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z0-9]+(?:[-._][A-Za-z0-9]+)*")


def entry(check: Check, default: object = MISSING) -> Any:
    """Declare a field of a record with its check, and with its default if it may be left out."""
    if default is MISSING:
        return field(kw_only=True, metadata={"check": check})
    return field(default=default, kw_only=True, metadata={"check": check})


@dataclass(frozen=True)
class Record:
    """The root of all records: checks its fields when it is made."""

    outermost: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for spec in fields(self):
            object.__setattr__(self, spec.name, spec.metadata["check"](spec.name, getattr(self, spec.name)))

    @classmethod
    def read(cls, name: str, data: object) -> Self:
        """Create a record from a table; errors call it ``name``."""
        if isinstance(data, cls):
            return data
        if not isinstance(data, Mapping):
            raise InvalidInput(f"{name} must be a table, got {short_repr(data)}.")
        specs = {spec.name: spec for spec in fields(cls)}
        for key in data:
            if key not in specs:
                raise UnknownName(f"key of {name} called", key, specs)
        values = {}
        prefix = "" if cls.outermost else f"{name}."
        for key, spec in specs.items():
            if key in data:
                values[key] = spec.metadata["check"](f"{prefix}{key}", data[key])
            elif spec.default is MISSING:
                raise InvalidInput(f"{name} must have the field {key!r}.")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data, ready for JSON."""
        return {spec.name: plain_data(getattr(self, spec.name)) for spec in fields(self)}

    def essence(self) -> dict[str, Any]:
        """Return the plain data without what is at its default: a field that is added later does not change it."""
        changed = [spec for spec in fields(self) if spec.default is MISSING or getattr(self, spec.name) != spec.default]
        return {spec.name: plain_data(getattr(self, spec.name), essence=True) for spec in changed}


@dataclass(frozen=True)
class Table:
    """A small frozen mapping of names to plain values."""

    pairs: tuple[tuple[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the mapping as plain data."""
        return {key: plain_data(value) for key, value in self.pairs}


def plain_data(value: object, *, essence: bool = False) -> Any:
    """Return the value as JSON knows it; ``essence`` leaves out what is at its default."""
    if isinstance(value, Record):
        return value.essence() if essence else value.to_dict()
    if isinstance(value, Table):
        return value.to_dict()
    if hasattr(value, "nested"):
        return value.nested()
    return [plain_data(part, essence=essence) for part in value] if isinstance(value, tuple) else value


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(data: object) -> str:
    """Return the one JSON text of plain data: keys sorted, no blanks, ASCII only."""
    return _CANONICAL.encode(data)


def fingerprint(data: object) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(canonical(data).encode("ascii")).hexdigest()


def words(name: str, value: object) -> str:
    """Return a check for a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be a text that is not empty, got {short_repr(value)}.")
    if len(value) > LONGEST_TEXT:
        raise InvalidInput(f"{name} has {len(value):,} characters; at most {LONGEST_TEXT:,} are needed.")
    return value.strip()


def words_or_empty(name: str, value: object) -> str:
    """Return a check for a text that may be empty."""
    return "" if value == "" else words(name, value)


def slug(name: str, value: object) -> str:
    """Check a name that must be usable in ids, addresses and file names."""
    if not isinstance(value, str) or len(value) > 64 or not _SLUG.fullmatch(value):
        raise InvalidInput(
            f"{name} must be up to 64 lower-case letters, digits, dots, dashes and underscores, "
            f"got {short_repr(value)}."
        )
    return value


def result_name(name: str, value: object) -> str:
    """Return a check for a name that results go by, in capitals too: H1-regret."""
    if not isinstance(value, str) or len(value) > LONGEST_NAME or not _NAME.fullmatch(value):
        raise InvalidInput(
            f"{name} must be up to {LONGEST_NAME} letters, digits, dots, dashes and underscores, "
            f"got {short_repr(value)}."
        )
    return value


def flag(name: str, value: object) -> bool:
    """Return a check for true or false."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false, got {short_repr(value)}.")
    return value


def optional(check: Check) -> Check:
    """Return a check that lets None through."""

    def checked(name: str, value: object) -> Any:
        return None if value is None else check(name, value)

    vars(checked)["inner"] = check  # TOML has no null: in a file the value is as `check` wants it, or is left out.
    return checked


def listing(check: Check, least: int = 0, most: int = 1000, *, unique: str = "") -> Check:
    """Return a check for a list, each part checked; ``unique`` names a field that no two parts may share ("=": the
    part).
    """

    def checked(name: str, value: object) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise InvalidInput(f"{name} must be a list, got {short_repr(value)}.")
        if not least <= len(value) <= most:
            span = f"exactly {least}" if least == most else f"from {least} to {most}"
            raise InvalidInput(f"{name} has {len(value)} parts; {span} are needed.")
        parts = tuple(check(f"{name}[{i}]", part) for i, part in enumerate(value))
        if unique:
            seen = [part if unique == "=" else getattr(part, unique) for part in parts]
            for i, key in enumerate(seen):
                if key in seen[:i]:
                    raise InvalidInput(f"{name} holds {short_repr(key)} twice; each needs its own.")
        return parts

    schema = {"type": "array", "items": check, "minItems": least, "maxItems": most, "uniqueItems": unique == "="}
    return with_schema(checked, schema)


def table_of(check: Check) -> Check:
    """Return a check for a mapping of names to values, kept in the order of the names."""

    def checked(name: str, value: object) -> Table:
        if isinstance(value, Table):
            value = dict(value.pairs)
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise InvalidInput(f"{name} must be a table, got {short_repr(value)}.")
        return Table(tuple((key, check(f"{name}.{key}", value[key])) for key in sorted(value)))

    return with_schema(checked, {"type": "object", "additionalProperties": check})


def scalar(name: str, value: object) -> Any:
    """Return a check for one plain value: a text, a number, true or false."""
    if not isinstance(value, (str, int, float, bool)):
        raise InvalidInput(f"{name} must be a text, a number, true or false, got {short_repr(value)}.")
    return value


with_schema(words, {"type": "string", "pattern": r"\S", "maxLength": LONGEST_TEXT})
with_schema(words_or_empty, {"type": "string", "maxLength": LONGEST_TEXT})
with_schema(slug, {"type": "string", "pattern": f"^{_SLUG.pattern}$", "maxLength": 64})
with_schema(result_name, {"type": "string", "pattern": f"^{_NAME.pattern}$", "maxLength": LONGEST_NAME})
with_schema(flag, {"type": "boolean"})
with_schema(scalar, {"type": ["string", "number", "boolean"]})
