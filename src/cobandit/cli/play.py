"""``cobandit play``: a person at the terminal plays with an AI partner, the same agent class as in simulations."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.errors import InvalidInput, short_repr
from cobandit.cli import completion
from cobandit.cli import options as shared
from cobandit.cli.declare import integer_option, option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from cobandit.agents import Human, Team
    from cobandit.engine import Trajectory
    from cobandit.problem import Problem

THE_GAME = "The game"
LEAVING = ("q", "quit", "exit")
WIDEST_GRID = 6
"""If the partner has more arms than this, tried team actions are shown as a list, not as a grid."""

YARDSTICK = "partner-aware-ucb"
HIDDEN_YARDSTICK = "very-naive-ucb"
"""The team to compare with if actions are hidden, which partner-aware agents cannot play."""

RUN = 0

Partner = Annotated[
    str | None, option("NAME", "(see cobandit agents)", shared.THE_TEAM, autocompletion=completion.partners)
]


class _Leave(Exception):
    """Raised when the person wants to stop."""


@shared.with_option_groups
def play(
    partner: Partner = None,
    agent_options: shared.AgentOptions = shared.AgentOptions(),
    problem: Annotated[
        str | None,
        option(
            "NAME|FILE.toml",
            "Markov problem (see cobandit mdp problems), by steps",
            shared.THE_PROBLEM,
            autocompletion=completion.markov_problems,
        ),
    ] = None,
    means: shared.Means = "random",
    arms: shared.Arms = None,
    observability: Annotated[
        str | None, option("P,P", "Probability of seeing a hit, yours first (default: 1,0.5)", shared.THE_PROBLEM)
    ] = None,
    roles: shared.Roles = "observability",
    actions: shared.Actions = "observed",
    labels: Annotated[
        str | None, option("A,B;C,D", 'Names of the arms, such as "patty,cheese;tomato,lettuce"', shared.THE_PROBLEM)
    ] = None,
    rounds: Annotated[
        int, integer_option("rounds", 1, "Number of rounds, or of episodes of a Markov problem", THE_GAME)
    ] = 20,
    seed: Annotated[int | None, integer_option("seed", 0, "Random seed (default: a new one)", THE_GAME)] = None,
    save: Annotated[str | None, option("FILE.csv", "CSV file for the rounds", shared.THE_OUTPUT)] = None,
) -> None:
    """Play at the terminal with an AI partner.

    Each round you and the AI pick an arm at the same time, and the team hits or misses. You are agent 0; the AI takes
    every other seat. Some pairs of arms hit more often than others, and you cannot talk. Type the number or the name of
    an arm, or q to stop.
    """
    options, work = agent_options.values(), (rounds, seed, save)
    if problem is not None:
        _require_no_bandit_options(arms is not None or labels is not None or means != "random", actions)
        _play_markov(problem, partner, options, observability, roles, work)
    else:
        described = shared.ProblemOptions(means, arms, observability=observability, roles=roles, actions=actions)
        usual = YARDSTICK if actions == "observed" else HIDDEN_YARDSTICK
        _play_bandit(described.problem(_sight), partner or usual, options, labels, work)


def _play_bandit(
    problem: Problem,
    partner: str,
    options: dict[str, Any],
    labels: str | None,
    work: tuple[int, int | None, str | None],
) -> None:
    """Play a bandit: check every option, play, save the rounds and print how it went."""
    import secrets

    from cobandit.agents import Human, Team, agent_class, make_agent
    from cobandit.agents.team import require_visible_actions
    from cobandit.cli import output
    from cobandit.cli.door import INTERRUPTED

    rounds, seed, save = work
    if shared.is_joint(agent_class(partner)):
        raise InvalidInput(f"{partner} is one brain for the whole team; it cannot be the partner of a person.")
    names = _labels(labels, problem.arms)
    number = secrets.randbits(32) if seed is None else seed
    target = None if save is None else _checked_file(save)
    partners: list[Any] = [make_agent(partner, **options) for _ in range(problem.agents - 1)]
    require_visible_actions(problem, partners)  # checked before the first line is printed

    screen = output.console()
    seat = _Seat(screen, names, rounds, problem.hides_actions)
    team = Team([Human(ask=seat.ask, tell=seat.tell), *partners])
    _welcome(screen, problem, partners[0], rounds)
    played, interrupted = _played(problem, team, rounds, number)
    refused = _save_error(played, target)  # saved first, because these rounds cannot be repeated
    compared = HIDDEN_YARDSTICK if problem.hides_actions else YARDSTICK
    yardstick = Team.of(compared, **(options if partner == compared else {}))
    _farewell(screen, problem, names, played, rounds, number, yardstick)
    if refused is not None:
        raise refused
    if target is not None:
        screen.print(f"The rounds are kept in {target}." if len(played) else "Nothing was played, so nothing was kept.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _save_error(played: Trajectory, target: Path | None) -> OSError | None:
    """Save the rounds, if there are any and a file is wanted. Return the error if the file could not be written."""
    if target is not None and len(played):
        try:
            played.save(target)
        except OSError as error:
            return error
    return None


def _require_no_bandit_options(described: bool, actions: str) -> None:
    """Refuse options that describe a bandit together with --problem."""
    if described:
        raise InvalidInput("--means, --arms and --labels cannot be combined with --problem, which defines them.")
    if actions != "observed":
        raise InvalidInput("--actions cannot be combined with --problem: arms are observed in Markov problems.")


def _play_markov(
    name: str,
    partner: str | None,
    options: dict[str, Any],
    observability: str | None,
    roles: str,
    work: tuple[int, int | None, str | None],
) -> None:
    """Play a Markov problem instead of a bandit."""
    import secrets

    from cobandit.base.checks import MOST, whole
    from cobandit.base.files import save_csv
    from cobandit.cli import output
    from cobandit.cli.door import INTERRUPTED
    from cobandit.cli.mdp import markov_problem
    from cobandit.cli.play_markov import PARTNER, checked_partner, play_markov

    rounds, seed, save = work
    problem = markov_problem(name, None, observability, roles)
    partners = checked_partner(PARTNER if partner in (None, YARDSTICK) else partner, options, problem.agents)
    episodes = whole(1, MOST // problem.steps)("rounds", rounds)
    number = secrets.randbits(32) if seed is None else seed
    target = None if save is None else _checked_file(save)
    screen = output.console()
    output.paragraph(
        screen, f"You and your partner: {partners[0]}. {problem.dynamics.name}, {problem.steps} steps each."
    )
    rows, interrupted = play_markov(screen, problem, partners, episodes, number)
    if target is not None and rows:
        save_csv(target, list(rows[0]), (list(row.values()) for row in rows))
        screen.print(f"The steps are kept in {target}.")
    output.paragraph(screen, f"The seed was {number}: --seed {number} brings the same luck again.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass
class _Seat:
    """The person's seat: `ask` reads an arm, `tell` shows each round."""

    screen: Console
    names: list[list[str]]
    rounds: int
    hidden: bool = False
    hits: dict[tuple[int, ...], int] = field(default_factory=dict)
    misses: dict[tuple[int, ...], int] = field(default_factory=dict)

    def ask(self, person: Human) -> int:
        """Ask until the person types an arm or wants to stop."""
        own = self.names[0]
        choices = ", ".join(f"{arm}" if own[arm] == str(arm) else f"{arm} {own[arm]}" for arm in range(len(own)))
        self.screen.print(f"Round {person.round} of {self.rounds}", style="bold")
        while True:
            answer = _line(f"Your arm ({choices}; q to stop): ")
            if answer.lower() in LEAVING:
                raise _Leave
            arm = _arm(answer, own)
            if arm is not None:
                return arm
            came = f"{short_repr(answer)} is none of your arms" if answer else "Nothing came"
            self.screen.print(f"{came}. Please type one of: {choices}; or q to stop.")

    def tell(self, person: Human, action: tuple[int, ...], seen: float | None) -> None:
        """Show the round and the table of all rounds so far."""
        action = action[:1] if self.hidden else action  # the partners' arms are not known
        names = self.names[: len(action)]
        counts = self.hits if seen else self.misses
        counts[action] = counts.get(action, 0) + 1
        them = "".join(
            f", partner {names[i][arm]}" if i == 1 else f", {names[i][arm]}" for i, arm in enumerate(action) if i
        )
        outcome = ("HIT", "bold green") if seen else ("MISS", "bold red")
        self.screen.print(f"You {names[0][action[0]]}{them}: ", end="")
        self.screen.print(outcome[0], style=outcome[1])
        tried = set(self.hits) | set(self.misses)
        self.screen.print(_grid(names, {cell: self._cell(cell) for cell in tried}))
        left = self.rounds - person.round
        self.screen.print(f"{_count(left, 'round')} left." if left else "That was the last round.")
        self.screen.print()

    def _cell(self, cell: tuple[int, ...]) -> str:
        hits, misses = self.hits.get(cell, 0), self.misses.get(cell, 0)
        return f"{_count(hits, 'hit')}, {_count(misses, 'miss', 'es')}"


