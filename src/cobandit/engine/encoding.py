"""Python values as strict JSON and back, exactly: what the memory of an agent may be made of.

None, truth values, strings, whole numbers up to 2^53 and finite floats stand for themselves, a JSON list for a list.
Everything else is an object with a tag: ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}`` (in order, as objects
of JSON have none), ``{"array": [...], "dtype": "<f8", "shape": [2, 2]}``, ``{"float": "nan"}``, ``{"int": "..."}``,
random generators, and the library's own `Memory`, `Window`, `Briefing` and registered agents. Lists, dicts, arrays and
the like are numbered as they come, and one that is held in two places is written once: ``{"same": 3}`` is number 3.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from cobandit.agents.base import Agent, Briefing
from cobandit.agents.beliefs import Memory
from cobandit.agents.foresight import Window
from cobandit.agents.registry import AGENTS
from cobandit.base.errors import CobanditError

LARGEST = 2**53
"""Whole numbers beyond it are written as text: many readers of JSON would round them."""

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_FACTORIES: dict[str, Callable[[], Any]] = {"int": int, "float": float, "list": list, "dict": dict}
_DICTS: dict[str, type[dict[Any, Any]]] = {"dict": dict, "ordered_dict": OrderedDict, "counter": Counter}
_OURS: dict[str, type] = {"memory": Memory, "window": Window}
_BITS = ("SFC64", "PCG64", "PCG64DXSM", "MT19937", "Philox")
_TOO_DEEP = "is nested too deeply"


class Unwritable(Exception):
    """A value that cannot be written: ``where`` it stands, ``why`` not."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where} {why}")
        self.where, self.why = where, why


class Unreadable(Exception):
    """Something that `Writer` cannot have written."""


