"""The researcher's pages: sealed, and of nobody where there is nobody."""

from __future__ import annotations

import re
from typing import Any

import httpx

STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}


def test_every_answer_is_sealed(site: Any, browser_of: httpx.Client) -> None:
    name = site.public_id(site.person().token)
    for address in (
        "/",
        "/admin",
        "/admin/login",
        "/admin/studies/1",
        f"/admin/studies/1/participants/{name}",
        "/admin/studies/1/payments",
        "/admin/studies/1/payments.csv",
        f"{STUDY}/live",
        f"{STUDY}/export",
        "/admin/studies/99",
    ):
        answer = browser_of.get(address, headers=HTML)
        assert "script-src 'self';" in answer.headers["content-security-policy"], address
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        if "text/html" in answer.headers.get("content-type", ""):
            assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", answer.text), address


def test_pages_of_nobody(shared_admin: httpx.Client, problem: Any) -> None:
    for address in (
        "studies/99",
        "studies/99/payments",
        "studies/1/participants/p-nobody",
        "studies/1/participants/%00",
    ):
        page = shared_admin.get(f"/admin/{address}", headers=HTML)
        assert page.status_code == 404
        assert "text/html" in page.headers["content-type"]
    for change in ("open", "close"):
        problem(shared_admin.post(f"/api/admin/studies/99/{change}"), 404, "not-found")
    problem(shared_admin.post("/api/admin/studies/99/links", json={"count": 1}), 404, "not-found")
