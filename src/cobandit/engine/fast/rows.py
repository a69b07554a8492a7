"""Players, worlds and models inside compiled code: rows of memory, and types that say which class a row belongs to.

A *kind* is a NamedTuple class with plain methods (see `kinds`). Players of one kind are a *squad*: the same fields, as
arrays with one entry per player, so that the compiled type depends on the set of kinds alone, not on how many players,
arms or options there are.

Compiled code gets a row of words for each player, and one for the world and for each model (`memory_of`): a word for
each field, a number or the place of an array. `kind_at` and `player` find such a row. A kind of a few fields is a tuple
of them all there, loaded at once and likely to stay in registers; a kind of many fields is its row, from which a field
is loaded when it is asked for, so that a call hands over one pointer instead of dozens of numbers. Nothing is
reference-counted and nothing is allocated. Pointers know no bounds: the tests play every kind without the compiler
as well (``NUMBA_DISABLE_JIT=1``), where the same functions give NumPy's checked arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

from cobandit.engine.fast.digests import kind_digest

MOST_FIELDS = 64
"""Words in a row: room for the fields of any kind."""

FEW_FIELDS = 16
"""Up to so many fields a kind is a tuple of them in compiled code, beyond a pointer to its row."""

Layout = tuple[tuple[str, int], ...]
"""For each field the type of its numbers, and whether it is an array of them (1) or a lone one (0)."""

_KINDS: dict[tuple[str, str], type[Any]] = {}
"""The classes of all kinds by their name and digest."""


class Tag:
    """A kind's value; its *type* names the kind, a digest of its text and what its fields are.

    A squad is of so many ``players``, with one entry of each field for every player. Compiled code is kept on disk by
    the types of its arguments. The digest in the type makes sure that code of another version of a kind, or of another
    kind of the same name, is never taken for it.
    """

    def __init__(self, value: Any, players: int | None = None) -> None:
        self.value = value
        self.key = key_of(type(value))
        self.rows = [value] if players is None else [_player_of(value, k) for k in range(players)]
        self.layout: Layout = tuple(map(_field_layout, self.rows[0]))


def key_of(kind: type[Any]) -> tuple[str, str]:
    """A kind's name and digest, by which compiled code finds its class."""
    key = f"{kind.__module__}.{kind.__qualname__}", kind_digest(kind)  # type: ignore[arg-type]
    _KINDS[key] = kind
    return key


def _player_of(squad: Any, k: int) -> Any:
    """One player of a squad of arrays."""
    return type(squad)(*(field[k] if isinstance(field, np.ndarray) else field for field in squad))


def _field_layout(field: Any) -> tuple[str, int]:
    if isinstance(field, np.ndarray):
        return field.dtype.str, 1
    return ("f8" if isinstance(field, float) else "i8"), 0


def memory_of(tags: Sequence[Tag]) -> NDArray[np.int64]:
    """A row for each tag, of a squad one for each player: where its arrays stand, and its lone numbers.

    Compiled code takes this one array instead of dozens. The tags keep what it points to alive.
    """
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


def kinds_of(signature: Any) -> list[type[Any]]:
    """The classes behind all tags among the types of arguments."""
    each = [entry for argument in signature for entry in getattr(argument, "types", (argument,))]
    return [_KINDS[entry.tag_key] for entry in each if isinstance(entry, TagType)]


@typeof_impl.register(Tag)
def _typeof_tag(value: Tag, _: Any) -> TagType:
    return TagType(value.key, value.layout)


register_model(TagType)(models.OpaqueModel)


@unbox(TagType)
def _unbox_tag(_: Any, __: Any, c: Any) -> NativeValue:
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
    def opened(self) -> Any:
        """The type as which compiled code hands the kind on."""
        return self.as_tuple if len(self.fields) <= FEW_FIELDS else self

    @property
    def as_tuple(self) -> Any:
        """The type of a tuple of all fields."""
        return types.NamedTuple(tuple(field for _, field in self.fields.values()), self.instance_class)


row_type = cache(RowType)


def _field_type(layout: tuple[str, int]) -> Any:
    dtype, is_array = layout
    number = from_dtype(np.dtype(dtype))
    return types.CPointer(number) if is_array else number


@register_model(RowType)
class _RowModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, row: Any) -> None:
        super().__init__(manager, row, ir.IntType(64).as_pointer())


@infer_getattr
class _RowFields(AttributeTemplate):  # type: ignore[misc]
    key = RowType

    def generic_resolve(self, row: RowType, name: str) -> Any:
        """The type of a field; None for a method."""
        return row.fields[name][1] if name in row.fields else None


@lower_getattr_generic(RowType)
def _load(context: Any, builder: Any, row: Any, start: Any, name: str) -> Any:
    """A field from its place in the row, where nothing changes while a loop plays."""
    position, field = row.fields[name]
    place = builder.gep(start, [ir.IntType(64)(position)])
    loaded = builder.load(builder.bitcast(place, context.get_value_type(field).as_pointer()))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _open(context: Any, builder: Any, row: RowType, start: Any, result: Any) -> Any:
    """A row as it is handed on: itself, or all of its fields."""
    if result is row:
        return start
    return context.make_tuple(builder, result, [_load(context, builder, row, start, name) for name in row.fields])


def _row_at(context: Any, builder: Any, memory: Any, words: Any, number: Any) -> Any:
    """The start of a row of an array from `memory_of`."""
    start = context.make_array(memory)(context, builder, words).data
    return builder.gep(start, [builder.mul(number, number.type(MOST_FIELDS))])


if config.DISABLE_JIT:

    def kind_at(tag: Any, memory: Any, row: int) -> Any:
        """A kind with its fields as they are."""
        return tag.value

    tuple_at = squad_at = kind_at
    player = _player_of

    def part_of(kind: Any, prefix: str) -> Any:
        """A function that gives the fields with a prefix as a kind of their own."""
        return lambda whole: kind(*(getattr(whole, prefix + name) for name in kind._fields))

else:

    def _reader(shape: Callable[[RowType], Any]) -> Any:
        """A function of a tag, a memory and the number of a row that gives the kind there, in some shape."""

        @intrinsic
        def read(_: Any, tag: Any, memory: Any, row: Any) -> Any:
            result = shape(tag.row_type)

            def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
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
    def player(_: Any, squad: Any, k: Any) -> Any:
        """One player of a squad."""
        result = squad.opened

        def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
            start = builder.gep(args[0], [builder.mul(args[1], args[1].type(MOST_FIELDS))])
            return _open(context, builder, squad, start, result)

        return result(squad, types.intp), code

    def part_of(kind: Any, prefix: str) -> Any:
        """A function that gives the fields with a prefix, which stand in one piece, as a kind of their own."""

        @intrinsic
        def part(_: Any, whole: Any) -> Any:
            first = list(whole.fields).index(prefix + kind._fields[0])
            result = row_type(key_of(kind), whole.layout[first : first + len(kind._fields)])

            def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
                return builder.gep(args[0], [ir.IntType(64)(first)])

            return result(whole), code

        return part
