"""The JSON Schema of a record, made of the checks of its fields.

A check carries the schema of the values that it accepts (`cobandit.base.checks.with_schema`), so a limit is declared
once. Rules that connect several fields have no place in the schema: `Record.read` checks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from cobandit.base.checks import JsonSchema
from cobandit.base.records import Record, plain_data

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Help = Mapping[str, Mapping[str, str]]
"""The description of each field, by the name of the record's class and of the field."""


def json_schema(record: type[Record], help: Help) -> JsonSchema:
    """Return the schema of a record. Records inside of it are in ``$defs``, by the names of their classes."""
    definitions: dict[str, JsonSchema] = {}
    body = _table(record, help, definitions)
    return {"$schema": DIALECT, **body, "$defs": dict(sorted(definitions.items()))}


def check_schema(check: Any) -> JsonSchema:
    """Return the schema of a check that needs no records; a check without one accepts any value."""
    schema: JsonSchema = _resolved(check, {}, {}) if callable(check) else {}
    return schema


def _table(record: type[Record], help: Help, definitions: dict[str, JsonSchema]) -> JsonSchema:
    """Return the schema of one table, and add those of the tables inside of it to the definitions."""
    properties = {}
    for spec in fields(record):
        schema = _resolved(spec.metadata["check"], help, definitions)
        if spec.default not in (MISSING, None) and not isinstance(spec.default, Record):
            schema["default"] = plain_data(spec.default)
        properties[spec.name] = schema | {"description": _field_help(record, spec.name, help)}
    required = [spec.name for spec in fields(record) if spec.default is MISSING]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _field_help(record: type[Record], name: str, help: Help) -> str:
    """Return the description of a field: that of its own class, or of the class that declares it."""
    for owner in record.__mro__:
        text = help.get(owner.__name__, {}).get(name)
        if text is not None:
            return text
    raise KeyError(f"{record.__name__}.{name}")


def _resolved(value: Any, help: Help, definitions: dict[str, JsonSchema]) -> Any:
    """Return a schema with the checks in it replaced by their own schemas."""
    value = getattr(value, "inner", value)
    owner = getattr(value, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, Record):
        if owner.__name__ not in definitions:
            definitions[owner.__name__] = {}  # Stops the recursion of a record that contains records of its own kind.
            definitions[owner.__name__] = _table(owner, help, definitions)
        return {"$ref": f"#/$defs/{owner.__name__}"}
    if callable(value):
        schema = getattr(value, "schema", {})
        return _resolved(schema() if callable(schema) else schema, help, definitions)
    if isinstance(value, Mapping):
        return {key: _resolved(part, help, definitions) for key, part in value.items()}
    return value
