"""Factors and cells: which conditions one participant plays in a between-subjects or mixed design.

A cell is one combination of the levels of all factors between subjects; a participant plays the conditions of one cell.
A design without such a factor has a single cell without a name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cobandit.base.checks import one_of
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.numbers import count
from cobandit.base.records import Record, Table, entry, slug
from cobandit.problem import Problem
from cobandit.problem.observation import ObservationName
from cobandit.problem.problem import ActionsName
from cobandit.studies.design_tables import Condition, Group, MeansRule, Question, Task
from cobandit.studies.reward_tables import RewardRule, study_problem

ASSIGNMENTS = ("within", "between")
"""Whether a participant plays all levels of a factor, or one of them."""

Levels = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Factor(Record):
    """One factor of a design: each condition has one of its levels.

    ``between``: each participant plays one level only; ``within``: each participant plays all of them.
    """

    name: str = entry(slug)
    assignment: str = entry(one_of(ASSIGNMENTS, "assignment of a factor"), "within")


class ConditionsByCell:
    """The part of a design that is about its conditions: cells, orders, levels, and what single conditions change."""

    arms: tuple[int, ...]
    observation: ObservationName
    observability: tuple[float, ...]
    task: Task
    rounds: int
    episodes: int
    delay: int
    actions: ActionsName
    roles: str | tuple[int, ...]
    means: MeansRule
    rewards: RewardRule
    conditions: tuple[Condition, ...]
    factors: tuple[Factor, ...]
    quotas: Table
    group: Group | None
    demographics: tuple[Question, ...]

    @cached_property
    def problem(self) -> Problem:
        """The problem as the library states it; its means only say how many arms there are."""
        return study_problem(self)

    @cached_property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """Every order of the conditions; a participant's order is its place in this list.

        In a design with cells, an order holds the conditions of one cell; the orders of a cell stand together.
        """
        return tuple(order for names in self.cells.values() for order in itertools.permutations(names))

    @cached_property
    def cells(self) -> dict[str, tuple[str, ...]]:
        """The conditions of each cell; a single cell without a name, where everyone plays every condition."""
        return cells_of(self)

    @cached_property
    def levels(self) -> dict[str, dict[str, str]]:
        """The level of each factor, by condition; nothing where the design has no factors."""
        return levels_of(self)

    @cached_property
    def sets(self) -> int:
        """How many sets of episodes a participant plays: the number of conditions of a cell."""
        return len(next(iter(self.cells.values())))

    def cell_of(self, order: int) -> str:
        """Return the name of the cell that an order belongs to; empty, where the design has none."""
        return self._cell_of_condition[self.orders[order][0]]

    @cached_property
    def _cell_of_condition(self) -> dict[str, str]:
        return {name: cell for cell, names in self.cells.items() for name in names}

    def same_people(self, *conditions: str) -> bool:
        """Return whether the same participants play these conditions."""
        return len({self._cell_of_condition[name] for name in conditions}) == 1

    @cached_property
    def strata(self) -> tuple[str, ...]:
        """The ids of the questions whose answers divide the participants into strata; empty: there are no strata."""
        return tuple(question.id for question in self.demographics if question.stratify)

    def stratum_of(self, answers: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the stratum of a participant: the places of the choices that they have given about themselves."""
        return tuple(answers[id] for id in self.strata)

    @cached_property
    def team_factors(self) -> dict[str, float]:
        """Team regret over task regret, by condition."""
        return {condition.name: self.problem_of(condition.name).team_factor for condition in self.conditions}

    def problem_of(self, condition: str) -> Problem:
        """Return the problem of a condition, or of practice rounds: its observability, noise, roles and delay."""
        return self._problems.get(condition, self.problem)

    @cached_property
    def _problems(self) -> dict[str, Problem]:
        return {
            condition.name: study_problem(self, condition)
            for condition in self.conditions
            if condition.observability
            or condition.observation is not None
            or condition.rewards is not None
            or condition.noise
            or condition.roles
            or condition.delay is not None
            or condition.actions is not None
        }

    def observability_of(self, condition: str) -> tuple[float, ...]:
        """Return the observability of each seat in a condition, or in practice rounds."""
        own = {entry.name: entry.observability for entry in self.conditions}
        return own.get(condition) or self.observability

    def observation_of(self, condition: str) -> str:
        """Return the observation model of a condition, or of practice rounds."""
        own = {entry.name: entry.observation for entry in self.conditions}
        return own.get(condition) or self.observation

    def rewards_of(self, condition: str) -> RewardRule:
        """Return what the rounds of a condition, or of practice, pay."""
        own = {entry.name: entry.rewards for entry in self.conditions}
        return own.get(condition) or self.rewards

    @cached_property
    def hides_choices(self) -> bool:
        """Whether some condition hides the choices of others."""
        return any(self.problem_of(condition.name).hides_actions for condition in self.conditions)

    @cached_property
    def draws_roles(self) -> bool:
        """Whether the leader is drawn in some condition, or in practice."""
        return self.problem.draws_roles or any(problem.draws_roles for problem in self._problems.values())

    def rounds_of(self, condition: str) -> int:
        """Return how many rounds an episode of a condition has."""
        own = {entry.name: entry.rounds for entry in self.conditions}
        return own.get(condition) or self.rounds

    @cached_property
    def most_rounds(self) -> int:
        """How many rounds the longest episode has, practice left out."""
        return max(self.rounds_of(condition.name) for condition in self.conditions)

    @cached_property
    def even_rounds(self) -> bool:
        """Whether the episodes of all conditions have the same number of rounds."""
        return len({self.rounds_of(condition.name) for condition in self.conditions}) == 1

    def has_robot(self, condition: str) -> bool:
        """Return whether a robot stacks the burgers of a condition; in practice, if it does so in any."""
        own = {entry.name: entry.robot for entry in self.conditions}
        return own.get(condition, any(own.values()))

    @cached_property
    def rounds_words(self) -> str:
        """How many rounds an episode has, in words; from the shortest to the longest, where conditions differ."""
        shortest = min(self.rounds_of(condition.name) for condition in self.conditions)
        return count(shortest, "round") if self.even_rounds else f"{shortest:,} to {self.most_rounds:,} rounds"

    def rounds_in(self, order: int) -> int:
        """Return how many rounds a participant with an order plays, practice left out."""
        return self.episodes * sum(self.rounds_of(name) for name in self.orders[order])

    def means_of(self, condition: str) -> MeansRule:
        """Return where the means of a condition, or of practice rounds, come from."""
        own = {entry.name: entry.means for entry in self.conditions}
        return own.get(condition) or self.means

    @property
    def means_rules(self) -> dict[str, MeansRule]:
        """Every rule for means that some condition has, by the name of its table in a design file."""
        own = {f"conditions.{entry.name}.means": entry.means for entry in self.conditions if entry.means is not None}
        return own if len(own) == len(self.conditions) else {"means": self.means} | own


