"""Python values as strict JSON and back, exactly: the format of what agents remember.

None, booleans, strings, integers up to 2^53, finite floats and lists stand for themselves. Any other value is an object
with named members: ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}`` (in order, which JSON objects lack),
``{"array": [...], "dtype": "<f8", "shape": [2, 2]}``, ``{"float": "nan"}``, ``{"int": "..."}``, random generators, and
the library's own `Memory`, `Window`, `Briefing` and registered agents. Values with an identity, such as lists and
arrays, are numbered in the order in which they are written; one that is held in two places is written once:
``{"same": 3}`` is number 3.
"""

from __future__ import annotations

import copy
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cobandit.agents.base import Agent, Briefing
from cobandit.agents.beliefs import Memory
from cobandit.agents.foresight import Window
from cobandit.agents.registry import AGENTS
from cobandit.base.errors import CobanditError

LARGEST = 2**53
"""Larger integers are written as text: many readers of JSON would round them."""

_FACTORIES: dict[str, Callable[[], Any]] = {"int": int, "float": float, "list": list, "dict": dict}
_DICTS: dict[str, type[dict[Any, Any]]] = {"dict": dict, "ordered_dict": OrderedDict, "counter": Counter}
_OURS: dict[str, type] = {"memory": Memory, "window": Window, "briefing": Briefing}
_BITS = ("SFC64", "PCG64", "PCG64DXSM", "MT19937", "Philox")

_MEMBERS = {
    "deque": "items",
    "default_dict": "pairs",
    **dict.fromkeys(_DICTS, "pairs"),
    **dict.fromkeys(_OURS, "attributes"),
    "options": "attributes",
    "attributes": "attributes",
    "seeds": "value",
    "state": "value",
}
"""The members of objects that hold other values, in the order of their numbers, and how they hold them."""


class Unwritable(Exception):
    """A value that cannot be written: ``where`` it is and why it cannot."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where} {why}")


class Unreadable(Exception):
    """Data that a `Writer` cannot have written."""


class Writer:
    """Writes values one after another; an object that comes again is written as the same one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Any]] = {}  # the object too, as an id is only good while its object lives
        self._open: set[int] = set()
        self._arrays: list[tuple[str, Any]] = []

    def write(self, value: object, where: str) -> Any:
        """Return the value as plain data; ``where`` it is held is for errors."""
        try:
            return self._write(value, where)
        except RecursionError:
            raise Unwritable(where, "is nested too deeply") from None

    def write_attributes(self, values: Mapping[str, Any], where: str = "") -> dict[str, Any]:
        """Return several values by name."""
        # In the order of their names: a database may keep the members of an object in an order of its own.
        return {name: self.write(values[name], f"{where}.{name}" if where else name) for name in sorted(values)}

    def _write(self, value: Any, where: str) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind in (int, float):
            number = _number(value, where)
            return {kind.__name__: number} if isinstance(number, str) else number
        if kind is tuple:
            return {"tuple": self._held("items", value, where)}
        if isinstance(value, np.generic):
            return {"scalar": _number(value.item(), where), "dtype": _dtype(value.dtype, where)}
        if id(value) in self._open:
            raise Unwritable(where, "holds itself")
        if id(value) in self._known:
            return {"same": self._known[id(value)][0]}
        self._known[id(value)] = len(self._known), value
        self._open.add(id(value))
        if kind is list:
            written: Any = self._held("items", value, where)
        else:
            written = self._members(value, where)
            for name, how in _MEMBERS.items():
                if name in written:
                    written[name] = self._held(how, written[name], where)
        self._open.discard(id(value))
        return written

    def _held(self, how: str, values: Any, where: str) -> Any:
        """Return the values that a member holds, written."""
        if how == "items":
            return [self._write(value, f"{where}[{i}]") for i, value in enumerate(values)]
        if how == "pairs":
            return [
                [self._write(key, f"a key of {where}"), self._write(value, f"{where}[{key!r}]")]
                for key, value in values.items()
            ]
        return self.write_attributes(values, where) if how == "attributes" else self._write(values, where)

    def _members(self, value: Any, where: str) -> dict[str, Any]:
        """Return the members of an object by name; those of `_MEMBERS` are still to be written."""
        kind = type(value)
        for tag, own in (_DICTS | _OURS).items():
            if kind is own:
                return {tag: value if tag in _DICTS else vars(value)}
        if kind is defaultdict:
            names = [name for name, factory in _FACTORIES.items() if value.default_factory is factory]
            if not names:
                raise Unwritable(where, "is a defaultdict of something else than int, float, list or dict")
            return {"default_dict": value, "of": names[0]}
        if kind is deque:
            return {"deque": value, "maxlen": value.maxlen}
        if kind is np.ndarray:
            return self._array(value, where)
        if kind is np.random.Generator:
            return _generator(value.bit_generator, where)
        if isinstance(value, Agent) and AGENTS.get(value.title) is kind:
            options = value.options
            rest = {name: held for name, held in vars(value).items() if name not in options}
            return {"agent": value.title, "options": options, "attributes": rest}
        raise Unwritable(where, f"is a {kind.__name__}")

    def _array(self, array: Any, where: str) -> dict[str, Any]:
        dtype = _dtype(array.dtype, where)
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise Unwritable(where, "is a view into another array (numpy.ascontiguousarray makes it one of its own)")
        for place, other in self._arrays:
            if np.may_share_memory(array, other):
                raise Unwritable(where, f"shares its memory with {place} (a copy would not)")
        self._arrays.append((where, array))
        data = [_number(value, where) for value in array.ravel().tolist()]
        written = {"array": data, "dtype": dtype, "shape": list(array.shape)}
        return written if array.flags.c_contiguous else {**written, "order": "F"}


