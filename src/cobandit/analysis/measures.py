"""What a study measured: regret, good outcomes and survey answers by participant, condition and episode.

Everything is taken from the exported tables, so a database and a folder of CSV files give the same numbers. Nobody is
dropped in silence: whoever is left out stands in ``excluded`` with the rule and a sentence, whoever stays but lacks
something stands in ``gaps``, and whatever is odd about the data stands in ``notes``.
Paper: Dependent Measures of both studies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis.plan import GOOD, SCORE, SURVEY, TASK_REGRET, TEAM_REGRET, Exclusions
from cobandit.base.checks import one_of
from cobandit.base.errors import InvalidInput, UnknownName, short_repr
from cobandit.studies.design import StudyDesign
from cobandit.studies.export import Column, schema

Array = NDArray[np.float64]
Tables = Mapping[str, Mapping[str, NDArray[Any]]]

MOST_POINTS = 250
"""At most this many rounds of an episode are kept in a curve."""

KINDS = ("real", "rehearsal")
"""Whose data can be analysed; whoever tried the demo has left none."""

RULES = ("unfinished", "attention-failed", "quiz-attempts", "too-fast", "listed")
"""The rules by which people are left out, in the order in which they are applied."""


@dataclass(frozen=True)
class Exclusion:
    """Somebody who is left out of every test, by which rule, and the sentence that says so."""

    participant: str
    rule: str
    sentence: str


@dataclass(frozen=True)
class Gap:
    """Somebody who is in the analysis but lacks something; the sentence says what and what follows."""

    participant: str
    sentence: str


@dataclass(frozen=True)
class Flow:
    """How many people there were at each stage, from the tables to the tests."""

    in_tables: int
    of_another_kind: int
    not_begun: int
    began: int
    excluded: int
    analysed: int


@dataclass(frozen=True, eq=False)
class Measures:
    """Arrays over participants x conditions (x episodes); NaN where somebody has no value.

    An episode counts when all its rounds were played; the regret of half an episode cannot be compared with that of a
    whole one. ``curves`` is cumulative task regret at the rounds ``points``, participants x conditions x episodes x
    points. ``survey`` holds the answers as given, participants x conditions x items; ``score`` is their mean with
    reversed items turned round, where all items were answered. ``first_arm`` is the share of counted rounds in which
    the participant chose the arm that is the first one in unswapped sets, under whatever label.
    """

    design: StudyDesign
    kind: str
    participants: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]
    rounds: NDArray[np.int64]
    task_regret: Array
    team_regret: Array
    good: Array
    points: NDArray[np.int64]
    curves: Array
    survey: Array
    first_arm: Array
    reaction_ms: Array
    answers: Mapping[str, tuple[Any, ...]]
    attention_failed: tuple[bool, ...]
    excluded: tuple[Exclusion, ...]
    gaps: tuple[Gap, ...]
    flow: Flow
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.participants)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of the conditions, in the order of the second axis."""
        return tuple(condition.name for condition in self.design.conditions)

    @property
    def items(self) -> tuple[str, ...]:
        """The ids of the survey items, in the order of the last axis of ``survey``."""
        return tuple(item.id for item in self.design.survey.items)

    @property
    def reversed(self) -> tuple[bool, ...]:
        """Which items speak against the AI."""
        return tuple(item.reversed for item in self.design.survey.items)

    @cached_property
    def score(self) -> Array:
        """Mean survey answer by participant and condition, reversed items turned round: higher is better for the AI."""
        turned = np.where(self.reversed, self.design.survey.points + 1 - self.survey, self.survey)
        return np.asarray(turned.mean(axis=2), dtype=np.float64)

    @cached_property
    def mean_curves(self) -> Array:
        """Cumulative task regret of an episode, participants x conditions x points: the mean over all episodes."""
        return np.asarray(self.curves.mean(axis=2), dtype=np.float64)

    def column(self, condition: str) -> int:
        """The place of a condition on the second axis."""
        if condition not in self.conditions:
            raise UnknownName("condition", condition, self.conditions)
        return self.conditions.index(condition)

    def cells(self, measure: str) -> Array:
        """A measure of the task by participant, condition and episode."""
        known = {TASK_REGRET: self.task_regret, TEAM_REGRET: self.team_regret, GOOD: self.good}
        if measure not in known:
            raise UnknownName("measure of episodes", measure, known)
        return known[measure]

    def totals(self, measure: str) -> Array:
        """A measure by participant and condition: summed over all episodes, which must all be there; or the survey."""
        if measure == SCORE:
            return self.score
        if measure.startswith(SURVEY):
            item = measure.removeprefix(SURVEY)
            if item not in self.items:
                raise UnknownName("survey item", item, self.items)
            return np.asarray(self.survey[:, :, self.items.index(item)], dtype=np.float64)
        return np.asarray(self.cells(measure).sum(axis=2), dtype=np.float64)

    def means_over_episodes(self, measure: str) -> Array:
        """A measure by participant and condition: the mean over those episodes that are there; or the survey."""
        if measure == SCORE or measure.startswith(SURVEY):
            return self.totals(measure)
        values = self.cells(measure)
        there = ~np.isnan(values)
        count = there.sum(axis=2)
        sums = np.where(there, values, 0.0).sum(axis=2)
        means: Array = np.divide(sums, count, out=np.full(count.shape, np.nan), where=count > 0)
        return means

    def by_set(self, values: Array) -> Array:
        """Participants x conditions as participants x sets: in the order in which each participant met them."""
        made = np.full(values.shape, np.nan)
        for i, order in enumerate(self.orders):
            for place, condition in enumerate(order):
                made[i, place] = values[i, self.column(condition)]
        return made

    def group(self, question: str) -> tuple[Any, ...]:
        """What everybody answered to a question about themselves; None: no answer."""
        if question not in self.answers:
            raise UnknownName("question of the demographics", question, self.answers)
        return self.answers[question]


