"""Metrics: counted in each process, added over all of them, read by Prometheus' own parser."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from cobandit.base.errors import InvalidInput
from cobandit.web import WebConfig
from cobandit.web.meter import BOUNDS, CELLS, REASONS, Meter, Totals, shared_cells
from cobandit.web.operations.conditions import Conditions
from cobandit.web.operations.exposition import MetricsServer, exposition
from cobandit.web.operations.settings import Operations, metrics_address
from tests.clients import http_client
from tests.web.conftest import SHORT, Person
from tests.web.servers import ForkedServer, KeptPort, until

SCRIPT = """
import sys
from cobandit.web.config import WebConfig
from cobandit.web.operations.settings import Operations
from cobandit.web.serving import bound_socket, serve
serve(
    WebConfig.from_environment(), bound_socket('127.0.0.1', int(sys.argv[1])), int(sys.argv[2]),
    operations=Operations(metrics=('127.0.0.1', {port}), metrics_token='{token}'),
)
"""
TOKEN = "a-token-for-tests-only"


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by its name and labels, as Prometheus reads them."""
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    assert all(family.documentation and family.type in ("counter", "gauge", "histogram") for family in families)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(text: str, name: str, /, **labels: str) -> float:
    return samples(text)[name, tuple(sorted(labels.items()))]


class TestCounting:
    def test_rows_are_added(self):
        cells = shared_cells(3)
        for row in range(3):
            meter = Meter(cells, row)
            meter.add_rounds(row + 1)
            meter.set_queue(2)
            meter.set_connections(5)
            meter.add_refusal("too many connections from 192.0.2.1")
            meter.add_request(0, 200, 0.004)
        totals = Totals(cells)
        assert (totals.rounds, totals.queue, totals.connections) == (6, 6, 15)
        assert totals.refusals()["too many connections from one network"] == 3
        assert totals.requests()["round", "2xx"] == 3
        counts, seconds = totals.latencies("round")
        assert counts[BOUNDS.index(0.005)] == 3
        assert seconds == pytest.approx(0.012, abs=1e-5)

    def test_a_replaced_worker_continues_the_counters_and_not_the_gauges(self):
        cells = shared_cells(1)
        before = Meter(cells, 0)
        before.add_rounds(7)
        before.set_queue(3)
        after = Meter(cells, 0)
        after.add_rounds(1)
        assert (Totals(cells).rounds, Totals(cells).queue) == (8, 0)

    @pytest.mark.parametrize(
        ("seconds", "bucket"), [(0.0, 0), (0.001, 0), (0.0011, 1), (10.0, len(BOUNDS) - 1), (99.0, len(BOUNDS))]
    )
    def test_buckets_include_their_upper_bound(self, seconds, bucket):
        cells = [0] * CELLS
        Meter(cells).add_request(1, 200, seconds)
        counts, _ = Totals(cells).latencies("other")
        assert [place for place, count in enumerate(counts) if count] == [bucket]

    @pytest.mark.parametrize(
        ("status", "name"), [(101, "1xx"), (204, "2xx"), (499, "4xx"), (599, "5xx"), (0, "1xx"), (999, "5xx")]
    )
    def test_classes_of_statuses(self, status, name):
        cells = [0] * CELLS
        Meter(cells).add_request(1, status, None)
        assert Totals(cells).requests()["other", name] == 1
        assert Totals(cells).latencies("other")[0] == [0] * (len(BOUNDS) + 1)

    def test_unknown_reasons_are_counted_together(self):
        cells = [0] * CELLS
        Meter(cells).add_refusal("a new reason with 192.0.2.1 in it")
        assert Totals(cells).refusals()[REASONS[-1]] == 1


class TestText:
    def test_is_what_prometheus_reads(self):
        cells = [0] * CELLS
        meter = Meter(cells)
        for seconds in (0.0004, 0.03, 20.0):
            meter.add_request(0, 200, seconds)
        text = exposition(Totals(cells), [("cobandit_odd", "Odd labels.", [({"name": 'a"b\\c\nd'}, 1.5)])])
        assert value(text, "cobandit_request_seconds_bucket", kind="round", le="0.001") == 1
        assert value(text, "cobandit_request_seconds_bucket", kind="round", le="0.05") == 2
        assert value(text, "cobandit_request_seconds_bucket", kind="round", le="+Inf") == 3
        assert value(text, "cobandit_request_seconds_count", kind="round") == 3
        assert value(text, "cobandit_request_seconds_sum", kind="round") == pytest.approx(20.0304)
        assert value(text, "cobandit_odd", name='a"b\\c\nd') == 1.5
        assert value(text, "cobandit_rounds_total") == 0


@pytest.fixture(scope="module")
def metrics(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ForkedServer, httpx.Client]]:
    """A real server with two workers, and a client for its metrics; tests compare with what was counted before."""
    database = shutil.copy(template, tmp_path_factory.mktemp("metrics") / "studies.sqlite")
    port = KeptPort()
    server = ForkedServer(WebConfig(f"sqlite:///{database}", consent_elsewhere=True), 2)
    server.script = SCRIPT.format(port=port.number, token=TOKEN)
    server.start()
    with http_client(f"http://127.0.0.1:{port.number}") as client:
        client.headers["authorization"] = f"Bearer {TOKEN}"
        yield server, client
    server.stop()
    port.close()


