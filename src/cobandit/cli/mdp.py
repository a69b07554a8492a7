"""``cobandit mdp simulate | compare | problems``: teams in Markov decision processes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.extras import require_extras
from cobandit.base.json_types import JsonObject
from cobandit.cli import completion, parsing
from cobandit.cli import options as shared
from cobandit.cli.declare import integer_option, option
from cobandit.cli.formats import CSV, TextJsonOrCsv, TextOrJson

if TYPE_CHECKING:
    from cobandit.mdp import MarkovProblem, Team

TEAMS = (
    "partner-aware-ucbvi",
    "steered-ucbvi",
    "naive-ucbvi",
    "naive-psrl",
    "very-naive-ucbvi",
    "centralised-ucbvi",
)

app = typer.Typer(
    name="mdp",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Simulate teams in Markov decision processes.",
)

Agents = Annotated[
    list[str] | None,
    option("NAME[+NAME...]", "(see cobandit mdp problems)", shared.THE_TEAM, autocompletion=completion.markov_lineups),
]
Report = Annotated[
    str | None, option("DIR", "Folder for report.html: regret, growth and state visits", shared.THE_OUTPUT)
]


@dataclass(frozen=True)
class MarkovOptions:
    """The options that describe a Markov problem."""

    problem: Annotated[
        str,
        option(
            "NAME|FILE.toml",
            "Problem (see cobandit mdp problems), or a TOML file",
            shared.THE_PROBLEM,
            autocompletion=completion.markov_problems,
        ),
    ] = "burger-line"
    set: Annotated[
        list[str] | None,
        option("NAME=VALUE", "Option of the problem, such as steps=3 (repeatable)", shared.THE_PROBLEM),
    ] = None
    observability: Annotated[
        str | None, option("P,P", "Probability that each agent sees the reward (default: 1,0.5)", shared.THE_PROBLEM)
    ] = None
    roles: shared.Roles = "observability"

    def made(self) -> MarkovProblem:
        """Return the problem that the options describe."""
        return markov_problem(self.problem, self.set, self.observability, self.roles)


@dataclass(frozen=True)
class MarkovWork:
    """The options of the simulation of a Markov problem."""

    episodes: Annotated[int, integer_option("episodes", 1, "Episodes in a run", shared.THE_WORK)] = 1000
    runs: shared.Runs = 100
    seed: shared.Seed = 0
    engine: shared.Engine = "auto"
    threads: shared.Threads = None

    def values(self) -> dict[str, Any]:
        """Return the arguments of `simulate`, except the number of episodes."""
        return {name: value for name, value in asdict(self).items() if name != "episodes"}


@dataclass(frozen=True)
class MarkovAgentOptions:
    """The options of the agents: some with their own flag, and --option for all others."""

    window: shared.Window = None
    repeat: shared.Repeat = None
    exploration: shared.Exploration = None
    index: shared.Index = None
    option: shared.Option = None

    def values(self) -> dict[str, Any]:
        """Return every option that the command line names."""
        flags = {name: getattr(self, name) for name in ("window", "repeat", "exploration", "index")}
        return shared.agent_options(flags, self.option)


class HelpFromMarkovAgents(shared.GroupedHelp):
    """A command whose help on the agents is generated from the agents when ``--help`` is requested."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Insert the help texts of the agents."""
        from cobandit.mdp import AGENTS

        words = shared.agent_help(AGENTS, ("window", "repeat", "exploration", "index"))
        for param in self.params:
            if param.name in words and hasattr(param, "help"):
                param.help = words[param.name]
        super().format_options(ctx, formatter)


def markov_problem(name: str, settings: list[str] | None, observability: str | None, roles: str) -> MarkovProblem:
    """Return the problem of a name or a file, with the options of the command line."""
    from cobandit.base.errors import InvalidInput
    from cobandit.mdp import load_problem, make_problem

    if name.endswith(".toml"):
        if settings or observability is not None or roles != "observability":
            raise InvalidInput(
                "A problem file contains options, observability and roles; remove these options from the command line."
            )
        return load_problem(name)
    options = dict(map(parsing.setting, settings or ()))
    sight = None if observability is None else parsing.numbers("--observability", observability, "1,0.5")
    ranks: Any = roles if roles[:1].isalpha() else parsing.numbers("--roles", roles, "1,0")
    return make_problem(name, observability=sight, roles=ranks, **options)


