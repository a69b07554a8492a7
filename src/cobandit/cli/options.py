"""Options that several commands share, and the problems and teams that they describe.

Typer parses numbers with the library's own checks, so a mistake gets the same error message on the command line and in
Python. The help texts of the agents' options come from the agents' own rows.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

from typer.core import TyperCommand

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.cli import completion, parsing
from cobandit.cli.declare import flag, integer_option, option
from cobandit.cli.examples import EXAMPLES
from cobandit.cli.formats import THE_OUTPUT as THE_OUTPUT

if TYPE_CHECKING:
    from cobandit.problem import Problem

REWARDS = ("bernoulli", "gaussian", "student-t", "correlated-gaussian")

THE_TEAM = "The team"
THE_PROBLEM = "The problem"
THE_WORK = "The simulation"

# The agents' options that have a flag of their own; every other one is reached by --option.
AGENT_FLAGS = ("window", "repeat", "exploration", "follower_exploration", "index", "ties", "discount")


Means = Annotated[
    str,
    option(
        "MATRIX|NAME",
        f"Mean rewards: a matrix ({parsing.MATRIX}) or a name",
        THE_PROBLEM,
        autocompletion=completion.problems,
    ),
]
Arms = Annotated[str | None, option("K,K", "Number of arms of each agent (default: two each)", THE_PROBLEM)]
Reward = Annotated[str, option("|".join(REWARDS), "Reward model", THE_PROBLEM)]
Spread = Annotated[str | None, option("S|LOW,HIGH", "Standard deviation of the rewards, or a range of it", THE_PROBLEM)]
Observation = Annotated[
    str | None,
    option("missed|missed-known|flipped|noisy", "What an agent sees if it does not see the reward", THE_PROBLEM),
]
Observability = Annotated[
    str | None, option("P,P", "Probability that each agent sees the reward (default: 1,0.5)", THE_PROBLEM)
]
Noise = Annotated[str | None, option("S,S", "Observation noise of each agent, as standard deviation", THE_PROBLEM)]
Weights = Annotated[str | None, option("W,W", "Weights of the agents in the team reward (default: equal)", THE_PROBLEM)]
Roles = Annotated[
    str,
    option(
        "observability|random|elected|RANKS", "How the leader is determined, or the rank of each agent", THE_PROBLEM
    ),
]

ChangesAt = Annotated[str | None, option("T,T", "Rounds at which the means change to the next matrix", THE_PROBLEM)]
Df = Annotated[
    float | None,
    option("FLOAT", "Degrees of freedom of student-t rewards (default: 3)", THE_PROBLEM, parser=parsing.number),
]
Correlation = Annotated[
    float | None,
    option("FLOAT", "Correlation of successive correlated-gaussian rewards", THE_PROBLEM, parser=parsing.number),
]
Delay = Annotated[int, integer_option("delay", 0, "Feedback delay, in rounds", THE_PROBLEM, high=10**6)]

Actions = Annotated[str, option("observed|hidden", "Whether agents observe their partners' arms", THE_PROBLEM)]

Relabel = Annotated[bool, flag("--relabel", "Random permutation of each agent's arms in every run", THE_PROBLEM)]

_FROM_THE_AGENTS = "(see cobandit agents)"

TeamNames = Annotated[
    list[str] | None, option("NAME[+NAME...]", _FROM_THE_AGENTS, THE_TEAM, autocompletion=completion.lineups)
]

Window = Annotated[str | None, option("W", _FROM_THE_AGENTS, THE_TEAM)]
Repeat = Annotated[str | None, option("L", _FROM_THE_AGENTS, THE_TEAM)]
Exploration = Annotated[str | None, option("C", _FROM_THE_AGENTS, THE_TEAM)]
FollowerExploration = Annotated[str | None, option("C", _FROM_THE_AGENTS, THE_TEAM)]
Index = Annotated[str | None, option("NAME", _FROM_THE_AGENTS, THE_TEAM)]
Ties = Annotated[str | None, option("NAME", _FROM_THE_AGENTS, THE_TEAM)]
Discount = Annotated[str | None, option("GAMMA", _FROM_THE_AGENTS, THE_TEAM)]
Option = Annotated[list[str] | None, option("NAME=VALUE", _FROM_THE_AGENTS, THE_TEAM)]

Horizon = Annotated[int, integer_option("horizon", 1, "Rounds in a run", THE_WORK)]
Runs = Annotated[int, integer_option("runs", 1, "Number of runs", THE_WORK)]
Seed = Annotated[int, option("INTEGER|none", "Random seed; none draws a new one", THE_WORK, parser=parsing.seed())]
Engine = Annotated[str, option("auto|fast|reference", "Compiled or plain Python; the results are equal", THE_WORK)]
Threads = Annotated[
    int | None,
    integer_option(
        "threads",
        1,
        "Threads of the fast engine (default: all cores)",
        THE_WORK,
        high=4096,
    ),
]


@dataclass(frozen=True)
class AgentOptions:
    """The options of the agents: those with their own flag (`AGENT_FLAGS`), and --option for all others."""

    window: Window = None
    repeat: Repeat = None
    exploration: Exploration = None
    follower_exploration: FollowerExploration = None
    index: Index = None
    ties: Ties = None
    discount: Discount = None
    option: Option = None

    def values(self) -> dict[str, Any]:
        """Return every option that the command line names."""
        return agent_options({name: getattr(self, name) for name in AGENT_FLAGS}, self.option)


@dataclass(frozen=True)
class ProblemOptions:
    """The options that describe a problem."""

    means: Means = "fixed"
    arms: Arms = None
    reward: Reward = "bernoulli"
    sd: Spread = None
    observation: Observation = None
    observability: Observability = None
    noise: Noise = None
    weights: Weights = None
    roles: Roles = "observability"
    changes_at: ChangesAt = None
    df: Df = None
    correlation: Correlation = None
    delay: Delay = 0
    actions: Actions = "observed"
    relabel: Relabel = False

    def problem(self, sight_of: Callable[[int], tuple[float, ...]] | None = None) -> Problem:
        """Return the problem that the options describe. Defaults are those of the paper's simulations."""
        from cobandit.cli.problems import paper_sight, problem_of

        return problem_of(self, sight_of or paper_sight)


