"""Rows of arrays as plain pointers inside compiled code, and types that say which class a row belongs to.

A *kind* is a NamedTuple class with plain methods (see `kinds`). Players of one kind are a *squad*: the same fields, as
arrays with one row per player, so that the compiled type depends on the set of kinds alone, not on how many players,
arms or options there are.

`pointers(tag, memory, row)` is a kind whose fields are pointers; `player(squad, k)` is one
player of it: its row of each two-dimensional field, its number of each one-dimensional one. Nothing is
reference-counted and nothing is allocated in between. Pointers know no bounds: the tests play every kind without the
compiler as well (``NUMBA_DISABLE_JIT=1``), where both functions give NumPy's checked arrays.
"""

from __future__ import annotations

import hashlib
import types as python_types
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

ROW = 128
"""Words for one kind in `memory_of`: room for its fields."""

_KINDS: dict[tuple[str, str], type[Any]] = {}


class Tag:
    """A kind's value; its *type* names the kind, a digest of its text and what its fields are.

    Compiled code is kept on disk by the types of its arguments. The digest in the type makes sure that code of
    another version of a kind, or of another kind of the same name, is never taken for it.
    """

    def __init__(self, value: Any) -> None:
        kind = type(value)
        self.value = value
        self.key = f"{kind.__module__}.{kind.__qualname__}", kind_digest(kind)  # type: ignore[arg-type]
        self.layout = tuple(map(_field_layout, value))
        _KINDS[self.key] = kind


def _field_layout(field: Any) -> tuple[str, int]:
    """The type of a field's numbers, and of how many dimensions it is; 0 is a lone number."""
    if isinstance(field, np.ndarray):
        return field.dtype.str, field.ndim
    return ("f8" if isinstance(field, float) else "i8"), 0


def memory_of(tags: Sequence[Tag]) -> NDArray[np.int64]:
    """A row for each tag: where its arrays stand, how long their rows are in bytes, and its lone numbers.

    Compiled code takes this one array instead of dozens. The tags keep what it points to alive.
    """
    rows = np.zeros((len(tags), ROW), dtype=np.int64)
    for row, tag in zip(rows, tags, strict=True):
        k = 0
        for field in tag.value:
            if isinstance(field, np.ndarray):
                if not field.flags.c_contiguous:
                    raise ValueError(f"A field of {tag.key[0]} is not contiguous.")
                row[k] = field.__array_interface__["data"][0]
                if field.ndim == 2:
                    row[k + 1] = field.strides[0]
                k += field.ndim
            else:
                row[k : k + 1].view(np.float64 if isinstance(field, float) else np.int64)[0] = field
                k += 1
    return rows


@cache
def kind_digest(kind: Any) -> str:
    """A digest of everything the methods of a kind are made of, the functions and constants they use included."""
    digest = hashlib.sha256(engine_digest().encode())
    seen: set[int] = set()
    for name in ("_fields", *sorted(name for name in dir(kind) if not name.startswith("_"))):
        digest.update(name.encode())
        _add(digest, getattr(kind, name), seen)
    return digest.hexdigest()[:16]


