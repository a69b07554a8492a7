"""Your own sweeps: a TOML file with a problem, teams and a grid of options, run as panels like the paper's.

::

    name = "windows"                # name of the folder and the panels
    title = "Windows and sight"     # optional
    horizon = 2000
    runs = 200
    seed = 0                        # optional
    chunk_runs = 500                # optional: runs per stored chunk

    [problem]                       # arguments of Problem.bernoulli or Problem.gaussian
    reward = "bernoulli"
    means = [[0.8, 0.4], [0.2, 0.6]]
    observability = [1.0, 0.5]
    relabel = false                 # optional: permute each agent's arms at random in every run
    actions = "observed"            # optional: "hidden" if agents never learn their partners' arms

    [[team]]
    name = "aware"
    agent = "partner-aware-ucb"     # or members = [{ agent = "...", ... }, ...], one per seat; or "module:Class"
    exploration = 0.025

    [grid]                          # every combination; a team takes the options it has
    window = [1, 5, 25]
    "problem.observability" = [[1.0, 0.5], [1.0, 0.2]]

    [[claim]]                       # optional: linear, sublinear, beats, no difference, rises
    kind = "beats"
    better = "aware-window-1"
    others = ["aware-window-25"]

A table with ``markov = "burger-line"`` and the options of that problem makes it a Markov problem, with agents of
`cobandit.mdp`. A user-defined agent is ``module:Class``, from a module in the current folder or an installed one.
Options of teams make curves of one panel; options of the problem make a panel each. An unknown key is an error that
suggests the nearest known one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cobandit.agents import Team
from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.files import read_text
from cobandit.base.json_types import JsonObject
from cobandit.base.loading import load_named
from cobandit.base.toml import parse_toml
from cobandit.experiments.claims import Beats, Claim, Linear, NoDifference, Rises, Sublinear
from cobandit.experiments.spec import CHUNK_RUNS, Curve, Panel, Settings, checked_slug
from cobandit.problem import Problem

if TYPE_CHECKING:
    from cobandit.mdp import MarkovProblem

TOP = ("name", "title", "horizon", "runs", "seed", "chunk_runs", "problem", "team", "grid", "claim")
PROBLEM = (
    "reward", "means", "arms", "observation", "observability", "noise", "sd", "weights", "roles", "relabel",
    "actions",
)  # fmt: skip
CLAIMS: dict[str, type[Claim]] = {
    "linear": Linear,
    "sublinear": Sublinear,
    "beats": Beats,
    "no difference": NoDifference,
    "rises": Rises,
}
MOST_CURVES = 500
LONGEST_FILE = 1_000_000


def sweep_text(path: Path) -> str:
    """Return the text of a sweep file."""
    return read_text(path, "sweep file", LONGEST_FILE)


def parse_sweep(text: str, where: str = "the sweep") -> tuple[list[Panel], Settings]:
    """Return the panels and the settings in the text of a sweep file."""
    data = parse_toml(text, where)
    _known(data, TOP, "key")
    for key in ("name", "horizon", "runs", "problem", "team"):
        if key not in data:
            raise InvalidInput(f"{where} must have the field {key!r}.")
    name = checked_slug("name", data["name"])
    settings = Settings(
        runs=data["runs"],
        seed=data.get("seed", 0),
        horizon=data["horizon"],
        chunk_runs=data.get("chunk_runs", CHUNK_RUNS),
    )
    _table("problem", data["problem"])
    markov = "markov" in data["problem"]
    if not markov:
        _known(data["problem"], PROBLEM, "key of problem called")
    grid = _grid(data.get("grid", {}), markov)
    problem_grid = {key.removeprefix("problem."): values for key, values in grid.items() if key.startswith("problem.")}
    team_grid = {key: values for key, values in grid.items() if not key.startswith("problem.")}
    teams = _teams(data["team"], team_grid, _package_of(markov))
    claims = tuple(_claim(entry, [slug for slug, _, _ in teams]) for entry in _tables("claim", data.get("claim", [])))
    panels = []
    for choice in _combinations(problem_grid):
        problem = _problem(data["problem"] | choice)
        suffix = "".join(f"-{_slug(key)}-{_slug(value)}" for key, value in choice.items())
        words = ", ".join(f"{key} = {value}" for key, value in choice.items())
        title = str(data.get("title", name))
        panels.append(
            Panel(
                name=checked_slug("The name of a panel", name + suffix),
                title=f"{title}: {words}" if words else title,
                varies=", ".join(f"{key} in {values}" for key, values in team_grid.items()) or "the team",
                fixed=words or "the problem",
                curves=tuple(Curve(slug, label, problem, team) for slug, label, team in teams),
                horizon=settings.horizon or 0,
                claims=claims,
            )
        )
    if len(panels) * len(teams) > MOST_CURVES:
        raise InvalidInput(f"The grid makes {len(panels) * len(teams):,} curves; at most {MOST_CURVES} make sense.")
    return panels, settings


def _known(data: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    choices = tuple(known)
    for key in data:
        if key not in choices:
            raise UnknownName(what, key, choices)


def _table(name: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} must be a table [{name}], got {short_repr(value)}.")
    return value


def _tables(name: str, value: object) -> list[JsonObject]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise InvalidInput(f"{name} must be tables [[{name}]], got {short_repr(value)}.")
    return value


def _package_of(markov: bool) -> ModuleType:
    """Return the package with the agents and teams of a sweep: that of bandits or of Markov problems."""
    if markov:
        from cobandit import mdp

        return mdp
    from cobandit import agents

    return agents


def _grid(value: object, markov: bool) -> dict[str, list[Any]]:
    grid = _table("grid", value)
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InvalidInput(f"grid.{key} must be a list of at least one value, got {short_repr(values)}.")
        if key.startswith("problem.") and not markov:
            _known({key.removeprefix("problem."): 0}, PROBLEM, "key of problem called")
    return dict(grid)


def _combinations(grid: Mapping[str, list[Any]]) -> list[JsonObject]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _problem(described: Mapping[str, Any]) -> Problem | MarkovProblem:
    options = dict(described)
    if "markov" in options:
        from cobandit.mdp import make_problem

        if "reward" in options or "name" in options:
            raise InvalidInput("problem.reward and problem.name cannot be combined with problem.markov.")
        if "relabel" in options:
            raise InvalidInput("problem.relabel must be left out: Markov problems cannot be relabelled.")
        return make_problem(options.pop("markov"), **options)
    reward, relabel = options.pop("reward", "bernoulli"), options.pop("relabel", False)
    if reward not in ("bernoulli", "gaussian"):
        raise UnknownName("reward model", reward, ["bernoulli", "gaussian"])
    if reward == "bernoulli" and "sd" in options:
        raise InvalidInput("problem.sd requires reward = 'gaussian'.")
    problem = Problem.bernoulli(**options) if reward == "bernoulli" else Problem.gaussian(**options)
    return replace(problem, relabel=relabel)


def _teams(value: object, grid: Mapping[str, list[Any]], package: ModuleType) -> list[tuple[str, str, Team]]:
    """Name, label and team of every curve."""
    described = _tables("team", value)
    if not described:
        raise InvalidInput("There is no [[team]]; at least one is needed.")
    taken: set[str] = set()
    curves: dict[str, tuple[str, str, Team]] = {}
    for entry in described:
        options = dict(entry)
        name = checked_slug("The name of a team", options.pop("name", _agent_slug(options.get("agent", "team"))))
        label = str(options.pop("label", name))
        members = options.pop("members", None)
        if (members is None) == ("agent" not in options):
            raise InvalidInput(f"Team {name!r} needs an agent or a list of members, one of the two.")
        if members is None:
            known = _options_of(options["agent"], package)
        else:
            _known(options, (), f"key of team {name!r} called")
            known = set().union(*(_options_of(member.get("agent"), package) for member in _tables("members", members)))
        mine = {key: values for key, values in grid.items() if key in known}
        taken |= set(mine)
        for choice in _combinations(mine):
            slug = name + "".join(f"-{_slug(key)}-{_slug(setting)}" for key, setting in choice.items())
            words = ", ".join(f"{key} = {setting}" for key, setting in choice.items())
            if slug in curves:
                raise InvalidInput(f"Two teams are called {slug!r}; give each its own name.")
            team = _team(options, choice, package) if members is None else _mixed(members, choice, package)
            curves[slug] = (slug, f"{label}, {words}" if words else label, team)
    for key in grid:
        if key not in taken:
            every = sorted(set().union(*(_agents_options(entry, package) for entry in described)))
            raise UnknownName("option of these teams called", key, every)
    return list(curves.values())


def _agents_options(entry: Mapping[str, Any], package: ModuleType) -> set[str]:
    agents = [member["agent"] for member in entry.get("members") or [entry]]
    return set().union(*(_options_of(agent, package) for agent in agents))


def _options_of(agent: object, package: ModuleType) -> set[str]:
    return {row[0] for row in _agent_class(agent, package).option_rows()}


def _is_own(agent: object) -> bool:
    """Return whether it is named as ``module:Class``."""
    return isinstance(agent, str) and ":" in agent


def _agent_slug(agent: Any) -> Any:
    """Return the name of a team, from the name of its agent."""
    return _slug(agent.partition(":")[2]) if _is_own(agent) else agent


def _agent_class(agent: Any, package: ModuleType) -> Any:
    """Return the class of a registered name in ``package``, or a user-defined class."""
    if not _is_own(agent):
        return package.agent_class(agent)
    kind, kinds = load_named(agent), (package.Team.agent_kind, package.Team.controller_kind)
    if not (isinstance(kind, type) and issubclass(kind, kinds)):
        names = " or ".join(wanted.__name__ for wanted in kinds)
        raise InvalidInput(f"The agent {agent!r} must be a subclass of {names}, got {short_repr(kind)}.")
    return kind


def _player(agent: Any, options: Mapping[str, Any], package: ModuleType) -> Any:
    if not _is_own(agent):
        return package.make_agent(agent, **options)
    try:
        return _agent_class(agent, package).of(**options)
    except TypeError as error:
        raise InvalidInput(f"The agent {agent!r} cannot be made with these options: {error}.") from error


def _team(options: Mapping[str, Any], choice: Mapping[str, Any], package: ModuleType) -> Any:
    settings = {key: value for key, value in options.items() if key != "agent"} | dict(choice)
    return package.Team.of(_player(options["agent"], settings, package))


def _mixed(members: Any, choice: Mapping[str, Any], package: ModuleType) -> Any:
    players = []
    for member in _tables("members", members):
        settings = dict(member)
        agent = settings.pop("agent", None)
        mine = {key: value for key, value in choice.items() if key in _options_of(agent, package)}
        player = _player(agent, settings | mine, package)
        if not isinstance(player, package.Team.agent_kind):
            raise InvalidInput(f"{agent} is one brain for the whole team; it cannot be a member.")
        players.append(player)
    return package.Team(players)


def _claim(entry: Mapping[str, Any], curves: list[str]) -> Claim:
    options = dict(entry)
    kind = options.pop("kind", None)
    if kind not in CLAIMS:
        raise UnknownName("kind of claim", kind, CLAIMS)
    wanted = [spec.name for spec in fields(CLAIMS[kind])]
    _known(options, wanted, f"key of a {kind!r} claim called")
    for key in wanted:
        if key not in ("text", "note") and key not in options:
            raise InvalidInput(f"A {kind!r} claim needs {key}.")
    for key in ("curve", "better", "others", "curves"):
        named = options.get(key, [])
        for curve in [named] if isinstance(named, str) else named:
            if curve not in curves:
                raise UnknownName("curve", curve, curves)
        if isinstance(named, list) and key in options:
            options[key] = tuple(named)
    options.setdefault("text", _words_for(kind, options))
    return CLAIMS[kind](**options)


def _words_for(kind: str, options: Mapping[str, Any]) -> str:
    """Return a claim in words, where the file gives none."""
    if kind == "beats":
        return f"{options['better']} ends with less regret than {' and '.join(options['others'])}."
    if kind in ("linear", "sublinear"):
        return f"The regret of {options['curve']} is {kind}."
    listed = ", ".join(options["curves"])
    return f"The regret rises in this order: {listed}." if kind == "rises" else f"No difference between {listed}."


def _slug(value: object) -> str:
    """Return a value or a key as part of a name."""
    text = re.sub(r"[^a-z0-9.]+", "-", str(value).lower())
    return re.sub(r"\.(?![a-z0-9])|(?<![a-z0-9])\.", "", text).strip("-.") or "x"
