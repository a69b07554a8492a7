"""Compiling what is only ever part of a loop without finishing it.

Numba optimises every function it meets and turns it into machine code, then does the same again to each function that
calls it, although all of ours end inside one loop, which is optimised as a whole anyway. Here the parts are handed on
as they are.

This leans on the inside of numba, which has no public way to ask for it. Where that inside is another than expected,
everything is compiled as numba would, and the loops play the same.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import codegen as generators
from numba.core.compiler_lock import global_compiler_lock

_WRAPPERS = ("_ZN7cpython", "_ZN5cfunc")
"""How the names of functions begin that Python or C can call."""

_environments: dict[str, Any] = {}
"""What parts may need of Python, by name: it is put in its place as soon as a loop that has the part is ready."""


class Loop(generators.JITCodeLibrary):  # type: ignore[misc]
    """The code of a loop with all its parts."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Nothing: the loop will be optimised as a whole."""


class Part(Loop):
    """The code of one function, left as it is unless somebody else than compiled code can call it."""

    def _optimize_final_module(self) -> None:
        if self._stands_alone():
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._stands_alone():
            super()._finalize_final_module()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True

    def _stands_alone(self) -> bool:
        """Whether Python can call it, or it comes finished from disk."""
        return getattr(self, "_compiled_object", None) is not None or any(
            not function.is_declaration and function.linkage.name == "external" and function.name.startswith(_WRAPPERS)
            for function in self._final_module.functions
        )

    def serialize_using_object_code(self) -> Any:
        """As numba keeps it on disk; a part has no machine code of its own."""
        return super().serialize_using_object_code() if self._stands_alone() else self.serialize_using_bitcode()


@contextmanager
def parts_unfinished(loop: Any) -> Iterator[None]:
    """Within, whatever is compiled for a loop is a `Part`, but for the `Loop` itself."""
    codegen = loop.targetctx.codegen()
    name = loop.py_func.__qualname__
    set_environment = codegen.set_env

    def create_library(wanted: str, **options: Any) -> Any:
        return (Loop if wanted == name else Part)(codegen, wanted, **options)

    def remember_environment(symbol: str, environment: Any) -> None:
        _environments[symbol] = environment
        _put(codegen, set_environment, symbol)

    with global_compiler_lock:  # nobody else compiles meanwhile
        codegen.create_library, codegen.set_env = create_library, remember_environment
        try:
            yield
        finally:
            del codegen.create_library, codegen.set_env
            for symbol in _environments:
                _put(codegen, set_environment, symbol)


def defer_blas() -> None:
    """Let numba ask for SciPy's linear algebra when somebody multiplies matrices, not whenever anything is compiled.

    To import it takes a tenth of the time to a first result.
    """
    if "numba.np.arraymath" in sys.modules or importlib.util.find_spec("scipy") is None:
        return
    linear_algebra: Any = importlib.import_module("numba.np.linalg")
    ensure: Any = getattr(linear_algebra, "ensure_blas", None)
    if ensure is None:
        return
    linear_algebra.ensure_blas = lambda: None
    try:
        arrays: Any = importlib.import_module("numba.np.arraymath")
        arrays.ensure_blas = ensure
    finally:
        linear_algebra.ensure_blas = ensure


def _put(codegen: Any, set_environment: Any, symbol: str) -> None:
    """Set an environment where there is code that could ask for it."""
    if codegen._engine.get_global_value_address(symbol):
        set_environment(symbol, _environments[symbol])