def _count(number: int, word: str, many: str = "s") -> str:
    return f"{number} {word}{'' if number == 1 else many}"


def _sight(agents: int) -> tuple[float, ...]:
    """Return the default observability: the person sees everything, the partners half, as in the paper's studies."""
    return (1.0, *(0.5,) * (agents - 1))


def _played(problem: Problem, team: Team, horizon: int, seed: int) -> tuple[Trajectory, bool]:
    """Return the rounds played until the end or until the person leaves, and whether the person pressed Ctrl-C."""
    import numpy as np

    from cobandit.engine import Trajectory
    from cobandit.engine.match import Match

    match = Match(problem, team, horizon, seed, RUN)
    instance = match.environment.instance
    actions, rewards, seen, foreseen = [], [], [], []
    interrupted = False
    try:
        for action, outcome in match.rounds():
            actions.append(action)
            rewards.append(outcome.reward)
            seen.append([np.nan if value is None else value for value in outcome.seen])
            foreseen.append([dict(partner.predictions) for partner in match.partners])
    except _Leave:
        pass
    except EOFError:
        print()  # the question is still on this line
    except KeyboardInterrupt:
        interrupted = True
        print()
    trajectory = Trajectory.empty(RUN, instance.means, instance.ranks, len(actions))
    for t in range(len(actions)):
        trajectory.actions[t], trajectory.rewards[t], trajectory.seen[t] = actions[t], rewards[t], seen[t]
        for i, arms in enumerate(foreseen[t]):
            for j, arm in arms.items():
                trajectory.predictions[t, i, j] = arm
    return trajectory, interrupted


