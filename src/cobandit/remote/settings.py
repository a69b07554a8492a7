"""Where the language model is: read from environment variables, so that the key is in no file, state or result."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field

from cobandit.base.checks import real, whole
from cobandit.base.errors import InvalidInput

URL, KEY, MODEL = "COBANDIT_LLM_URL", "COBANDIT_LLM_KEY", "COBANDIT_LLM_MODEL"
MAX_CALLS, PRICES, REPLIES = "COBANDIT_LLM_MAX_CALLS", "COBANDIT_LLM_PRICES", "COBANDIT_LLM_REPLIES"

SETTINGS = {
    URL: "Address of a chat-completions endpoint, such as https://llm.example.org/v1, or demo",
    KEY: "Key of the endpoint; empty where it needs none",
    MODEL: "Name of the model at the endpoint",
    MAX_CALLS: "Most calls of one process, and of one simulation; 1,000 by default",
    PRICES: "Price of a million tokens, input and output, such as 0.5,1.5; for estimates of costs",
    REPLIES: "Folder that keeps the replies; by default language-models in the user's cache folder",
}
"""Every environment variable of language models, with its help."""

DEMO = "demo"
"""The address of the built-in stand-in for a model, which needs no network and no key."""
DEFAULT_MAX_CALLS = 1_000
_PATH = "/chat/completions"


@dataclass(frozen=True)
class ChatEndpoint:
    """A chat-completions endpoint. The key appears in no repr, so it cannot reach a log by accident."""

    url: str
    model: str
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", self.url if self.url == DEMO else checked_url(URL, self.url).rstrip("/"))
        if not self.model:
            if self.url != DEMO:
                raise InvalidInput(f"{MODEL} must be the name of a model at the endpoint, got ''.")
            object.__setattr__(self, "model", DEMO)
        if any(character.isspace() or not character.isprintable() for character in self.key):
            raise InvalidInput(f"{KEY} must be one word of printable characters; it has blanks or control characters.")

    @classmethod
    def from_environment(cls, model: str = "", environment: Mapping[str, str] | None = None) -> ChatEndpoint:
        """Return the endpoint that the environment names; ``model`` replaces the model there."""
        variables = os.environ if environment is None else environment
        url = variables.get(URL, "").strip()
        if not url:
            raise InvalidInput(
                f"{URL} must be the address of a chat-completions endpoint, such as https://llm.example.org/v1, got "
                f"nothing. Set {URL}, {MODEL} and, where the endpoint needs one, {KEY}; {URL}={DEMO} is a built-in "
                "stand-in for a model that needs neither network nor key."
            )
        return cls(url, model or variables.get(MODEL, "").strip(), variables.get(KEY, "").strip())

    @property
    def is_demo(self) -> bool:
        """Whether the built-in stand-in answers, within this process."""
        return self.url == DEMO

    @property
    def address(self) -> str:
        """The address that requests go to."""
        return self.url if self.url.endswith(_PATH) else self.url + _PATH

    @property
    def host(self) -> str:
        """The host, for messages."""
        return self.url if self.is_demo else urllib.parse.urlsplit(self.url).netloc

    def redacted(self, text: str) -> str:
        """Return a text without the key, which an endpoint may repeat in its replies."""
        return text.replace(self.key, "[key]") if self.key else text


def checked_url(name: str, url: str) -> str:
    """Return an http or https address without a user, a query or a fragment."""
    try:
        parts = urllib.parse.urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput(f"{name} must be an address such as https://llm.example.org/v1, got {url[:60]!r}.")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(f"{name} must hold no user and no password; the key has a variable of its own.")
    if parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise InvalidInput(f"{name} must be an address without a query, a fragment or blanks.")
    return url


def max_calls() -> int:
    """Return the most calls of one process."""
    text = os.environ.get(MAX_CALLS, "").strip()
    if not text:
        return DEFAULT_MAX_CALLS
    return int(whole(0, 10**9)(MAX_CALLS, int(text) if text.isascii() and text.isdigit() else text))


def prices() -> tuple[float, float] | None:
    """Return the price of an input and of an output token, or None if they are not set."""
    text = os.environ.get(PRICES, "").strip()
    if not text:
        return None
    try:
        given = [float(part) for part in text.split(",")]
    except ValueError:
        given = []
    if len(given) != 2:
        raise InvalidInput(f"{PRICES} must be two numbers, such as 0.5,1.5, got {text[:60]!r}.")
    first, second = (real(0.0, 1e9)(PRICES, price) / 1e6 for price in given)
    return first, second
