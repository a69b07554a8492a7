"""A server below a path of a host, behind nginx, in a browser: a participant plays, and a researcher watches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from cobandit.web import WebConfig
from cobandit.web.serving import prepare
from tests.browser.conftest import Visit
from tests.browser.participants import DESIGNS, at, choose, expect, go_on, pass_quiz, wait_shown
from tests.browser.site import PASSWORD
from tests.web.proxies import started
from tests.web.servers import ForkedServer

pytestmark = pytest.mark.slow

ROOT = "/lab"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The public address of a server that nginx passes on below /lab/."""
    folder = tmp_path_factory.mktemp("below")
    database = f"sqlite:///{folder / 'studies.sqlite'}"
    prepare(database, DESIGNS[:1], password=PASSWORD, seed=7)
    server = ForkedServer(WebConfig(database, demo=True, consent_elsewhere=True, root_path=ROOT)).start()
    try:
        with started("nginx", server, folder, ROOT) as proxy:
            yield f"https://127.0.0.1:{proxy.port}{ROOT}"
    finally:
        server.stop()


@pytest.fixture
def opened(new_context: Callable[..., Any], address: str) -> Iterator[Callable[[str], Any]]:
    """Open pages of the server; none asks for anything that is not below its path, or complains."""
    visits: list[Visit] = []

    def visit(path: str) -> Any:
        visits.append(Visit(new_context(locale="en-GB", ignore_https_errors=True).new_page()))
        visits[-1].page.goto(address + path)
        return visits[-1].page

    yield visit
    for one in visits:
        assert one.complaints == []
        asked = [urlsplit(url) for url in one.requests if not url.startswith(("data:", "blob:"))]
        assert [url.path for url in asked if not url.path.startswith(f"{ROOT}/")] == []


def test_from_consent_to_rounds_and_to_the_monitor(opened: Callable[[str], Any], address: str) -> None:
    page = opened("/")
    page.locator('a[href="/lab/s/shop"]').click()
    pass_quiz(page, 0, 1, 1, 2)
    at(page, "partner-1")
    assert re.fullmatch(rf"{ROOT}/p/[\w-]+", urlsplit(page.url).path)
    go_on(page)
    at(page, "episode-0")
    choose(page, 0)
    choose(page, 1)
    page.reload()
    wait_shown(page, 2)

    admin = opened("/admin/studies/1")
    assert admin.url == f"{address}/admin/login?next=/admin/studies/1"
    admin.fill("#password", PASSWORD)
    admin.locator("form .primary").click()
    admin.wait_for_url(f"{address}/admin/studies/1")
    expect(admin.locator("#open-link")).to_have_text(f"https://127.0.0.1{ROOT}/s/shop")
    row = admin.locator("#people tbody tr").first
    expect(row).to_be_visible()
    choose(page, 0)
    page.locator(".panel .primary").click()
    at(page, "survey-1")
    expect(row).to_contain_text(re.compile("survey", re.IGNORECASE))  # the stream has told the monitor
    row.locator("a").first.click()
    admin.wait_for_url(f"{address}/admin/studies/1/participants/*")
    admin.locator('form[action="/lab/admin/logout"] button').click()
    admin.wait_for_url(f"{address}/admin/login")
