"""The page on which the arm stacks, in a browser without a window: how soon it moves, and how much is sent.

``python -m benchmarks robot-page`` takes a minute. Pictures are drawn by the processor; a graphics card is faster.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import uuid
from pathlib import Path
from typing import Any

import httpx

from benchmarks.report import Report
from cobandit.studies import load_design
from cobandit.web import WebConfig
from cobandit.web.services.robot.filler import fill
from cobandit.web.services.robot.pool import Pool
from cobandit.web.serving import prepare, running
from tools.browsing import installed_browser

BURGERS = 3
# From the click until the first picture of the moving arm is drawn: the caption changes just before it is.
WATCH = """() => {
  window.waits = [];
  let clicked = null;
  addEventListener("click", (event) => { if (event.target.closest(".choice")) clicked = performance.now(); }, true);
  new MutationObserver(() => {
    const began = clicked;
    clicked = null;
    if (began !== null) requestAnimationFrame(() => window.waits.push(performance.now() - began));
  }).observe(document.querySelector(".stage .caption"), { childList: true, characterData: true, subtree: true });
}"""
SENT = "() => performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.transferSize, 0)"


def _somebody(address: str) -> str:
    """The page of somebody who is about to choose for the first time."""
    design = load_design("burger")
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        body = {"key": str(uuid.uuid4()), "consent_version": design.consent.version, "language": "en"}
        token = client.post("/api/studies/burger/participants", json=body).json()["token"]
        steps: dict[str, Any] = {
            "demographics": {"age": 33, "gender": 0, "ai_researcher": 1},
            "instructions": {},
            "quiz": {item.id: item.answer for item in design.quiz},
            "partner-1": {},
        }
        for step, answers in steps.items():
            client.post(f"/api/participants/{token}/answers/{step}", json={"answers": answers}).raise_for_status()
    return f"{address}/p/{token}"


def _play(page: Any, address: str) -> None:
    page.set_default_timeout(120_000)
    page.goto(address)
    page.locator(".stage[data-mode=arm]").wait_for()
    page.evaluate(WATCH)
    for number in range(1, BURGERS + 1):
        page.locator(".choice").nth(number % 2).click()
        page.locator(f"#app[data-shown='{number}']").wait_for()


def add_lines(report: Report) -> None:
    from playwright.sync_api import sync_playwright

    browser = installed_browser()
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        fill(Pool.open(folder, 1))
        database = f"sqlite:///{Path(folder) / 'studies.sqlite'}"
        prepare(database, [load_design("burger")], password="only for figures", seed=7)
        config = WebConfig(
            database=database, consent_elsewhere=True, robot="simulated", robot_folder=folder, robot_variants=1
        )
        with running(config) as address, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=options)
            page = chromium.new_page(viewport={"width": 1366, "height": 625})
            _play(page, _somebody(address))
            waits, sent = page.evaluate("window.waits"), page.evaluate(SENT)
            chromium.close()
    report.at_most("robot page: click to the first picture of the arm, median", statistics.median(waits), "ms", 1000)
    report.at_most("robot page: click to the first picture of the arm, longest", max(waits), "ms", 1000)
    report.at_most(f"robot page: sent with {BURGERS} burgers", sent / 1e6, "MB", 1)
