"""What compiled code can do and Python cannot say: pointers, selections without a branch, constants, bits.

Without the compiler (``NUMBA_DISABLE_JIT=1``) the same functions work on NumPy's checked arrays.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

if config.DISABLE_JIT:

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

    def constants(values: NDArray[Any]) -> Any:
        """Something to call with a position, that gives what stands there."""
        return values.__getitem__

    def ones(word: Any) -> int:
        """How many bits are set."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """The number of the lowest bit that is set."""
        return (int(word) & -int(word)).bit_length() - 1

else:

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

    def constants(values: NDArray[Any]) -> Any:
        """A function of a position, never negative, that gives the number there.

        An array would be counted references to whenever it is looked into.
        """
        number = from_dtype(values.dtype)
        name = f"table_{hashlib.sha256(values.tobytes()).hexdigest()[:12]}"

        @intrinsic
        def entry(_: Any, position: Any) -> Any:
            def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
                numbers = ir.ArrayType(context.get_value_type(number), len(values))
                table = builder.module.globals.get(name)
                if table is None:
                    table = cgutils.global_constant(builder, name, ir.Constant(numbers, values.tolist()))
                return builder.load(builder.gep(table, [args[0].type(0), args[0]]))

            return number(types.intp), code

        return entry

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
