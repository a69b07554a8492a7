"""Edits of a TOML text that leave comments, order and layout of everything else as they are.

An edit names a place by its path, such as ``["quiz", 0, "text"]``. Every result is parsed again and compared with the
same edits of the plain data, so that a text never says anything else than the form does.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array

from cobandit.base.errors import InvalidInput, short_repr
from cobandit.base.toml import parse_toml

Path = Sequence[str | int]


@dataclass(frozen=True)
class Edit:
    """One change: ``set`` a key or an element, ``remove`` it, ``insert`` an element before it, or ``move`` it."""

    op: Literal["set", "remove", "insert", "move"]
    path: tuple[str | int, ...]
    value: Any = None
    to: int = 0


def edited(text: str, edits: Sequence[Edit], where: str = "the draft") -> str:
    """Return the text after some edits."""
    if not edits:
        return text
    wanted = copy.deepcopy(parse_toml(text, where))
    try:
        document = tomlkit.parse(text)
        for edit in edits:
            _apply(wanted, edit, plain=True)
            _apply(document, edit, plain=False)
        written = tomlkit.dumps(document)
    except (TOMLKitError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{where} cannot be changed at this place by a form: {error}. Edit its source.") from error
    if not same(parse_toml(written, where), wanted):
        raise InvalidInput(f"{where} has a layout that a form cannot change at this place. Edit its source.")
    return written


def toml_text(data: Mapping[str, Any]) -> str:
    """Return plain data as TOML: values first, then tables, then lists of tables. None is left out."""
    text = tomlkit.dumps(_table(data))
    assert same(parse_toml(text, "the design"), _without_none(data))
    return text


def same(left: Any, right: Any) -> bool:
    """Return whether two plain values are equal; true is not 1, and 1 is 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _apply(root: Any, edit: Edit, *, plain: bool) -> None:
    """Change plain data, or a document of tomlkit, at one place."""
    if not edit.path:
        raise InvalidInput("path must have at least one part, got [].")
    home, last = root, edit.path[-1]
    for part in edit.path[:-1]:
        _check_part(home, part, edit)
        home = home[part]
    _check_part(home, last, edit, new=edit.op in ("set", "insert"))
    if edit.op in ("insert", "move") and not isinstance(home, list):
        raise InvalidInput(f"path {list(edit.path)} must lead into a list.")
    if edit.op in ("set", "insert") and isinstance(home, AoT) and not isinstance(edit.value, dict):
        raise InvalidInput(f"value at path {list(edit.path)} must be a table, got {short_repr(edit.value)}.")
    if edit.op == "set":
        if isinstance(last, int) and last == len(home):
            raise InvalidInput(f"path {list(edit.path)} leads to nothing in the draft.")
        home[last] = edit.value if plain else _item(edit.value, home)
    elif edit.op == "remove":
        del home[last]
    elif edit.op == "insert":
        home.insert(last, edit.value if plain else _item(edit.value, home))
    else:
        if not 0 <= edit.to < len(home):
            raise InvalidInput(f"to must be a place in the list, from 0 to {len(home) - 1}, got {edit.to}.")
        value = home[last]
        del home[last]
        home.insert(edit.to, value)


def _check_part(home: Any, part: str | int, edit: Edit, *, new: bool = False) -> None:
    """Check that a part of a path exists, or may be added."""
    if isinstance(home, dict) and isinstance(part, str) and (new or part in home):
        return
    if isinstance(home, list) and isinstance(part, int) and 0 <= part < len(home) + new:
        return
    raise InvalidInput(f"path {short_repr(list(edit.path))} leads to nothing in the draft.")


def _item(value: Any, home: Any) -> Any:
    """Return a value as an item of tomlkit that fits into its container."""
    if isinstance(value, dict):
        if isinstance(home, Array) or type(home).__name__ == "InlineTable":
            inline = tomlkit.inline_table()
            inline.update({key: _item(part, inline) for key, part in value.items()})
            return inline
        return _table(value)
    if isinstance(value, list):
        if value and all(isinstance(part, dict) for part in value) and not isinstance(home, Array):
            tables = tomlkit.aot()
            for part in value:
                tables.append(_table(part))
            return tables
        array = tomlkit.array()
        array.extend([_item(part, array) for part in value])
        return array
    if isinstance(value, str) and "\n" in value and "\r" not in value and not value.startswith("\n"):
        return tomlkit.string(value, multiline=True)
    return tomlkit.item(value)


def _table(data: Mapping[str, Any]) -> Any:
    table = tomlkit.table()
    present = _without_none(data)
    for kind in (_is_value, _is_table, _is_tables):
        for key, value in present.items():
            if kind(value):
                table.append(key, _item(value, table))
    return table


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, AoT)) and bool(value) and all(isinstance(part, dict) for part in value)


def _is_value(value: Any) -> bool:
    return not _is_table(value) and not _is_tables(value)


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(part) for key, part in value.items() if part is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(part) for part in value]
    return value
