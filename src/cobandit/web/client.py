"""A researcher's program at a running server: logging in and fetching data over HTTP."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from cobandit.base.checks import short_repr
from cobandit.base.errors import CobanditError, InvalidInput, UnknownName
from cobandit.base.files import whole_file

PATIENCE = httpx.Timeout(30.0, read=600.0)  # a large export takes its time
PIECES = ("long", "wide", "survey", "events", "codebook", "study")


class ServerProblem(CobanditError):
    """The server cannot be reached, or does not do what is asked; the message says why."""


class Researcher:
    """A login at a server, to be used in a ``with`` statement."""

    def __init__(self, url: str, password: str | None) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(f"The server is {short_repr(url)}; an address such as http://127.0.0.1:8000 is needed.")
        if password is None:
            raise InvalidInput(
                "The server asks for the researcher's password: --password, --password-file or COBANDIT_PASSWORD."
            )
        self._url = url.rstrip("/")
        self._client = httpx.Client(base_url=self._url, timeout=PATIENCE)
        try:
            self.token = str(self._ask("POST", "/api/admin/login", json={"password": password}).json()["token"])
        except BaseException:
            self._client.close()
            raise
        self._client.headers["authorization"] = f"Bearer {self.token}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def studies(self) -> list[dict[str, Any]]:
        """Every study of the server, as its researcher's pages list them."""
        found: list[dict[str, Any]] = self._ask("GET", "/api/admin/studies").json()["studies"]
        return found

    def study(self, name: str, version: str | None = None) -> dict[str, Any]:
        """A study by name; the newest version, where none is given."""
        known = self.studies()
        fitting = [one for one in known if one["name"] == name and version in (None, str(one["version"]))]
        if not fitting:
            raise UnknownName("study at this server called", name, dict.fromkeys(one["name"] for one in known))
        return max(fitting, key=lambda one: int(one["version"]))

    def export(
        self, name: str, folder: Path, *, format: str, kind: str, recruiting: bool, version: str | None = None
    ) -> list[Path]:
        """The exported tables of a study, written to a folder."""
        number = self.study(name, version)["id"]
        asked = {"format": format, "kind": kind, "recruiting": str(recruiting).lower()}
        answer = self._ask("GET", f"/api/admin/studies/{number}/export", params=asked)
        try:
            packed = zipfile.ZipFile(io.BytesIO(answer.content))
        except zipfile.BadZipFile as error:
            raise ServerProblem(f"The server at {self._url} sent something that is not an export.") from error
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for entry in sorted(packed.namelist()):
            file = Path(entry).name
            if Path(file).stem not in PIECES:
                raise ServerProblem(f"The export of the server holds {file!r}, which does not belong there.")
            with whole_file(folder / file) as out:
                out.write(packed.read(entry))
            written.append(folder / file)
        return written

    def _ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            answer = self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            raise ServerProblem(f"The server at {self._url} cannot be reached: {error}.") from error
        if answer.is_success:
            return answer
        try:
            said = answer.json()["message"]
        except (ValueError, KeyError, TypeError):
            said = f"it answers {answer.status_code}; is it a cobandit server?"
        raise ServerProblem(f"The server at {self._url} says: {said}")
