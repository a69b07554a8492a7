"""Python values as strict JSON and back, exactly: the format of what agents remember.

None, booleans, strings, integers up to 2^53, finite floats and lists stand for themselves. Any other value is an object
with named members: ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}`` (in order, which JSON objects lack),
``{"array": [...], "dtype": "<f8", "shape": [2, 2]}``, ``{"float": "nan"}``, ``{"int": "..."}``, random generators, and
the library's own `Memory`, `Window`, `Briefing`, `Refusals` and registered agents. Values with an identity, such as
lists and arrays, are numbered in the order in which they are written; one that is held in two places is written once:
``{"same": 3}`` is number 3.
"""

from __future__ import annotations

import copy
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Agent, Briefing
from cobandit.agents.beliefs import Memory
from cobandit.agents.foresight import Window
from cobandit.agents.heeding import Refusals
from cobandit.agents.registry import AGENTS

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

LARGEST = 2**53
"""Larger integers are written as text: many readers of JSON would round them."""

_DICTS = {"dict": dict, "ordered_dict": OrderedDict, "counter": Counter}
_FACTORIES = {"int": int, "float": float, "list": list, "dict": dict}
_RECORDS = {"memory": Memory, "window": Window, "briefing": Briefing, "refusals": Refusals}
_BITS = ("SFC64", "PCG64", "PCG64DXSM", "MT19937", "Philox")
_CELLS = {"b": bool, "i": int, "u": int, "f": float}
"""The kinds of numbers that an array may hold."""


class Unwritable(Exception):
    """What an agent holds that cannot be written."""


class Writer:
    """Writes values one after another; an object that comes again is written as the same one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, object]] = {}  # the object too: its id is valid only while it lives
        self._open: set[int] = set()
        self._arrays: list[NDArray[Any]] = []

    def write(self, value: object) -> Json:
        """Return the value as plain data."""
        if value is None or type(value) is bool or type(value) is str:
            return value
        if type(value) in (int, float):
            number = _number(value)
            return {type(value).__name__: number} if isinstance(number, str) else number
        if type(value) is tuple:
            return {"tuple": self._items(value)}
        if isinstance(value, np.generic):
            return {"scalar": _number(value.item()), "dtype": _dtype(value.dtype)}
        if id(value) in self._open:
            raise Unwritable("itself")
        if id(value) in self._known:
            return {"same": self._known[id(value)][0]}
        self._known[id(value)] = len(self._known), value
        self._open.add(id(value))
        written = self._items(value) if type(value) is list else self._object(value)
        self._open.discard(id(value))
        return written

    def attributes(self, values: Mapping[str, object]) -> dict[str, Json]:
        """Return several values by name."""
        # In the order of their names: a database may keep the members of an object in an order of its own.
        return {name: self.write(values[name]) for name in sorted(values)}

    def _items(self, values: Iterable[object]) -> list[Json]:
        return [self.write(value) for value in values]

    def _object(self, value: object) -> dict[str, Json]:
        if isinstance(value, dict):
            return self._dict(value)
        if type(value) is deque:
            return {"deque": self._items(value), "maxlen": value.maxlen}
        if type(value) is np.ndarray:
            return self._array(value)
        if type(value) is np.random.Generator:
            return self._generator(value.bit_generator)
        for tag, record in _RECORDS.items():
            if type(value) is record:
                return {tag: self.attributes(_held(value))}
        if isinstance(value, Agent) and AGENTS.get(value.title) is type(value):
            options = value.options
            named = {spec.name for spec in fields(value)}
            rest = {name: held for name, held in vars(value).items() if name not in options and name not in named}
            return {"agent": value.title, "options": self.attributes(options), "attributes": self.attributes(rest)}
        raise Unwritable(f"a {type(value).__name__}")

    def _dict(self, value: dict[Any, Any]) -> dict[str, Json]:
        pairs = [self._items(pair) for pair in value.items()]
        for tag, kind in _DICTS.items():
            if type(value) is kind:
                return {tag: pairs}
        for name, factory in _FACTORIES.items():
            if type(value) is defaultdict and value.default_factory is factory:
                return {"default_dict": pairs, "of": name}
        default = " of something else than int, float, list or dict" if type(value) is defaultdict else ""
        raise Unwritable(f"a {type(value).__name__}{default}")

    def _array(self, array: NDArray[Any]) -> dict[str, Json]:
        dtype, rows = _dtype(array.dtype), array.flags.c_contiguous
        if not rows and not array.flags.f_contiguous:
            raise Unwritable("a view into another array (numpy.ascontiguousarray makes it one of its own)")
        if any(np.may_share_memory(array, other) for other in self._arrays):
            raise Unwritable("an array that shares its memory with another one (a copy would not)")
        self._arrays.append(array)
        cells = [_number(cell) for cell in array.ravel().tolist()]
        return {"array": cells, "dtype": dtype, "shape": list(array.shape), **({} if rows else {"order": "F"})}

    def _generator(self, bits: np.random.BitGenerator) -> dict[str, Json]:
        name = type(bits).__name__
        if name not in _BITS:
            raise Unwritable(f"a generator of {name}, which is not a bit generator of numpy")
        # The seed sequence counts the streams that were spawned from this one.
        seeds = dict(bits.seed_seq.state) if type(bits.seed_seq) is np.random.SeedSequence else None
        # A copy, because the bit generator continues to write to some of the arrays in its state.
        return {"generator": name, "seeds": self.write(seeds), "state": self.write(copy.deepcopy(bits.state))}


def _held(record: object) -> dict[str, object]:
    """Return the attributes of a record; observed actions are left out, as before actions could be hidden."""
    held = vars(record)
    observed = isinstance(record, Briefing) and record.actions == "observed"
    return {name: value for name, value in held.items() if name != "actions"} if observed else held


def _number(value: Any) -> int | float | str:
    """Return a number as JSON has it, or as text if JSON has no such number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    try:
        return value if -LARGEST <= value <= LARGEST else str(value)
    except ValueError:  # Python writes no integer of many thousands of digits
        raise Unwritable("an integer of too many digits") from None


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype.kind not in _CELLS or dtype.itemsize > 8:
        raise Unwritable(f"numbers of type {dtype}")
    return dtype.str


