"""The tables of services in a design: which options each kind has. Checked when the design is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cobandit.base.checks import one_of, real, whole
from cobandit.base.records import Record, entry, flag, optional, words
from cobandit.remote.chat import checked_parameters
from cobandit.remote.prompt import HISTORIES, checked_template
from cobandit.remote.settings import checked_url

SECRET = "COBANDIT_SERVICE_SECRET"
"""The environment variable of the secret that signs requests to policies; a design may name another one."""


def _address(name: str, value: object) -> str:
    return checked_url(name, words(name, value))


@dataclass(frozen=True)
class LanguageModelService(Record):
    """The table of a language model: ``service = { kind = "language-model", history = "summary" }``.

    The endpoint and its key come from the environment of the server, never from the design. ``max_moves`` limits the
    moves that services of the whole study are asked for; beyond it the takeover agent plays.
    """

    model: str | None = entry(optional(words), None)
    history: str = entry(one_of(HISTORIES), "summary")
    memory: int = entry(whole(1, 1_000), 50)
    template: str | None = entry(optional(checked_template), None)
    reasoning: bool = entry(flag, False)
    temperature: float = entry(real(0.0, 2.0), 0.0)
    parameters: str | None = entry(optional(checked_parameters), None)
    retries: int = entry(whole(0, 10), 2)
    max_moves: int = entry(whole(0, 10_000_000), 10_000)


@dataclass(frozen=True)
class HttpService(Record):
    """The table of a policy: ``service = { kind = "http", url = "https://lab.example.org/policy" }``.

    ``secret`` is the name of the environment variable with the secret that signs the requests.
    """

    url: str = entry(_address)
    secret: str = entry(words, SECRET)
    observe: bool = entry(flag, True)
    retries: int = entry(whole(0, 10), 2)


TABLES: dict[str, type[Record]] = {"language-model": LanguageModelService, "http": HttpService}
"""The tables of our own kinds of services."""


def check_service(options: Mapping[str, Any]) -> None:
    """Refuse unknown options of a service of ours; endpoints and secrets are the server's matter."""
    table = TABLES.get(str(options["kind"]))
    if table is not None:
        table.read("service", {key: value for key, value in options.items() if key != "kind"})


def most_moves(options: Mapping[str, Any]) -> int | None:
    """Return the most moves that services of a study may be asked for, or None where a kind has no limit."""
    if options.get("kind") != "language-model":
        return None
    table = LanguageModelService.read("service", {key: value for key, value in options.items() if key != "kind"})
    return table.max_moves
