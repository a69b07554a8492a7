"""Servers with a study for teams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cobandit.studies import StudyDesign
from cobandit.web import WebConfig, create_app
from tests.web.team_people import DESIGN


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """A database of either kind."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def team_site(open_site: Callable[..., Any], address: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Start a server with a study for teams; its application is ``app``."""
    apps: list[Any] = []

    def create(config: WebConfig) -> Any:
        apps.append(create_app(config))
        return apps[-1]

    monkeypatch.setattr("cobandit.web.app.create_app", create)

    def start(design: StudyDesign = DESIGN) -> Any:
        site = open_site(address, design)
        site.app = apps[-1]
        return site

    return start
