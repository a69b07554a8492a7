"""What an experiment is: panels of curves, each a problem and a team; frozen, and the same on every machine.

An id names a piece of work for good: ``sim1-left/partner-aware/3`` is the fourth chunk of one curve of one panel.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from cobandit.agents import Team
from cobandit.agents.beliefs import INDICES
from cobandit.agents.team import require_visible_actions
from cobandit.base.checks import MOST, one_of, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.problem import Problem

if TYPE_CHECKING:
    from cobandit.experiments.claims import Claim

CHUNK_RUNS = 500
"""Runs of one chunk: about a second of work for the slowest agents, next to nothing to store."""

CHECKPOINTS = 100
_SLUG = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")


def checked_slug(what: str, name: str) -> str:
    """Check a name that must be usable in ids and file paths."""
    if not isinstance(name, str) or not _SLUG.fullmatch(name):
        raise InvalidInput(f"{what} must be lower-case letters, digits, dots and dashes, got {name!r}.")
    return name


@dataclass(frozen=True)
class Curve:
    """One line of a panel: a team on a problem, with a name for ids and a label for people.

    The problem is a `cobandit.Problem`, or a `cobandit.mdp.MarkovProblem` with a team of `cobandit.mdp`.
    """

    name: str
    label: str
    problem: Any
    team: Team

    def __post_init__(self) -> None:
        checked_slug("The name of a curve", self.name)
        if isinstance(self.problem, Problem):
            require_visible_actions(self.problem, self.team.lineup)

    def describe(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "problem": self.problem.describe(), "team": self.team.describe()}


@dataclass(frozen=True)
class Panel:
    """One picture: curves over the same rounds, with what it must show.

    ``horizon`` is the one the panel is usually drawn with; ``long_horizon`` one that takes minutes, where the usual
    one cannot decide everything. ``runs`` is the number of runs that decide its claims, where the usual number does
    not (`Settings.panel_runs`). ``varies`` and ``fixed`` say in words what it is about. ``checkpoints`` is how many
    rounds of a run are stored. ``logarithmic`` draws the regret on a logarithmic axis.
    """

    name: str
    title: str
    varies: str
    fixed: str
    curves: tuple[Curve, ...]
    horizon: int
    claims: tuple[Claim, ...] = ()
    long_horizon: int | None = None
    checkpoints: int = CHECKPOINTS
    logarithmic: bool = False
    runs: int | None = None

    def __post_init__(self) -> None:
        checked_slug("The name of a panel", self.name)
        names = [curve.name for curve in self.curves]
        if not names or len(set(names)) != len(names):
            raise InvalidInput(
                f"Panel {self.name} has the curves {names}; at least one, each with its own name, is needed."
            )

    def curve(self, name: str) -> Curve:
        """Return the curve of that name."""
        return next(curve for curve in self.curves if curve.name == name)


@dataclass(frozen=True)
class Settings:
    """How panels are run: all that a result depends on, except the panel itself.

    With ``panel_runs``, a panel that names its own number of runs is played with that number in place of ``runs``.
    """

    runs: int = 100
    seed: int = 0
    horizon: int | None = None
    index: str = "paper"
    chunk_runs: int = CHUNK_RUNS
    relabel: bool = False
    panel_runs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", whole(1, MOST)("runs", self.runs))
        object.__setattr__(self, "seed", whole(0)("seed", self.seed))
        if self.horizon is not None:
            object.__setattr__(self, "horizon", whole(2, MOST)("horizon", self.horizon))
        one_of(INDICES)("index", self.index)
        object.__setattr__(self, "chunk_runs", whole(1, MOST)("chunk_runs", self.chunk_runs))
        if not isinstance(self.relabel, bool):
            raise InvalidInput(f"relabel must be True or False, got {short_repr(self.relabel)}.")
        if not isinstance(self.panel_runs, bool):
            raise InvalidInput(f"panel_runs must be True or False, got {short_repr(self.panel_runs)}.")

    def horizon_of(self, panel: Panel) -> int:
        """T of a panel."""
        return panel.horizon if self.horizon is None else self.horizon

    def runs_of(self, panel: Panel) -> int:
        """Return the number of runs of each curve of a panel."""
        return panel.runs if self.panel_runs and panel.runs is not None else self.runs

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a manifest, from which the settings can be made again."""
        return {key: value for key, value in asdict(self).items() if key != "panel_runs" or value}


@dataclass(frozen=True)
class Chunk:
    """A piece of work: some consecutive runs of one curve."""

    panel: str
    curve: Curve
    number: int
    first_run: int
    runs: int
    horizon: int
    seed: int
    checkpoints: int = CHECKPOINTS

    @property
    def id(self) -> str:
        """The stable name of this piece of work."""
        return f"{self.panel}/{self.curve.name}/{self.number}"

    def describe(self) -> dict[str, Any]:
        """Return all inputs that determine the numbers, as plain data."""
        return {
            "id": self.id,
            "curve": self.curve.describe(),
            "first_run": self.first_run,
            "runs": self.runs,
            "horizon": self.horizon,
            "seed": self.seed,
            "checkpoints": self.checkpoints,
        }

    @property
    def digest(self) -> str:
        """A fingerprint of the description: two chunks with one digest have the same numbers."""
        text = json.dumps(self.describe(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def chunks(panel: Panel, settings: Settings) -> Iterator[Chunk]:
    """Yield all pieces of a panel, curve by curve. Every curve has the same seed: all meet the same luck."""
    runs = settings.runs_of(panel)
    for curve in panel.curves:
        for number, first in enumerate(range(0, runs, settings.chunk_runs)):
            yield Chunk(
                panel=panel.name,
                curve=curve,
                number=number,
                first_run=first,
                runs=min(settings.chunk_runs, runs - first),
                horizon=settings.horizon_of(panel),
                seed=settings.seed,
                checkpoints=panel.checkpoints,
            )


def with_index(panel: Panel, index: str) -> Panel:
    """Return the panel with another index variant wherever an agent has one."""
    return replace(panel, curves=tuple(replace(c, team=c.team.with_options(index=index)) for c in panel.curves))


def with_relabelling(panel: Panel) -> Panel:
    """Return the panel with relabelled problems (`Problem.relabelled`); Markov problems are refused."""
    for curve in panel.curves:
        if not isinstance(curve.problem, Problem):
            raise InvalidInput(
                f"relabel must be False for panel {panel.name}: the arms of Markov problems cannot be relabelled."
            )
    curves = tuple(replace(curve, problem=curve.problem.relabelled()) for curve in panel.curves)
    return replace(panel, fixed=f"{panel.fixed}, arms relabelled in each run", curves=curves)
