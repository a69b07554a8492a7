"""Skip code generation for functions that are always inlined into a compiled loop.

Numba optimises every function that it compiles and turns it into machine code, then does the same again to each
function that calls it, although all of ours end inside one loop, which is optimised as a whole anyway. Here the parts
are handed on as they are, and linked once.

CPU seconds of a process that compiles a team for 2 x 2 arms and plays it, with and without this module: naive UCB 1.4
and 2.5, partner-aware UCB 1.4 and 2.4 (medians of three); steered 2.3 and 4.9, elected 2.3 and 6.3, handshake 3.2 and
21.8 (once without). The loops play as fast with it as without. About .25 s of that is bookkeeping that numba need not
do (`_less_bookkeeping`, `defer_blas`).

Numba has no public way to ask for this, so some of its methods are replaced while a loop is compiled, under its lock.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite import binding
from numba import types
from numba.core import cgutils, event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing import npydecl

from cobandit.engine.fast.rows import kinds_of

_WRAPPERS = ("_ZN7cpython", "_ZN5cfunc")
"""Prefixes of functions that Python or C can call."""

# A part that is not finished has no address yet, so numba cannot set its environment where it usually does. They are
# collected here and set when the loop that contains the part is linked.
_environments: dict[str, Any] = {}
"""The Python objects that parts use, by name: each is set as soon as a loop with that part is ready."""


class Loop(JITCodeLibrary):  # type: ignore[misc]
    """The code of a loop with all its parts.

    Most loops within it are short, over agents or a few team actions: unrolling them or using vectors would make them
    slower and add code to compile. Numba's first pass is left out: it prunes reference counts, and nothing is counted.
    """

    vectors = unrolls = False

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave single functions as they are: the loop is optimised as a whole."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Add code as numba does, but do not verify it: that is done once for the whole loop."""
        self._raise_if_finalized()
        parsed = binding.parse_assembly(cgutils.normalize_ir_text(str(ir_module)))
        parsed.name = ir_module.name
        self.add_llvm_module(parsed)

    def finalize(self) -> None:
        """Link every part once: parts do not link their own."""
        self._linking_libraries = _every_library(self)
        super().finalize()

    def _optimize_final_module(self) -> None:
        if not hasattr(binding, "create_pass_builder"):  # llvmlite below 0.44
            super()._optimize_final_module()
            return
        options = binding.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization, options.loop_unrolling = self.vectors, self.unrolls
        options.slp_vectorization = False
        builder = binding.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


class Part(Loop):
    """The code of one function, left as it is unless Python or C can call it."""

    def finalize(self) -> None:
        """Do nothing to a function that will be a part of a loop."""
        if self._stands_alone():
            super().finalize()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True

    def _optimize_final_module(self) -> None:
        JITCodeLibrary._optimize_final_module(self)

    def _stands_alone(self) -> bool:
        """Return whether Python can call it, or it was loaded from disk with its machine code."""
        return getattr(self, "_compiled_object", None) is not None or any(
            not function.is_declaration and function.linkage.name == "external" and function.name.startswith(_WRAPPERS)
            for function in self._final_module.functions
        )

    def serialize_using_object_code(self) -> Any:
        """Return what numba stores on disk; a part has no machine code of its own."""
        return super().serialize_using_object_code() if self._stands_alone() else self.serialize_using_bitcode()


def _every_library(library: Any) -> list[Any]:
    """Return all libraries that a library needs, also indirectly; each once, and after all that need it.

    LLVM leaves out what nothing has asked for yet when it is linked.
    """
    known, finished = {library}, []

    def visit(needing: Any) -> None:
        for needed in needing._linking_libraries:
            if needed not in known:
                known.add(needed)
                visit(needed)
        finished.append(needing)

    visit(library)
    return finished[-2::-1]


@contextmanager
def parts_unfinished(loop: Any, signature: Any) -> Iterator[None]:
    """Compile loops as `Loop`, and all other functions as `Part`, inside of the with block.

    In lock-step, loops over lanes are unrolled and vectorised; a kind that scans all team actions in every round
    requests vectorisation (`caching.with_vectors`).
    """
    codegen = loop.targetctx.codegen()
    name = loop.py_func.__qualname__
    lockstep = getattr(loop.py_func, "vectors", False)
    set_environment = codegen.set_env

    def create_library(wanted: str, **options: Any) -> Any:
        if wanted != name:
            return Part(codegen, wanted, **options)
        library = Loop(codegen, wanted, **options)
        library.vectors = lockstep or any(getattr(kind, "vectors", False) for kind in kinds_of(signature))
        library.unrolls = lockstep
        return library

    def set_where_used(symbol: str) -> None:
        if codegen._engine.get_global_value_address(symbol):
            set_environment(symbol, _environments[symbol])

    def remember_environment(symbol: str, environment: Any) -> None:
        _environments[symbol] = environment
        set_where_used(symbol)

    with global_compiler_lock, _less_bookkeeping(loop.targetctx):  # no other thread compiles meanwhile
        with (
            _replaced(codegen, "create_library", lambda _: create_library),
            _replaced(codegen, "set_env", lambda _: remember_environment),
        ):
            yield
        for symbol in _environments:
            set_where_used(symbol)


@contextmanager
def _less_bookkeeping(context: Any) -> Iterator[None]:
    """Make numba skip work that the engine does not need inside of the with block.

    It neither reports its locks, nor parses a module for the size of each variable, nor types sums of two numbers as
    sums of arrays first.
    """
    array_operators = getattr(npydecl, "NumpyRulesArrayOperator", None)
    with (
        _replaced(event, "broadcast", _without_locks),
        _replaced(context, "get_abi_sizeof", cache),
        _replaced(array_operators, "generic", _for_arrays_only),
    ):
        yield


def _without_locks(broadcast: Any) -> Any:
    locks = "numba:compiler_lock", "numba:llvm_lock"
    return lambda news: None if news.kind in locks else broadcast(news)


def _for_arrays_only(generic: Any) -> Any:
    def typed(self: Any, args: Any, kws: Any) -> Any:
        return generic(self, args, kws) if any(isinstance(arg, types.ArrayCompatible) for arg in args) else None

    return typed


@contextmanager
def _replaced(owner: Any, name: str, replacement: Callable[[Any], Any]) -> Iterator[None]:
    """Replace an attribute by the result of ``replacement`` inside of the with block; a missing attribute is
    ignored.
    """
    if not hasattr(owner, name):
        yield
        return
    is_own, original = name in vars(owner), getattr(owner, name)
    setattr(owner, name, replacement(original))
    try:
        yield
    finally:
        if is_own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)


def defer_blas() -> None:
    """Let numba import SciPy's linear algebra when a function multiplies matrices, not with the first compilation."""
    if "numba.np.arraymath" in sys.modules or importlib.util.find_spec("scipy") is None:
        return
    linear_algebra: Any = importlib.import_module("numba.np.linalg")
    with _replaced(linear_algebra, "ensure_blas", lambda _: lambda: None):
        arrays: Any = importlib.import_module("numba.np.arraymath")
    if hasattr(linear_algebra, "ensure_blas"):
        arrays.ensure_blas = linear_algebra.ensure_blas
