"""``cobandit play --problem burger-line``: a person plays episodes of a Markov problem with an AI partner."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cobandit.base.errors import InvalidInput, short_repr
from cobandit.base.json_types import JsonObject
from cobandit.mdp import MarkovAgent, MarkovProblem, Team, agent_class, make_agent
from cobandit.mdp.match import MarkovMatch

if TYPE_CHECKING:
    from rich.console import Console

PARTNER = "partner-aware-ucbvi"
LEAVING = ("q", "quit", "exit")
RUN = 0


class Leave(Exception):
    """Raised when the person wants to stop."""


@dataclass
class Person(MarkovAgent):
    """Agent 0: the person chooses at every step and sees the outcome."""

    screen: Any = None
    problem: Any = None
    hits: int = 0

    def clone(self) -> Person:
        """Return the same object: there is only one person at the terminal."""
        return self

    def choose(self, state: int, step: int) -> int:
        """Ask until the person types an arm or wants to stop."""
        dynamics = self.problem.dynamics
        own = dynamics.arm_names()[0]
        if step == 0:
            self.screen.print(f"Episode {self.episode + 1} of {self.briefing.episodes}", style="bold")
        self.screen.print(f"Step {step + 1} of {self.briefing.steps}, state: {dynamics.state_names()[state]}")
        choices = ", ".join(f"{arm}" if own[arm] == str(arm) else f"{arm} {own[arm]}" for arm in range(len(own)))
        while True:
            answer = input(f"Your arm ({choices}; q to stop): ").strip()
            if not sys.stdin.isatty():
                print(answer)
            if answer.lower() in LEAVING:
                raise Leave
            meant = [arm for arm, name in enumerate(own) if answer.casefold() in (str(arm), name.casefold())]
            if meant:
                return meant[0]
            came = f"{short_repr(answer)} is none of your arms" if answer else "Nothing came"
            self.screen.print(f"{came}. Please type one of: {choices}; or q to stop.")

    def observe(self, team_action: Any, reward: float | None, state: int, step: int, next_state: int) -> None:
        """Show the step."""
        names = self.problem.dynamics.arm_names()
        them = ", ".join(names[i][arm] for i, arm in enumerate(team_action) if i > 0)
        self.hits += int(bool(reward))
        outcome = ("HIT", "bold green") if reward else ("no hit", "bold red")
        self.screen.print(f"You {names[0][team_action[0]]}, partner {them}: ", end="")
        self.screen.print(outcome[0], style=outcome[1])
        if step == self.briefing.steps - 1:
            self.screen.print(f"{self.hits} hits so far.")
            self.screen.print()


def checked_partner(name: str, options: dict[str, Any], agents: int) -> list[Any]:
    """Return the AI agents for all other seats."""
    if issubclass(agent_class(name), Team.controller_kind):
        raise InvalidInput(f"{name} chooses for the whole team, so it cannot be the partner of a person.")
    return [make_agent(name, **options) for _ in range(agents - 1)]


def play_markov(
    screen: Console, problem: MarkovProblem, partners: list[Any], episodes: int, seed: int
) -> tuple[list[JsonObject], bool]:
    """Play to the last episode or until the person leaves; return the steps, and whether Ctrl-C was pressed."""
    person = Person(screen=screen, problem=problem)
    match = MarkovMatch(problem, Team([person, *partners]), episodes * problem.steps, seed, RUN)
    rows: list[dict[str, Any]] = []
    lost = 0.0
    interrupted = False
    try:
        for t, (action, outcome) in enumerate(match.steps(), start=1):
            lost += outcome.round_regret
            arms = {f"arm_{i}": arm for i, arm in enumerate(action)}
            place = {"t": t, "episode": (t - 1) // problem.steps, "step": outcome.step, "state": outcome.state}
            rows.append({**place, **arms, "reward": outcome.reward, "task_regret": lost})
    except (Leave, EOFError):
        print()
    except KeyboardInterrupt:
        interrupted = True
        print()
    _tell_truth(screen, match, rows)
    return rows, interrupted


def _tell_truth(screen: Console, match: MarkovMatch, rows: list[JsonObject]) -> None:
    """Print the best policy after the last episode."""
    from cobandit.cli.output import paragraph

    problem, instance = match.nature.problem, match.nature.instance
    names = problem.dynamics.arm_names()
    screen.print(f"The game is over after {len(rows)} of {match.horizon} steps.", style="bold")
    state = int(instance.world.start.argmax())
    way = []
    for step in range(problem.steps):
        cell = int(instance.values.q[step, state].argmax())
        strides = [1] * problem.agents
        for i in range(problem.agents - 2, -1, -1):
            strides[i] = strides[i + 1] * problem.arms[i + 1]
        way.append("+".join(names[i][cell // strides[i] % problem.arms[i]] for i in range(problem.agents)))
        state = int(instance.world.transitions[state, cell].argmax())
    best = float(instance.world.start @ instance.values.v[0])
    paragraph(screen, f"The best way through an episode: {', then '.join(way)}; {best:.2f} hits an episode on average.")
    if rows:
        paragraph(screen, f"Task regret: {rows[-1]['task_regret']:.2f} hits lost, on average, by other ways.")
