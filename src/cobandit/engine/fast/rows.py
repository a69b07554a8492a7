"""Players, worlds and models inside compiled code: rows of memory, and types that name the class of a row.

A *kind* is a NamedTuple class with plain methods (see `kinds`). Players of one kind are a *squad*: the same fields, as
arrays with one entry per player, so that the compiled type depends only on the set of kinds, not on the number of
players, arms or options.

Compiled code gets a row of words for each player, and one for the world and for each model (`memory_of`): a word for
each field, a number or the address of an array. `kind_at` and `player` find such a row. There, a kind with few fields
is a tuple of them all, loaded together and likely to stay in registers. A kind with many fields is its row, from which
a field is loaded on use, so that a call passes one pointer instead of dozens of numbers. Nothing is reference-counted
and nothing is allocated. Pointers have no bounds: the tests also play every kind without the compiler
(``NUMBA_DISABLE_JIT=1``), where the same functions return NumPy's checked arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.base import BaseContext
from numba.core.imputils import lower_getattr_generic
from numba.core.pythonapi import _UnboxContext as UnboxContext
from numba.core.types import Type
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

from cobandit.engine.fast.digests import kind_digest
from cobandit.engine.fast.protocols import Code, Intrinsic, Values

MOST_FIELDS = 64
"""The number of words in a row, enough for the fields of any kind."""

FEW_FIELDS = 16
"""Up to this many fields a kind is a tuple of them in compiled code, beyond that a pointer to its row."""

Layout = tuple[tuple[str, int], ...]
"""For each field the type of its numbers, and whether it is an array of them (1) or a lone one (0)."""

_KINDS: dict[tuple[str, str], type[Any]] = {}
"""The classes of all kinds by their name and digest."""


class Tag:
    """A kind's value; its *type* names the kind, a digest of its text and its fields.

    A squad has ``players`` players, with one entry of each field for every player. Compiled code is stored on disk
    under the types of its arguments. The digest in the type makes sure that code of another version of a kind, or of
    another kind with the same name, is never used for it.
    """

    def __init__(self, value: Any, players: int | None = None) -> None:
        self.value = value
        self.key = key_of(type(value))
        self.rows = [value] if players is None else [_player_of(value, k) for k in range(players)]
        self.layout: Layout = tuple(map(_field_layout, self.rows[0]))


def key_of(kind: type[Any]) -> tuple[str, str]:
    """Return a kind's name and digest, by which compiled code finds its class."""
    key = f"{kind.__module__}.{kind.__qualname__}", kind_digest(kind)  # type: ignore[arg-type]
    _KINDS[key] = kind
    return key


def _player_of(squad: Any, k: int) -> Any:
    """Return one player of a squad of arrays."""
    return type(squad)(*(field[k] if isinstance(field, np.ndarray) else field for field in squad))


def _field_layout(field: object) -> tuple[str, int]:
    if isinstance(field, np.ndarray):
        return field.dtype.str, 1
    return ("f8" if isinstance(field, float) else "i8"), 0


def memory_of(tags: Sequence[Tag]) -> NDArray[np.int64]:
    """Return a row for each tag, of a squad one for each player: where its arrays stand, and its lone numbers.

    Compiled code takes this one array instead of dozens. The tags keep what it points to alive.
    """
    # Numba unpacks every array argument at each call, and types a loop again for each number of players. One array of
    # addresses avoids both; the price is that nothing checks bounds, which the play without the compiler makes up for.
    values = [value for tag in tags for value in tag.rows]
    rows = np.zeros((len(values), MOST_FIELDS), dtype=np.int64)
    for row, value in zip(rows, values, strict=True):
        for k, field in enumerate(value):
            if isinstance(field, np.ndarray):
                if not field.flags.c_contiguous:
                    raise ValueError(f"A field of {type(value).__qualname__} is not contiguous.")
                row[k] = field.__array_interface__["data"][0]
            else:
                row[k : k + 1].view(np.float64 if isinstance(field, float) else np.int64)[0] = field
    return rows


class TagType(types.Type):  # type: ignore[misc]
    """The type of a `Tag`."""

    def __init__(self, key: tuple[str, str], layout: Layout) -> None:
        self.tag_key, self.layout = key, layout
        super().__init__(name=f"Tag{key}{layout}")

    @property
    def row_type(self) -> RowType:
        """The type of the tagged kind's row."""
        return row_type(self.tag_key, self.layout)


def kinds_of(signature: Sequence[Type]) -> list[type[Any]]:
    """Return the classes behind all tags among the types of arguments."""
    each = [entry for argument in signature for entry in getattr(argument, "types", (argument,))]
    return [_KINDS[entry.tag_key] for entry in each if isinstance(entry, TagType)]


@typeof_impl.register(Tag)
def _typeof_tag(value: Tag, _: object) -> TagType:
    return TagType(value.key, value.layout)


register_model(TagType)(models.OpaqueModel)


@unbox(TagType)
def _unbox_tag(_: object, __: object, c: UnboxContext) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


