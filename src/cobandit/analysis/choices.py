"""The choices of a study as models of people need them: what each person chose, and what the person had seen before.

A person sees all arms of the team and the own rewards, no others; the rounds of a warm start are not seen, so a model
starts every episode from the beginning, as a simulated participant does (`studies.rehearse`). Practice is left out. A
round in which an AI took over the person's seat is part of what the person saw, but is no choice of the person.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis.analysis import about_data
from cobandit.analysis.measures import Measures, measures
from cobandit.analysis.plan import default_plan
from cobandit.analysis.plan_state import plan_state
from cobandit.analysis.tables import Tables
from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.studies.data import StudyData
from cobandit.studies.design import StudyDesign
from cobandit.studies.export import read_export
from cobandit.studies.export import tables as tables_of

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

NOT_PLAYED = -1
"""The value of ``own`` and ``cells`` after the last round of an episode."""


@dataclass(frozen=True, eq=False)
class Choices:
    """The episodes of one person in one seat, or of several people who had the same seat; episodes x rounds.

    ``arms`` has the person's own number of arms first, then those of the others by seat. ``cells`` numbers the team
    actions in row-major order of ``arms``, ``own`` is the person's own arm; both are -1 after the last round.
    ``seen`` is NaN where the person saw nothing. ``counted`` marks the person's own choices. ``horizons`` has the
    number of rounds that the person expects in each episode.
    """

    participant: str
    seat: int
    arms: tuple[int, ...]
    horizons: Ints
    own: Ints
    cells: Ints
    seen: Array
    counted: NDArray[np.bool_]
    episodes: tuple[str, ...]

    @property
    def own_arms(self) -> int:
        """The number of the person's own arms."""
        return self.arms[0]

    @property
    def actions(self) -> int:
        """The number of team actions."""
        return int(np.prod(self.arms))

    def __len__(self) -> int:
        return int(self.counted.sum())

    def __repr__(self) -> str:
        return f"<Choices of {self.participant}: {len(self)} in {len(self.episodes)} episodes>"


@dataclass(frozen=True, eq=False)
class StudyChoices:
    """The choices of all people whom the analysis plan does not exclude; ``notes`` lists exclusions and reasons."""

    design: StudyDesign
    kind: str
    people: tuple[Choices, ...]
    orders: tuple[int, ...]
    notes: tuple[str, ...]


def read_choices(data: StudyData | str | os.PathLike[str], *, kind: str | None = None) -> StudyChoices:
    """Return the choices of a study: from memory, or from a folder that ``cobandit study export`` wrote.

    Those whom the stored analysis plan excludes are left out (without a plan: those who have not finished), as in
    `analyse`. ``kind`` selects real or simulated participants; by default real ones, if there are any.
    """
    if isinstance(data, StudyData):
        return choices_of_tables(data.design, tables_of(data, practice=False), about_data(data), kind=kind)
    if isinstance(data, (str, os.PathLike)):
        return choices_of_tables(*read_export(data), kind=kind)
    raise InvalidInput(f"data must be a StudyData or the folder of an export, got {short_repr(data)}.")


def choices_of_tables(
    design: StudyDesign, tables: Tables, about: Any = None, *, kind: str | None = None
) -> StudyChoices:
    """Return the choices from exported tables; ``about`` is the content of ``study.json``."""
    if design.rewards.graded:
        raise InvalidInput(
            f"rewards of {design.name} must be 0 or 1 for models of choices, got {design.rewards.kind}: the models "
            "have no scale for scores."
        )
    if any(design.problem_of(condition.name).delay for condition in design.conditions):
        raise InvalidInput("delay must be 0 for models of choices: they learn from each round before the next one.")
    if design.hides_choices:
        raise InvalidInput("actions must be 'observed' for models of choices: they learn from the choices of others.")
    if design.task.layers:
        raise InvalidInput("The models of choices are about tasks without states; the task stacks burgers in layers.")
    plan = plan_state(design, tables, about or {}, kind=kind).plan or default_plan(design)
    measured = measures(design, tables, plan.exclusions, kind=kind)
    notes = [*measured.notes, *(entry.sentence for entry in measured.excluded)]
    rows = _rows_by_person(tables["long"], measured)
    people, orders = [], []
    for name, order in zip(measured.participants, measured.orders, strict=True):
        person = _person(design, tables, name, rows.get(name, []), notes)
        if person is None:
            notes.append(f"{name} has no choice that counts, and is left out.")
            continue
        people.append(person)
        orders.append(design.orders.index(order))
    if not people:
        flow = measured.flow
        why = f"{flow.excluded} of {flow.began} are excluded" if flow.excluded else f"{flow.began} began without rounds"
        raise InvalidInput(f"There are no choices to fit: {why if flow.began else 'no data'}.")
    return StudyChoices(design, measured.kind, tuple(people), tuple(orders), tuple(notes))