def measures(
    design: StudyDesign, tables: Tables, exclusions: Exclusions | None = None, *, kind: str | None = None
) -> Measures:
    """The measures of a study from its tables, as `tables` makes them or `read_export` reads them.

    ``kind`` picks people or simulated participants; by default people, where there are any. ``exclusions`` says who is
    left out (by default whoever has not finished).
    """
    rules = Exclusions() if exclusions is None else exclusions
    notes: list[str] = []
    wide = _People(design, tables, kind, notes)
    played = _Episodes(design, tables, wide, notes)
    excluded = _excluded(design, wide, played, rules, notes)
    left_out = {entry.participant for entry in excluded}
    kept = [i for i, name in enumerate(wide.names) if name not in left_out]
    survey = _survey(design, tables, wide, notes)
    _compare_with_wide(design, wide, played, notes)
    made = Measures(
        design=design,
        kind=wide.kind,
        participants=tuple(wide.names[i] for i in kept),
        orders=tuple(wide.orders[i] for i in kept),
        rounds=played.rounds[kept],
        task_regret=played.task_regret[kept],
        team_regret=played.team_regret[kept],
        good=played.good[kept],
        points=played.points,
        curves=played.curves[kept],
        survey=survey[kept],
        first_arm=played.first_arm[kept],
        reaction_ms=played.reaction_ms[kept],
        answers={question: tuple(values[i] for i in kept) for question, values in wide.answers.items()},
        attention_failed=tuple(bool(wide.failed[i]) for i in kept),
        excluded=tuple(excluded),
        gaps=tuple(_gaps(design, wide, played, survey, kept)),
        flow=Flow(
            in_tables=wide.in_tables,
            of_another_kind=wide.strangers,
            not_begun=wide.not_begun,
            began=len(wide.names),
            excluded=len(left_out),
            analysed=len(kept),
        ),
        notes=tuple(notes),
    )
    return made


def _table(tables: Tables, name: str, columns: Sequence[str]) -> Mapping[str, NDArray[Any]]:
    if not isinstance(tables, Mapping) or name not in tables:
        raise InvalidInput(f"The tables are {short_repr(tables)}; the tables of an export, with {name!r}, are needed.")
    table = tables[name]
    for column in columns:
        if column not in table:
            raise InvalidInput(f"The table {name!r} has no column {column!r}; export the study again.")
    return table


