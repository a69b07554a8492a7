"""Read the exported tables of a study: participants, totals of each episode, answers.

A database and a folder of CSV files give the same tables and therefore the same numbers. Irregular values become notes;
impossible values are errors.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import one_of
from cobandit.base.errors import InvalidInput, short_repr
from cobandit.studies.design import StudyDesign
from cobandit.studies.export import Column, schema
from cobandit.studies.export.columns import LAYOUT

Array = NDArray[np.float64]

Tables = Mapping[str, Mapping[str, NDArray[Any]]]

MOST_POINTS = 250
"""At most this many rounds of an episode are kept in a curve."""

KINDS = ("real", "rehearsal")
"""The kinds of participants that can be analysed; demos store no data."""

_KINDS = {"real": "real participants", "rehearsal": "simulated participants"}


def _table(tables: Tables, name: str, columns: Sequence[str]) -> Mapping[str, NDArray[Any]]:
    if not isinstance(tables, Mapping) or name not in tables:
        raise InvalidInput(f"The tables must be the tables of an export, with {name!r}, got {short_repr(tables)}.")
    table = tables[name]
    for column in columns:
        if column not in table:
            raise InvalidInput(f"The table {name!r} has no column {column!r}; export the study again.")
    return table


def analysed_kind(there: Sequence[str], wanted: str | None) -> str:
    """Return the kind of participants to analyse: the one asked for, else people, where there are any."""
    if wanted is not None:
        return str(one_of(KINDS, "kind of participants to analyse called")("kind", wanted))
    return next((kind for kind in KINDS if kind in there), "real")


class People:
    """Those of one kind who began, from the wide table: one entry each, in the order of the table.

    In a design with strata, people begin before they are assigned; the order of those who left before that is empty.
    """

    def __init__(self, design: StudyDesign, tables: Tables, kind: str | None, notes: list[str]) -> None:
        wide = _table(tables, "wide", ("participant", "kind", "status", "order", "quiz_attempts"))
        self.columns = _wide_columns(design, wide)
        kinds = [str(value) for value in wide["kind"].tolist()]
        self.in_tables = len(kinds)
        self.kind = analysed_kind(kinds, kind)
        others = {name: kinds.count(name) for name in dict.fromkeys(kinds) if name != self.kind}
        self.strangers = sum(others.values())
        for name, count in others.items():
            notes.append(f"Left out because they are no {_KINDS[self.kind]}: {count} of kind {name!r}.")
        mine = [i for i, name in enumerate(kinds) if name == self.kind]
        began = [i for i in mine if wide["status"][i] != "invited"]
        rows = [i for i in began if design.strata or self._order(design, wide["order"][i]) is not None]
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
        self.removals = _removals(tables) if "removed" in self.status else {}
        self.orders = [self._order(design, wide["order"][i]) or () for i in rows]
        self.quiz_attempts = [int(wide["quiz_attempts"][i]) for i in rows]
        self.answers = {
            column.key[1]: [_answer(wide[column.name][i]) for i in rows]
            for column in self.columns
            if column.key[:1] == ("demographics",)
        }
        self.seats = [design.participant_seat] * len(rows)
        self.teams: list[str] = []
        if design.group is not None:
            self._take_teams(wide, design.participant_seat)
        checks = [column.name for column in self.columns if column.key[:1] == ("attention",)]
        self.failed = [any(float(wide[name][i]) == 0.0 for name in checks) for i in rows]

    def _take_teams(self, wide: Mapping[str, NDArray[Any]], first_seat: int) -> None:
        """Read team and seat of all participants; a participant without a team is a team of their own."""
        taken = set(self.names) | {str(team) for team in wide["team"].tolist() if team is not None}
        for place, i in enumerate(self.rows):
            team, seat = wide["team"][i], float(wide["seat"][i])
            alone = f"{self.names[place]} alone"
            while team is None and alone in taken:
                alone += "_"
            self.teams.append(alone if team is None else str(team))
            self.seats[place] = first_seat if math.isnan(seat) else int(seat)

    @staticmethod
    def _order(design: StudyDesign, text: Any) -> tuple[str, ...] | None:
        if not isinstance(text, str):
            return None
        order = tuple(text.split(" > "))
        if order not in design.orders:
            raise InvalidInput(f"The wide table holds the order {text!r}; the conditions of the design are needed.")
        return order

    def numbers(self, *key: str) -> Array:
        """Return a column that the design names, for all participants."""
        name = next(column.name for column in self.columns if column.key == key)
        return np.array([float(self.wide[name][i]) for i in self.rows], dtype=np.float64)


def _removals(tables: Tables) -> dict[str, str]:
    """Return why participants were removed, by participant, from the table of events."""
    events = tables.get("events", {})
    columns = [events[name].tolist() for name in ("participant", "kind", "data") if name in events]
    if len(columns) < 3:
        return {}
    return {
        str(who): str(json.loads(data)["reason"]) for who, kind, data in zip(*columns, strict=True) if kind == "removed"
    }


def _answer(value: Any) -> Any:
    """Return an answer as it is compared and counted: a text, a number, or None."""
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else number


def _wide_columns(design: StudyDesign, wide: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return the columns with what they are made of: which there are depends on whether recruiting ids and free texts
    were exported, and on the layout of the export.
    """
    possible = [
        schema(design, recruiting=recruiting, texts=texts, layout=layout)["wide"]
        for texts, layout in ((False, LAYOUT), (True, LAYOUT), (False, 3))
        for recruiting in (False, True)
    ]
    for columns in possible:
        if [column.name for column in columns] == list(wide):
            return columns
    missing = next((column.name for column in possible[0] if column.name not in wide), None)
    what = "has other columns than the design asks for" if missing is None else f"has no column {missing!r}"
    raise InvalidInput(f"The table 'wide' {what}; export the study again.")


