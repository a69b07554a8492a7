"""Whether the items of a survey measure one thing: Cronbach's alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cobandit.base.checks import whole
from cobandit.base.errors import InvalidInput, short_repr
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.samples import check_level, left_out, library, measures, rounding


def cronbach_alpha(
    items: ArrayLike,
    *,
    reverse: Sequence[bool] | None = None,
    points: int | None = None,
    name: str = "",
    level: float = 0.95,
) -> Finding:
    """Cronbach's alpha of a matrix of answers, one row per filled-in survey and one column per item.

    ``reverse`` marks the items that say the opposite of the others (*Insisting*, *Annoying*, *Alone*); their answers
    are turned round on the scale from 1 to ``points``. ``statistic`` and ``effect`` both are alpha, with the interval
    of Feldt, Woodruff and Salih (1987). Surveys with a gap are left out, and the note says how many.
    """
    check_level("level", level)
    answers = measures("items", items, 2)
    k = answers.shape[1]
    if points is not None:
        whole(2)("points", points)
        outside = answers[(answers < 1) | (answers > points)]
        if outside.size:
            raise InvalidInput(
                f"items holds {short_repr(float(outside[0]))}; "
                f"answers from 1 to {points} are needed, NaN for a missing one."
            )
    if reverse is not None and len(reverse) != k:
        raise InvalidInput(f"reverse has {len(reverse)} entries and there are {k} items; one per item is needed.")
    flags = np.zeros(k, dtype=bool) if reverse is None else np.array([bool(flag) for flag in reverse])
    if flags.any():
        if points is None:
            raise InvalidInput("points is None; the number of points is needed to reverse items.")
        answers[:, flags] = points + 1 - answers[:, flags]
    complete = ~np.isnan(answers).any(axis=1)
    people = answers[complete]
    n = len(people)
    missing = left_out(len(answers) - n, len(answers), "an answer is missing", "surveys")
    row = Finding(
        name=name,
        test="Cronbach alpha",
        n=n,
        statistic_name="alpha",
        effect_name="Cronbach alpha",
        level=level,
        more={"items": k},
        note=missing,
    )
    if k < 2 or n < 2:
        reason = f"Not computed: at least two items and two complete surveys are needed; there are {k} and {n}."
        return replace(row, note=sentences([missing, reason]))
    slack = rounding(people)
    flat = people.max(axis=0) - people.min(axis=0) <= slack
    if flat.all():
        reason = "Not computed: all participants gave the same answer to every item, so there is no covariance."
        return replace(row, note=sentences([missing, reason]))
    totals = people.sum(axis=1)
    if totals.max() - totals.min() <= k * slack:
        reason = "Not computed: the answers of all participants have the same sum; an item may need reversing."
        return replace(row, note=sentences([missing, reason]))
    variances = np.where(flat, 0.0, people.var(axis=0, ddof=1))
    alpha = k / (k - 1) * (1 - float(variances.sum()) / float(totals.var(ddof=1)))
    df = (n - 1, (n - 1) * (k - 1))
    quantile = library("scipy.special").fdtri
    notes = [missing]
    if flat.any():
        which = ", ".join(str(i + 1) for i in np.flatnonzero(flat))
        notes.append(f"The same answer from all participants: item {which}.")
    if alpha < 0:
        notes.append("Alpha is negative: items contradict each other, and one may need reversing.")
    return replace(
        row,
        statistic=alpha,
        df=df,
        effect=alpha,
        low=1 - (1 - alpha) * float(quantile(*df, (1 + level) / 2)),
        high=1 - (1 - alpha) * float(quantile(*df, (1 - level) / 2)),
        note=sentences(notes),
    )