class _People:
    """Those of one kind who began, from the wide table: one entry each, in the order of the table."""

    def __init__(self, design: StudyDesign, tables: Tables, kind: str | None, notes: list[str]) -> None:
        wide = _table(tables, "wide", ("participant", "kind", "status", "order", "quiz_attempts"))
        self.columns = _wide_columns(design, wide)
        kinds = [str(value) for value in wide["kind"].tolist()]
        self.in_tables = len(kinds)
        self.kind = self._kind(kinds, kind)
        others = {name: kinds.count(name) for name in dict.fromkeys(kinds) if name != self.kind}
        self.strangers = sum(others.values())
        for name, count in others.items():
            notes.append(f"Left out because they are no {_KINDS[self.kind]}: {count} of kind {name!r}.")
        mine = [i for i, name in enumerate(kinds) if name == self.kind]
        rows = [i for i in mine if wide["status"][i] != "invited" and self._order(design, wide["order"][i]) is not None]
        self.not_begun = len(mine) - len(rows)
        if self.not_begun:
            notes.append(f"Invited but never begun: {self.not_begun}; they have no data.")
        self.wide, self.rows = wide, rows
        self.names = [str(wide["participant"][i]) for i in rows]
        twice = [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]
        if twice:
            raise InvalidInput(f"The participant {twice[0]!r} is in the wide table twice; each needs one row.")
        self.places = {name: i for i, name in enumerate(self.names)}
        self.status = [str(wide["status"][i]) for i in rows]
        self.orders = [self._order(design, wide["order"][i]) or () for i in rows]
        self.quiz_attempts = [int(wide["quiz_attempts"][i]) for i in rows]
        self.answers = {
            column.key[1]: [_plain(wide[column.name][i]) for i in rows]
            for column in self.columns
            if column.key[:1] == ("demographics",)
        }
        checks = [column.name for column in self.columns if column.key[:1] == ("attention",)]
        self.failed = [any(float(wide[name][i]) == 0.0 for name in checks) for i in rows]

    @staticmethod
    def _kind(there: Sequence[str], wanted: str | None) -> str:
        if wanted is not None:
            return str(one_of(KINDS, "kind of participants to analyse called")("kind", wanted))
        return next((kind for kind in KINDS if kind in there), "real")

    @staticmethod
    def _order(design: StudyDesign, text: Any) -> tuple[str, ...] | None:
        if not isinstance(text, str):
            return None
        order = tuple(text.split(" > "))
        if order not in design.orders:
            raise InvalidInput(f"The wide table holds the order {text!r}; the conditions of the design are needed.")
        return order

    def numbers(self, *key: str) -> Array:
        """A column that the design has given its name, for everybody."""
        name = next(column.name for column in self.columns if column.key == key)
        return np.array([float(self.wide[name][i]) for i in self.rows], dtype=np.float64)


_KINDS = {"real": "real participants", "rehearsal": "simulated participants"}


def _plain(value: Any) -> Any:
    """An answer as it is compared and counted: a text, a number, or None."""
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else number


def _wide_columns(design: StudyDesign, wide: Mapping[str, Any]) -> tuple[Column, ...]:
    """The columns with what they are made of: their names depend on whether recruiting ids were exported."""
    made = [schema(design, recruiting=recruiting)["wide"] for recruiting in (False, True)]
    for columns in made:
        if [column.name for column in columns] == list(wide):
            return columns
    missing = next((column.name for column in made[0] if column.name not in wide), None)
    what = "has other columns than the design asks for" if missing is None else f"has no column {missing!r}"
    raise InvalidInput(f"The table 'wide' {what}; export the study again.")


