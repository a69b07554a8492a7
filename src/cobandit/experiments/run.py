"""From panels to results: expand into chunks, play what is missing, store, gather, judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.errors import InvalidInput
from cobandit.experiments.claims import Regrets, Verdict
from cobandit.experiments.executors import Executor
from cobandit.experiments.spec import Chunk, Curve, Panel, Settings, chunks
from cobandit.experiments.store import Computed, Store, Unusable
from cobandit.extras import require_extras
from cobandit.files import whole_file

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Step:
    """Something that happened on the way: ``kind`` is planned, kept, unusable or finished."""

    kind: str
    chunk: Chunk
    detail: str = ""
    seconds: float = 0.0


Watch = Callable[[Step], None]


@dataclass(frozen=True, eq=False)
class CurveResult:
    """All runs of one curve."""

    curve: Curve
    checkpoints: NDArray[np.int64]
    task_regret: NDArray[np.float64]
    team_regret: NDArray[np.float64]
    engine: str
    seconds: float

    @property
    def regrets(self) -> Regrets:
        """Half-way and final team regret, for claims."""
        horizon = int(self.checkpoints[-1])
        half = int(np.searchsorted(self.checkpoints, horizon / 2))
        return Regrets(self.team_regret[:, half], self.team_regret[:, -1], self.curve.problem, horizon)


@dataclass(frozen=True, eq=False)
class PanelResult:
    """All curves of one panel, and what became of its claims."""

    panel: Panel
    settings: Settings
    curves: tuple[CurveResult, ...]

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every claim, judged (once: resampling many runs takes seconds)."""
        regrets = {result.curve.name: result.regrets for result in self.curves}
        return tuple(claim.judge(regrets) for claim in self.panel.claims)

    @property
    def seconds(self) -> float:
        """Engine time of all its chunks together."""
        return sum(curve.seconds for curve in self.curves)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "panel": self.panel.name,
            "title": self.panel.title,
            "varies": self.panel.varies,
            "fixed": self.panel.fixed,
            "horizon": self.settings.horizon_of(self.panel),
            "runs": self.settings.runs,
            "seconds": self.seconds,
            "curves": [
                {
                    "name": curve.curve.name,
                    "mean_team_regret": float(curve.team_regret[:, -1].mean()),
                    "median_team_regret": float(np.median(curve.team_regret[:, -1])),
                    "mean_task_regret": float(curve.task_regret[:, -1].mean()),
                }
                for curve in self.curves
            ],
            "claims": [verdict.to_dict() for verdict in self.verdicts],
        }


def run(
    panels: Sequence[Panel],
    settings: Settings,
    out: Path,
    executor: Executor,
    *,
    resume: bool = False,
    about: dict[str, Any] | None = None,
    watch: Watch = lambda step: None,
) -> list[PanelResult]:
    """Play all panels into the folder ``out`` and gather their results.

    With ``resume`` a chunk that is there already, whole and of these settings, is not played again. Each chunk is
    stored as soon as it is finished, so whatever ends the work loses nothing but what was under way.
    """
    require_extras("Playing and storing experiments", parquet=True, dask=executor.name == "dask")
    store = Store(out)
    _make_folder(out)
    keep_manifest(out, panels, settings, about or {})
    waiting: list[Chunk] = []
    for panel in panels:
        if not resume:
            store.clear(panel.name)
        for chunk in chunks(panel, settings):
            kept, detail = _kept(store, chunk) if resume else (None, "")
            if detail:
                watch(Step("unusable", chunk, detail))
            if kept is None:
                waiting.append(chunk)
            watch(Step("planned" if kept is None else "kept", chunk))
    if waiting:
        for chunk, computed in executor.play(waiting):
            store.write(chunk, computed)
            watch(Step("finished", chunk, seconds=computed.seconds))
    return [gather(panel, settings, store) for panel in panels]


def _kept(store: Store, chunk: Chunk) -> tuple[Computed | None, str]:
    try:
        return store.read(chunk), ""
    except Unusable as error:
        return None, str(error)


def gather(panel: Panel, settings: Settings, store: Store) -> PanelResult:
    """A panel's results from its stored chunks."""
    parts: dict[str, list[Computed]] = {curve.name: [] for curve in panel.curves}
    for chunk in chunks(panel, settings):
        try:
            computed = store.read(chunk)
        except Unusable as error:
            raise InvalidInput(f"Chunk {chunk.id} is {error}. Run again with --resume to mend it.") from error
        if computed is None:
            raise InvalidInput(f"Chunk {chunk.id} is not there. Run again with --resume to finish the work.")
        parts[chunk.curve.name].append(computed)
    results = []
    for curve in panel.curves:
        pieces = parts[curve.name]
        results.append(
            CurveResult(
                curve=curve,
                checkpoints=pieces[0].checkpoints,
                task_regret=np.concatenate([piece.task_regret for piece in pieces]),
                team_regret=np.concatenate([piece.team_regret for piece in pieces]),
                engine=pieces[0].engine,
                seconds=sum(piece.seconds for piece in pieces),
            )
        )
    return PanelResult(panel, settings, tuple(results))


def keep_manifest(out: Path, panels: Sequence[Panel], settings: Settings, about: dict[str, Any]) -> None:
    """Say in the folder what it holds."""
    from cobandit import __version__

    manifest = {
        "cobandit": __version__,
        "panels": [panel.name for panel in panels],
        "settings": asdict(settings),
        **about,
    }
    with whole_file(out / MANIFEST) as file:
        file.write((json.dumps(manifest, indent=1) + "\n").encode())


def read_manifest(out: Path) -> dict[str, Any]:
    """What a folder holds."""
    try:
        manifest = json.loads((out / MANIFEST).read_text())
    except FileNotFoundError:
        raise InvalidInput(f"{str(out)!r} holds no results: there is no {MANIFEST} in it.") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{str(out / MANIFEST)!r} cannot be read: {error}.") from error
    if not isinstance(manifest, dict) or "settings" not in manifest:
        raise InvalidInput(f"{str(out / MANIFEST)!r} is not a manifest of cobandit.")
    return manifest


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(out)!r} cannot be made: {error.strerror}.") from error
