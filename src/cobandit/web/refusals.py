"""What the server will not do, said in the words and numbers of HTTP."""

from __future__ import annotations

from cobandit.base.errors import CobanditError
from cobandit.base.json_types import JsonObject


class Refused(CobanditError):
    """A request that is understood and not carried out: a status, a short code for programs, a sentence for people."""

    def __init__(self, status: int, code: str, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.state: JsonObject | None = None  # where the participant really is, for a page that has lost track


def not_found(what: str = "There is nothing here.") -> Refused:
    """Return the refusal for an unknown name; it does not say whether the name existed before."""
    return Refused(404, "not-found", what)


def conflict(code: str, message: str) -> Refused:
    """Return the request does not fit to what is stored; the page should take the state that comes with the answer."""
    return Refused(409, code, message)


def damaged() -> Refused:
    """Return the refusal for a damaged database: it does not suggest a retry, which would not help."""
    return Refused(
        500,
        "damaged",
        "The database of this server is damaged, so nothing can be read or stored. What was acknowledged before may be "
        "in a backup. Please tell the researcher.",
    )


def busy() -> Refused:
    """Return the server could not do it now, and nothing was stored."""
    return Refused(503, "busy", "The server could not store this just now. Nothing was lost; try again.", retry_after=1)


def overloaded() -> Refused:
    """Return the refusal of a read for researchers while too many of them wait."""
    return Refused(503, "busy", "Too many lists are being read just now. Try again in a moment.", retry_after=2)
