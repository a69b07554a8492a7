"""The partner service: pairs of choose and observe a second, their latency, and CPU time a pair."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.partner_crowd import Pairs, PartnerOrder
from benchmarks.report import Report
from benchmarks.studies import last_core, on_cores, servers
from cobandit.web.config import WebConfig
from cobandit.web.services.partner.keys import MOST_RATE, add_key
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database

CLIENTS = 100


@contextlib.contextmanager
def served(database: str, workers: int = 1) -> Iterator[tuple[Any, str]]:
    """A service before a fresh database, and a key without a narrow limit."""
    prepare(database, [], password="correct horse")
    opened = Database(database)
    try:
        with opened.write() as connection:
            key = add_key(connection, "benchmark", "benchmark", scope="admin", rate=MOST_RATE)[1]
    finally:
        opened.close()
    server = servers().StudyServer(WebConfig(database=database, partners=True), workers)
    try:
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        with on_cores(cores[:1] if workers == 1 else cores):
            server.start()
        yield server, key
    finally:
        server.stop()


def measured(server: Any, key: str, seconds: float = 8.0) -> Pairs:
    """Send the clients, from a process of their own."""
    order = PartnerOrder(server.url, key, CLIENTS, seconds, server=tuple(server.worker_pids()))
    command = [sys.executable, "-m", "benchmarks.partner_crowd", json.dumps(asdict(order))]
    with last_core():
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Pairs(**json.loads(done.stdout))


def _lines(report: Report, name: str, met: Pairs, least: float) -> None:
    report.limit(f"{name}: pairs a second", met.a_second, "", f"at least {least:,.0f}", lambda now: now >= least)
    report.at_most(f"{name}: 99 % of requests within", met.p99, "ms", 50)
    report.add(f"{name}: CPU of the server a pair", met.cpu_ms, "ms")
    report.add(f"{name}: CPU of the clients a pair", 1000 * met.own_cpu / max(1, met.pairs), "ms")
    report.at_most(f"{name}: failed requests", met.errors, "", 0)
    report.add("load of the machine in the last minute", os.getloadavg()[0])


def add_lines(report: Report) -> None:
    """One worker on SQLite, two on PostgreSQL, both fully durable, with 100 clients."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(f"sqlite:///{Path(folder) / 'partner.sqlite'}") as (server, key),
    ):
        _lines(report, f"partner service, SQLite, {CLIENTS} clients", measured(server, key), 1500)
    try:
        with (
            servers().postgresql_server(safe=True) as address,
            servers().fresh_database(address) as database,
            served(database, workers=2) as (server, key),
        ):
            _lines(report, f"partner service, PostgreSQL, 2 workers, {CLIENTS} clients", measured(server, key), 3000)
    except servers().NoPostgreSQL as error:
        print(error)