def levels_of(design: ConditionsByCell) -> Levels:
    """Return the level of each factor in each condition; with one factor, a condition is a level by default."""
    names = [factor.name for factor in design.factors]
    levels: Levels = {}
    for condition in design.conditions:
        given = {name: str(level) for name, level in condition.levels.pairs}
        if given and not names:
            raise InvalidInput(
                f"levels of the condition {condition.name!r} must be left out in a design without factors."
            )
        for name in given:
            if name not in names:
                raise UnknownName(f"factor (condition {condition.name!r})", name, names)
        if len(names) == 1 and not given:
            given = {names[0]: condition.name}
        for name in names:
            if name not in given:
                raise InvalidInput(f"levels of the condition {condition.name!r} must have {name!r}, got none.")
        levels[condition.name] = {name: given[name] for name in names}
    return levels


def cells_of(design: ConditionsByCell) -> dict[str, tuple[str, ...]]:
    """Return the names of the conditions of each cell, both in the order of the design."""
    between = [factor.name for factor in design.factors if factor.assignment == "between"]
    levels, cells = levels_of(design), dict[str, tuple[str, ...]]()
    for condition in design.conditions:
        cell = "-".join(levels[condition.name][name] for name in between)
        cells[cell] = (*cells.get(cell, ()), condition.name)
    return cells