@dataclass(frozen=True)
class WorkOptions:
    """The options of a simulation."""

    horizon: Horizon = 2000
    runs: Runs = 100
    seed: Seed = 0
    engine: Engine = "auto"
    threads: Threads = None

    def values(self) -> dict[str, Any]:
        """Return the arguments of `simulate`."""
        return asdict(self)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a dataclass by one command line option per field.

    The default of such a parameter is an instance, whose values are the defaults of the options.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind))
            continue
        groups[name] = kind
        types = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            default = getattr(parameter.default, field.name)
            parameters.append(parameter.replace(name=field.name, annotation=types[field.name], default=default))

    @functools.wraps(command)
    def expanded(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    # Typer reads one or the other, depending on its version.
    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del expanded.__wrapped__
    return expanded


PREFIX = "COBANDIT_"
"""How the environment variables of options begin."""


def with_environment(command: Callable[..., None]) -> Callable[..., None]:
    """Let environment variables set the options of a command: ``--alert-url`` is COBANDIT_ALERT_URL.

    An option on the command line takes precedence, and an empty variable counts as not set. Options whose declaration
    names a variable keep it. COBANDIT_PASSWORD is read with the password itself, where a file takes precedence.
    """
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind, *declarations = get_args(parameter.annotation)
        declaration = copy.copy(declarations[0])  # other commands have the same one
        if declaration.envvar is None and name != "password":
            declaration.envvar, declaration.show_envvar = f"{PREFIX}{name.upper()}", False
        parameters.append(parameter.replace(annotation=Annotated[kind, declaration]))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


class GroupedHelp(TyperCommand):
    """A command whose help lists options under the headings they were declared with, and examples at the end.

    Typer can do this with rich, but importing rich takes longer than all the rest of ``--help``.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each heading with its options; options without a heading are last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if param.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(param, "rich_help_panel", None) or kind, []).append(record)
        for heading in sorted(sections, key=lambda heading: heading == "Options"):
            with formatter.section(heading):
                formatter.write_dl(sections[heading], col_max=24)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples of the command. Long lines are not wrapped, so that they can be copied."""
        lines = EXAMPLES.get(ctx.command_path.partition(" ")[2], ())
        if lines:
            with formatter.section("Examples"):
                formatter.write("".join(f"{'':{formatter.current_indent}}{line}\n" for line in lines))


class HelpFromAgents(GroupedHelp):
    """A command whose help on the agents' options is generated from the agents when ``--help`` is requested."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Insert the help texts of the agents."""
        words = agent_help()
        for param in self.params:
            if param.name in words and hasattr(param, "help"):
                param.help = words[param.name]
        super().format_options(ctx, formatter)


def agent_help(known_agents: Mapping[str, Any] | None = None, flags: Sequence[str] = AGENT_FLAGS) -> dict[str, str]:
    """Return the help of each option about agents, by the option's name; by default for the bandit's agents."""
    from cobandit.agents import AGENTS

    agents: Mapping[str, Any] = AGENTS if known_agents is None else known_agents
    rows: dict[str, list[tuple[str, Any, str]]] = {}
    for agent, kind in agents.items():
        for name, default, text in kind.option_rows():
            rows.setdefault(name, []).append((agent, default, text))
    words = {name: _option_help(entries) for name, entries in rows.items() if name in flags}
    rest = sorted(name for name in rows if name not in flags)
    words["option"] = f"Other options of agents (repeatable): {', '.join(rest)}"
    known = ", ".join(agents)
    words["team"] = f"Agents: {known}"
    partners = ", ".join(name for name, kind in agents.items() if not is_joint(kind))
    words["partner"] = f"AI partner (default: the first; very-naive-ucb if actions are hidden): {partners}"
    return words


def _option_help(rows: list[tuple[str, Any, str]]) -> str:
    """Return the first agent's help for an option, with the defaults of the agents that have another default."""
    _, default, text = rows[0]
    others = [f"{agent}: {_plain(other)}" for agent, other, _ in rows if other != default]
    return f"{text} [default: {'; '.join([_plain(default), *others])}]"


def _plain(default: Any) -> str:
    return "none" if default is None else str(default)


def is_joint(kind: Any) -> bool:
    """Return whether the agent is a controller, which chooses for the whole team."""
    from cobandit.agents import Controller

    return issubclass(kind, Controller)


def agent_options(given: Mapping[str, str | None], settings: Sequence[str] | None) -> dict[str, Any]:
    """Return the options given on the command line: those with a flag and those of --option."""
    options = {name: parsing.value(text) for name, text in given.items() if text is not None}
    for text in settings or ():
        name, setting = parsing.setting(text)
        if name in options:
            raise InvalidInput(f"The option {name} must be given once, got two values.")
        options[name] = setting
    return options


def lineup_of(names: Sequence[str]) -> list[str]:
    """Return the names of one line-up, given one by one or joined by ``+``."""
    return [part.strip() for name in names for part in name.split("+")]


def teams_of(lineups: Sequence[Sequence[str]], options: Mapping[str, Any], package: Any = None) -> list[Any]:
    """Return a team for each line-up: one name for every seat, or one name per seat.

    An option is passed to every agent that has it; at least one must have it. ``package`` provides agents and teams:
    `cobandit.agents` or `cobandit.mdp`.
    """
    if package is None:
        from cobandit import agents as package
    kinds = {name: package.agent_class(name) for lineup in lineups for name in lineup}
    taken = {name: {row[0] for row in kind.option_rows()} for name, kind in kinds.items()}
    for given in options:
        if not any(given in known for known in taken.values()):
            every = sorted(set().union(*taken.values()))
            if not every:
                raise InvalidInput(f"{' and '.join(kinds)} has no options, but {given} was given.")
            raise UnknownName(f"option of {', '.join(kinds)} called", given, every)

    teams = []
    for lineup in lineups:
        for name in lineup if len(lineup) > 1 else ():
            if issubclass(kinds[name], package.Team.controller_kind):
                raise InvalidInput(
                    f"{name} chooses for the whole team, so it cannot be combined with {_others(lineup)}."
                )
        own = {given: options[given] for given in options if any(given in taken[name] for name in lineup)}
        teams.append(package.Team.of("+".join(lineup), **own))
    return teams


def _others(lineup: Sequence[str]) -> str:
    return "other agents" if len(set(lineup)) > 1 else "another one"