def _number(value: int | float, where: str) -> int | float | str:
    """Return a number as JSON has it, or as text if JSON has no such number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    try:
        return value if -LARGEST <= value <= LARGEST else str(value)
    except ValueError:  # Python writes no integer of many thousands of digits
        raise Unwritable(where, "is a whole number of too many digits") from None


def _dtype(dtype: np.dtype[Any], where: str) -> str:
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise Unwritable(where, f"holds numbers of type {dtype}")
    return dtype.str


def _generator(bits: Any, where: str) -> dict[str, Any]:
    name = type(bits).__name__
    if name not in _BITS or type(bits) is not getattr(np.random, name):
        raise Unwritable(where, f"draws from {name}, which is not a bit generator of numpy")
    # The seed sequence counts the streams that were spawned from this one.
    seeds = dict(bits.seed_seq.state) if type(bits.seed_seq) is np.random.SeedSequence else None
    # A copy, as the bit generator goes on writing to some of the arrays in its state.
    return {"generator": name, "seeds": seeds, "state": copy.deepcopy(bits.state)}


class Reader:
    """Reads what a `Writer` wrote, in the same order."""

    def __init__(self) -> None:
        self._objects: list[Any] = []

    def read(self, data: object) -> Any:
        """Return the value behind plain data."""
        try:
            return self._read(data)
        except Unreadable:
            raise
        except CobanditError as error:
            raise Unreadable(str(error)) from error
        except RecursionError:
            raise Unreadable("it is nested too deeply") from None
        except Exception as error:  # Python and numpy raise many kinds of error for data of another kind
            raise Unreadable(f"{type(error).__name__}: {error}") from error

    def read_attributes(self, data: Any) -> dict[str, Any]:
        """Return several values by name."""
        _need(type(data) is dict, "the attributes of an object are not an object")
        return {name: self.read(data[name]) for name in sorted(data)}

    def _read(self, data: Any) -> Any:
        if data is None or type(data) in (bool, str, int):
            return data
        if type(data) is float:
            _need(math.isfinite(data), f"{data} is not a number of JSON")
            return data
        if type(data) is not list:
            _need(type(data) is dict and bool(data), f"a {type(data).__name__} stands where a value belongs")
            if "same" in data:
                return self._objects[_count(data["same"])]
            if "tuple" in data:
                return tuple(self._held("items", data["tuple"]))
            if "int" in data:
                return _whole(data["int"])
            if "float" in data:
                return float(data["float"])
            if "scalar" in data:
                return _cells([data["scalar"]], data["dtype"])[0]
        number = len(self._objects)
        self._objects.append(None)
        if type(data) is list:
            value = self._held("items", data)
        else:
            held = {name: self._held(how, data[name]) for name, how in _MEMBERS.items() if name in data}
            value = _made_of(data | held)
        self._objects[number] = value
        return value

    def _held(self, how: str, data: Any) -> Any:
        """Return the values that a member holds, read."""
        if how == "items":
            _need(type(data) is list, "a list is not one")
            return [self._read(value) for value in data]
        if how == "pairs":
            return [(self._read(key), self._read(value)) for key, value in data]
        return self.read_attributes(data) if how == "attributes" else self._read(data)


def _made_of(members: dict[str, Any]) -> Any:
    """Return the object with these members."""
    for tag, mapping in _DICTS.items():
        if tag in members:
            return mapping(dict(members[tag]))
    if "default_dict" in members:
        return defaultdict(_FACTORIES[members["of"]], members["default_dict"])
    if "deque" in members:
        longest = members["maxlen"]
        return deque(members["deque"], None if longest is None else _count(longest))
    if "array" in members:
        shape, cells = tuple(_count(size) for size in members["shape"]), members["array"]
        _need(type(cells) is list and len(cells) == math.prod(shape), "an array has too few or too many numbers")
        array = _cells(cells, members["dtype"]).reshape(shape)
        return np.asfortranarray(array) if members.get("order") == "F" else array
    if "generator" in members:
        name, seeds = members["generator"], members["seeds"]
        _need(name in _BITS, f"there is no bit generator {name!r}")
        bits = getattr(np.random, name)(0 if seeds is None else np.random.SeedSequence(**seeds))
        bits.state = members["state"]
        return np.random.Generator(bits)
    if "briefing" in members:
        return Briefing(**members["briefing"])
    for tag, own in _OURS.items():
        if tag in members:
            value: Any = object.__new__(own)
            vars(value).update(members[tag])
            return value
    _need("agent" in members, f"nothing is known of {', '.join(map(str, members))}")
    agent = AGENTS[members["agent"]].of(**members["options"])
    vars(agent).update(members["attributes"])
    return agent


def _need(fine: bool, otherwise: str) -> None:
    if not fine:
        raise Unreadable(otherwise)


def _cells(values: list[Any], dtype: object) -> Any:
    """Return the numbers of an array, each of the type that they all claim to be."""
    kind = np.dtype(dtype) if type(dtype) is str else None
    if kind is None or kind.kind not in "biuf" or kind.itemsize > 8:
        raise Unreadable(f"there is no array of {dtype!r}")
    if kind.kind == "b":
        _need(all(type(value) is bool for value in values), "an array of truth values holds something else")
        return np.array(values, dtype=kind)
    if kind.kind in "iu":
        return np.array([_whole(value) for value in values], dtype=kind)
    _need(all(type(value) in (int, float, str) for value in values), "an array of numbers holds something else")
    return np.array([float(value) for value in values], dtype=kind)


def _whole(value: Any) -> int:
    _need(type(value) in (int, str), f"{value!r} is not a whole number")
    return int(value)


def _count(value: Any) -> int:
    _need(type(value) is int and value >= 0, f"{value!r} is not a count")
    return int(value)