class TestServer:
    def test_counts_over_all_workers(self, metrics):
        server, client = metrics
        assert value(client.get("/metrics").text, "cobandit_rounds_total") == 0
        rounds, moves = 0, 0
        for _ in range(6):  # each with a connection of their own, so that both workers get some
            with http_client(server.url) as visitor:
                arrived = visitor.post(
                    "/api/studies/short/participants", json={"key": uuid.uuid4().hex, "consent_version": "1"}
                )
                person = Person(visitor, arrived.json()["token"])
                view = person.go_on(SHORT, "episode")["episode"]
                key = uuid.uuid4().hex
                for _ in range(2):  # the second is a retry, which stores nothing
                    assert person.send(view["index"], (1, 0, key)).status_code == 200
                    moves += 1
                rounds += 1
        text = until(lambda: self.settled(client, moves), "every answer is counted")
        assert value(text, "cobandit_rounds_total") == rounds
        assert value(text, "cobandit_request_seconds_count", kind="round") == moves
        assert value(text, "cobandit_active_participants", kind="real") == 6
        assert value(text, "cobandit_database_up") == 1
        assert value(text, "cobandit_disk_free_bytes", disk="database") > 0
        assert value(text, "cobandit_writer_queue") == 0

    @staticmethod
    def settled(client: httpx.Client, moves: int) -> str | None:
        text = client.get("/metrics").text
        return text if value(text, "cobandit_requests_total", kind="round", status="2xx") == moves else None

    def test_counters_survive_a_killed_worker(self, metrics):
        server, client = metrics
        for _ in range(4):
            with http_client(server.url) as visitor:
                visitor.get("/api/messages/en")

        def counted(wanted: float) -> bool:
            return value(client.get("/metrics").text, "cobandit_requests_total", kind="other", status="2xx") >= wanted

        until(lambda: counted(4), "four requests")
        before = value(client.get("/metrics").text, "cobandit_requests_total", kind="other", status="2xx")
        server.kill()
        until(lambda: len(server.worker_pids()) == 2, "the worker is replaced")
        assert counted(before)

    def test_is_no_page_of_the_server_and_needs_the_token(self, metrics):
        server, client = metrics
        with http_client(server.url) as visitor:
            assert visitor.get("/metrics").status_code == 404
        assert client.get("/").status_code == 404
        for header in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}"):
            response = client.get("/metrics", headers={"authorization": header})
            assert response.status_code == 401
            assert "cobandit_" not in response.text
        response = client.get("/metrics")
        assert response.headers["content-type"].startswith("text/plain; version=0.0.4")

    def test_refused_connections_are_counted_without_their_address(self, metrics):
        server, client = metrics
        with http_client(server.url) as visitor:
            assert visitor.get("/", headers={"x": "y" * 40_000}).status_code == 431

        def refused() -> str | None:
            text = client.get("/metrics").text
            return text if value(text, "cobandit_refused_connections_total", reason="a head too large") == 1 else None

        assert "127.0.0.1" not in until(refused, "the refusal is counted")


class TestWithoutADatabase:
    def test_the_counters_are_still_there(self, tmp_path):
        conditions = Conditions(f"sqlite:///{tmp_path / 'missing.sqlite'}")
        with (
            MetricsServer(("127.0.0.1", 0), None, [0] * CELLS, conditions.gauges) as server,
            http_client(f"http://127.0.0.1:{server.port}") as client,
        ):
            text = client.get("/metrics").text
        conditions.close()
        assert value(text, "cobandit_database_up") == 0
        assert value(text, "cobandit_rounds_total") == 0
        assert not (tmp_path / "missing.sqlite").exists()


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "address"),
        [
            (None, None),
            ("9100", ("127.0.0.1", 9100)),
            ("127.0.0.1:9100", ("127.0.0.1", 9100)),
            ("[::1]:9100", ("::1", 9100)),
            ("localhost:0", ("localhost", 0)),
        ],
    )
    def test_addresses(self, text, address):
        assert metrics_address(text) == address

    @pytest.mark.parametrize("text", ["", ":9100", "host", "host:", "host:99999", "host:-1", "host:nine"])
    def test_bad_addresses(self, text):
        with pytest.raises(InvalidInput, match="--metrics must be"):
            metrics_address(text)

    def test_other_machines_need_a_token(self):
        with pytest.raises(InvalidInput, match="need a token"):
            Operations(metrics=("0.0.0.0", 9100))
        with pytest.raises(InvalidInput, match="at least 16"):
            Operations(metrics=("0.0.0.0", 9100), metrics_token="short")
        with pytest.raises(InvalidInput, match="requires --metrics"):
            Operations(metrics_token=TOKEN)
        assert TOKEN not in repr(Operations(metrics=("0.0.0.0", 9100), metrics_token=TOKEN))

    def test_an_address_that_is_taken(self):
        with (
            MetricsServer(("127.0.0.1", 0), None, [0] * CELLS, list) as server,
            pytest.raises(InvalidInput, match="cannot be served"),
        ):
            MetricsServer(("127.0.0.1", server.port), None, [0] * CELLS, list)
