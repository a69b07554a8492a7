"""Numba's compiler pipeline without the passes that never change our code.

Closures, ``with``, array expressions, functions inlined by numba and parallel loops do not occur in the engine;
searching for them takes a sixth of the time to a first result. User-defined code uses the whole pipeline.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import extending
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)

_NEEDED = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
)


class EngineCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles functions of this package by the short way, all others by numba's own."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes, in order."""
        if not self.state.func_id.modname.startswith("cobandit."):
            return [DefaultPassBuilder.define_nopython_pipeline(self.state)]
        manager = PassManager("engine")
        for station in _NEEDED:
            manager.add_pass(station, station.__name__)
        manager.finalize()
        return [manager]


OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "pipeline_class": EngineCompiler,
}
"""How everything in the engine is compiled."""
PART_OPTIONS: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True}
"""How functions are that only compiled ones call."""


def compile_plain(*functions: Callable[..., Any], **options: Any) -> None:
    """Let compiled code call plain functions, which are compiled unchanged."""
    register: Any = extending.register_jitable(**PART_OPTIONS, **options)
    for function in functions:
        register(function)