class Writer:
    """Writes values one after another; an object that comes again is written as the same one."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is only good while its object lives
        self._open: set[int] = set()
        self._arrays: list[tuple[str, Any]] = []

    def write(self, value: Any, where: str) -> Any:
        """The value as plain data; ``where`` it stands is for errors."""
        try:
            return self._write(value, where)
        except RecursionError:
            raise Unwritable(where, _TOO_DEEP) from None

    def write_attributes(self, values: Mapping[str, Any], where: str = "") -> dict[str, Any]:
        """Several values by name."""
        # In the order of their names: a database may keep the members of an object in an order of its own.
        return {name: self.write(values[name], f"{where}.{name}" if where else name) for name in sorted(values)}

    def _write(self, value: Any, where: str) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int or kind is float:
            return _number(value, where)
        if kind is tuple:
            return {"tuple": self._items(value, where)}
        if isinstance(value, np.generic):
            return {"scalar": _element(value.item(), where), "dtype": _dtype(value.dtype, where)}
        me = id(value)
        if me in self._open:
            raise Unwritable(where, "holds itself")
        if me in self._numbers:
            return {"same": self._numbers[me]}
        self._numbers[me] = len(self._numbers)
        self._alive.append(value)
        self._open.add(me)
        written = self._object(value, where)
        self._open.discard(me)
        return written

    def _object(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind is list:
            return self._items(value, where)
        for tag, mapping in _DICTS.items():
            if kind is mapping:
                return {tag: self._pairs(value, where)}
        if kind is defaultdict:
            return {"default_dict": self._pairs(value, where), "of": _factory_name(value, where)}
        if kind is deque:
            return {"deque": self._items(value, where), "maxlen": value.maxlen}
        if kind is np.ndarray:
            return self._array(value, where)
        if kind is np.random.Generator:
            return self._generator(value, where)
        if kind is Briefing:
            return {"briefing": self.write_attributes({f.name: getattr(value, f.name) for f in fields(value)}, where)}
        for tag, own in _OURS.items():
            if kind is own:
                return {tag: self.write_attributes(vars(value), where)}
        if isinstance(value, Agent) and AGENTS.get(value.title) is kind:
            return {"agent": value.title, **self._agent(value, where)}
        raise Unwritable(where, f"is a {kind.__name__}")

    def _agent(self, agent: Agent, where: str) -> dict[str, Any]:
        options = agent.options
        rest = {name: value for name, value in vars(agent).items() if name not in options}
        return {"options": self.write_attributes(options, where), "attributes": self.write_attributes(rest, where)}

    def _items(self, values: Iterable[Any], where: str) -> list[Any]:
        return [self._write(value, f"{where}[{i}]") for i, value in enumerate(values)]

    def _pairs(self, values: dict[Any, Any], where: str) -> list[Any]:
        pairs = []
        for key, value in values.items():
            pairs.append([self._write(key, f"a key of {where}"), self._write(value, f"{where}[{key!r}]")])
        return pairs

    def _array(self, array: Any, where: str) -> dict[str, Any]:
        dtype = _dtype(array.dtype, where)
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise Unwritable(where, "is a view into another array (numpy.ascontiguousarray makes it one of its own)")
        for place, other in self._arrays:
            if np.may_share_memory(array, other):
                raise Unwritable(where, f"shares its memory with {place} (a copy would not)")
        self._arrays.append((where, array))
        data = [_element(value, where) for value in array.ravel().tolist()]
        written = {"array": data, "dtype": dtype, "shape": list(array.shape)}
        return written if array.flags.c_contiguous else {**written, "order": "F"}

    def _generator(self, rng: np.random.Generator, where: str) -> dict[str, Any]:
        bits = rng.bit_generator
        name = type(bits).__name__
        if name not in _BITS or type(bits) is not getattr(np.random, name):
            raise Unwritable(where, f"draws from {name}, which is not a bit generator of numpy")
        seeds = bits.seed_seq if type(bits.seed_seq) is np.random.SeedSequence else None
        # The seed sequence counts the streams that were spawned from this one.
        seed_state = None if seeds is None else self._write(dict(seeds.state), where)
        return {"generator": name, "state": self._write(_copied(bits.state), where), "seeds": seed_state}


class Reader:
    """Reads what a `Writer` wrote, in the same order."""

    def __init__(self) -> None:
        self._objects: list[Any] = []

    def read(self, data: Any) -> Any:
        """The value behind plain data."""
        try:
            return self._read(data)
        except Unreadable:
            raise
        except CobanditError as error:
            raise Unreadable(str(error)) from error
        except RecursionError:
            raise Unreadable("it " + _TOO_DEEP) from None
        except Exception as error:  # whatever Python or numpy say of data that are not what they claim to be
            raise Unreadable(f"{type(error).__name__}: {error}") from error

    def read_attributes(self, data: Any) -> dict[str, Any]:
        """Several values by name."""
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
                return tuple(self._items(data["tuple"]))
            if "int" in data:
                return _whole(data["int"])
            if "float" in data:
                return _SPECIAL[data["float"]]
            if "scalar" in data:
                return _cells([data["scalar"]], data["dtype"])[0]
        number = len(self._objects)
        self._objects.append(None)
        self._objects[number] = value = self._items(data) if type(data) is list else self._object(data)
        return value

    def _object(self, data: dict[str, Any]) -> Any:
        for tag, mapping in _DICTS.items():
            if tag in data:
                return mapping(self._pairs(data[tag]))
        for tag, own in _OURS.items():
            if tag in data:
                value: Any = object.__new__(own)
                vars(value).update(self.read_attributes(data[tag]))
                return value
        if "default_dict" in data:
            return defaultdict(_FACTORIES[data["of"]], self._pairs(data["default_dict"]))
        if "deque" in data:
            longest = data["maxlen"]
            return deque(self._items(data["deque"]), None if longest is None else _count(longest))
        if "array" in data:
            shape = tuple(_count(size) for size in data["shape"])
            cells = data["array"]
            _need(type(cells) is list and len(cells) == math.prod(shape), "an array has too few or too many numbers")
            array = _cells(cells, data["dtype"]).reshape(shape)
            return np.asfortranarray(array) if data.get("order") == "F" else array
        if "generator" in data:
            _need(data["generator"] in _BITS, f"there is no bit generator {data['generator']!r}")
            seeds, state = self._read(data["seeds"]), self._read(data["state"])
            bits = getattr(np.random, data["generator"])(0 if seeds is None else np.random.SeedSequence(**seeds))
            bits.state = state
            return np.random.Generator(bits)
        if "briefing" in data:
            return Briefing(**self.read_attributes(data["briefing"]))
        _need("agent" in data, f"nothing is known of {', '.join(map(str, data))}")
        agent = AGENTS[data["agent"]].of(**self.read_attributes(data["options"]))
        vars(agent).update(self.read_attributes(data["attributes"]))
        return agent

    def _items(self, data: Any) -> list[Any]:
        _need(type(data) is list, "a list is not one")
        return [self._read(value) for value in data]

    def _pairs(self, data: Any) -> dict[Any, Any]:
        pairs = {}
        for key, value in data:
            name = self._read(key)  # in the order in which they were written
            pairs[name] = self._read(value)
        return pairs


def _need(fine: bool, otherwise: str) -> None:
    if not fine:
        raise Unreadable(otherwise)


def _number(value: int | float, where: str) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    return value if -LARGEST <= value <= LARGEST else {"int": _digits(value, where)}


def _factory_name(values: defaultdict[Any, Any], where: str) -> str:
    for name, factory in _FACTORIES.items():
        if values.default_factory is factory:
            return name
    raise Unwritable(where, "is a defaultdict of something else than int, float, list or dict")


def _element(value: Any, where: str) -> Any:
    """A number of an array, whose dtype says what it is."""
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    return value if -LARGEST <= value <= LARGEST else _digits(value, where)


def _digits(value: int, where: str) -> str:
    try:
        return str(value)
    except ValueError:  # Python writes no number of many thousands of digits
        raise Unwritable(where, "is a whole number of too many digits") from None


def _dtype(dtype: np.dtype[Any], where: str) -> str:
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise Unwritable(where, f"holds numbers of type {dtype}")
    return dtype.str


def _cells(values: list[Any], dtype: Any) -> Any:
    """The numbers of an array, each of the type that they all claim to be."""
    _need(type(dtype) is str, f"there is no array of {dtype!r}")
    kind = np.dtype(dtype)
    _need(kind.kind in "biuf" and kind.itemsize <= 8, f"there is no array of {dtype!r}")
    if kind.kind == "b":
        _need(all(type(value) is bool for value in values), "an array of truth values holds something else")
        return np.array(values, dtype=kind)
    if kind.kind in "iu":
        return np.array([_whole(value) for value in values], dtype=kind)
    numbers = [_SPECIAL[value] if type(value) is str else value for value in values]
    _need(all(type(value) in (int, float) for value in numbers), "an array of numbers holds something else")
    return np.array(numbers, dtype=kind)


def _whole(value: Any) -> int:
    _need(type(value) in (int, str), f"{value!r} is not a whole number")
    return int(value)


def _count(value: Any) -> int:
    _need(type(value) is int and value >= 0, f"{value!r} is not a count")
    return int(value)


def _copied(state: Any) -> Any:
    """The state of a bit generator, its arrays copied: numpy hands out some that it goes on writing to."""
    if isinstance(state, dict):
        return {key: _copied(value) for key, value in state.items()}
    return np.array(state) if isinstance(state, np.ndarray) else state
