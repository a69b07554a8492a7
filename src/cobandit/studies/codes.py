"""Codes that people enter at the service that recruited them."""

from __future__ import annotations

import hashlib
import secrets

_CODE_LENGTH = 8
_CODE_LETTERS = "23456789BCDFGHJKMNPQRSTVWXYZ"  # nothing that looks like another, and no vowels: no words by accident


def completion_code() -> str:
    """Return a new random code that cannot be guessed, of letters and digits that are easy to tell apart."""
    return "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))


def derived_code(text: str) -> str:
    """Return a code like that of `completion_code`, always the same for a text, which it does not reveal."""
    number = int.from_bytes(hashlib.sha256(f"code:{text}".encode()).digest(), "big")
    base = len(_CODE_LETTERS)
    return "".join(_CODE_LETTERS[number // base**place % base] for place in range(_CODE_LENGTH))