class PlayedEpisodes:
    """The rounds of the long table, summed up by participant, condition and episode."""

    def __init__(
        self,
        design: StudyDesign,
        tables: Tables,
        people: People,
        notes: list[str],
        takeover_share: float | None = None,
    ) -> None:
        needed = ("participant", "condition", "number", "practice", "swapped", "t", "reward", "round_regret")
        makers = tuple(f"by_{seat}" for seat in design.participant_seats if design.group is not None)
        own_arms = tuple(f"arm_{seat}" for seat in design.participant_seats)
        long = _table(tables, "long", (*needed, *own_arms, *makers, "reaction_ms"))
        together = {condition.name for condition in design.conditions if makers and not condition.alone}
        self.takeovers: dict[tuple[int, int, int], int] = {}
        names = [condition.name for condition in design.conditions]
        shape = (len(people.names), len(names), design.episodes)
        lengths = [design.rounds_of(name) for name in names]
        even = np.rint(np.linspace(1, max(lengths), min(max(lengths), MOST_POINTS)))
        self.points = np.unique(np.concatenate([even, lengths]).astype(np.int64))
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
            if condition in together:
                by_people = np.stack([long[name][start:end] == "person" for name in makers])
                self._count_takeovers(cell, int((~by_people).any(axis=0).sum()), takeover_share)
            seat = people.seats[cell[0]]
            arm = design.arms[seat] - 1 if long["swapped"][start] else 0
            chosen[cell[:2]] += (end - start, np.count_nonzero(long[f"arm_{seat}"][start:end] == arm))
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
        """Add one episode; it counts only if it is complete."""
        played, rounds = len(rows["t"]), design.rounds_of(design.conditions[cell[1]].name)
        if self.rounds[cell] > 0:
            self.rounds[cell] += played
            self._lose(cell, "its rounds are in several places of the long table")
            return
        self.rounds[cell] = played
        if not np.array_equal(rows["t"], np.arange(1, played + 1)):
            self._lose(cell, "its rounds are not numbered from 1 on")
        elif played < rounds:
            self._lose(cell, f"{played} of {rounds} rounds were played")
        elif played > rounds:
            self._lose(cell, f"it has {played} rounds in place of {rounds}")
        elif not all(np.isfinite(rows[name]).all() for name in ("round_regret", "reward")):
            self._lose(cell, "a regret or a reward is not a number")
        else:
            regret = rows["round_regret"]
            self.task_regret[cell] = regret.sum()
            self.team_regret[cell] = (regret * design.team_factors[str(rows["condition"][0])]).sum()
            self.good[cell] = rows["reward"].sum()
            own = self.points <= rounds  # the episodes of other conditions may be longer
            self.curves[cell][own] = np.cumsum(regret)[self.points[own] - 1]

    def _count_takeovers(self, cell: tuple[int, int, int], count: int, most: float | None) -> None:
        """Note in how many rounds an AI chose in place of a person; an episode with more than the rule allows is
        lost.
        """
        if count:
            self.takeovers[cell] = count
        rounds = int(self.rounds[cell])
        if most is not None and count > most * rounds and cell not in self.broken:
            self._lose(cell, f"in {count} of {rounds} rounds an AI chose in place of a person")

    def _lose(self, cell: tuple[int, int, int], why: str) -> None:
        self.broken[cell] = why
        for values in (self.task_regret, self.team_regret, self.good, self.curves):
            values[cell] = np.nan


def _starts(columns: Sequence[NDArray[Any]], count: int) -> NDArray[np.int64]:
    """Return where a new episode starts: where any of the columns changes from one row to the next."""
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    new = np.ones(count, dtype=bool)
    new[1:] = False
    for column in columns:
        new[1:] |= (column[1:] != column[:-1]).astype(bool)
    return np.flatnonzero(new)


def survey_answers(design: StudyDesign, tables: Tables, people: People, notes: list[str]) -> Array:
    """Return the answers as given, participants x conditions x items; NaN where there is none."""
    needed = ("participant", "condition", "item", "value", "attention")
    table = _table(tables, "survey", needed)
    names = [condition.name for condition in design.conditions]
    items = [item.id for item in design.survey.items]
    answers = np.full((len(people.names), len(names), len(items)), np.nan)
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
        if not np.isnan(answers[cell]):
            notes.append(f"{who} answered {item!r} ({condition}) twice; the first answer counts.")
            continue
        answers[cell] = value
    return answers


def note_disagreements(design: StudyDesign, people: People, played: PlayedEpisodes, notes: list[str]) -> None:
    """Note differences between the wide and the long table, which occur if a file was changed."""
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


def note_takeovers(design: StudyDesign, people: People, played: PlayedEpisodes, notes: list[str]) -> None:
    """Note, team by team, in how many rounds that people play together an AI chose in place of one of them."""
    counts: dict[tuple[str, int, int], int] = {}
    for (i, c, e), count in played.takeovers.items():
        counts[people.teams[i], c, e] = count  # members share the episode
    teams: dict[str, int] = {}
    for (team, _, _), count in counts.items():
        teams[team] = teams.get(team, 0) + count
    for team, count in teams.items():
        notes.append(f"In the team {team} an AI chose in place of a person in {count} of the counted rounds.")
