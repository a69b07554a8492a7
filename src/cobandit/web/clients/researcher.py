"""A researcher's program at a running server: logging in and fetching data over HTTP."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any, Self

import httpx

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.files import whole_file
from cobandit.base.json_types import JsonObject
from cobandit.web.clients.http import (
    LoginRefused,
    RequestFailed,
    address,
    answer_body,
    client_options,
    sentence,
    unreachable,
)

PATIENCE = httpx.Timeout(30.0, read=600.0)  # a large export takes its time
PIECES = ("long", "wide", "survey", "events", "questionnaires", "codebook", "study")


ACCOUNT_VARIABLE, CODE_VARIABLE = "COBANDIT_ACCOUNT", "COBANDIT_CODE"


class Researcher:
    """A login at a server, to be used in a ``with`` statement.

    It is the owner's, unless ``COBANDIT_ACCOUNT`` names another account; ``COBANDIT_CODE`` is a one-time code.
    """

    def __init__(self, url: str, password: str | None) -> None:
        options = client_options(url)
        if password is None:
            raise InvalidInput(
                "The server asks for the researcher's password: --password, --password-file or COBANDIT_PASSWORD."
            )
        self._client = httpx.Client(**options, timeout=PATIENCE)
        more = {"name": os.environ.get(ACCOUNT_VARIABLE), "code": os.environ.get(CODE_VARIABLE)}
        shown = {"password": password} | {name: value for name, value in more.items() if value}
        try:
            self.token = str(self._ask("POST", "/api/admin/login", json=shown).json()["token"])
        except BaseException:
            self._client.close()
            raise
        self._client.headers["authorization"] = f"Bearer {self.token}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def studies(self) -> list[JsonObject]:
        """Return every study of the server, as its researcher's pages list them."""
        studies: list[JsonObject] = self._ask("GET", "/api/admin/studies").json()["studies"]
        return studies

    def study(self, name: str, version: int | None = None) -> JsonObject:
        """Return a study by name; the newest version, where none is given."""
        known = self.studies()
        fitting = [study for study in known if study["name"] == name and version in (None, int(study["version"]))]
        if not fitting:
            raise UnknownName("study at this server called", name, dict.fromkeys(study["name"] for study in known))
        return max(fitting, key=lambda study: int(study["version"]))

    def export(
        self,
        name: str,
        folder: Path,
        *,
        format: str,
        kind: str,
        recruiting: bool,
        texts: bool = False,
        version: int | None = None,
    ) -> list[Path]:
        """Return the exported tables of a study, written to a folder."""
        number = self.study(name, version)["id"]
        asked = {"format": format, "kind": kind, "recruiting": str(recruiting).lower()}
        if texts:
            asked["texts"] = "true"
        answer = self._ask("GET", f"/api/admin/studies/{number}/export", params=asked)
        try:
            packed = zipfile.ZipFile(io.BytesIO(answer.content))
        except zipfile.BadZipFile as error:
            raise RequestFailed(
                f"The server at {address(self._client)} sent something that is not an export."
            ) from error
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for entry in sorted(packed.namelist()):
            file = Path(entry).name
            if Path(file).stem not in PIECES:
                raise RequestFailed(f"The export of the server holds {file!r}, which does not belong there.")
            with whole_file(folder / file, private=True) as out:
                out.write(packed.read(entry))
            written.append(folder / file)
        return written

    def _ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            answer = self._client.request(method, path, **more)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(self._client, error) from error
        if answer.is_success:
            return answer
        why = f"The server at {address(self._client)} says: {sentence(answer_body(answer), answer.status_code)}"
        raise LoginRefused(why) if answer.status_code in (401, 403) else RequestFailed(why)
