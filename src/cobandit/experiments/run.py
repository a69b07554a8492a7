"""From panels to results: expand into chunks, play missing chunks, store, gather, judge."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import InvalidInput, RunsNotKept
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_path, make_folder, whole_file
from cobandit.experiments.claims import Regrets, StreamedRegrets, Verdict, pairs_of
from cobandit.experiments.executors import Executor
from cobandit.experiments.spec import Chunk, Curve, Panel, Settings, chunks
from cobandit.experiments.store import ChunkResult, Store, Unusable, joined
from cobandit.stats import Moments, StreamedSummary, Summary, summarise, worth_streaming

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class ChunkEvent:
    """Something that happened on the way: ``kind`` is planned, kept, unusable or finished."""

    kind: str
    chunk: Chunk
    detail: str = ""
    seconds: float = 0.0


Watch = Callable[[ChunkEvent], None]


@dataclass(frozen=True, eq=False)
class CurveResult:
    """One curve: statistics, what claims need, and every run where they are few enough to be held (``kept``).

    Where there are too many, the runs are on disk alone, and median and quantiles are within 0.4 %.
    """

    curve: Curve
    checkpoints: NDArray[np.int64]
    statistics: Summary
    team_statistics: Summary
    regrets: Regrets | StreamedRegrets
    engine: str
    seconds: float
    kept: ChunkResult | None = None

    @classmethod
    def of_runs(cls, curve: Curve, played: ChunkResult) -> CurveResult:
        """Return the result of a curve of which every run is held."""
        half, horizon = _halfway(played.checkpoints), int(played.checkpoints[-1])
        regrets = Regrets(played.team_regret[:, half], played.team_regret[:, -1], curve.problem, horizon)
        task, team = summarise(played.task_regret), summarise(played.team_regret)
        return cls(curve, played.checkpoints, task, team, regrets, played.engine, played.seconds, played)

    @property
    def runs(self) -> int:
        """How many runs were played."""
        return self.regrets.runs

    @property
    def task_regret(self) -> NDArray[np.float64]:
        """Task regret of each run at each checkpoint, where the runs are held."""
        return self._held().task_regret

    @property
    def team_regret(self) -> NDArray[np.float64]:
        """Team regret of each run at each checkpoint, where the runs are held."""
        return self._held().team_regret

    def _held(self) -> ChunkResult:
        if self.kept is None:
            raise RunsNotKept(
                f"Of {self.runs:,} runs of {self.curve.name} the summary alone is kept in memory; every run is in the "
                "Parquet files of its chunks, to be read one after another."
            )
        return self.kept

    def summary(self) -> Summary:
        """Return the statistics of task regret at each checkpoint."""
        return self.statistics

    def finals(self) -> dict[str, float]:
        """Return the final regret of each curve."""
        return {
            "mean_team_regret": float(self.team_statistics.mean[-1]),
            "median_team_regret": float(self.team_statistics.median[-1]),
            "mean_task_regret": float(self.statistics.mean[-1]),
        }


def _halfway(checkpoints: NDArray[np.int64]) -> int:
    """Return the number of the checkpoint at half the rounds."""
    return int(np.searchsorted(checkpoints, int(checkpoints[-1]) / 2))


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
    def runs(self) -> int:
        """The number of runs of each curve."""
        return self.settings.runs_of(self.panel)

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
            "runs": self.runs,
            **({"relabel": True} if self.settings.relabel else {}),
            "seconds": self.seconds,
            "curves": [{"name": curve.curve.name, **curve.finals()} for curve in self.curves],
            "claims": [verdict.to_dict() for verdict in self.verdicts],
        }


def run(
    panels: Sequence[Panel],
    settings: Settings,
    out: str | os.PathLike[str],
    executor: Executor,
    *,
    resume: bool = False,
    about: dict[str, Any] | None = None,
    watch: Watch | None = None,
) -> list[PanelResult]:
    """Play all panels into the folder ``out`` and gather their results.

    With ``resume`` a chunk that is there already, whole and of these settings, is not played again. Each chunk is
    stored as soon as it is finished, so whatever ends the work loses nothing but what was under way.
    """
    require_extras("Playing and storing experiments", parquet=True, dask=executor.name == "dask")
    out = make_folder(checked_path("out", out))
    store, tell = Store(out), watch or (lambda event: None)
    if not resume:
        _refuse_too_many_calls([chunk for panel in panels for chunk in chunks(panel, settings)])
    keep_manifest(out, panels, settings, about or {})
    waiting: list[Chunk] = []
    for panel in panels:
        if not resume:
            store.clear(panel.name)
        for chunk in chunks(panel, settings):
            stored, detail = _stored_result(store, chunk) if resume else (None, "")
            if detail:
                tell(ChunkEvent("unusable", chunk, detail))
            if stored is None:
                waiting.append(chunk)
            tell(ChunkEvent("planned" if stored is None else "kept", chunk))
    if resume:
        _refuse_too_many_calls(waiting)
    if waiting:
        for chunk, file in executor.play(waiting):
            store.write(chunk, file)
            tell(ChunkEvent("finished", chunk, seconds=file.seconds))
    return [gather(panel, settings, store) for panel in panels]


def _refuse_too_many_calls(planned: Sequence[Chunk]) -> None:
    """Ask an agent that waits for answers from outside, such as a language model, whether it may play all chunks."""
    players: dict[str, tuple[Any, tuple[int, ...], int]] = {}
    for chunk in planned:
        for player in chunk.curve.team.players(chunk.curve.problem.agents):
            if player.waits:
                rounds = chunk.runs * chunk.horizon + players.get(str(player), (None, (), 0))[2]
                players[str(player)] = player, chunk.curve.problem.arms, rounds
    for player, arms, rounds in players.values():
        player.before_runs(arms, rounds, 1, processes=True)


def _stored_result(store: Store, chunk: Chunk) -> tuple[ChunkResult | None, str]:
    try:
        return store.read(chunk), ""
    except Unusable as error:
        return None, str(error)


def gather(panel: Panel, settings: Settings, store: Store) -> PanelResult:
    """Return a panel's results from its stored chunks: every run, or a summary where there are too many to hold."""
    points = min(panel.checkpoints, settings.horizon_of(panel))
    if worth_streaming(settings.runs_of(panel), points):
        return PanelResult(panel, settings, _gathered_summaries(panel, settings, store))
    parts: dict[str, list[ChunkResult]] = {curve.name: [] for curve in panel.curves}
    for chunk in chunks(panel, settings):
        parts[chunk.curve.name].append(_read(store, chunk))
    results = [CurveResult.of_runs(curve, joined(parts[curve.name])) for curve in panel.curves]
    return PanelResult(panel, settings, tuple(results))


