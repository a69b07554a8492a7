"""The researcher's pages and the home page in a real browser, with participants at work behind them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design
from tests.browser.accessibility import violations
from tests.browser.site import PASSWORD, Site
from tests.clients import http_client

expect = pytest.importorskip("playwright.sync_api").expect
NASTY = [
    '<img src=x onerror="window.struck=1">',
    "</textarea><script>window.struck=1</script>",
    "'\"><b>",
    "\u202eolleh",
]


def _design() -> StudyDesign:
    data = load_design("burger").to_dict()
    data |= {"name": "quick", "rounds": 4, "episodes": 2, "completion_code": "THANKS42"}
    return StudyDesign.from_dict(data)


DESIGN = _design()
Check = Callable[..., None]


class Server(Site):
    """A server with some studies of one design, of which a test uses one at a time."""

    def __init__(self, folder: Path, studies: int = 1) -> None:
        self._names = [DESIGN.name, *(f"{DESIGN.name}-{number}" for number in range(2, studies + 1))]
        super().__init__(folder, *(replace(DESIGN, name=name) for name in self._names), seed=11)
        self.number, self.study = 1, DESIGN.name
        self.admin.post("/api/admin/studies/1/unblind")

    def next_study(self) -> None:
        """Go on with a study in which nobody has taken part; the researcher's program sees its conditions."""
        self.number, self.study = self.number + 1, self._names[self.number]
        self.admin.post(f"/api/admin/studies/{self.number}/unblind")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with contextlib.closing(Server(tmp_path_factory.mktemp("admin"), 20)) as server:
        yield server


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The server that tests share, with the next study; a server with one study where a test is marked ``ALONE``."""
    if getattr(request, "param", "") == "alone":
        with contextlib.closing(Server(request.getfixturevalue("tmp_path"))) as server:
            yield server
        return
    server = request.getfixturevalue("shared")
    server.next_study()
    yield server


ALONE = pytest.mark.parametrize("server", ["alone"], indirect=True)


class Visit:
    """A page, and everything it complained of."""

    def __init__(self, page: Any, server: Server) -> None:
        self.page, self.server = page, server
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)

    def login(self) -> Any:
        self.page.goto(f"{self.server.address}/admin/studies/{self.server.number}")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(f"{self.server.address}/admin/studies/{self.server.number}")
        return self.page


@pytest.fixture
def visit(server: Server, new_context: Callable[..., Any]) -> Callable[..., Visit]:
    return lambda **options: Visit(new_context(**options).new_page(), server)


def accessible(page: Any) -> None:
    assert violations(page) == []


def row(page: Any, name: str) -> Any:
    return page.locator(f'#people tr[data-participant="{name}"]')


@ALONE
def test_a_wrong_password_then_the_right_one(visit: Callable[..., Visit], server: Server) -> None:
    opened = visit()
    page = opened.page
    page.goto(f"{server.address}/admin")
    expect(page.locator("#password")).to_be_focused()
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("The password is wrong.")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/admin")
    page.get_by_role("link", name=DESIGN.title).click()
    page.wait_for_url("**/admin/studies/1")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/admin/login")
    page.goto(f"{server.address}/admin/studies/1")
    assert "/admin/login" in page.url


def test_a_request_that_a_logout_overtakes_leads_nowhere(
    visit: Callable[..., Visit], server: Server, until: Check
) -> None:
    """The monitor asks again after the login has ended, while the browser still waits for the answer to the log-out."""
    page = visit().login()
    page.get_by_text("No participants yet.").wait_for()
    form = {"form_token": page.locator('header input[name="form_token"]').input_value()}
    held: list[Any] = []
    page.route("**/admin/logout", lambda route: held.append(route))
    page.get_by_role("button", name="Log out").click(no_wait_after=True)
    until(page, lambda: held)
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    with http_client(server.address, cookies=cookies) as client:
        assert client.post("/admin/logout", data=form).headers["location"] == "/admin/login"
    refused: list[str] = []
    elsewhere: list[str] = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status == 401 else None)
    page.on("request", lambda request: elsewhere.append(request.url) if "/admin/login" in request.url else None)
    server.arrive(server.study)  # a tick, after which the page asks in vain, and again later
    until(page, lambda: len(refused) > 1 or elsewhere)
    assert elsewhere == []
    held[0].fulfill(status=303, headers={"location": "/admin/login"})
    page.wait_for_url("**/admin/login")


def test_the_monitor_follows_a_participant(visit: Callable[..., Visit], server: Server) -> None:
    opened = visit()
    page = opened.login()
    page.get_by_text("No participants yet.").wait_for()
    token = server.arrive(server.study)
    name = server.name(token)
    mine = row(page, name)
    expect(mine.locator(".badge")).to_have_text("active")
    page.locator("#search").fill(name[:5])
    page.locator("#search").press("End")
    server.go_on(token, server.study, "episode-0")
    server.send(token, 0, 1, 3)
    mine.get_by_text("Set 1 of 2, game 1 of 2: 3 of 4 rounds").wait_for()
    expect(page.locator("#search")).to_be_focused()  # nothing was torn from under the hands
    expect(page.locator("#curves .empty")).to_be_visible()
    server.go_on(token, server.study)
    mine.get_by_text("finished", exact=True).wait_for()
    expect(mine.get_by_text("100 %")).to_be_visible()
    expect(page.locator("#curves .plot")).to_have_attribute("data-n", "1 1")
    expect(page.locator("#curves canvas")).to_be_visible()
    expect(page.locator("#tiles [data-status=finished] strong")).to_have_text("1")
    expect(page.locator("#conditions tbody tr").first.locator("td")).to_have_text(["1", "1", "2", "8"])
    page.locator("#curves .plot").focus()
    page.keyboard.press("Home")
    expect(page.locator("#curves [aria-live]")).to_have_text(re.compile(r"^Round 1\. "))
    assert opened.complaints == []


def test_the_monitor_goes_on_without_the_stream(visit: Callable[..., Visit], server: Server) -> None:
    opened = visit()
    opened.page.route("**/stream", lambda route: route.abort())
    page = opened.login()
    page.get_by_text("updated every few seconds").wait_for()
    name = server.name(server.arrive(server.study))
    row(page, name).wait_for()


def test_a_server_that_is_gone_is_said_so(visit: Callable[..., Visit], server: Server) -> None:
    opened = visit()
    page = opened.login()
    name = server.name(server.arrive(server.study))
    row(page, name).wait_for()
    page.route("**/live*", lambda route: route.abort())
    server.arrive(server.study)  # a tick, after which the page asks in vain
    page.get_by_text("The server cannot be reached.").wait_for()
    assert row(page, name).is_visible()
    page.unroute("**/live*")
    page.locator("#connection:not(.off)").wait_for()


def test_pages_of_people(visit: Callable[..., Visit], server: Server) -> None:
    """A hundred at a time, sorted by the server; a change on the page shown comes by itself."""
    labels = [f"label-{place:03d}" for place in range(104)]
    server.admin.post(f"/api/admin/studies/{server.number}/links", json={"labels": labels})
    token = server.arrive(server.study)
    page = visit().login()
    people = page.locator("#people tbody tr")
    expect(people).to_have_count(100)
    expect(page.locator("#where")).to_have_text("1 to 100 of 105")
    expect(page.get_by_role("button", name="Previous page")).to_be_disabled()
    page.get_by_role("button", name="Next page").click()
    expect(people).to_have_count(5)
    expect(page.locator("#where")).to_have_text("101 to 105 of 105")
    expect(page.get_by_role("button", name="Next page")).to_be_disabled()
    page.get_by_role("button", name="Status", exact=True).click()  # from the first page again, the active first
    expect(people).to_have_count(100)
    expect(people.first).to_contain_text(server.name(token))
    expect(people.first).to_contain_text("Questions about the person")
    server.admin.delete(f"/api/admin/studies/{server.number}/participants/{server.name(token)}")
    expect(page.locator("#shown")).to_have_text("104 participants")  # somebody else has come onto the page, unchanged
    expect(people).to_have_count(100)


def test_kinds_search_and_sorting(visit: Callable[..., Visit], server: Server) -> None:
    server.admin.post(f"/api/admin/studies/{server.number}/links", json={"labels": ["Ada", "Grace"]})
    demo = server.name(server.arrive(server.study, demo=True))
    token = server.arrive(server.study)
    page = visit().login()
    people = page.locator("#people tbody tr")
    people.nth(2).wait_for()
    assert row(page, demo).count() == 0
    page.locator("#search").fill("gra")
    expect(people).to_have_count(1)
    expect(people).to_contain_text("Grace")
    page.locator("#search").fill("")
    page.get_by_role("button", name="invited 2").click()
    expect(people).to_have_count(2)
    page.get_by_role("button", name="invited 2").click()
    expect(people).to_have_count(3)
    page.get_by_role("button", name="Participant", exact=True).click()
    expect(page.locator("th[data-sort=participant]")).to_have_attribute("aria-sort", "ascending")
    names = people.locator("th a").all_inner_texts()
    assert names == sorted(names)
    page.get_by_role("button", name="Demo 1").click()
    row(page, demo).wait_for()
    expect(people).to_have_count(1)
    expect(page.locator("#kind-note")).to_contain_text("never counted")
    page.get_by_role("button", name="Rehearsal 0").click()
    page.get_by_text("cobandit study simulate").first.wait_for()
    expect(page.locator("#tiles, #search-line").filter(visible=True)).to_have_count(0)
    page.get_by_role("button", name=re.compile("Participants 3")).click()
    row(page, server.name(token)).wait_for()
    expect(page.locator("#tiles, #search-line").filter(visible=True)).to_have_count(2)
    expect(page.locator("#kind-note")).to_be_hidden()


def test_one_participant_round_by_round(visit: Callable[..., Visit], server: Server) -> None:
    token = server.arrive(server.study, recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    server.go_on(token, server.study)
    name = server.name(token)
    opened = visit()
    page = opened.login()
    row(page, name).get_by_role("link").click()
    page.wait_for_url(f"**/participants/{name}")
    rounds = page.locator("#rounds tbody tr")
    expect(rounds).to_have_count(4)
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(4)
    tabs.first.focus()
    page.keyboard.press("End")
    expect(tabs.last).to_have_attribute("aria-selected", "true")
    expect(page.locator("#panel")).to_have_attribute("data-shown", "3 1")
    told = server.admin.get(f"/api/admin/studies/{server.number}/participants/{name}/episodes/3").json()["rounds"]
    for i, one in enumerate(told):
        cells = rounds.nth(i).locator("th, td").all_inner_texts()
        labels = [DESIGN.task.arms[agent][arm] for agent, arm in enumerate(one["arms"])]
        assert cells[:4] == [str(one["t"]), *labels, DESIGN.task.good if one["reward"] else DESIGN.task.bad]
        assert cells[6] == f"{one['regret']:.2f}"
        assert cells[7] == "0.7 s"
    assert page.locator("#strip span.good").count() == sum(one["reward"] > 0 for one in told)
    expect(page.get_by_text("prolific: 5f0c1e2d3b4a59687a6b5c4d")).to_be_visible()
    expect(page.get_by_text("What is your gender?")).to_be_visible()
    assert opened.complaints == []


def test_deleting_asks_for_the_id(visit: Callable[..., Visit], server: Server) -> None:
    token = server.arrive(server.study)
    server.go_on(token, server.study)
    name = server.name(token)
    opened = visit()
    opened.login()
    page = opened.page
    page.goto(f"{server.address}/admin/studies/{server.number}/participants/{name}")
    page.locator("#rounds tbody tr").first.wait_for()
    page.get_by_role("button", name="Delete …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This deletes 16 rounds")
    confirm = dialog.get_by_role("button", name="Delete for good")
    expect(confirm).to_be_disabled()
    expect(page.locator("#delete-id")).to_be_focused()
    page.keyboard.type("p-wrong")
    page.keyboard.press("Enter")
    expect(confirm).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert server.name(token) == name
    page.get_by_role("button", name="Delete …").click()
    expect(page.locator("#delete-id")).to_be_focused()
    page.keyboard.type(name)
    confirm.click()
    page.wait_for_url(f"**/admin/studies/{server.number}*")
    page.get_by_text(f"{name} was deleted").wait_for()
    page.get_by_text("No participants yet.").wait_for()
    assert server.http.get(f"/api/participants/{token}").status_code == 404
    assert opened.complaints == []


def test_links_are_made_and_copied_whatever_the_labels_are(visit: Callable[..., Visit], server: Server) -> None:
    opened = visit(permissions=["clipboard-read", "clipboard-write"])
    page = opened.login()
    page.get_by_role("button", name="Personal links …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("There are none yet.").wait_for()
    dialog.get_by_label("Labels, one per line").fill("\n".join([*NASTY, "", "Ada"]))
    expect(dialog.get_by_label("How many")).to_have_value("5")
    dialog.get_by_role("button", name="Create").click()
    listed = dialog.locator("#links tbody tr")
    expect(listed).to_have_count(5)
    assert listed.locator(".label").all_inner_texts() == ["Ada", *reversed(NASTY)]
    listed.first.get_by_role("button").click()
    page.get_by_text("Link copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == server.admin.get(f"/api/admin/studies/{server.number}/links").json()[-1]["url"]
    dialog.get_by_role("button", name="Copy all").click()
    page.get_by_text("5 links copied").wait_for()
    accessible(page)
    page.keyboard.press("Escape")
    labels = page.locator("#people .label")
    expect(labels).to_have_count(5)
    assert sorted(labels.all_inner_texts()) == sorted([*NASTY, "Ada"])
    assert page.evaluate("window.struck") is None
    page.goto(copied)
    page.locator("main#app:not([aria-busy=true])").wait_for()
    assert opened.complaints == []


def test_export_close_and_open(visit: Callable[..., Visit], server: Server) -> None:
    server.go_on(server.arrive(server.study), server.study)
    opened = visit()
    page = opened.login()
    page.get_by_role("button", name="Export …").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename == f"{server.study}-v3-real-csv.zip"
    page.get_by_text(f"{server.study}-v3-real-csv.zip is ready.").wait_for()
    page.keyboard.press("Escape")
    for state, label, number in (
        ("closed", "No new participants", ""),
        ("quota", "until the quota", "7"),
        ("open", "open link", ""),
    ):
        page.get_by_role("button", name="Who may begin …").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("1 person has finished, 0 are at it.")
        dialog.get_by_label(label).check()
        if number:
            dialog.get_by_label("Number of participants").fill(number)
        dialog.get_by_role("button", name="Save").click()
        word = {"quota": "Open", "closed": "Closed", "open": "Open"}[state]
        expect(page.locator("#availability")).to_have_text(word)
        expect(page.locator("#places")).to_have_text("1 of 7 places taken" if number else "")
        expect(page.locator("#link-note")).to_contain_text("refuses people" if state == "closed" else "")
        expect(page.locator("#link-note")).to_be_visible(visible=state == "closed")
        studies = server.admin.get("/api/admin/studies").json()["studies"]
        assert {study["id"]: study["state"] for study in studies}[server.number] == state
    assert opened.complaints == []


def test_conditions_are_hidden_until_somebody_asks(visit: Callable[..., Visit], server: Server) -> None:
    server.go_on(server.arrive(server.study), server.study)
    server.admin.post(f"/api/admin/studies/{server.number}/blind")
    opened = visit()
    page = opened.login()
    expect(page.locator("#conditions tbody")).to_contain_text("A")
    expect(page.locator("#conditions tbody")).not_to_contain_text("ucb")
    expect(page.locator("#people tbody .order")).to_have_text(re.compile("^(A → B|B → A)$"))
    expect(page.locator("#curves .plot")).to_contain_text("Hidden")
    page.get_by_role("button", name="Show conditions …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("audit log")
    dialog.get_by_role("button", name="Show the conditions").click()
    expect(page.locator("#conditions tbody")).to_contain_text("partner-aware-ucb")
    expect(page.locator("#curves .legend .key-0")).to_contain_text("partner-aware-ucb")  # as in every report
    page.get_by_role("button", name="Hide them again").click()
    expect(page.locator("#conditions tbody")).not_to_contain_text("ucb")
    assert opened.complaints == []


def test_two_hundred_people_with_any_labels_fit(visit: Callable[..., Visit], server: Server, fits: Check) -> None:
    labels = ["word " * 35, "x" * 190, *NASTY, *(f"Person {i}" for i in range(194))]
    server.admin.post(f"/api/admin/studies/{server.number}/links", json={"labels": labels})
    opened = visit(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = opened.login()
    page.locator("#people tbody tr").nth(99).wait_for()  # a page of them
    fits(page)
    page.get_by_role("button", name="Personal links …").click()
    page.locator("#links tbody tr").nth(99).wait_for()  # a page of them, too
    fits(page)
    page.locator("#links-pager").get_by_role("button", name="Older").click()
    page.get_by_text("101 to 200 of").wait_for()
    assert page.locator("#links tbody tr").count() == 100
    fits(page)
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 900})
    fits(page)
    last = page.locator("#people tbody tr").last
    last.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    name = server.name(server.arrive(server.study))  # somebody comes in at the top of the table
    row(page, name).wait_for()
    assert last.is_visible()
    assert page.evaluate("scrollY") >= before
    assert opened.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@ALONE
def test_every_page_fits_and_can_be_used_by_all(
    visit: Callable[..., Visit], server: Server, fits: Check, width: int, scheme: str
) -> None:
    for _ in range(2):
        token = server.arrive("quick")
        server.go_on(token, "quick")
    server.admin.post("/api/admin/studies/1/links", json={"labels": ["word " * 35, "x" * 190, *NASTY]})
    server.arrive("quick", recruiting={"label": "y" * 150})
    opened = visit(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = opened.page

    def check() -> None:
        fits(page)
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")
        accessible(page)

    for address in ("/", "/admin/login"):
        page.goto(server.address + address)
        check()
    opened.login()
    page.locator("#people tbody tr").nth(8).wait_for()
    expect(page.locator("#curves .plot")).to_have_attribute("data-n", "2 2")
    check()
    for name in ("Export …", "Who may begin …"):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        check()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(f"{server.address}/admin/studies/1/participants/{server.name(token)}")
    page.locator("#rounds tbody tr").first.wait_for()
    check()
    page.get_by_role("button", name="Delete …").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    check()
    for address in ("/admin", "/admin/studies/1/payments"):
        page.goto(server.address + address)
        check()
    assert opened.complaints == []


def test_every_page_is_under_its_policy(visit: Callable[..., Visit], server: Server, strict: Check) -> None:
    opened = visit()
    for address in ("/", "/admin/login", f"/s/{server.study}", "/nowhere"):
        opened.page.goto(server.address + address)
        strict(opened.page)
    strict(opened.login())


@ALONE
def test_from_the_home_page_to_the_demo(visit: Callable[..., Visit], server: Server) -> None:
    opened = visit()
    page = opened.page
    page.goto(server.address)
    assert page.title() == "cobandit"
    page.get_by_role("link", name="Play the demo").click()
    page.wait_for_url("**/s/quick?demo=1")
    page.goto(server.address)
    page.get_by_role("link", name="Run a study").click()
    page.wait_for_url("**/admin/login")
    server.admin.post("/api/admin/studies/1/close")
    page.goto(server.address)
    expect(page.get_by_text("Take part")).to_have_count(0)
    expect(page.get_by_text("takes no new participants")).to_be_visible()
    assert opened.complaints == []