def _line(question: str) -> str:
    """Return one line from the person. If stdin is a file, print the answer as if it was typed."""
    answer = input(question).strip()
    if not sys.stdin.isatty():
        print(answer)
    return answer


def _arm(answer: str, own: list[str]) -> int | None:
    """Return the arm for an answer: its name, its number, or the beginning of exactly one name."""
    word = answer.casefold()
    folded = [name.casefold() for name in own]
    if word in folded:
        return folded.index(word)
    numbers = [str(arm) for arm in range(len(own))]
    if word in numbers:
        return numbers.index(word)
    begun = [arm for arm, name in enumerate(folded) if word and name.startswith(word)]
    return begun[0] if len(begun) == 1 else None


def _labels(text: str | None, arms: tuple[int, ...]) -> list[list[str]]:
    """Return a name for each arm of each agent; by default, the numbers."""
    if text is None:
        return [[str(arm) for arm in range(size)] for size in arms]
    names = [[name.strip() for name in part.split(",")] for part in text.split(";")]
    needed = ";".join(",".join("name" for _ in range(size)) for size in arms)
    if [len(part) for part in names] != list(arms) or not all(all(part) for part in names):
        raise InvalidInput(f"--labels must be names for all arms, as in {needed!r}, got {short_repr(text)}.")
    for part in names:
        folded = [name.casefold() for name in part]
        if len(set(folded)) != len(part):
            raise InvalidInput(f"--labels holds the same name twice for one player ({', '.join(part)}).")
    for arm, name in enumerate(names[0]):
        number = name.isascii() and name.isdigit() and name != str(arm)
        if name.casefold() in LEAVING or number:
            raise InvalidInput(f"--labels has {name!r} for your arm {arm}, which already means something else here.")
    return names


