"""Optional parts of the package: which are installed, and a refusal at the door that names all that are missing."""

from __future__ import annotations

import importlib.util

from cobandit.base.errors import MissingExtra

EXTRAS = {
    "client": ("httpx",),
    "dask": ("distributed",),
    "fast": ("numba",),
    "gymnasium": ("gymnasium",),
    "parquet": ("pyarrow",),
    "pettingzoo": ("gymnasium", "pettingzoo"),
    "plot": ("jinja2", "matplotlib"),
    "robot": ("mujoco",),
    "ros": ("roslibpy",),
    "spss": ("pandas", "pyreadstat"),
    "stats": ("scipy", "statsmodels", "threadpoolctl"),
    "xarray": ("xarray",),
    "web": ("alembic", "fastapi", "httpx", "jinja2", "psycopg", "pyotp", "segno", "sqlalchemy", "tomlkit", "uvicorn"),
}
"""The modules of each extra without which it does not work; the server is only slower without httptools and uvloop."""


def installed(extra: str) -> bool:
    """Return whether every module of an extra is there; none is imported by asking."""
    return all(_found(module) for module in EXTRAS[extra])


def require_extras(purpose: str, **needed: bool) -> None:
    """Refuse, before any work, if one of the extras that are ``needed`` is missing, and name all that are.

    >>> require_extras("Drawing a figure", plot=True, parquet=False)
    """
    missing = [extra for extra in sorted(needed) if needed[extra] and not installed(extra)]
    if missing:
        raise MissingExtra(missing, purpose)


def _found(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    # A folder without code, such as an uninstalled package may leave behind, has no origin.
    return spec is not None and spec.origin is not None