def joined(people: Sequence[Choices]) -> tuple[Choices, ...]:
    """Return all choices as if they were one person's: one `Choices` for each seat."""
    by_seat: dict[tuple[Any, ...], list[Choices]] = {}
    for person in people:
        by_seat.setdefault((person.seat, person.arms), []).append(person)
    groups = []
    for (seat, arms), members in by_seat.items():
        rounds = max(member.own.shape[1] for member in members)

        def stacked(name: str, missing: Any, members: list[Choices] = members, rounds: int = rounds) -> NDArray[Any]:
            parts = [getattr(member, name) for member in members]
            wide = [np.pad(part, ((0, 0), (0, rounds - part.shape[1])), constant_values=missing) for part in parts]
            return np.concatenate(wide)

        groups.append(
            Choices(
                "everybody",
                seat,
                arms,
                np.concatenate([member.horizons for member in members]),
                stacked("own", NOT_PLAYED),
                stacked("cells", NOT_PLAYED),
                stacked("seen", np.nan),
                stacked("counted", False),
                tuple(f"{member.participant}/{episode}" for member in members for episode in member.episodes),
            )
        )
    return tuple(groups)


def _rows_by_person(long: Any, measured: Measures) -> dict[str, list[NDArray[np.int64]]]:
    """Return the rows of each counted episode of each participant, in the order of the table."""
    analysed = set(measured.participants)
    episodes: dict[tuple[str, int], list[int]] = {}
    columns = (long[name].tolist() for name in ("participant", "episode", "practice"))
    for row, (who, episode, practice) in enumerate(zip(*columns, strict=True)):
        if not practice and who in analysed:
            episodes.setdefault((str(who), int(episode)), []).append(row)
    people: dict[str, list[NDArray[np.int64]]] = {}
    for (who, _), rows in episodes.items():
        people.setdefault(who, []).append(np.array(rows, dtype=np.int64))
    return people


def _person(
    design: StudyDesign, tables: Tables, name: str, episodes: Sequence[NDArray[np.int64]], notes: list[str]
) -> Choices | None:
    """Return the choices of one person; None if there are none."""
    long = tables["long"]
    whole = []
    for rows in episodes:
        if np.array_equal(long["t"][rows], np.arange(1, len(rows) + 1)):
            whole.append(rows)
        else:
            notes.append(f"An episode of {name} is left out: its rounds are not numbered from 1 on.")
    if not whole:
        return None
    seat = int(long["seat"][whole[0][0]]) if "seat" in long else design.participant_seat
    seats = [seat, *(other for other in range(len(design.arms)) if other != seat)]
    arms = tuple(design.arms[other] for other in seats)
    shape = (len(whole), max(len(rows) for rows in whole))
    own, cells = (np.full(shape, NOT_PLAYED, dtype=np.int64) for _ in range(2))
    seen, counted = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    for place, rows in enumerate(whole):
        here = place, slice(len(rows))
        actions = [_checked_arms(long[f"arm_{other}"][rows], other, design.arms[other], name) for other in seats]
        own[here] = actions[0]
        cells[here] = np.ravel_multi_index(tuple(actions), arms)
        seen[here] = _checked_seen(np.asarray(long[f"seen_{seat}"][rows], dtype=np.float64), seat, name)
        counted[here] = long[f"by_{seat}"][rows] == "person" if f"by_{seat}" in long else True
    if not counted.any():
        return None
    labels = tuple(f"{long['condition'][rows[0]]}/{int(long['number'][rows[0]])}" for rows in whole)
    horizons = np.array([design.rounds_of(str(long["condition"][rows[0]])) for rows in whole], dtype=np.int64)
    return Choices(name, seat, arms, horizons, own, cells, seen, counted, labels)


def _checked_arms(values: NDArray[Any], seat: int, arms: int, name: str) -> Ints:
    numbers = np.asarray(values, dtype=np.float64)
    wrong = ~((numbers >= 0) & (numbers < arms) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise InvalidInput(
            f"arm_{seat} of {name} must be a whole number from 0 to {arms - 1}, got {numbers[wrong][0]:g}."
        )
    return numbers.astype(np.int64)


def _checked_seen(values: Array, seat: int, name: str) -> Array:
    wrong = ~np.isnan(values) & (values != 0.0) & (values != 1.0)
    if wrong.any():
        raise InvalidInput(f"seen_{seat} of {name} must be 0, 1 or empty, got {values[wrong][0]:g}.")
    return values