class _Episodes:
    """The rounds of the long table, summed up by participant, condition and episode."""

    def __init__(self, design: StudyDesign, tables: Tables, people: _People, notes: list[str]) -> None:
        own_arm = f"arm_{design.participant_seat}"
        needed = ("participant", "condition", "number", "practice", "swapped", "t", own_arm, "reward", "round_regret")
        long = _table(tables, "long", (*needed, "reaction_ms"))
        names = [condition.name for condition in design.conditions]
        shape = (len(people.names), len(names), design.episodes)
        even = np.linspace(1, design.rounds, min(design.rounds, MOST_POINTS))
        self.points = np.unique(np.rint(even).astype(np.int64))
        self.rounds = np.zeros(shape, dtype=np.int64)
        self.task_regret, self.team_regret, self.good = (np.full(shape, np.nan) for _ in range(3))
        self.curves = np.full((*shape, len(self.points)), np.nan)
        self.first_arm = np.full(shape[:2], np.nan)
        self.reaction_ms = np.full(shape[0], np.nan)
        self.broken: dict[tuple[int, int, int], str] = {}

        count = len(long["participant"])
        starts = _starts([long[name] for name in ("participant", "condition", "number", "practice")], count)
        ends = np.append(starts, count)[1:]
        chosen = np.zeros((*shape[:2], 2))
        reactions: list[list[Array]] = [[] for _ in range(shape[0])]
        kinds = dict(zip(people.wide["participant"].tolist(), people.wide["kind"].tolist(), strict=True))
        strangers: dict[str, int] = {}
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if long["practice"][start]:
                continue
            who, condition = str(long["participant"][start]), str(long["condition"][start])
            if who not in people.places:
                if who not in kinds:
                    strangers[who] = strangers.get(who, 0) + end - start
                continue
            number = int(long["number"][start])
            if condition not in names or not 0 <= number < design.episodes:
                raise InvalidInput(
                    f"The long table has {condition!r}, episode {number}, of {who}; the design has no such episode."
                )
            cell = (people.places[who], names.index(condition), number)
            self._take(design, cell, {name: long[name][start:end] for name in needed})
            arm = design.arms[design.participant_seat] - 1 if long["swapped"][start] else 0
            chosen[cell[:2]] += (end - start, np.count_nonzero(long[own_arm][start:end] == arm))
            reactions[cell[0]].append(long["reaction_ms"][start:end])
        np.divide(chosen[:, :, 1], chosen[:, :, 0], out=self.first_arm, where=chosen[:, :, 0] > 0)
        for place, parts in enumerate(reactions):
            times = np.concatenate([np.zeros(0), *parts])
            times = times[~np.isnan(times)]
            if len(times):
                self.reaction_ms[place] = float(np.median(times))
        for who, many in strangers.items():
            notes.append(f"The long table has {many} rounds of {who}, who is not in the wide table; they are not used.")

    def _take(self, design: StudyDesign, cell: tuple[int, int, int], rows: Mapping[str, NDArray[Any]]) -> None:
        """One episode; it counts only if it is whole."""
        played = len(rows["t"])
        if self.rounds[cell] > 0:
            self.rounds[cell] += played
            self._lose(cell, "its rounds stand in several places of the long table")
            return
        self.rounds[cell] = played
        if not np.array_equal(rows["t"], np.arange(1, played + 1)):
            self._lose(cell, "its rounds are not numbered from 1 on")
        elif played < design.rounds:
            self._lose(cell, f"{played} of {design.rounds} rounds were played")
        elif played > design.rounds:
            self._lose(cell, f"it has {played} rounds in place of {design.rounds}")
        elif not all(np.isfinite(rows[name]).all() for name in ("round_regret", "reward")):
            self._lose(cell, "a regret or a reward is not a number")
        else:
            regret = rows["round_regret"]
            self.task_regret[cell] = regret.sum()
            self.team_regret[cell] = (regret * design.problem.team_factor).sum()
            self.good[cell] = rows["reward"].sum()
            self.curves[cell] = np.cumsum(regret)[self.points - 1]

    def _lose(self, cell: tuple[int, int, int], why: str) -> None:
        self.broken[cell] = why
        for values in (self.task_regret, self.team_regret, self.good, self.curves):
            values[cell] = np.nan


def _starts(columns: Sequence[NDArray[Any]], count: int) -> NDArray[np.int64]:
    """Where a new episode starts: where any of the columns changes from one row to the next."""
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    new = np.ones(count, dtype=bool)
    new[1:] = False
    for column in columns:
        new[1:] |= (column[1:] != column[:-1]).astype(bool)
    return np.flatnonzero(new)


def _excluded(
    design: StudyDesign, people: _People, played: _Episodes, rules: Exclusions, notes: list[str]
) -> list[Exclusion]:
    """Who is left out, each by the first rule that holds."""
    listed = {entry.participant: entry.reason for entry in rules.listed}
    for name in listed:
        if name not in people.places:
            notes.append(f"The exclusions list {name}, who is not among the participants of this analysis.")
    whole = len(design.conditions) * design.episodes
    most, fastest = rules.quiz_attempts, rules.fastest_ms

    def unfinished(i: int) -> str:
        if not rules.unfinished or people.status[i] == "finished":
            return ""
        done = int((~np.isnan(played.task_regret[i])).sum())
        state = "was still at it when the data were taken" if people.status[i] == "active" else "left before the end"
        return f"{state}, with {done} of {whole} counted {_episodes(whole)} complete"

    def inattentive(i: int) -> str:
        return "failed an attention check" if rules.attention_failed and people.failed[i] else ""

    def too_many_attempts(i: int) -> str:
        many = most is not None and people.quiz_attempts[i] > most
        return f"needed {people.quiz_attempts[i]} attempts at the quiz, more than {most}" if many else ""

    def too_fast(i: int) -> str:
        if fastest is None:
            return ""
        if math.isnan(played.reaction_ms[i]):
            return ""
        median = played.reaction_ms[i]
        return f"chose within {median:g} ms (median), below {fastest:g} ms" if median < fastest else ""

    def named(i: int) -> str:
        return f"listed: {listed[people.names[i]]}" if people.names[i] in listed else ""

    checks: tuple[Callable[[int], str], ...] = (unfinished, inattentive, too_many_attempts, too_fast, named)
    found = []
    for i, name in enumerate(people.names):
        for rule, check in zip(RULES, checks, strict=True):
            why = check(i)
            if why:
                found.append(Exclusion(name, rule, f"{name} {why.rstrip('.')}."))
                break
    if fastest is not None:
        silent = [name for i, name in enumerate(people.names) if math.isnan(played.reaction_ms[i])]
        if silent:
            notes.append(
                f"No reaction times are known of {len(silent)} of {len(people.names)} participants, so the rule on the "
                f"fastest could not be applied to them."
            )
    if rules.attention_failed and not design.attention:
        notes.append("The design has no attention check, so the rule on those who failed one leaves nobody out.")
    return found