class Reader:
    """Reads what a `Writer` wrote, in the same order; other data raise errors of Python and NumPy."""

    def __init__(self) -> None:
        self._objects: list[object] = []

    def read(self, data: Any) -> Any:
        """Return the value behind plain data."""
        match data:
            case {"same": number}:
                return self._objects[number]
            case {"tuple": items}:
                return tuple(self._items(items))
            case {"int": number}:
                return int(number)
            case {"float": number}:
                return float(number)
            case {"scalar": number, "dtype": dtype}:
                return _cells([number], dtype)[0]
            case list() | dict():
                place = len(self._objects)
                self._objects.append(None)
                self._objects[place] = self._items(data) if isinstance(data, list) else self._object(data)
                return self._objects[place]
        return data

    def attributes(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return several values by name."""
        return {name: self.read(data[name]) for name in sorted(data)}

    def _items(self, data: list[Any]) -> list[Any]:
        return [self.read(value) for value in data]

    def _object(self, data: dict[str, Any]) -> object:
        match data:
            case {"deque": items, "maxlen": longest}:
                return deque(self._items(items), longest)
            case {"default_dict": pairs, "of": factory}:
                return defaultdict(_FACTORIES[factory], dict(map(self._items, pairs)))
            case {"array": cells, "dtype": dtype, "shape": shape}:
                array = _cells(cells, dtype).reshape(shape)
                return np.asfortranarray(array) if "order" in data else array
            case {"generator": name, "seeds": seeds, "state": state} if name in _BITS:
                seeds = self.read(seeds)
                bits = getattr(np.random, name)(0 if seeds is None else np.random.SeedSequence(**seeds))
                bits.state = self.read(state)
                return np.random.Generator(bits)
            case {"briefing": attributes}:
                return Briefing(**self.attributes(attributes))
            case {"agent": title, "options": options, "attributes": attributes}:
                agent = AGENTS[title].of(**self.attributes(options))
                vars(agent).update(self.attributes(attributes))
                return agent
        ((tag, contents),) = data.items()
        if tag in _DICTS:
            return _DICTS[tag](dict(map(self._items, contents)))
        record: object = object.__new__(_RECORDS[tag])
        vars(record).update(self.attributes(contents))  # as they were: a constructor would make an empty memory
        return record


def _cells(values: list[Any], dtype: str) -> NDArray[Any]:
    return np.array([_CELLS[np.dtype(dtype).kind](value) for value in values], dtype)