@cache
def engine_digest() -> str:
    """A digest of the engine's own files."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _add(digest: Any, value: Any, seen: set[int]) -> None:
    """Add a function with all it refers to, or a constant, to a digest."""
    function = getattr(value, "py_func", value)
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if isinstance(function, python_types.FunctionType):
        if id(function) in seen:
            return
        seen.add(id(function))
        code = function.__code__
        digest.update(code.co_code)
        for constant in code.co_consts:
            digest.update(_nested(constant))
        for name in code.co_names:
            digest.update(name.encode())
            if name in function.__globals__:
                _add(digest, function.__globals__[name], seen)
        for cell in function.__closure__ or ():
            _add(digest, cell.cell_contents, seen)
    elif isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, (bool, int, float, str, bytes, tuple, type(None))):
        digest.update(repr(value).encode())


def _nested(constant: Any) -> bytes:
    """A constant of a function as bytes; a nested function by its code."""
    if isinstance(constant, python_types.CodeType):
        return constant.co_code + b"".join(map(_nested, constant.co_consts))
    return repr(constant).encode()


class TagType(types.Type):  # type: ignore[misc]
    """The type of a `Tag`."""

    def __init__(self, key: tuple[str, str], layout: tuple[tuple[str, int], ...]) -> None:
        self.tag_key, self.layout = key, layout
        super().__init__(name=f"Tag{key}{layout}")


@typeof_impl.register(Tag)
def _typeof_tag(value: Tag, _: Any) -> TagType:
    return TagType(value.key, value.layout)


register_model(TagType)(models.OpaqueModel)


@unbox(TagType)
def _unbox_tag(_: Any, __: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


def kind_of(tag: Any) -> type[Any]:
    """The class behind the type of a tag, while compiling."""
    return _KINDS[tag.tag_key]


def _field_type(layout: tuple[str, int]) -> Any:
    dtype, dimensions = layout
    number = from_dtype(np.dtype(dtype))
    if dimensions == 0:
        return number
    pointer = types.CPointer(number)
    return pointer if dimensions == 1 else types.Tuple((pointer, types.intp))


def _of_player(field: Any) -> Any:
    if isinstance(field, types.CPointer):
        return field.dtype
    return field.types[0] if isinstance(field, types.BaseTuple) else field


if config.DISABLE_JIT:

    def pointers(tag: Any, memory: Any, row: int) -> Any:
        """A kind with its fields as they are."""
        return tag.value

    def from_entry(array: Any, n: int) -> Any:
        """An array from its entry n on."""
        return array[n:]

    def apart() -> None:
        """Nothing."""

    def select(condition: Any, first: Any, second: Any) -> Any:
        """The first where the condition holds, else the second."""
        return first if condition else second

    def guessed(value: int, guess: int) -> int:
        """The value."""
        return value

    def bit_plane(array: Any, bit: int) -> Any:
        """One bit of each of 64 bytes, as the bits of a number."""
        return np.uint64(sum((int(byte) >> int(bit) & 1) << lane for lane, byte in enumerate(array[:64])))

    def ones(word: Any) -> int:
        """How many bits are set."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """The number of the lowest bit that is set."""
        return (int(word) & -int(word)).bit_length() - 1

    def player(squad: Any, k: int) -> Any:
        """One player of a squad."""
        return squad._replace(
            **{
                name: value[k]
                for name, value in zip(squad._fields, squad, strict=True)
                if isinstance(value, np.ndarray)
            }
        )

else:

    @intrinsic
    def pointers(_: Any, tag: Any, memory: Any, row: Any) -> Any:
        """A kind with pointers for its arrays, from its row of `memory_of`; rows come with their length in bytes."""
        fields = tuple(map(_field_type, tag.layout))
        result = types.NamedTuple(fields, kind_of(tag))

        def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
            words = context.make_array(memory)(context, builder, args[1]).data
            at = builder.mul(args[2], args[2].type(ROW))
            values = []

            def word() -> Any:
                nonlocal at
                loaded = builder.load(builder.gep(words, [at]))
                at = builder.add(at, at.type(1))
                return loaded

            for field in fields:
                if isinstance(field, types.CPointer):
                    value = builder.inttoptr(word(), context.get_value_type(field))
                elif isinstance(field, types.BaseTuple):
                    start = builder.inttoptr(word(), context.get_value_type(field.types[0]))
                    value = context.make_tuple(builder, field, (start, word()))
                else:
                    value = word()
                    value = builder.bitcast(value, context.get_value_type(field)) if field == types.float64 else value
                values.append(value)
            return context.make_tuple(builder, result, values)

        return result(tag, memory, types.intp), code

    @intrinsic
    def from_entry(_: Any, pointer: Any, n: Any) -> Any:
        """A pointer to entry n of what another one points to."""

        def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
            return builder.gep(args[0], [args[1]])

        return pointer(pointer, types.intp), code

    @intrinsic
    def apart(_: Any) -> Any:
        """The promise that no two pointers handed to the calling function ever meet.

        Without it the compiler would have to check each pair before it may use vectors, and gives up with many.
        """

        def code(context: Any, builder: Any, _: Any, __: Any) -> Any:
            for argument in builder.function.args:
                if argument.type.is_pointer:
                    argument.add_attribute("noalias")
            return context.get_dummy_value()

        return types.void(), code

    @intrinsic
    def select(_: Any, condition: Any, first: Any, second: Any) -> Any:
        """The first where the condition holds, else the second, without a branch: loops with it become vector code."""

        def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
            return builder.select(args[0], args[1], args[2])

        return first(types.boolean, first, first), code

    @intrinsic
    def guessed(_: Any, value: Any, guess: Any) -> Any:
        """The value, by a branch on whether it is the guess.

        A processor that foretells the branch goes on with the guess and need not wait for the value. The empty piece of
        assembler hides from the compiler that both ways lead to the same number: it would make one of them.
        """

        def code(_: Any, builder: Any, signature: Any, args: Any) -> Any:
            same = builder.icmp_signed("==", args[0], args[1])
            number = args[0].type
            with builder.if_else(same) as (then, otherwise):
                with then:
                    hidden = builder.asm(ir.FunctionType(number, [number]), "", "=r,0", [args[1]], side_effect=True)
                    end_of_then = builder.block
                with otherwise:
                    end_of_otherwise = builder.block
            result = builder.phi(number)
            result.add_incoming(hidden, end_of_then)
            result.add_incoming(args[0], end_of_otherwise)
            return result

        return types.int64(types.int64, types.int64), code

    @intrinsic
    def bit_plane(_: Any, pointer: Any, bit: Any) -> Any:
        """One bit of each of the 64 bytes behind a pointer, as the bits of a number."""

        def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
            lanes = ir.VectorType(ir.IntType(8), 64)
            address = builder.bitcast(args[0], lanes.as_pointer())
            loaded = builder.load(address, align=1)
            mask = builder.trunc(builder.shl(args[1].type(1), args[1]), ir.IntType(8))
            spread = builder.insert_element(ir.Constant(lanes, ir.Undefined), mask, ir.IntType(32)(0))
            spread = builder.shuffle_vector(
                spread, ir.Constant(lanes, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            )
            is_set = builder.icmp_unsigned("!=", builder.and_(loaded, spread), ir.Constant(lanes, [0] * 64))
            return builder.bitcast(is_set, ir.IntType(64))

        return types.uint64(pointer, types.int64), code

    @intrinsic
    def ones(_: Any, word: Any) -> Any:
        """How many bits are set."""

        def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), code

    @intrinsic
    def lowest(_: Any, word: Any) -> Any:
        """The number of the lowest bit that is set; there must be one."""

        def code(_: Any, builder: Any, __: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.IntType(1)(1))

        return types.int64(types.uint64), code

    @intrinsic
    def player(_: Any, squad: Any, k: Any) -> Any:
        """One player of a squad of pointers."""
        result = types.NamedTuple(tuple(map(_of_player, squad.types)), squad.instance_class)

        def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
            values = []
            for i, field in enumerate(squad.types):
                value = builder.extract_value(args[0], i)
                if isinstance(field, types.CPointer):
                    value = context.unpack_value(builder, field.dtype, builder.gep(value, [args[1]]))
                elif isinstance(field, types.BaseTuple):
                    start, step = builder.extract_value(value, 0), builder.extract_value(value, 1)
                    value = cgutils.pointer_add(builder, start, builder.mul(step, args[1]))
                values.append(value)
            return context.make_tuple(builder, result, values)

        return result(squad, types.intp), code
