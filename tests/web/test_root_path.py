"""A server below a path of its host: every address that leaves it has the path, whatever the proxy does with it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.web import WebConfig
from cobandit.web.access import BROWSER_COOKIE, COOKIE
from cobandit.web.app import create_app
from cobandit.web.clients.bots import play_study
from cobandit.web.pages import PACKAGE
from cobandit.web.root_path import OWN_PATHS, checked_root_path, remove_root_path
from cobandit.web.serving import prepare
from tests.parameters import quick
from tests.web.conftest import PASSWORD, SHORT, Person, Site, _opened

ROOT = "/lab"
ADDRESSES = ("href", "src", "srcset", "action", "data-address")
FORM = {"content-type": "application/x-www-form-urlencoded"}


class Links(HTMLParser):
    """The addresses in a page: all of them, and those that a browser gets."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[str] = []
        self.read: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ADDRESSES and value is not None:
                self.all.append(value)
                if name != "action" and "unblind" not in value:
                    self.read.append(value)


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server below /lab with everything that has pages: demos, a report, documentation."""
    folder = tmp_path_factory.mktemp("below")
    for name in ("report", "docs"):
        (folder / name).mkdir()
    (folder / "report/report.html").write_text('<!doctype html><a href="run.html">one run</a>')
    (folder / "report/run.html").write_text("<!doctype html>")
    (folder / "docs/index.html").write_text('<!doctype html><a href="style.css">style</a>')
    (folder / "docs/style.css").write_text("a {}")
    options = {"report": str(folder / "report"), "docs": str(folder / "docs"), "demo": True}
    with _opened() as start:
        yield start(f"sqlite:///{folder / 'studies.sqlite'}", SHORT, root_path=ROOT, **options)


@pytest.fixture(scope="module", params=quick(["kept", "removed"], ["kept"]))
def through(request: pytest.FixtureRequest, below: Site) -> Callable[[str], str]:
    """Return what a proxy makes of a public path: it keeps the root path, or removes it."""

    def path(public: str) -> str:
        assert re.match(rf"{ROOT}(/|\?|$)", public), f"{public} is not below {ROOT}"
        return public if request.param == "kept" else public.removeprefix(ROOT) or "/"

    return path


def crawled(client: httpx.Client, through: Callable[[str], str], *first: str) -> dict[str, httpx.Response]:
    """Follow every link from these pages on."""
    seen: dict[str, httpx.Response] = {}
    ahead = list(first)
    while ahead:
        address = ahead.pop()
        if address in seen:
            continue
        answer = seen[address] = client.get(through(address), headers={"accept": "text/html"})
        if answer.has_redirect_location:
            ahead.append(answer.headers["location"])
            continue
        assert answer.status_code == 200, (address, answer.text)
        if answer.headers["content-type"].startswith("text/html"):
            links = Links(answer.text)
            local = [link for link in links.all if not link.startswith(("data:", "#", "http"))]
            for link in local:
                through(urljoin(address, link))
            read = (urljoin(address, link).partition("#")[0] for link in links.read if link in local)
            ahead += [link for link in read if "/export?" not in link and "results.zip" not in link]
    return seen


@pytest.mark.parametrize(
    ("given", "root"),
    [("", ""), ("/", ""), ("/lab", "/lab"), ("/lab/", "/lab"), ("/~eva/study_1", "/~eva/study_1"), ("/s2", "/s2")],
)
def test_root_paths(given: str, root: str) -> None:
    assert WebConfig(root_path=given).root_path == root


@pytest.mark.parametrize(
    "given", ["lab", "//lab", "/lab//x", "/..", "/a/../b", "/a b", "/é", "/a?b", "/a\n", "/%41", "/" + "a" * 300, 3]
)
def test_no_root_path(given: Any) -> None:
    with pytest.raises(InvalidInput, match="root_path must be a path such as /lab"):
        WebConfig(root_path=given)


@pytest.mark.parametrize("name", OWN_PATHS)
def test_paths_of_the_server(name: str) -> None:
    with pytest.raises(InvalidInput, match="must not begin with a path of the server itself"):
        checked_root_path(f"/{name}/more")


def paths(routes: Sequence[Any]) -> Iterator[str]:
    for route in routes:
        if hasattr(route, "path"):
            yield route.path
        else:
            prefix = route.include_context.prefix
            yield from (prefix + path for path in paths(route.original_router.routes))


def test_all_paths_of_the_server_are_known(below: Site) -> None:
    firsts = {path.split("/")[1] for path in paths(create_app(below.config).routes)}
    assert firsts - {""} | {"v1"} == set(OWN_PATHS)  # the partner service has a router of its own


def test_public_address() -> None:
    assert WebConfig(root_path="/lab", public_url="https://example.org/lab/").root_path == "/lab"
    with pytest.raises(InvalidInput, match=r"public_url must end with the root path /lab, got 'https://example\.org'"):
        WebConfig(root_path="/lab", public_url="https://example.org")


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/lab/admin", "/admin"),
        ("/admin", "/admin"),
        ("/lab", "/"),
        ("/lab/", "/"),
        ("/laboratory", "/laboratory"),
        ("/lab/lab", "/lab"),
        ("/lab//evil.example", "//evil.example"),
    ],
)
def test_paths_inside(path: str, inside: str) -> None:
    scope = {"type": "http", "path": path, "raw_path": path.encode()}
    remove_root_path(scope, ROOT)
    assert (scope["path"], scope["raw_path"]) == (inside, inside.encode())


def test_pages_of_participants(below: Site, through: Callable[[str], str]) -> None:
    token = below.person().token
    client = below.client()
    seen = crawled(client, through, f"{ROOT}/", f"{ROOT}/p/{token}", f"{ROOT}/s/short")
    assert {f"{ROOT}/report/", f"{ROOT}/report/run.html", f"{ROOT}/docs/style.css", f"{ROOT}/openapi.json"} <= set(seen)
    assert any(address.startswith(f"{ROOT}/static/participant/main.js?v=") for address in seen)
    for missing in ("/s/none", "/p/none", "/admin/none", "/none"):
        answer = client.get(through(ROOT + missing), headers={"accept": "text/html"})
        assert answer.status_code in (303, 404)
        for link in Links(answer.text).all:
            assert link.startswith((f"{ROOT}/", "data:"))


def test_pages_of_researchers(below: Site, through: Callable[[str], str]) -> None:
    person = below.person()
    person.go_on(SHORT)
    client = below.client()
    client.cookies.set(COOKIE, below.login())
    name = below.public_id(person.token)
    seen = crawled(client, through, f"{ROOT}/admin", f"{ROOT}/admin/studies/1/participants/{name}")
    for page in ("log", "account", "studies/1", "studies/1/payments", "studies/1/results/summary?kind=real"):
        assert f"{ROOT}/admin/{page}" in seen


def test_login(below: Site, through: Callable[[str], str]) -> None:
    """A visitor without a login goes to the form, then to the wanted page, with cookies for this server only."""
    client = below.client()
    sent = client.get(through(f"{ROOT}/admin/studies/1?kind=demo"))
    assert sent.headers["location"] == f"{ROOT}/admin/login?next=/admin/studies/1%3Fkind%3Ddemo"
    form = client.get(through(sent.headers["location"])).text
    [onwards] = re.findall(r'name="next" value="([^"]*)"', form)
    fields = {"password": PASSWORD, "next": onwards}
    answer = client.post(through(f"{ROOT}/admin/login"), data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{ROOT}/admin/studies/1?kind=demo")
    paths = {cookie.split("=")[0]: _path_of(cookie) for cookie in answer.headers.get_list("set-cookie")}
    assert paths == {COOKIE: ROOT, BROWSER_COOKIE: f"{ROOT}/admin/login"}
    login = client.cookies.jar._cookies["127.0.0.1"][ROOT][COOKIE].value  # type: ignore[attr-defined]
    other = below.client(cookies={COOKIE: login})
    token = re.findall(r'name="form-token" content="(\w+)"', other.get(through(f"{ROOT}/admin")).text)[0]
    out = other.post(through(f"{ROOT}/admin/logout"), content=f"form_token={token}", headers=FORM)
    assert out.headers["location"] == f"{ROOT}/admin/login"
    [dropped] = out.headers.get_list("set-cookie")
    assert _path_of(dropped) == ROOT
    assert "Max-Age=0" in dropped


def _path_of(cookie: str) -> str:
    return re.findall(r"; Path=([^;]*)", cookie)[0]


def test_redirects(below: Site, through: Callable[[str], str]) -> None:
    client = below.client()
    for asked, target in {"/admin/": "/admin", "/docs": "/docs/", "/report": "/report/"}.items():
        assert client.get(through(ROOT + asked)).headers["location"] == ROOT + target
    forged = client.get(through(f"{ROOT}//evil.example/"), headers={"host": "evil.example"})
    assert forged.headers.get("location", ROOT).startswith(ROOT)


def test_a_participant_plays(below: Site, through: Callable[[str], str]) -> None:
    client = below.client()
    arrived = client.post(
        through(f"{ROOT}/api/studies/short/participants"), json={"key": uuid.uuid4().hex, "consent_version": "1"}
    ).json()
    assert arrived["url"] == f"{ROOT}/p/{arrived['token']}"
    prefix = through(f"{ROOT}/api").removesuffix("/api")
    person = Person(below.client(), arrived["token"])
    person.client.base_url = httpx.URL(below.url + prefix)
    assert person.go_on(SHORT)["step"]["kind"] == "thanks"
    wrong = person.client.post(f"{person.path}/rounds", json={"episode": -1})
    assert (wrong.status_code, wrong.json()["error"]) == (422, "invalid")


def test_links_to_copy(below: Site, open_site: Callable[..., Site], short_sqlite: str) -> None:
    public = open_site(short_sqlite, root_path=ROOT, public_url="https://example.org/lab")
    for site, base in ((below, f"{below.url}{ROOT}"), (public, "https://example.org/lab")):
        client = site.client(headers={"authorization": f"Bearer {site.login()}"})
        [made] = client.post("/api/admin/studies/1/links", json={"count": 1}).json()
        assert re.fullmatch(rf"{re.escape(base)}/p/[\w-]+", made["url"])
        assert f'<code id="open-link">{base}/s/short</code>' in _page(site, "/admin/studies/1")


def _page(site: Site, path: str) -> str:
    client = site.client(cookies={COOKIE: site.login()})
    return client.get(path).text


def test_openapi(below: Site, site: Site) -> None:
    """Programs that read the description find the server; without a root path nothing is added to it."""
    described = below.client().get("/openapi.json").json()
    assert described.pop("servers") == [{"url": ROOT}]
    assert described == site.client().get("/openapi.json").json()


@pytest.mark.parametrize("path", ["/", "/s/short?demo=1", "/none", "/admin/login"])
def test_nothing_else_changes(open_site: Callable[..., Site], template: Path, tmp_path: Path, path: str) -> None:
    """Without the path, pages are those of a server at the root of its host."""
    options = {"demo": True, "consent_elsewhere": True}
    headers = {"accept": "text/html"}
    pages = []
    for i, root in enumerate(("", ROOT)):
        file = tmp_path / f"{i}.sqlite"
        file.write_bytes(template.read_bytes())
        site = open_site(f"sqlite:///{file}", root_path=root, **options)
        pages.append(site.client().get(path, headers=headers))
    plain, rooted = pages
    assert rooted.text != plain.text
    assert rooted.text.replace(f"{ROOT}/", "/") == plain.text
    assert list(rooted.headers) == list(plain.headers)


def test_scripts_of_researchers_name_the_root() -> None:
    """An address in a script that begins at the root of the host would leave the server."""
    for file in Path(str(PACKAGE.joinpath("static/admin"))).glob("*.js"):
        found = re.findall(r"[\"'`]/(?:admin|api|p|s|static)\b.*", file.read_text())
        assert [line for line in found if not line.startswith('"/admin/logout"]')] == [], file.name


def test_bots(below: Site) -> None:
    """The address of a server below a path is one that programs take."""
    results = play_study(f"{below.url}{ROOT}", "short", 2, "softmax", design=SHORT, login=below.login())
    assert [result.step for result in results] == ["thanks"] * 2


def test_partner_service(open_site: Callable[..., Site], sqlite: str, through: Callable[[str], str]) -> None:
    prepare(sqlite, [], password=PASSWORD)
    site = open_site(sqlite, partners=True, root_path=ROOT)
    client = site.client()
    assert client.get(through(f"{ROOT}/")).headers["location"] == f"{ROOT}/admin/keys"
    assert client.get(through(f"{ROOT}/v1/openapi.json")).json()["servers"] == [{"url": ROOT}]
    for path in ("/v1/teams", "/v1/teams/a/games/b/choose", "/v1/none"):
        answer = client.post(through(ROOT + path), headers={"accept": "text/html"}, json={})
        assert answer.status_code in (401, 404)
        assert all(link.startswith((f"{ROOT}/", "data:")) for link in Links(answer.text).all)
    client.cookies.set(COOKIE, site.login())
    seen = crawled(client, through, f"{ROOT}/admin/keys")
    assert f'action="{ROOT}/admin/keys"' in seen[f"{ROOT}/admin/keys"].text
