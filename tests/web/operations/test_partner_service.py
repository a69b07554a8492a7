"""Metrics and log of the partner service, as of a server of studies."""

from __future__ import annotations

import json
from pathlib import Path

from cobandit.remote.partner import LATER, PartnerClient
from cobandit.web import WebConfig
from cobandit.web.services.partner.keys import add_key
from cobandit.web.storage.database import Database
from tests.clients import http_client
from tests.web.operations.test_metrics import value
from tests.web.prepared import prepare_copy
from tests.web.servers import ForkedServer, KeptPort, until

SCRIPT = """
import sys
from cobandit.web.config import WebConfig
from cobandit.web.operations.settings import Operations
from cobandit.web.serving import bound_socket, serve
serve(
    WebConfig.from_environment(), bound_socket('127.0.0.1', int(sys.argv[1])), int(sys.argv[2]),
    operations=Operations(metrics=('127.0.0.1', {port}), log='json'),
)
"""


def test_rounds_are_counted_and_requests_are_logged_by_route(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'partner.sqlite'}"
    prepare_copy(address, [], "correct horse")
    database = Database(address)
    with database.write() as connection:
        key = add_key(connection, "test", "test", scope="admin")[1]
    database.close()
    port = KeptPort()
    server = ForkedServer(WebConfig(database=address, partners=True), 1)
    server.script, server.log = SCRIPT.format(port=port.number), tmp_path / "log"
    server.start()
    try:
        with PartnerClient(server.url, key) as client, http_client(f"http://127.0.0.1:{port.number}") as metrics:
            client.create_team("drinks", "partner-aware-ucb", (2, 2), 1, observability=[1.0, 0.4])
            game = client.new_game("drinks", "table-of-smith", seed=1)
            for t, reward in ((1, 1.0), (2, LATER), (2, LATER)):  # the third is a retry
                game.observe((0, game.choose(round=t).arm), reward, round=t)
            game.choose(event="order-of-smith")
            game.observe(None, 0.0, round=2)

            def counted() -> str | None:
                text = metrics.get("/metrics").text
                return text if value(text, "cobandit_request_seconds_count", kind="round") == 8 else None

            assert value(until(counted, "every request is counted"), "cobandit_rounds_total") == 2
    finally:
        server.stop()
        port.close()
    text = server.log.read_text()
    requests = [line for line in map(json.loads, text.splitlines()) if line["event"] == "request"]
    path = "/v1/teams/{team}/games/{game}"
    assert {line["route"] for line in requests} >= {f"{path}/choose", f"{path}/observe", "/v1/teams/{team}/games"}
    assert None not in {line["route"] for line in requests}
    assert "smith" not in text
    assert key.split("_", 2)[2] not in text