def check_cells(design: ConditionsByCell) -> None:
    """Check that the conditions are combinations of levels, and that every cell has the same levels within subjects."""
    _check_own(design)
    if design.strata and (design.group is not None or len(design.orders) == 1):
        why = "in a design for several people in one team" if design.group is not None else "with a single condition"
        raise InvalidInput(f"stratify of {design.strata[0]!r} must be left out {why}: there is nothing to assign.")
    levels = levels_of(design)
    seen: dict[tuple[str, ...], str] = {}
    for name, own in levels.items() if design.factors else ():
        key = tuple(own.values())
        if key in seen:
            raise InvalidInput(
                f"levels of the condition {name!r} must differ from those of {seen[key]!r}, got {', '.join(key)}."
            )
        seen[key] = name
    cells = design.cells
    if len(cells) == 1:
        if any(factor.assignment == "between" for factor in design.factors):
            raise InvalidInput(f"A factor between subjects must have two or more levels, got {next(iter(cells))!r}.")
        if design.quotas.pairs:
            raise InvalidInput("quotas must be left out in a design without a factor between subjects.")
        return
    within = [factor.name for factor in design.factors if factor.assignment == "within"]
    wanted: set[tuple[str, ...]] = set()
    for cell, names in cells.items():
        own_levels = {tuple(levels[name][factor] for factor in within) for name in names}
        wanted = wanted or own_levels
        if own_levels != wanted:
            raise InvalidInput(
                f"The cell {cell!r} must have the same levels within subjects as {next(iter(cells))!r}, got the "
                f"conditions {', '.join(names)}."
            )
    if design.group is not None:
        raise InvalidInput("A factor between subjects must be left out in a design for several people in one team.")
    _check_quotas(design)


def _check_own(design: ConditionsByCell) -> None:
    """Check what single conditions have in place of the design's observability and robot."""
    for condition in design.conditions:
        if condition.observability and len(condition.observability) != len(design.arms):
            raise InvalidInput(
                f"observability of the condition {condition.name!r} must have {len(design.arms)} parts, one for each "
                f"seat, got {len(condition.observability)}."
            )
        if not condition.robot and not design.task.fillings:
            raise InvalidInput(
                f"robot of the condition {condition.name!r} must be left out, got False: a robot stacks the burgers of "
                "designs with task.fillings only."
            )


def _check_quotas(design: ConditionsByCell) -> None:
    quotas = dict(design.quotas.pairs)
    for cell in quotas:
        if cell not in design.cells:
            raise UnknownName("cell of the design called", cell, design.cells)
    missing = [cell for cell in design.cells if quotas and cell not in quotas]
    if missing:
        raise InvalidInput(f"quotas must have a number for each cell, got none for {', '.join(missing)}.")


def shares_of(design: ConditionsByCell) -> dict[str, int]:
    """Return how many people each cell gets in each cycle of assignments: as the quotas say, in lowest terms."""
    quotas = dict(design.quotas.pairs) or dict.fromkeys(design.cells, 1)
    unit = math.gcd(*quotas.values())
    return {cell: quotas[cell] // unit for cell in design.cells}


def emptiest_cells(design: ConditionsByCell, taken: dict[str, int], among: Collection[str] | None = None) -> list[str]:
    """Return the cells that are filled least, measured by their quotas; ``among``: of these alone."""
    shares = shares_of(design)
    fill = {cell: taken[cell] / shares[cell] for cell in design.cells if among is None or cell in among}
    return [cell for cell in fill if fill[cell] == min(fill.values())]


def order_cycle(design: ConditionsByCell) -> tuple[int, ...]:
    """Return orders for people who arrive one after another: cells in turn, and in each cell every order equally often.

    Without cells these are all orders, one after another.
    """
    cells = list(design.cells)
    of_cell = {cell: [i for i in range(len(design.orders)) if design.cell_of(i) == cell] for cell in cells}
    taken, cycle = dict.fromkeys(cells, 0), list[int]()
    for _ in range(sum(shares_of(design).values()) * len(of_cell[cells[0]])):
        cell = emptiest_cells(design, taken)[0]
        cycle.append(of_cell[cell][taken[cell] % len(of_cell[cell])])
        taken[cell] += 1
    return tuple(cycle)