class RowType(types.Type):  # type: ignore[misc]
    """The type of a kind's row, which is a pointer in compiled code."""

    def __init__(self, key: tuple[str, str], layout: Layout) -> None:
        self.instance_class, self.layout = _KINDS[key], layout
        fields = zip(self.instance_class._fields, layout, strict=True)
        self.fields = {name: (k, _field_type(field)) for k, (name, field) in enumerate(fields)}
        # Short: it is part of the name of every function that takes one.
        digest = hashlib.sha256(repr((key, layout)).encode()).hexdigest()[:12]
        super().__init__(name=f"{self.instance_class.__name__}_{digest}")

    @property
    def opened(self) -> Type:
        """The type as which compiled code hands the kind on."""
        return self.as_tuple if len(self.fields) <= FEW_FIELDS else self

    @property
    def as_tuple(self) -> types.NamedTuple:
        """The type of a tuple of all fields."""
        return types.NamedTuple(tuple(field for _, field in self.fields.values()), self.instance_class)


row_type = cache(RowType)


def _field_type(layout: tuple[str, int]) -> Type:
    dtype, is_array = layout
    number = from_dtype(np.dtype(dtype))
    return types.CPointer(number) if is_array else number


@register_model(RowType)
class _RowModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: object, row: RowType) -> None:
        super().__init__(manager, row, ir.IntType(64).as_pointer())


@infer_getattr
class _RowFields(AttributeTemplate):  # type: ignore[misc]
    key = RowType

    def generic_resolve(self, row: RowType, name: str) -> Type | None:
        """Return the type of a field; None for a method."""
        return row.fields[name][1] if name in row.fields else None


@lower_getattr_generic(RowType)
def _load(context: BaseContext, builder: ir.IRBuilder, row: RowType, start: ir.Value, name: str) -> ir.Value:
    """Return a field from its place in the row, where nothing changes while a loop plays."""
    position, field = row.fields[name]
    place = builder.gep(start, [ir.IntType(64)(position)])
    loaded = builder.load(builder.bitcast(place, context.get_value_type(field).as_pointer()))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _open(context: BaseContext, builder: ir.IRBuilder, row: RowType, start: ir.Value, result: Type) -> ir.Value:
    """Return a row as it is handed on: itself, or all of its fields."""
    if result is row:
        return start
    return context.make_tuple(builder, result, [_load(context, builder, row, start, name) for name in row.fields])


def _row_at(
    context: BaseContext, builder: ir.IRBuilder, memory: types.Array, words: ir.Value, number: ir.Value
) -> ir.Value:
    """Return the start of a row of an array from `memory_of`."""
    start = context.make_array(memory)(context, builder, words).data
    return builder.gep(start, [builder.mul(number, number.type(MOST_FIELDS))])


if config.DISABLE_JIT:

    def kind_at(tag: Tag, memory: NDArray[np.int64], row: int) -> Any:
        """Return a kind with its fields as they are."""
        return tag.value

    tuple_at = squad_at = kind_at
    player = _player_of

    def part_of(kind: Any, prefix: str) -> Any:
        """Return a function that gives the fields with a prefix as a kind of their own."""
        return lambda whole: kind(*(getattr(whole, prefix + name) for name in kind._fields))

else:

    def _reader(shape: Callable[[RowType], Type]) -> Code:
        """Return a function of a tag, a memory and the number of a row that gives the kind there, in some shape."""

        @intrinsic
        def read(_: object, tag: TagType, memory: types.Array, row: Type) -> Intrinsic:
            result = shape(tag.row_type)

            def code(context: BaseContext, builder: ir.IRBuilder, _: object, args: Values) -> ir.Value:
                return _open(context, builder, tag.row_type, _row_at(context, builder, memory, *args[1:]), result)

            return result(tag, memory, types.intp), code

        return read

    kind_at = _reader(lambda row: row.opened)
    """The kind in a row."""
    tuple_at = _reader(lambda row: row.as_tuple)
    """The same as a tuple of all its fields, however many: each is an argument of its own in a call."""
    squad_at = _reader(lambda row: row)
    """The squad whose first player is in a row; the others are in the next ones."""

    @intrinsic
    def player(_: object, squad: RowType, k: Type) -> Intrinsic:
        """Return one player of a squad."""
        result = squad.opened

        def code(context: BaseContext, builder: ir.IRBuilder, _: object, args: Values) -> ir.Value:
            start = builder.gep(args[0], [builder.mul(args[1], args[1].type(MOST_FIELDS))])
            return _open(context, builder, squad, start, result)

        return result(squad, types.intp), code

    def part_of(kind: Any, prefix: str) -> Any:
        """Return a function that returns the fields with a prefix, which are contiguous, as a separate kind."""

        @intrinsic
        def part(_: object, whole: RowType) -> Intrinsic:
            first = list(whole.fields).index(prefix + kind._fields[0])
            result = row_type(key_of(kind), whole.layout[first : first + len(kind._fields)])

            def code(_: object, builder: ir.IRBuilder, __: object, args: Values) -> ir.Value:
                return builder.gep(args[0], [ir.IntType(64)(first)])

            return result(whole), code

        return part
