"""Lists for researchers are read apart from participants, few at a time and a page at a time."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from cobandit.web.refusals import Refused
from cobandit.web.services import paging
from cobandit.web.storage.database import HEAVY_READERS, MOST_HEAVY_WAITING, Connection, Database
from tests.clients import PATIENCE, http_client

STUDY = "/api/admin/studies/1"


ADDRESSES = (
    "/api/admin/studies/1/payments",
    "/admin/studies/1/payments",
    "/admin/studies/1/payments.csv",
    "/api/admin/studies/1/links",
    "/api/admin/studies/1/links.csv",
    "/api/admin/studies/1/participants/{name}",
    "/api/admin/studies/1/participants/{name}/episodes/0",
    "/admin/studies/1/participants/{name}",
)


def test_participants_are_served_while_every_list_is_stuck(
    site: Any, short: StudyDesign, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More requests than all shared threads together wait for one event; whoever plays does not."""
    person = site.person()
    state = person.go_on(short, "episode-1")
    name, released, entered = site.public_id(person.token), threading.Event(), threading.Semaphore(0)
    threads: set[str] = set()

    def stuck(*_: Any) -> Any:
        threads.add(threading.current_thread().name.rpartition("_")[0])
        entered.release()
        assert released.wait(PATIENCE)
        raise Refused(404, "not-found", "This is only a test.")

    for service in ("payments", "links", "plays"):
        monkeypatch.setattr(f"cobandit.web.services.{service}.stored_study", stuck)
    addresses = 5 * [address.format(name=name) for address in ADDRESSES]  # the threads of an event loop are at most 32
    with (
        ThreadPoolExecutor(len(addresses)) as crowd,
        http_client(site.url, headers=dict(admin.headers), limits=httpx.Limits(max_connections=None)) as client,
    ):
        try:
            asked = [crowd.submit(client.get, address) for address in addresses]
            for _ in range(HEAVY_READERS):
                assert entered.acquire(timeout=PATIENCE)
            assert person.send(state["episode"]["index"], (1, 0, "a-first-move")).status_code == 200
            assert person.state()["episode"]["played"] == 1
            assert not entered.acquire(blocking=False)  # no more of them run at once
        finally:
            released.set()
        assert {answer.result().status_code for answer in asked} == {404}
    assert threads == {"heavy-reader"}


def test_a_flood_of_lists_is_refused_and_not_kept(short_sqlite: str) -> None:
    released = threading.Event()
    database = Database(short_sqlite)

    def stuck(connection: Connection) -> bool:
        return released.wait(PATIENCE)

    async def scene() -> None:
        most = HEAVY_READERS + MOST_HEAVY_WAITING
        waiting = [asyncio.ensure_future(database.ask(stuck, heavy=True)) for _ in range(most)]
        await asyncio.sleep(0)  # each of them begins
        with pytest.raises(Refused, match="Too many lists"):
            await database.ask(stuck, heavy=True)
        assert await database.ask(lambda connection: 1) == 1
        released.set()
        assert all(await asyncio.gather(*waiting))
        assert await database.ask(stuck, heavy=True)

    try:
        asyncio.run(scene())
    finally:
        released.set()
        database.close()


@pytest.mark.parametrize("what", ["payments", "links"])
def test_lists_come_in_parts(site: Any, admin: httpx.Client, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    admin.post(f"{STUDY}/links", json={"count": 7})
    site.change("UPDATE participants SET consented_at = created_at, finished_at = created_at + id")
    whole = admin.get(f"{STUDY}/{what}")
    names = [row["participant"] for row in whole.json()]
    assert (len(set(names)), whole.headers["x-total-count"]) == (7, "7")
    parts = [admin.get(f"{STUDY}/{what}", params={"offset": offset, "limit": 3}) for offset in (0, 3, 6, 9)]
    assert [row["participant"] for part in parts for row in part.json()] == names
    assert {part.headers["x-total-count"] for part in parts} == {"7"}
    assert admin.get(f"{STUDY}/{what}", params={"limit": 501}).status_code == 422
    for module in ("paging", what):
        monkeypatch.setattr(f"cobandit.web.services.{module}.LARGEST_PAGE", 3)
    refused = admin.get(f"{STUDY}/{what}")  # nobody takes a part for the whole
    assert refused.status_code == 422
    assert "There are 7" in refused.json()["message"]
    table = admin.get(f"{STUDY}/links.csv" if what == "links" else "/admin/studies/1/payments.csv")
    assert [line.split(",")[0] for line in table.text.splitlines()[1:]] == names
    assert paging.LARGEST_PAGE == 3


def test_links_newest_first(site: Any, admin: httpx.Client) -> None:
    admin.post(f"{STUDY}/links", json={"count": 5})
    names = [row["participant"] for row in admin.get(f"{STUDY}/links").json()]
    newest = admin.get(f"{STUDY}/links", params={"newest": True, "limit": 2}).json()
    assert [row["participant"] for row in newest] == names[:-3:-1]


def test_the_page_of_payments_has_pages(site: Any, admin: httpx.Client) -> None:
    admin.post(f"{STUDY}/links", json={"count": 103})
    site.change("UPDATE participants SET consented_at = created_at, finished_at = created_at + id")
    names = [row["participant"] for row in admin.get(f"{STUDY}/payments").json()]
    first, second = (
        admin.get("/admin/studies/1/payments", params={"offset": offset}, headers={"accept": "text/html"}).text
        for offset in (0, 100)
    )
    assert [name in first for name in names] == [True] * 100 + [False] * 3
    assert [name in second for name in names] == [False] * 100 + [True] * 3
    assert "1 to 100 of 103" in first
    assert 'href="?offset=100"' in first
    assert "103 participants finished" in second
    assert 'href="?offset=0"' in second
