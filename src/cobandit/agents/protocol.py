"""Agents that follow a protocol play only with members that know it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cobandit.base.errors import InvalidInput


def check_protocols(members: Sequence[Any]) -> None:
    """Refuse members of which some follow a protocol that the others do not know, or follow it differently.

    A person may follow any protocol. `handshake` finds out by itself who knows its protocol, so it has none here.
    """
    members = [member for member in members if type(member).protocol is not None]
    speaker = next((member for member in members if type(member).protocol), None)
    if speaker is None:
        return
    protocol = type(speaker).protocol
    for member in members:
        if type(member).protocol != protocol:
            raise InvalidInput(
                f"members must all follow the protocol of {protocol!r}, got {speaker.title} and {member.title}; "
                f"take Team.of({protocol!r}), or check_protocol=False to play such a team anyway."
            )
        for name in type(speaker).protocol_options:
            if getattr(member, name) != getattr(speaker, name):
                raise InvalidInput(
                    f"members must follow the protocol of {protocol!r} with the same {name}, got "
                    f"{getattr(speaker, name)!r} and {getattr(member, name)!r}."
                )
