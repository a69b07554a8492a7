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
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

from llvmlite import binding
from numba import types
from numba.core import cgutils, errors, event
from numba.core import codegen as generators
from numba.core.compiler_lock import global_compiler_lock

from cobandit.engine.fast.rows import kinds_of

_WRAPPERS = ("_ZN7cpython", "_ZN5cfunc")
"""How the names of functions begin that Python or C can call."""

_environments: dict[str, Any] = {}
"""What parts may need of Python, by name: it is put in its place as soon as a loop that has the part is ready."""


class Loop(generators.JITCodeLibrary):  # type: ignore[misc]
    """The code of a loop with all its parts.

    Most loops within it are short, over agents or a few team actions: to unroll them, or to use vectors, would make
    them slower, and much more code to be compiled. Numba's first pass is left out: it is there for the counting of
    references, and nothing is counted here.
    """

    vectors = unrolls = False

    def _optimize_functions(self, ll_module: Any) -> None:
        """Nothing: the loop will be optimised as a whole."""

    def add_ir_module(self, ir_module: Any) -> None:
        """As numba does, but for the check, which is done once for the whole."""
        self._raise_if_finalized()
        parsed = binding.parse_assembly(cgutils.normalize_ir_text(str(ir_module)))
        parsed.name = ir_module.name
        self.add_llvm_module(parsed)

    def finalize(self) -> None:
        """Link every part, each of them once: parts do not link their own."""
        self._linking_libraries = _every_library(self)
        super().finalize()

    def _optimize_final_module(self) -> None:
        try:
            options = binding.create_pipeline_tuning_options(speed_level=3)
            options.loop_vectorization, options.loop_unrolling = self.vectors, self.unrolls
            options.slp_vectorization = False
            builder = binding.create_pass_builder(self._codegen._tm, options)
            manager = builder.getModulePassManager()
        except AttributeError:  # an llvmlite without them
            super()._optimize_final_module()
        else:
            manager.run(self._final_module, builder)


class WideLoop(Loop):
    """The same with a kind that goes through all team actions in every round, and says so by ``vectors``."""

    vectors = True


class VectorLoop(WideLoop):
    """The same for lock-step: loops over lanes, with loops over agents and cells inside, of known lengths."""

    unrolls = True


class Part(Loop):
    """The code of one function, left as it is unless somebody else than compiled code can call it."""

    def finalize(self) -> None:
        """Nothing to do for what will be a part of a loop."""
        if self._stands_alone():
            super().finalize()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True

    def _optimize_final_module(self) -> None:
        generators.JITCodeLibrary._optimize_final_module(self)

    def _stands_alone(self) -> bool:
        """Whether Python can call it, or it comes finished from disk."""
        return getattr(self, "_compiled_object", None) is not None or any(
            not function.is_declaration and function.linkage.name == "external" and function.name.startswith(_WRAPPERS)
            for function in self._final_module.functions
        )

    def serialize_using_object_code(self) -> Any:
        """As numba keeps it on disk; a part has no machine code of its own."""
        return super().serialize_using_object_code() if self._stands_alone() else self.serialize_using_bitcode()


def _every_library(library: Any) -> list[Any]:
    """The libraries that a library needs, those that these need among them; each once, and after all that need it.

    LLVM leaves out what nobody has asked for yet when it is linked.
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
    """Within, whatever is compiled for a loop is a `Part`, but for the `Loop` itself, of whichever sort."""
    codegen = loop.targetctx.codegen()
    name = loop.py_func.__qualname__
    whole = WideLoop if any(getattr(kind, "vectors", False) for kind in kinds_of(signature)) else Loop
    whole = VectorLoop if getattr(loop.py_func, "vectors", False) else whole
    set_environment = codegen.set_env

    def create_library(wanted: str, **options: Any) -> Any:
        return (whole if wanted == name else Part)(codegen, wanted, **options)

    def remember_environment(symbol: str, environment: Any) -> None:
        _environments[symbol] = environment
        _put(codegen, set_environment, symbol)

    with global_compiler_lock, _less_bookkeeping(loop.targetctx):  # nobody else compiles meanwhile
        codegen.create_library, codegen.set_env = create_library, remember_environment
        try:
            yield
        finally:
            del codegen.create_library, codegen.set_env
            for symbol in _environments:
                _put(codegen, set_environment, symbol)


@contextmanager
def _less_bookkeeping(context: Any) -> Iterator[None]:
    """Within, numba does not do over and over what nobody looks at; it takes a tenth of the time to a first result.

    It colours thousands of messages of attempts that came to nothing, tells of every lock it takes, parses a module for
    every variable to learn how large it is, and looks at every sum of two numbers as one of arrays first.
    """
    with ExitStack() as stack:
        colours: Any = getattr(errors, "HighlightColorScheme", None)  # where there is colorama
        if hasattr(colours, "_markup"):
            stack.enter_context(_replaced(colours, "_markup", lambda self, text, *_, **__: text))
        broadcast: Any = getattr(event, "broadcast", None)
        if broadcast is not None:
            locks = ("numba:compiler_lock", "numba:llvm_lock")
            stack.enter_context(
                _replaced(event, "broadcast", lambda news: None if news.kind in locks else broadcast(news))
            )
        if hasattr(context, "get_abi_sizeof"):
            stack.enter_context(_replaced(context, "get_abi_sizeof", cache(context.get_abi_sizeof)))
        operators: Any = importlib.import_module("numba.core.typing.npydecl")
        of_arrays: Any = getattr(operators, "NumpyRulesArrayOperator", None)
        if of_arrays is not None:
            stack.enter_context(_replaced(of_arrays, "generic", _asked_of_arrays_alone(of_arrays.generic)))
        yield


def _asked_of_arrays_alone(generic: Any) -> Any:
    """Numba's rule for operators on arrays, which gives nothing where there is no array, without looking for it."""

    def quick(self: Any, args: Any, kws: Any) -> Any:
        return generic(self, args, kws) if any(isinstance(arg, types.ArrayCompatible) for arg in args) else None

    return quick


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Within, an attribute is another one."""
    had, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if had:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


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