def _checked_file(path: str) -> Path:
    """Return the path for the rounds, or raise an error before the first round if it cannot be written."""
    import os

    target = Path(path).expanduser()
    if target.suffix != ".csv":
        raise InvalidInput(f"--save must be a name that ends in .csv, got {str(target)!r}.")
    place = target if target.exists() else target.parent
    if target.is_dir() or not target.parent.is_dir() or not os.access(place, os.W_OK):
        raise InvalidInput(f"--save must be a file in a folder that can be written to, got {str(target)!r}.")
    return target


def _welcome(screen: Console, problem: Problem, partner: Any, horizon: int) -> None:
    from cobandit.cli.output import paragraph
    from cobandit.engine.words import settings

    sizes = " x ".join(str(size) for size in problem.arms)
    sight = problem.observation.levels
    options = settings(partner.options)
    others = "your partner" if problem.agents == 2 else f"your {problem.agents - 1} partners"
    paragraph(screen, f"You and {others}: {partner.name}{f' ({options})' if options else ''}")
    paragraph(
        screen,
        f"{_count(horizon, 'round')}, {sizes} arms. Each of you picks an arm; together they hit or miss. "
        f"You see {sight[0]:.0%} of the hits, {others} {', '.join(f'{level:.0%}' for level in sight[1:])}. "
        "A hit not seen looks like a miss."
        + (" No player learns the arms of the others." if problem.hides_actions else ""),
    )
    screen.print()


def _farewell(
    screen: Console,
    problem: Problem,
    names: list[list[str]],
    played: Trajectory,
    horizon: int,
    seed: int,
    yardstick: Team,
) -> None:
    """Print the true means, the best team action and the regret after the last round."""
    import numpy as np

    from cobandit.cli.output import number, paragraph
    from cobandit.engine import reference

    rounds = len(played)
    screen.print(f"The game is over after {rounds} of {horizon} rounds.", style="bold")
    best = tuple(int(i) for i in np.unravel_index(int(played.means.argmax()), problem.arms))
    plays: dict[tuple[int, ...], int] = {}
    for action in map(tuple, played.actions.tolist()):
        plays[action] = plays.get(action, 0) + 1
    cells = {}
    for cell in itertools.product(*map(range, problem.arms)):
        if problem.cells <= 64 or cell in plays or cell == best:
            star = " *" if cell == best else ""
            cells[cell] = f"{played.means[cell]:.2f}{star} ({plays.get(cell, 0)} played)"
    screen.print("True chance of each team action (* the best one):")
    screen.print(_grid(names, cells))
    called = " + ".join(names[i][arm] for i, arm in enumerate(best))
    screen.print(f"The best team action was {called}, with {played.means[best]:.2f} hits a round.")
    if rounds:
        luck = reference.run_trajectory(problem, yardstick, horizon, seed, RUN)
        theirs = float(luck.task_regret[rounds - 1])
        hits, their_hits = int(played.rewards.sum()), int(luck.rewards[:rounds].sum())
        label = f"{problem.agents} {yardstick.label} agents"
        you = "You and your partner" + ("" if problem.agents == 2 else "s")
        ours = float(played.task_regret[-1])
        paragraph(screen, f"{you}: task regret {number(ours)}, {_count(hits, 'hit')}.")
        paragraph(screen, f"{label} with the same luck: task regret {number(theirs)}, {_count(their_hits, 'hit')}.")
        paragraph(screen, "(Regret: the hits lost, on average, by not always playing the best team action.)")
    paragraph(screen, f"The seed was {seed}: --seed {seed} brings the same means and the same luck again.")


def _grid(names: list[list[str]], cells: dict[tuple[int, ...], str]) -> Table:
    """Return a grid of two players' arms, or a list of team actions if a grid would not fit."""
    from cobandit.cli.output import table

    if len(names) == 2 and len(names[1]) <= WIDEST_GRID:
        grid = table("", *(f"partner {name}" for name in names[1]), first="left")
        for i, own in enumerate(names[0]):
            grid.add_row(f"you {own}", *(cells.get((i, j), "-") for j in range(len(names[1]))))
        return grid
    heads = ["you", *(["partner"] if len(names) == 2 else [f"partner {i}" for i in range(1, len(names))]), ""]
    grid = table(*heads, first="left")
    for cell in sorted(cells):
        grid.add_row(*(names[i][arm] for i, arm in enumerate(cell)), cells[cell])
    return grid
