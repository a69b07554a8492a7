"""A study week in small: three studies on one real server, people and simulated people in them, all of it seeded.

Everything is asked in a fixed order by one client, so that whoever arrives as the n-th has the same luck each time.
"""

from __future__ import annotations

import io
import json
import sqlite3
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from .doors import PASSWORD, PATIENCE, Names, command, csv_columns, serving, visible, worked
from .people import Visitor

FIXTURES = Path(__file__).parents[2] / "fixtures" / "layout-1"
SEED = 20_261_116
STUDIES = {name: str(FIXTURES / f"{name}.toml") for name in ("burger", "small-casino", "three-by-three")}
"""Names of the studies, and the designs to serve: as they were when this was recorded, since luck hangs on every word.

The burger is of version 1, with one filling of each side; the casino has few pulls.
"""
DATABASE = "sqlite:///studies.sqlite"
LANGUAGES = ("en", "de")
KINDS = ("real", "rehearsal")
BOTS = {"burger": 6, "small-casino": 5, "three-by-three": 3}
BEHAVIOURS = "softmax,epsilon-greedy,win-stay-lose-shift"
PAGE = {"accept": "text/html"}


class World:
    """The week, and what was answered in it: ``http``, ``pages`` and ``exports``, by the name of the case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = Names()
        self.http: dict[str, Any] = {}
        self.pages: dict[str, Any] = {}
        self.exports: dict[str, Any] = {}
        self._login = ""
        self._unfinished: list[Visitor] = []

    def live_through(self) -> None:
        """All of it, from an empty database to the exports."""
        with (
            serving(
                self.folder,
                *STUDIES.values(),
                database=DATABASE,
                more=("--demo", "--consent-elsewhere", "--seed", str(SEED)),
            ) as address,
            httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE) as client,
        ):
            self._client = client
            self._as_before_secrets()
            self._before_anybody()
            for study in STUDIES:
                self._journey(study)
                self._mistakes(study)
                self._crowd(study)
            self._invitations()
            for study in STUDIES:
                self._bots(study, address)
            self._researcher()
            self._pages()
            self._exports_by_http(address)
            self._deletion()
        self._exports_by_command()

    def _as_before_secrets(self) -> None:
        """The week was recorded when the means of a casino followed from its design; such studies are still known."""
        with closing(sqlite3.connect(self.folder / DATABASE.removeprefix("sqlite:///"))) as connection:
            connection.execute("UPDATE studies SET secret = NULL")
            connection.commit()

    # Asking

    def _ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return self._client.request(method, path, json=body)

    def _note(self, name: str, response: httpx.Response) -> httpx.Response:
        """Keep an answer of the interface under a name."""
        if name in self.http:
            raise RuntimeError(f"There are two answers {name!r}.")
        kind = response.headers.get("content-type", "")
        body = response.json() if "json" in kind else csv_columns(response.text) if "csv" in kind else response.text
        self.http[name] = self.names.settled({"status": response.status_code, "body": body})
        return response

    def _admin(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"authorization": f"Bearer {self._login}"}
        return self._client.request(method, f"/api/admin{path}", json=body, headers=headers)

    # Participants

    def _before_anybody(self) -> None:
        plan = self.folder / "burger-plan.toml"
        worked(command("study", "plan", "burger", "--n", "9", "--database", DATABASE, folder=self.folder))
        text = plan.read_text(encoding="utf-8").replace("attention_failed = false", "attention_failed = true")
        plan.write_text(text, encoding="utf-8")
        words = ("study", "plan", "burger", "--set", plan.name, "--database", DATABASE)
        worked(command(*words, folder=self.folder))
        self._note("admin: a wrong password", self._ask("POST", "/api/admin/login", {"password": "wrong horse"}))
        self._note("admin: no login", self._ask("GET", "/api/admin/studies"))
        answer = self._ask("POST", "/api/admin/login", {"password": PASSWORD})
        self._login = answer.json()["token"]
        self._note("admin: login", answer)
        studies = self._admin("GET", "/studies").json()["studies"]
        self._numbers = {study["name"]: study["id"] for study in studies}
        for study in studies:
            self.names.code(study["code"])
            self._admin("POST", f"/studies/{study['id']}/unblind")
        self._note("health", self._ask("GET", "/api/health"))
        paths = self._ask("GET", "/openapi.json").json()["paths"]
        routes = {
            path: {method: sorted(told["responses"]) for method, told in of.items()} for path, of in paths.items()
        }
        self.http["routes"] = routes
        for language in (*LANGUAGES, "fr"):
            self._note(f"messages {language}", self._ask("GET", f"/api/messages/{language}"))
        for study in STUDIES:
            for language in (*LANGUAGES, "fr"):
                answer = self._ask("GET", f"/api/studies/{study}?language={language}")
                self._note(f"{study}: described in {language}", answer)

    def _journey(self, study: str) -> None:
        """One person from consent to code, with every answer kept."""
        language = "de" if study == "small-casino" else "en"
        count = 0

        def noted(method: str, path: str, body: Any = None) -> httpx.Response:
            nonlocal count
            count += 1
            what = path.rsplit("/", 2)[-2:] if "answers" in path else path.rsplit("/", 1)[-1:]
            shown = "state" if method == "GET" else " ".join(what)
            return self._note(f"{study}: journey {count:02d} {shown}", self._ask(method, path, body))

        person = Visitor(noted, study, "journey", language, at_once=(1, 2, 30))
        person.recruiting = {"PROLIFIC_PID": f"prolific-{study}", "STUDY_ID": "s1", "SESSION_ID": "t1"}
        person.arrive()
        self._note(f"{study}: arrives again", self._ask("POST", f"/api/studies/{study}/participants", person.arrival()))
        person.notice("load", "hidden", "visible", "language")
        for other in LANGUAGES:
            answer = self._ask("GET", f"/api/participants/{person.token}?language={other}")
            self._note(f"{study}: state in {other}", answer)
        person.go_on()
        for other in LANGUAGES:
            answer = self._ask("GET", f"/api/participants/{person.token}?language={other}")
            self._note(f"{study}: thanks in {other}", answer)

    def _mistakes(self, study: str) -> None:
        """Somebody who stops within an episode, and everything that a page may do wrong there."""
        person = Visitor(self._ask, study, "mistaken", recruiting={"label": f"mistaken {study}"})
        person.arrive()
        base = f"/api/participants/{person.token}"
        first = person.step

        def tried(name: str, path: str, body: Any = None, method: str = "POST") -> None:
            self._note(f"{study}: {name}", self._ask(method, path, body))

        later = {"answers": {}} if first == "demographics" else {"answers": {"easy": 3, "annoying": 3}}
        tried("a step that is not due", f"{base}/answers/{_later(first)}", later)
        tried("a survey without answers", f"{base}/answers/survey-1", {"answers": {}})
        tried("a step that is not there", f"{base}/answers/dessert", {"answers": {}})
        tried("answers to nothing asked", f"{base}/answers/{first}", {"answers": {"shoe": 42}})
        tried("no answers", f"{base}/answers/{first}", {})
        tried("a round before its time", f"{base}/rounds", {"episode": 0, "moves": [person.move(1)]})
        person.go_on(rounds=3)
        episode = person.state["episode"]["index"]
        good = person.move(4, 1)

        def played(name: str, *moves: dict[str, Any], number: int = episode) -> None:
            tried(name, f"{base}/rounds", {"episode": number, "moves": list(moves)})

        played("an arm that is not there", good | {"arm": 7})
        played("a negative arm", good | {"arm": -1})
        played("a round that was played", good | {"t": 2})
        played("a round too early", good | {"t": 5})
        played("a round too many", good | {"t": 5000})
        played("rounds with a gap", good, good | {"t": 6, "key": "another-key"})
        played("another episode", good, number=episode + 1)
        played("an episode that is not there", good, number=999)
        played("a move", good)
        played("the same move again", good)
        played("the same key with another arm", good | {"arm": 0})
        played("another key for the same round", good | {"key": "a-second-tab"})
        played("no moves")
        played("a key too short", good | {"key": "k"})
        played("a word for an arm", good | {"arm": "left"})
        played("an unknown field", good | {"colour": "red"})
        tried("two hundred and one moves", f"{base}/rounds", {"episode": episode, "moves": [good] * 201})
        self._mistaken_arrivals(study, person, tried)
        tried("a finished step again", f"{base}/answers/instructions", {"answers": {}})
        if first == "demographics":
            told = {"answers": {"age": 99, "gender": 0, "ai_researcher": 0}}
            tried("other answers to a finished step", f"{base}/answers/{first}", told)
        tried("another method", f"{base}/rounds", method="DELETE")
        tried("where it stands", base, method="GET")
        broken = self._client.post(f"{base}/rounds", content=b"{", headers={"content-type": "application/json"})
        self._note(f"{study}: a body that is no JSON", broken)
        large = self._client.post(f"{base}/rounds", content=b" " * 140_000)
        self._note(f"{study}: a body too large", large)
        self._note(f"{study}: nobody's link", self._ask("GET", f"/api/participants/{'x' * 32}"))
        self._note(f"{study}: no link at all", self._ask("GET", "/api/participants/x"))
        self._note(f"{study}: no such study", self._ask("GET", f"/api/studies/{study}-of-old"))

    def _mistaken_arrivals(self, study: str, person: Visitor, tried: Callable[..., None]) -> None:
        """Events that are none, and the same person coming in by other ways."""
        base = f"/api/participants/{person.token}"
        tried("an unknown event", f"{base}/events", {"events": [{"kind": "dance", "at": 1, "data": {}}]})
        tried("no events", f"{base}/events", {"events": []})
        tried("a rehearsal without login", f"/api/studies/{study}/participants", person.arrival() | {"rehearsal": True})
        other = Visitor(self._ask, study, "another browser", recruiting=person.recruiting)
        tried("a label in another browser", f"/api/studies/{study}/participants", other.arrival())
        tried("another consent", f"/api/studies/{study}/participants", other.arrival("99"))
        demo = other.arrival() | {"demo": True, "recruiting": {}}
        answer = self._note(f"{study}: a demo", self._ask("POST", f"/api/studies/{study}/participants", demo))
        other.come_back(answer.json()["token"])
        self._unfinished += [person, other]

    def _crowd(self, study: str) -> None:
        """More people: two are not attentive, one is too quick, three stop on their way."""
        for place in range(10):
            person = Visitor(
                self._ask, study, f"crowd {place}", LANGUAGES[place % 3 == 2], place not in (1, 4), place == 6
            )
            if place == 3:
                person.recruiting = {"survey_code": "1234"}
            person.arrive()
            if place % 4 == 0:
                person.notice("load", "offline", "online")
            if place == 2:
                person.go_on("instructions")
            elif place == 5:
                person.go_on(rounds=8)
            elif place == 7:
                person.go_on("survey-2")
            else:
                person.go_on()
            if person.step != "thanks":
                self._unfinished.append(person)

    def _invitations(self) -> None:
        number = self._numbers["burger"]
        self._note("admin: links made", self._admin("POST", f"/studies/{number}/links", {"labels": ["anna", "ben"]}))
        made = self._admin("POST", f"/studies/{number}/links", {"count": 1})
        self._note("admin: a link made", made)
        self._note("admin: too many links", self._admin("POST", f"/studies/{number}/links", {"count": 501}))
        self._note("admin: labels and another count", self._admin(
            "POST", f"/studies/{number}/links", {"count": 3, "labels": ["carl"]}))  # fmt: skip
        guest = Visitor(self._ask, "burger", "guest")
        guest.come_back(made.json()[0]["url"].rsplit("/", 1)[-1])
        self._note("burger: consent by a personal link", self._ask("GET", f"/api/participants/{guest.token}"))
        guest.go_on()

    def _bots(self, study: str, address: str) -> None:
        words = ("--participants", str(BOTS[study]), "--behaviour", BEHAVIOURS, "--seed", "5", "--json")
        where = ("--url", address, "--password-file", "password.txt")
        printed = worked(command("study", "simulate", study, *words, *where, folder=self.folder))
        self.exports[f"{study}: simulated participants"] = self.names.settled(json.loads(printed.out))

    # The researcher

    def _researcher(self) -> None:
        for person in self._unfinished:  # whoever was just seen is not idle, however slow the machine
            person.notice("visible")
        self._note("admin: studies", self._admin("GET", "/studies"))
        for study, number in self._numbers.items():
            for kind in (*KINDS, "demo"):
                live = self._note(
                    f"admin: {study} live {kind}", self._admin("GET", f"/studies/{number}/live?kind={kind}")
                )
                until = time.monotonic() + PATIENCE
                curves = self._admin("GET", f"/studies/{number}/curves?kind={kind}")
                while curves.json()["pending"] and time.monotonic() < until:
                    curves = self._admin("GET", f"/studies/{number}/curves?kind={kind}")
                self._note(f"admin: {study} curves {kind}", curves)
                for place in (0, 1):
                    people = live.json()["participants"]
                    if place < len(people):
                        who = people[place]["participant"]
                        path = f"/studies/{number}/participants/{who}"
                        self._note(f"admin: {study} {kind} participant {place}", self._admin("GET", path))
                        rounds = self._admin("GET", f"{path}/episodes/0?from=2&limit=7")
                        self._note(f"admin: {study} {kind} rounds of {place}", rounds)
            self._note(f"admin: {study} payments", self._admin("GET", f"/studies/{number}/payments"))
        number = self._numbers["burger"]
        self._note("admin: links", self._admin("GET", f"/studies/{number}/links"))
        self._note("admin: links as a table", self._admin("GET", f"/studies/{number}/links.csv"))
        self._note("admin: live of nobody's kind", self._admin("GET", f"/studies/{number}/live?kind=martian"))
        self._note("admin: no such study", self._admin("GET", "/studies/99/live"))
        self._note("admin: no such participant", self._admin("GET", f"/studies/{number}/participants/p-nobody"))
        self._note("admin: closed", self._admin("POST", f"/studies/{number}/close"))
        late = Visitor(self._ask, "burger", "too late")
        self._note("burger: described while closed", self._ask("GET", "/api/studies/burger"))
        self._note("burger: arrives too late", self._ask("POST", "/api/studies/burger/participants", late.arrival()))
        for language in LANGUAGES:
            self._page(f"burger closed {language}", f"/s/burger?language={language}")
        self._note("admin: opened", self._admin("POST", f"/studies/{number}/open"))

    def _page(self, name: str, path: str, **more: Any) -> None:
        response = self._client.get(path, headers=PAGE | more)
        kind = response.headers.get("content-type", "")
        shown = csv_columns(response.text) if "csv" in kind else visible(response.text)
        made: dict[str, Any] = {"status": response.status_code, "text": shown}
        if "location" in response.headers:
            made["location"] = response.headers["location"]
        self.pages[name] = self.names.settled(made)

    def _pages(self) -> None:
        """Every page that is served, in every language that it has."""
        self._page("home", "/")
        self._page("report, where there is none", "/report/")
        self._page("report leads on", "/report")
        self._page("no such page", "/breakfast")
        self._page("nobody's link", f"/p/{'x' * 32}")
        self._page("no such study", "/s/breakfast")
        for study, number in self._numbers.items():
            people = self._admin("GET", f"/studies/{number}/live").json()["participants"]
            for language in LANGUAGES:
                self._page(f"{study} open link {language}", f"/s/{study}?language={language}")
                self._page(f"{study} demo {language}", f"/s/{study}?demo=1&language={language}")
                browser = {"accept-language": f"fr, {language}-AT;q=0.8"}
                self._page(f"{study} open link, browser {language}", f"/s/{study}", **browser)
            for person in (people[0], people[1], people[-1]):
                place = people.index(person)
                self._page(f"{study} personal link {place}", f"/p/{person['url'].rsplit('/', 1)[-1]}")
        self._page("login", "/admin/login")
        self._page("admin without login", "/admin")
        self._page("a study without login", f"/admin/studies/{self._numbers['burger']}")
        wrong = self._client.post("/admin/login", data={"password": "wrong horse"}, headers=PAGE)
        self.pages["login refused"] = {"status": wrong.status_code, "text": visible(wrong.text)}
        self._client.post("/admin/login", data={"password": PASSWORD}, headers=PAGE)
        self._page("admin", "/admin")
        for study, number in self._numbers.items():
            self._page(f"{study} live", f"/admin/studies/{number}")
            self._page(f"{study} payments", f"/admin/studies/{number}/payments")
            self._page(f"{study} payments as a table", f"/admin/studies/{number}/payments.csv")
            for kind in KINDS:
                who = self._admin("GET", f"/studies/{number}/live?kind={kind}").json()["participants"][0]["participant"]
                self._page(f"{study} {kind} participant", f"/admin/studies/{number}/participants/{who}")
        self._page("admin, no such study", "/admin/studies/99")
        self._page("admin, no such participant", f"/admin/studies/{self._numbers['burger']}/participants/p-nobody")
        self._client.cookies.clear()

    # Exports

    def _exports_by_http(self, address: str) -> None:
        number = self._numbers["small-casino"]
        for format in ("csv", "parquet"):
            answer = self._admin("GET", f"/studies/{number}/export?format={format}&recruiting=true")
            out = self.folder / f"zip-{format}"
            with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
                packed.extractall(out)
            (found,) = {file.parent for file in out.rglob("study.json")}
            self._tables(f"small-casino zip {format}", found)
        self._note("admin: an unknown format", self._admin("GET", f"/studies/{number}/export?format=stone"))
        where = ("--url", address, "--password-file", "password.txt")
        worked(command("study", "export", "burger", *where, "--out", "by-url", folder=self.folder))
        self._tables("burger by address", self.folder / "by-url")

    def _exports_by_command(self) -> None:
        for study, kind, format, recruiting in export_kinds():
            out = export_name(study, kind, format, recruiting)
            words = ["--kind", kind, "--format", format, "--out", f"exports/{out}", "--database", DATABASE]
            worked(command("study", "export", study, *words, *["--recruiting"] * recruiting, folder=self.folder))
            self._tables(out, self.folder / "exports" / out)
        for study in STUDIES:
            verify = ("study", "verify", study, "--database", DATABASE, "--json")
            verified = json.loads(worked(command(*verify, folder=self.folder)).out)
            assert verified.pop("audit_log")["differences"] == []  # its hashes hang on the time
            self.exports[f"{study}: verified"] = self.names.settled(verified)
        listed = worked(command("study", "list", "--database", DATABASE, "--json", folder=self.folder))
        self.exports["list"] = self.names.settled(json.loads(listed.out))

    def _tables(self, name: str, folder: Path) -> None:
        for file in sorted(folder.iterdir()):
            self.exports[f"{name}: {file.name}"] = self.names.settled(table(file))

    def _deletion(self) -> None:
        """At last, so that nothing else is missing."""
        number = self._numbers["burger"]
        people = self._admin("GET", f"/studies/{number}/live").json()["participants"]
        who = next(one for one in people if one["label"] == "mistaken burger")["participant"]
        path = f"/studies/{number}/participants/{who}"
        self._note("admin: deleted", self._admin("DELETE", path))
        self._note("admin: deleted again", self._admin("DELETE", path))
        self._note("admin: logout", self._admin("POST", "/logout"))
        self._note("admin: after the logout", self._admin("GET", "/studies"))

    def database(self) -> bytes:
        """The database as one file, for keeps."""
        kept = self.folder / "kept.sqlite"
        with closing(sqlite3.connect(self.folder / "studies.sqlite")) as here, closing(sqlite3.connect(kept)) as there:
            here.backup(there)
            there.execute("delete from admin_logins")
            there.commit()
            there.execute("pragma journal_mode = delete")
            there.execute("vacuum")
        return kept.read_bytes()


def _later(step: str) -> str:
    return "instructions" if step == "demographics" else "survey-1"


def export_kinds() -> list[tuple[str, str, str, bool]]:
    """Every study, kind of people and format; the ids of recruiting services in one of them."""
    kinds = [(study, kind, format, False) for study in STUDIES for kind in KINDS for format in ("csv", "parquet")]
    return [*kinds, ("burger", "real", "csv", True)]


def export_name(study: str, kind: str, format: str, recruiting: bool) -> str:
    """The folder of an export."""
    return f"{study}-{kind}-{format}{'-recruiting' * recruiting}"


def table(file: Path) -> Any:
    """A file of an export as a value."""
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        read = pq.read_table(file)
        types = {field.name: str(field.type) for field in read.schema}
        columns = {
            name: [str(value) if types[name].startswith("timestamp") and value else value for value in column]
            for name, column in read.to_pydict().items()
        }
        return {"types": types, "columns": columns}
    text = file.read_text(encoding="utf-8")
    return json.loads(text) if file.suffix == ".json" else csv_columns(text)
