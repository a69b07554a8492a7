"""The arena: every leader with every follower, and every whole team, in every setting; settings are panels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cobandit.agents import Agent
from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.files import save_csv, save_json
from cobandit.experiments.arena.entries import (
    BRAINS,
    FOLLOWERS,
    LEADERS,
    MARKOV_TEAMS,
    REPORTS,
    SLOW_WHERE_LARGE,
    TEAMS,
    Entry,
    chosen,
    own_entry,
    pair,
    whole_team,
)
from cobandit.experiments.arena.league import (
    PAIR,
    TEAM,
    LeagueRow,
    SettingResult,
    team_league,
)
from cobandit.experiments.arena.settings import MARKOV, SETTINGS, Setting, setting
from cobandit.experiments.arena.verdicts import judge
from cobandit.experiments.claims import Verdict
from cobandit.experiments.executors import Executor, Processes
from cobandit.experiments.run import PanelResult, Watch, gather, read_manifest, run
from cobandit.experiments.spec import Curve, Panel, Settings
from cobandit.experiments.store import Store
from cobandit.stats import Resamples

KIND = "arena"
"""The kind of folder in its manifest."""
RUNS = 2_000
MOST_RUNS = 20_000
POINTS = 2
"""Rounds of a run that are stored: half-way and the last."""
LARGE = 100
"""With this many team actions or more, agents that draw from every posterior in every round are left out."""

COLUMNS = (
    "setting", "family", "horizon", "runs", "team", "label", "mean", "se", "median",
    "to_aware", "to_aware_low", "to_aware_high",
    "to_aware_median", "to_aware_median_low", "to_aware_median_high",
    "to_central", "to_central_low", "to_central_high",
    "to_central_median", "to_central_median_low", "to_central_median_high",
    "to_limit", "to_limit_low", "to_limit_high", "engine",
)  # fmt: skip
"""The columns of `ArenaResult.rows`."""


@dataclass(frozen=True)
class Arena:
    """Who meets whom, and where; made by `Arena.of`, or by `Arena.stored` from a folder that one has filled."""

    settings: tuple[Setting, ...]
    leaders: tuple[Entry, ...]
    followers: tuple[Entry, ...]
    teams: tuple[Entry, ...]
    own: tuple[str, ...] = ()
    relabel: bool = True

    @classmethod
    def of(
        cls,
        settings: Iterable[str] = (),
        leaders: Iterable[str] = (),
        followers: Iterable[str] = (),
        own: Iterable[Any] = (),
        *,
        relabel: bool = True,
    ) -> Arena:
        """Create an arena with all or with the named settings, leaders and followers; whole teams are always included.

        ``own`` are user-defined agents: ``"module:Class"``, subclasses of `Agent` or `Controller`, or agents. An agent
        joins as a leader, as a follower and as a team; a controller or an agent of Markov problems joins as a team.
        ``relabel`` permutes each agent's arms at random in every run, so that no agent gains by preferring its first
        arms; problems with states keep their labels.
        """
        joining = [own_entry(described) for described in own]
        names = [entry.name for entry in joining]
        if len(set(names)) != len(names):
            raise InvalidInput(f"Names of custom agents must be unique, got {sorted(names)}.")
        agents = tuple(entry for entry in joining if isinstance(entry.own, Agent))
        if not isinstance(relabel, bool):
            raise InvalidInput(f"relabel must be True or False, got {short_repr(relabel)}.")
        places = tuple(setting(name) for name in dict.fromkeys(settings)) or SETTINGS
        return cls(
            tuple(place.relabelled() for place in places) if relabel else places,
            chosen("leader of the arena", LEADERS, leaders) + agents,
            chosen("follower of the arena", FOLLOWERS, followers) + agents,
            TEAMS + MARKOV_TEAMS + tuple(joining),
            tuple(described if isinstance(described, str) else "" for described in own),
            relabel,
        )

    @classmethod
    def stored(cls, folder: str | os.PathLike[str]) -> tuple[Arena, Settings]:
        """Return the arena whose results lie in a folder, and how it was played."""
        manifest = read_manifest(Path(folder))
        try:
            if manifest.get("kind") != KIND:
                raise InvalidInput(f"{str(folder)!r} holds no arena, but {manifest.get('kind')!r}.")
            if not all(manifest["own"]):
                raise InvalidInput(f"{str(folder)!r} has agents that were not named by module:Class; play it again.")
            settings = Settings(**manifest["settings"])
            players = (manifest[key] for key in ("places", "leaders", "followers", "own"))
            # Folders from before arenas were relabelled do not mention it.
            return cls.of(*players, relabel=manifest.get("relabel", False)), settings
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"The manifest in {str(folder)!r} is not one of this version: {error}.") from error

    def panels(self) -> tuple[Panel, ...]:
        """Return a panel for each setting."""
        return tuple(self._panel(place) for place in self.settings)

    def _panel(self, place: Setting) -> Panel:
        whole = len(self.settings) == len(SETTINGS)
        left_out = place.costly_teams if whole else ()
        curves = [self._team(e, place) for e in self.teams if _plays(e, place) and e.name not in left_out]
        if place.pairs and not (place.costly_pairs and whole):
            leaders, followers = ([e for e in league if _plays(e, place)] for league in (self.leaders, self.followers))
            curves += [curve for first in leaders for second in followers for curve in self._pair(first, second, place)]
        return Panel(
            f"{KIND}-{place.name}", place.title, "the team", place.title, tuple(curves), place.horizon,
            checkpoints=POINTS,
        )  # fmt: skip

    def _team(self, entry: Entry, place: Setting) -> Curve:
        problem = place.leaders_eyes() if entry.leaders_eyes else place.problem
        assert problem is not None
        return Curve(f"{TEAM}.{entry.name}", entry.label, problem, whole_team(entry, place))

    def _pair(self, leader: Entry, follower: Entry, place: Setting) -> list[Curve]:
        """Return one curve, or with drawn roles one for each agent that may be drawn; `SettingResult` takes
        their mean.
        """
        orders = place.pair_ranks()
        name, label = f"{PAIR}.{leader.name}.{follower.name}", f"{leader.label} with {follower.label}"
        names = [name] if len(orders) == 1 else [f"{name}.{seat}" for seat in range(len(orders))]
        return [
            Curve(own_name, label, replace(place.problem, roles=ranks), pair(leader, follower, place, ranks))
            for own_name, ranks in zip(names, orders, strict=True)
        ]

    @property
    def brains(self) -> list[str]:
        """Whole teams that are one brain."""
        return [entry.name for entry in self.teams if isinstance(entry.player(self.settings[0]), BRAINS)]

    @property
    def people(self) -> list[str]:
        """The human-like leaders."""
        return [entry.name for entry in self.leaders if entry.human]

    def about(self) -> dict[str, Any]:
        """Return the facts that recreate the arena, for the manifest, in addition to panels and settings."""
        agents = {entry.name for entry in self.teams if entry.own is not None}
        return {
            "kind": KIND,
            "places": [place.name for place in self.settings],
            "leaders": [entry.name for entry in self.leaders if entry.name not in agents],
            "followers": [entry.name for entry in self.followers if entry.name not in agents],
            "own": list(self.own),
            "relabel": self.relabel,
        }

    def run(
        self,
        folder: str | os.PathLike[str],
        settings: Settings,
        executor: Executor | None = None,
        *,
        resume: bool = False,
        watch: Watch | None = None,
    ) -> ArenaResult:
        """Play the arena into a folder; with ``resume`` only its missing chunks."""
        played_by = Processes() if executor is None else executor
        played = run(self.panels(), settings, Path(folder), played_by, resume=resume, about=self.about(), watch=watch)
        return ArenaResult.of(self, settings, played)

    def results(self, folder: str | os.PathLike[str], settings: Settings) -> ArenaResult:
        """Return the results that lie in a folder, without playing anything."""
        store = Store(Path(folder))
        return ArenaResult.of(self, settings, [gather(panel, settings, store) for panel in self.panels()])


def _plays(entry: Entry, place: Setting) -> bool:
    """Return whether a whole team takes part in a setting."""
    if entry.markov != place.markov or (entry.leaders_eyes and place.leaders_eyes() is None):
        return False
    if entry.name == REPORTS and not place.has_reports:
        return False
    return not (place.problem.cells >= LARGE and entry.agent in SLOW_WHERE_LARGE)


@dataclass(frozen=True, eq=False)
class ArenaResult:
    """Every setting's standings, the leagues over them, and what became of the claims."""

    arena: Arena
    settings: Settings
    places: tuple[SettingResult, ...]

    @classmethod
    def of(cls, arena: Arena, settings: Settings, played: Sequence[PanelResult]) -> ArenaResult:
        """Create the results from panels that were played in the order of the arena's settings."""
        resamples = Resamples(settings.runs, seed=0)
        pairs = zip(arena.settings, played, strict=True)
        return cls(arena, settings, tuple(SettingResult(place, panel, resamples) for place, panel in pairs))

    def place(self, name: str) -> SettingResult:
        """Return the results of one setting."""
        for result in self.places:
            if result.setting.name == name:
                return result
        raise InvalidInput(f"{name!r} was not played; there are {[r.setting.name for r in self.places]}.")

    @cached_property
    def verdicts(self) -> list[tuple[str, Verdict]]:
        """Every claim, judged, with the setting that it is about."""
        return judge(self.places, self.arena.people)

    def league(self, families: Sequence[str] = ()) -> list[LeagueRow]:
        """Rank whole teams over the settings of some families; by default over all bandits.

        Problems with states are a separate family, ``"markov"``, with their own teams.
        """
        named = families or [place.setting.family for place in self.places if not place.setting.markov]
        wanted = [place for place in self.places if place.setting.family in named]
        return team_league(wanted, self.arena.brains)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return one row for each team and pair of each setting, in the order of `COLUMNS`."""
        listed = []
        for place in self.places:
            setting = place.setting
            for name, s in place.standings.items():
                ratios = (s.to_aware, s.to_aware_median, s.to_central, s.to_central_median, s.to_limit)
                numbers = [x for r in ratios for x in ((r.value, r.low, r.high) if r is not None else (None,) * 3)]
                about = (setting.name, setting.family, setting.horizon, place.runs, name, s.label)
                listed.append((*about, s.mean, s.se, s.median, *numbers, s.engine))
        return listed

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain data, ready for JSON."""
        return {
            "runs": self.settings.runs,
            "seed": self.settings.seed,
            "relabel": self.arena.relabel,
            "league": [row.to_dict() for row in self.league()],
            "markov_league": [row.to_dict() for row in self.league([MARKOV])],
            "claims": [{"setting": name, **verdict.to_dict()} for name, verdict in self.verdicts],
            "settings": [place.to_dict() for place in self.places],
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `rows` into a ``.csv`` file or `to_dict` into a ``.json`` file; it appears whole or not at all."""
        target = Path(path)
        if target.suffix == ".json":
            return save_json(target, self.to_dict())
        if target.suffix == ".csv":
            return save_csv(target, COLUMNS, self.rows())
        raise InvalidInput(f"path must be a name that ends in .csv or .json, got {str(target)!r}.")


def arena_settings(runs: int = RUNS, seed: int = 0) -> Settings:
    """Return how an arena is played: every curve is one piece of work, so that no two workers compile the same."""
    many = whole(2, MOST_RUNS)("runs", runs)
    return Settings(runs=many, seed=seed, chunk_runs=RUNS)


def run_arena(
    folder: str | os.PathLike[str],
    settings: Iterable[str] = (),
    *,
    leaders: Iterable[str] = (),
    followers: Iterable[str] = (),
    own: Iterable[Any] = (),
    runs: int = RUNS,
    seed: int = 0,
    executor: Executor | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> ArenaResult:
    """Play the arena into a folder and return its results.

    ``settings``, ``leaders`` and ``followers`` are names (default: all; the whole teams, which are the reference of the
    ratios, always play). ``own`` are user-defined agents: ``"module:Class"`` or subclasses of `Agent`. The default
    executor uses this machine's cores; with ``resume`` only missing chunks are played. Each agent's arms are permuted
    at random in every run; `Arena.of` with ``relabel=False`` keeps the labels of the problems.
    """
    arena = Arena.of(settings, leaders, followers, own)
    return arena.run(folder, arena_settings(runs, seed), executor, resume=resume, watch=watch)
