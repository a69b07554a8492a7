"""How participants leave a study: outcomes with codes and pay, withdrawal, and the way back to a recruiter."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cobandit.base.checks import one_of, short_repr, with_schema
from cobandit.base.errors import InvalidInput
from cobandit.base.records import Record, entry, listing, slug, words_or_empty
from cobandit.studies.payment import money

if TYPE_CHECKING:
    from cobandit.studies.design import StudyDesign

SCREENED_OUT = "screened-out"
OUTCOMES = (SCREENED_OUT, "failed-attention", "no-team", "withdrew")
"""The outcomes besides ``finished`` that may have a code and a payment of their own."""

FINISHED = "finished"
"""The outcome of people who have reached the end of the study; ``completion_code`` and ``payment`` belong to it."""

WITHDRAWN_DATA = ("delete", "anonymise")
"""What happens to the data of people who withdraw."""

LONGEST_ADDRESS = 2000
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def _address(name: str, value: object) -> str:
    """Return an empty text or the template of a web address; `Recruiter` and `Outcome` check its placeholders."""
    if value == "":
        return ""
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s\"'<>\\]+", value) or len(value) > LONGEST_ADDRESS:
        raise InvalidInput(
            f"{name} must be an address that begins with https:// and has at most {LONGEST_ADDRESS:,} characters, such "
            f"as 'https://panel.example/done?code={{code}}', got {short_repr(value)}."
        )
    placeholders(name, value)
    return value


def placeholders(name: str, template: str) -> frozenset[str]:
    """Return the names in braces in the template of an address; raise if the braces do not match."""
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise InvalidInput(f"{name} must be an address with names in braces, got {template!r}: {error}.") from error
    for _, field, format, conversion in parts:
        if field is not None and (format or conversion or not _PARAMETER.fullmatch(field)):
            raise InvalidInput(f"{name} must have plain names in braces, such as {{code}}, got {template!r}.")
    return frozenset(field for _, field, _, _ in parts if field is not None)


def _parameter(name: str, value: object) -> str:
    if not isinstance(value, str) or not _PARAMETER.fullmatch(value):
        raise InvalidInput(f"{name} must be the name of a parameter in a link, such as 'pid', got {short_repr(value)}.")
    return value


def _parameter_or_empty(name: str, value: object) -> str:
    return "" if value == "" else _parameter(name, value)


with_schema(_address, {"type": "string", "maxLength": LONGEST_ADDRESS})
with_schema(_parameter, {"type": "string", "pattern": f"^{_PARAMETER.pattern}$"})
with_schema(_parameter_or_empty, {"type": "string", "pattern": f"^(?:{_PARAMETER.pattern})?$"})


@dataclass(frozen=True)
class Outcome(Record):
    """One way to leave the study before its end, or to fail its checks, with its own completion code and pay.

    An empty ``code`` is made by the server. ``return_url`` leads back to the recruiter; empty: as after a finished
    study. No bonus is added to ``pay``.
    """

    outcome: str = entry(one_of(OUTCOMES, "outcome"))
    code: str = entry(words_or_empty, "")
    pay: str = entry(money, "0")
    return_url: str = entry(_address, "")


@dataclass(frozen=True)
class Withdrawal(Record):
    """What happens when a participant withdraws: the server deletes the data, or removes who they are about."""

    data: str = entry(one_of(WITHDRAWN_DATA, "rule for data of people who withdraw"), "delete")


@dataclass(frozen=True)
class Recruiter(Record):
    """A recruiting service: which parameters of its links identify people, and where people go at the end.

    ``id`` is the parameter with a person's ID, ``also`` are further parameters that are stored. ``return_url`` is a
    template: ``{code}`` is replaced by the completion code, ``{id}`` by the ID, and names of ``also`` by their values.
    """

    name: str = entry(slug)
    id: str = entry(_parameter_or_empty, "")
    also: tuple[str, ...] = entry(listing(_parameter, 0, 10, unique="="), ())
    return_url: str = entry(_address, "")


BUILT_IN = {
    "prolific": ("PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")),
    "mturk": ("workerId", ("assignmentId", "hitId")),
    "connect": ("participantId", ("assignmentId", "projectId")),
}
"""Recruiting services whose parameters the server knows: the one with the ID, and the others."""


def check_leaving(design: StudyDesign) -> None:
    """Check that outcomes can occur, amounts can be paid, and templates of addresses use known names."""
    outcomes = {outcome.outcome: outcome for outcome in design.outcomes}
    group = design.group
    if "no-team" in outcomes and (group is None or group.short_code or group.short_pay != "0"):
        raise InvalidInput(
            "outcomes has 'no-team', which replaces short_code and short_pay of [group]: leave these two out."
            if group is not None
            else "outcomes has 'no-team', but the design has no [group]."
        )
    if "failed-attention" in outcomes and not design.attention:
        raise InvalidInput("outcomes has 'failed-attention', but the design has no attention checks.")
    if SCREENED_OUT in outcomes and not screens(design):
        raise InvalidInput("outcomes has 'screened-out', but no question of demographics has screen_out.")
    _check_pay(design)
    _check_addresses(design)


def _check_pay(design: StudyDesign) -> None:
    paid = design.payment
    for outcome in design.outcomes:
        if outcome.pay != "0" and paid is None:
            raise InvalidInput(f"The outcome {outcome.outcome!r} has a pay; [payment] must name the currency.")
        if paid is not None and not paid.can_pay(outcome.pay):
            raise InvalidInput(
                f"The pay of {outcome.outcome!r} is {outcome.pay} {paid.currency}, whose smallest coin is {paid.coin}; "
                "an amount that can be paid is needed."
            )


def _check_addresses(design: StudyDesign) -> None:
    """Check that the recruiter has an ID, and that templates of addresses use names that the server knows."""
    recruiter = design.recruiter
    known = {"code"}
    if recruiter is not None:
        if not recruiter.id and recruiter.name not in BUILT_IN:
            raise InvalidInput(f"recruiter.id must name the parameter with the ID, for {recruiter.name!r}, got ''.")
        if recruiter.id and recruiter.name in (*BUILT_IN, "sona", "label"):
            raise InvalidInput(f"recruiter.id must be left out for {recruiter.name!r}, whose parameters are known.")
        known |= {"id", *recruiter.also, *BUILT_IN.get(recruiter.name, ("", ()))[1]}
    templates = {f"return_url of the outcome {o.outcome!r}": o.return_url for o in design.outcomes}
    if recruiter is not None:
        templates["recruiter.return_url"] = recruiter.return_url
    for name, template in templates.items():
        for field in sorted(placeholders(name, template) - known):
            raise InvalidInput(f"{name} must use the names {', '.join(sorted(known))} in braces, got {{{field}}}.")


def filled_address(template: str, values: Mapping[str, str]) -> str:
    """Return the address with every name in braces replaced by its encoded value; an unknown one is empty."""
    names = placeholders("The address", template)
    return template.format_map({name: quote(values.get(name, ""), safe="") for name in names})


def screens(design: StudyDesign) -> bool:
    """Return whether some answer of ``demographics`` ends the study early."""
    return any(question.screen_out for question in design.demographics)


def is_screened_out(design: StudyDesign, answers: Mapping[str, Any]) -> bool:
    """Return whether an answer to ``demographics`` ends the study early."""
    return any(
        question.screen_out and answers.get(question.id) in question.screen_out for question in design.demographics
    )


def outcome_of(design: StudyDesign, answers: Mapping[str, Mapping[str, Any]], *, finished: bool) -> str:
    """Return the outcome of a participant from the answers by step; empty while the participation is under way.

    A failed attention check is an outcome only where the design lists it.
    """
    if answers.get("lobby", {}).get("outcome") == "short":
        return "no-team"
    if is_screened_out(design, answers.get("demographics", {})):
        return SCREENED_OUT
    if not finished:
        return ""
    if any(outcome.outcome == "failed-attention" for outcome in design.outcomes):
        surveys = [values for step, values in answers.items() if step.startswith("survey-")]
        given = {id: value for values in surveys for id, value in values.items()}
        if any(given.get(check.id) != check.answer for check in design.attention if check.id in given):
            return "failed-attention"
    return FINISHED