def _episodes(count: int) -> str:
    return "episode" if count == 1 else "episodes"


def _survey(design: StudyDesign, tables: Tables, people: _People, notes: list[str]) -> Array:
    needed = ("participant", "condition", "item", "value", "attention")
    table = _table(tables, "survey", needed)
    names = [condition.name for condition in design.conditions]
    items = [item.id for item in design.survey.items]
    made = np.full((len(people.names), len(names), len(items)), np.nan)
    for who, condition, item, value, attention in zip(*(table[name].tolist() for name in needed), strict=True):
        if attention or who not in people.places:
            continue
        if condition not in names or item not in items:
            raise InvalidInput(f"The survey table has {item!r} after {condition!r}; the design has no such question.")
        cell = (people.places[who], names.index(condition), items.index(item))
        if value is None or not 1 <= value <= design.survey.points:
            notes.append(
                f"{who} answered {value} to {item!r} ({condition}), which is not on the scale from 1 to "
                f"{design.survey.points}; taken as missing."
            )
            continue
        if not np.isnan(made[cell]):
            notes.append(f"{who} answered {item!r} ({condition}) twice; the first answer counts.")
            continue
        made[cell] = value
    return made


def _compare_with_wide(design: StudyDesign, people: _People, played: _Episodes, notes: list[str]) -> None:
    """The wide table must say the same as the long one; where a file was changed, it may not."""
    for c, condition in enumerate(design.conditions):
        rounds = people.numbers("rounds", condition.name)
        regret = people.numbers("task_regret", condition.name)
        differ = rounds != played.rounds[:, c].sum(axis=1)
        whole = ~np.isnan(played.task_regret[:, c]).any(axis=1)
        sums = np.where(whole, played.task_regret[:, c].sum(axis=1), 0.0)
        differ |= whole & ~np.isclose(regret, sums, rtol=1e-6, atol=1e-6)
        for i in np.flatnonzero(differ):
            notes.append(
                f"The tables disagree about {people.names[i]} in {condition.name}: the wide one is not the sum of the "
                f"long one. The long one is used."
            )


def _gaps(design: StudyDesign, people: _People, played: _Episodes, survey: Array, kept: Sequence[int]) -> list[Gap]:
    """What those who stay lack: whole conditions, single episodes, survey answers."""
    found = []
    for i in kept:
        name = people.names[i]
        for c, condition in enumerate(design.conditions):
            here = f"in {condition.name}"
            there = ~np.isnan(played.task_regret[i, c])
            if not there.any() and not played.rounds[i, c].any():
                found.append(Gap(name, f"{name} has no rounds {here}, and is missing where it is compared."))
            elif not there.all():
                lost = np.flatnonzero(~there).tolist()
                why = {played.broken[(i, c, e)] for e in lost if (i, c, e) in played.broken}
                reason = f" ({'; '.join(sorted(why))})" if why else ""
                found.append(
                    Gap(
                        name,
                        f"{name} lacks {len(lost)} of {design.episodes} {_episodes(design.episodes)} {here}{reason}, "
                        f"so there is no total of this condition; whole episodes are used where episodes are compared.",
                    )
                    if there.any()
                    else Gap(name, f"{name} has no whole episode {here}{reason}, and is missing where it is compared.")
                )
            unanswered = int(np.isnan(survey[i, c]).sum())
            if unanswered:
                total = survey.shape[2]
                what = "no survey answers" if unanswered == total else f"{total - unanswered} of {total} survey answers"
                found.append(Gap(name, f"{name} has {what} {here}; missing ones are left out item by item."))
    return found
