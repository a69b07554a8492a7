"""A study server as ``cobandit study serve`` runs it, in a process of its own, and the people who take part in it."""

from __future__ import annotations

import contextlib
import functools
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cobandit.studies import StudyDesign
from cobandit.studies.journey import journey
from cobandit.studies.questionnaire_answers import made_up_answers
from cobandit.web import WebConfig
from cobandit.web.storage.database import Database
from cobandit.web.storage.events import events_by_participant
from cobandit.web.storage.participants import participant_by_token
from tests.clients import http_client
from tests.web.prepared import prepare_copy
from tests.web.servers import KeptPort, served

PASSWORD = "only for tests"
ABOUT = {"age": 33, "gender": 0, "ai_researcher": 1}


class People:
    """People at a server, who send what the pages would send."""

    def __init__(self, address: str, *designs: StudyDesign) -> None:
        self.address = address
        self._designs = {design.name: design for design in designs}
        self.http = http_client(address)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, f"/api/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def post(self, path: str, body: Any) -> Any:
        return self._ask("POST", path, body)

    def state(self, token: str) -> Any:
        return self._ask("GET", f"participants/{token}")

    def name(self, token: str) -> str:
        return str(self.state(token)["participant"])

    def arrive(self, study: str, **more: Any) -> str:
        """Agree to take part; return the token."""
        consent = self._designs[study].consent.version
        body = {"key": str(uuid.uuid4()), "consent_version": consent, "language": "en"} | more
        return str(self.post(f"studies/{study}/participants", body)["token"])

    def someone(self, study: str, *, ready: bool = True, **more: Any) -> str:
        """Return the token of a new participant, by default brought to the first round."""
        token = self.arrive(study, **more)
        if ready:
            self.go_on(token, study, "episode-0")
        return token

    def go_on(self, token: str, study: str, until: str = "thanks") -> None:
        """Do every step until this one."""
        design = self._designs[study]
        while (state := self.state(token))["step"]["id"] != until:
            step = state["step"]
            if step["kind"] == "episode":
                self.send(token, state["episode"]["index"], state["episode"]["played"] + 1, state["episode"]["rounds"])
                continue
            answers: dict[str, Any] = {}
            if step["kind"] == "demographics":
                answers = ABOUT
            elif step["kind"] == "quiz":
                answers = {item.id: item.answer for item in design.quiz}
            elif step["kind"] == "survey":
                answers = {item["id"]: 2 for item in state["survey"]["items"]}
            elif step["kind"] == "questionnaire":
                asked = next(step for step in journey(design).steps if step.id == state["step"]["id"])
                answers = made_up_answers(design.questionnaire(asked.questionnaire), lambda low, high: low)
            self.post(f"participants/{token}/answers/{step['id']}", {"answers": answers, "ms": 900})

    def send(self, token: str, episode: int, first: int, last: int) -> None:
        """Play rounds, the arms in turn."""
        moves = [{"t": t, "arm": t % 2, "key": uuid.uuid4().hex, "ms": 700} for t in range(first, last + 1)]
        self.post(f"participants/{token}/rounds", {"episode": episode, "moves": moves})

    def close(self) -> None:
        self.http.close()


class Site(People):
    """A server that can go away and come back at the same address, and its database.

    ``stored`` is a database that is prepared already; else one is made with these studies.
    """

    def __init__(
        self, folder: Path, *designs: StudyDesign, seed: int = 7, stored: Path | None = None, **options: Any
    ) -> None:
        file = stored or folder / "studies.sqlite"
        if stored is None:
            prepare_copy(f"sqlite:///{file}", designs, PASSWORD, seed)
        self.url = f"sqlite:///{file}"
        self.config = WebConfig(self.url, **({"demo": True, "consent_elsewhere": True} | options))
        self.database = Database(self.url)
        self._port = KeptPort()
        self._running = contextlib.ExitStack()
        super().__init__(f"http://127.0.0.1:{self._port.number}", *designs)
        self.start()

    def start(self) -> None:
        self._running.enter_context(served(self.config, self._port.number))

    def stop(self) -> None:
        self._running.close()

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Stop the server; it is back afterwards in any case, as the other tests need it, too."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @functools.cached_property
    def admin(self) -> Any:
        """A program of the researcher."""
        token = self.post("admin/login", {"password": PASSWORD})["token"]
        return http_client(self.address, headers={"authorization": f"Bearer {token}"})

    def events(self, token: str) -> list[tuple[str, Any]]:
        """Return what the participant's page has noted."""
        with self.database.read() as connection:
            person = participant_by_token(connection, token)
            assert person is not None
            return [(event.kind, event.data) for event in events_by_participant(connection, [person.id])[person.id]]

    def close(self) -> None:
        super().close()
        if "admin" in vars(self):
            self.admin.close()
        self.stop()
        self.database.close()
        self._port.close()
