"""Recruiting services: what their links say about who comes, and where they want people back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote


@dataclass(frozen=True)
class Recruit:
    """Who somebody is to the service that sent them."""

    recruiter: str
    external_id: str
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def known_to_one_only(self) -> bool:
        """Whether the id is long and random, so that having it is proof enough to go on in another browser."""
        return self.recruiter in ("prolific", "mturk")


RECRUITERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("prolific", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")),
    ("mturk", "workerId", ("assignmentId", "hitId")),
    ("sona", "survey_code", ()),
    ("sona", "id", ()),
    ("label", "label", ()),
)
"""Recruiting services by the parameter that tells who comes, and what else they send."""


def recruit(parameters: Mapping[str, str]) -> Recruit | None:
    """Who comes, from the parameters of the link; None: nobody said."""
    for recruiter, name, more in RECRUITERS:
        if parameters.get(name):
            return Recruit(recruiter, parameters[name], {key: parameters[key] for key in more if parameters.get(key)})
    return None


def return_url(recruiter: str | None, code: str) -> str | None:
    """Where the recruiting service wants people to go with their completion code."""
    return f"https://app.prolific.com/submissions/complete?cc={quote(code)}" if recruiter == "prolific" else None