@app.command(cls=HelpFromMarkovAgents)
@shared.with_option_groups
def simulate(
    team: Agents = None,
    agent_options: MarkovAgentOptions = MarkovAgentOptions(),
    problem_options: MarkovOptions = MarkovOptions(),
    work: MarkovWork = MarkovWork(),
    form: TextJsonOrCsv = TextJsonOrCsv(),
    out: Annotated[str | None, option("FILE.parquet", "Parquet file for every run", shared.THE_OUTPUT)] = None,
    report: Report = None,
) -> None:
    """Simulate a team and print its regret.

    NAME uses that agent in every seat, NAME+NAME names one agent per seat. Without --team it is partner-aware-ucbvi.
    """
    require_extras("This simulation", fast=work.engine == "fast", parquet=out is not None, plot=report is not None)
    from cobandit import mdp
    from cobandit.base.parquet import checked_output
    from cobandit.cli import output
    from cobandit.cli.door import say
    from cobandit.cli.progress import progress_bar
    from cobandit.cli.simulate import print_result_csv, print_result_table

    problem = problem_options.made()
    chosen = _teams(team or ["partner-aware-ucbvi"], agent_options.values())[0]
    target = None if out is None else checked_output(out)
    folder = None if report is None else _folder(report)
    with progress_bar(1) as progress:
        result = mdp.simulate(
            problem,
            chosen,
            work.episodes,
            **work.values(),
            out=target,
            progress=progress(chosen.label),
        )
    if form.as_json:
        output.print_json({**result.provenance(), **result.summary().to_dict()})
    elif form.style == CSV:
        print_result_csv(result)
    else:
        print_result_table(result)
    if target is not None:
        say(f"Every run is kept in {target}.")
    if folder is not None:
        from cobandit.report import write_markov_report

        say(f"The report is in {write_markov_report([result], folder)}.")


@app.command(cls=HelpFromMarkovAgents)
@shared.with_option_groups
def compare(
    team: Agents = None,
    agent_options: MarkovAgentOptions = MarkovAgentOptions(),
    problem_options: MarkovOptions = MarkovOptions(),
    work: MarkovWork = MarkovWork(),
    form: TextJsonOrCsv = TextJsonOrCsv(),
    report: Report = None,
) -> None:
    """Compare teams on one problem, with common random numbers.

    Each --team is one team: NAME uses that agent in every seat, NAME+NAME names one agent per seat. An option is passed
    to every agent that has it.
    """
    require_extras("This comparison", fast=work.engine == "fast", plot=report is not None)
    from cobandit.base.checks import MOST, whole
    from cobandit.cli import output
    from cobandit.cli.compare import print_comparison
    from cobandit.cli.door import say
    from cobandit.cli.progress import progress_bar
    from cobandit.experiments.comparison import COLUMNS, compare_teams

    problem = problem_options.made()
    teams = _teams(list(dict.fromkeys(team or TEAMS)), agent_options.values())
    for lineup in teams:
        lineup.agents(problem.agents)
    folder = None if report is None else _folder(report)
    episodes = whole(1, MOST // problem.steps)("episodes", work.episodes)
    with progress_bar(len(teams)) as progress:
        compared = compare_teams(problem, teams, episodes * problem.steps, **work.values(), progress=progress)
    if form.as_json:
        output.print_json(compared.to_dict())
    elif form.style == CSV:
        output.print_csv(COLUMNS, compared.rows())
    else:
        print_comparison(compared, "task")
    if folder is not None:
        from cobandit.report import write_markov_report

        say(f"The report is in {write_markov_report(compared.results, folder)}.")


@app.command(cls=shared.GroupedHelp)
@shared.with_option_groups
def problems(
    figures: Annotated[str | None, option("DIR", "Folder for drawings of all problems' states, as SVG")] = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """List the shipped problems and the agents."""
    require_extras("Drawing the states of problems", plot=figures is not None)
    from pathlib import Path

    from cobandit.cli import output
    from cobandit.cli.door import say
    from cobandit.mdp import AGENTS, DYNAMICS, make_problem

    folder = None if figures is None else Path(_folder(figures))
    rows = [_problem_row(name, kind) for name, kind in DYNAMICS.items()]
    if form.as_json:
        output.print_json({"problems": rows, "agents": list(AGENTS)})
    else:
        screen = output.console()
        for row in rows:
            screen.print(row["name"], style="bold")
            output.paragraph(screen, row["doc"], indent=2)
            arms = " x ".join(map(str, row["arms"]))
            options = ", ".join(f"{option}={default}" for option, default in row["options"].items())
            output.paragraph(screen, f"{row['states']} states, {row['steps']} steps, {arms} arms; {options}", indent=2)
        output.paragraph(screen, f"Agents: {', '.join(AGENTS)}.")
    if folder is not None:
        from cobandit.report import write_state_graph

        for name in DYNAMICS:
            write_state_graph(make_problem(name), folder / f"{name}.svg")
        say(f"The pictures are in {folder}.")


def _problem_row(name: str, kind: type[Any]) -> JsonObject:
    """Return the description of a problem of the library."""
    from dataclasses import fields

    from cobandit.mdp import make_problem

    problem = make_problem(name)
    return {
        "name": name,
        "doc": " ".join((kind.__doc__ or "").split()),
        "states": problem.states,
        "steps": problem.steps,
        "arms": list(problem.arms),
        "options": {spec.name: spec.default for spec in fields(kind) if spec.init},
    }


def _teams(names: list[str], options: dict[str, Any]) -> list[Team]:
    from cobandit import mdp

    lineups = [shared.lineup_of([name]) for name in names]
    return shared.teams_of(lineups, options, mdp)


def _folder(path: str) -> str:
    """Create a folder for files before any work starts, and return it."""
    from pathlib import Path

    from cobandit.base.files import make_folder

    target = Path(path).expanduser()
    make_folder(target)
    return str(target)
