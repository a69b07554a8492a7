"""What compiled code can do and Python cannot say: pointers, selections without a branch, constants, bits.

Without the compiler (``NUMBA_DISABLE_JIT=1``) the same functions work on NumPy's checked arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.types import Type
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

from cobandit.engine.fast.protocols import Intrinsic, Values

V = TypeVar("V")
N = TypeVar("N", bound=np.generic)

if config.DISABLE_JIT:

    def from_entry(array: NDArray[N], n: int) -> NDArray[N]:
        """Return an array from its entry n on."""
        return array[n:]

    def apart() -> None:
        """Do nothing."""

    def select(condition: bool, first: V, second: V) -> V:
        """Return the first where the condition holds, else the second."""
        return first if condition else second

    def guessed(value: int, guess: int) -> int:
        """Return the value."""
        return value

    def bit_plane(array: NDArray[np.uint8], bit: int) -> np.uint64:
        """Return one bit of each of 64 bytes, as the bits of a number."""
        return np.uint64(sum((int(byte) >> int(bit) & 1) << lane for lane, byte in enumerate(array[:64])))

    def constants(values: NDArray[Any]) -> Callable[[int | np.int64], Any]:
        """Return a function from a position to the value at that position."""
        return values.__getitem__

    def ones(word: int | np.uint64) -> int:
        """Return how many bits are set."""
        return int(word).bit_count()

    def lowest(word: int | np.uint64) -> int:
        """Return the number of the lowest bit that is set."""
        return (int(word) & -int(word)).bit_length() - 1

else:

    @intrinsic
    def from_entry(_: object, pointer: Type, n: Type) -> Intrinsic:
        """Return a pointer to entry n of what another one points to."""

        def code(_: object, builder: ir.IRBuilder, __: object, args: Values) -> ir.Value:
            return builder.gep(args[0], [args[1]])

        return pointer(pointer, types.intp), code

    @intrinsic
    def apart(_: object) -> Intrinsic:
        """Return the promise that no two pointers handed to the calling function ever meet.

        Without it the compiler would have to check each pair before it may use vectors, and gives up with many.
        """

        def code(context: BaseContext, builder: ir.IRBuilder, _: object, __: object) -> ir.Value:
            for argument in builder.function.args:
                if argument.type.is_pointer:
                    argument.add_attribute("noalias")
            return context.get_dummy_value()

        return types.void(), code

    @intrinsic
    def select(_: object, condition: Type, first: Type, second: Type) -> Intrinsic:
        """Return the first where the condition holds, else the second, without a branch: loops with it become vector
        code.
        """

        def code(_: object, builder: ir.IRBuilder, __: object, args: Values) -> ir.Value:
            return builder.select(args[0], args[1], args[2])

        return first(types.boolean, first, first), code

    @intrinsic
    def guessed(_: object, value: Type, guess: Type) -> Intrinsic:
        """Return the value, by a branch on whether it is the guess.

        A processor that predicts the branch continues with the guess and need not wait for the value. The empty piece
        of assembler hides from the compiler that both branches give the same number: it would merge them.
        """

        def code(_: object, builder: ir.IRBuilder, __: object, args: Values) -> ir.Value:
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
    def bit_plane(_: object, pointer: Type, bit: Type) -> Intrinsic:
        """Return one bit of each of the 64 bytes behind a pointer, as the bits of a number."""

        def code(_: object, builder: ir.IRBuilder, __: object, args: Values) -> ir.Value:
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

    def constants(values: NDArray[Any]) -> Callable[[int | np.int64], Any]:
        """Return a function of a position, never negative, that gives the number there.

        An array would be counted references to whenever it is looked into.
        """
        number = from_dtype(values.dtype)
        name = f"table_{hashlib.sha256(values.tobytes()).hexdigest()[:12]}"

        @intrinsic
        def entry(_: object, position: Type) -> Intrinsic:
            def code(context: BaseContext, builder: ir.IRBuilder, _: object, args: Values) -> ir.Value:
                numbers = ir.ArrayType(context.get_value_type(number), len(values))
                table = builder.module.globals.get(name)
                if table is None:
                    table = cgutils.global_constant(builder, name, ir.Constant(numbers, values.tolist()))
                return builder.load(builder.gep(table, [args[0].type(0), args[0]]))

            return number(types.intp), code

        return entry

    @intrinsic
    def ones(_: object, word: Type) -> Intrinsic:
        """Return how many bits are set."""

        def code(_: object, builder: ir.IRBuilder, __: object, args: Values) -> ir.Value:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), code

    @intrinsic
    def lowest(_: object, word: Type) -> Intrinsic:
        """Return the number of the lowest bit that is set; there must be one."""

        def code(_: object, builder: ir.IRBuilder, __: object, args: Values) -> ir.Value:
            return builder.cttz(args[0], ir.IntType(1)(1))

        return types.int64(types.uint64), code