def _gathered_summaries(panel: Panel, settings: Settings, store: Store) -> tuple[CurveResult, ...]:
    """Return every curve's summary, one chunk in memory at a time.

    Claims compare curves run by run, so the same runs of all curves are read one after another, and of each no more
    than its regret half-way and at the end is held until the others are there.
    """
    names = [curve.name for curve in panel.curves]
    pairs = pairs_of(panel.claims)
    summaries: dict[str, StreamedSummary] = {}
    team_summaries: dict[str, StreamedSummary] = {}  # of curves in which team regret is no multiple of task regret
    moments = Moments(3 * len(names) + len(pairs))
    engines: dict[str, str] = {}
    seconds = dict.fromkeys(names, 0.0)
    checkpoints = np.zeros(0, dtype=np.int64)
    for _, together in groupby(sorted(chunks(panel, settings), key=_number), key=_number):
        halves: dict[str, NDArray[np.float64]] = {}
        finals: dict[str, NDArray[np.float64]] = {}
        first_run = 0
        for chunk in together:
            computed, name = _read(store, chunk), chunk.curve.name
            first_run, checkpoints = chunk.first_run, computed.checkpoints
            summaries.setdefault(name, StreamedSummary(len(checkpoints))).add(first_run, computed.task_regret)
            if not chunk.curve.problem.steady_sight:
                team_summaries.setdefault(name, StreamedSummary(len(checkpoints))).add(first_run, computed.team_regret)
            halves[name] = computed.team_regret[:, _halfway(checkpoints)].copy()
            finals[name] = computed.team_regret[:, -1].copy()
            engines.setdefault(name, computed.engine)
            seconds[name] += computed.seconds
        columns = [column for name in names for column in (halves[name], finals[name], finals[name] - halves[name])]
        columns += [finals[a] - finals[b] for a, b in pairs]
        moments.add(first_run, np.column_stack(columns))
    every = moments.columns_apart()
    differences = dict(zip(pairs, every[3 * len(names) :], strict=True))
    results = []
    for k, curve in enumerate(panel.curves):
        half, final, gain = every[3 * k : 3 * k + 3]
        others = {b: moment for (a, b), moment in differences.items() if a == curve.name}
        regrets = StreamedRegrets(half, final, gain, others, curve.problem, int(checkpoints[-1]))
        statistics = summaries.pop(curve.name).summary()
        team = statistics.scaled(curve.problem.team_factor)
        if curve.name in team_summaries:
            team = team_summaries.pop(curve.name).summary()
        results.append(
            CurveResult(curve, checkpoints, statistics, team, regrets, engines[curve.name], seconds[curve.name])
        )
    return tuple(results)


def _number(chunk: Chunk) -> int:
    return chunk.number


def _read(store: Store, chunk: Chunk) -> ChunkResult:
    try:
        computed = store.read(chunk)
    except Unusable as error:
        raise InvalidInput(f"Chunk {chunk.id} is {error}. Run again with --resume to repair it.") from error
    if computed is None:
        raise InvalidInput(f"Chunk {chunk.id} is not there. Run again with --resume to finish the work.")
    return computed


def keep_manifest(out: Path, panels: Sequence[Panel], settings: Settings, about: dict[str, Any]) -> None:
    """Say in the folder what it holds."""
    from cobandit import __version__

    manifest = {
        "cobandit": __version__,
        "panels": [panel.name for panel in panels],
        "settings": settings.to_dict(),
        **about,
    }
    with whole_file(out / MANIFEST) as file:
        file.write((json.dumps(manifest, indent=1) + "\n").encode())


def read_manifest(out: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the description of the contents of a folder."""
    out = checked_path("out", out)
    if not out.is_dir():
        kind = "is a file" if out.exists() else "is not there"
        raise InvalidInput(f"The folder {str(out)!r} {kind}; one that reproduce, sweep or arena has filled is needed.")
    try:
        manifest = json.loads((out / MANIFEST).read_text())
    except FileNotFoundError:
        raise InvalidInput(f"{str(out)!r} holds no results: there is no {MANIFEST} in it.") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{str(out / MANIFEST)!r} cannot be read: {error}.") from error
    if not isinstance(manifest, dict) or "settings" not in manifest:
        raise InvalidInput(f"{str(out / MANIFEST)!r} is not a manifest of cobandit.")
    return manifest
