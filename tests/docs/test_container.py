"""Dockerfile and compose.yaml agree with the package: files, extras, commands, options and variables exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from cobandit.web.app import create_app
from tests.cli.test_environment import SECRETS, server_commands, variables

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
KNOWN = set(variables(server_commands()["study serve"])) | set(SECRETS)


def instructions() -> list[tuple[str, str]]:
    """Every instruction of the Dockerfile with its words."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    pairs = [line.strip().partition(" ")[::2] for line in lines if line.strip()]
    assert all(name.isupper() for name, _ in pairs)
    return [(name, words.strip()) for name, words in pairs]


def last(name: str) -> str:
    return [words for found, words in instructions() if found == name][-1]


class TestDockerfile:
    def test_two_stages_of_one_base(self):
        bases = [words for name, words in instructions() if name == "FROM"]
        assert bases == ["${BASE} AS build", "${BASE}"]

    def test_copied_files_exist_and_reach_the_build(self):
        ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        assert ignored[0] == "**"
        for name, words in instructions():
            if name == "COPY" and not words.startswith("--from"):
                for file in words.split()[:-1]:
                    assert (ROOT / file).exists()
                    assert f"!{file}" in ignored

    def test_extras_exist(self):
        [extras] = [words.removeprefix("EXTRAS=") for name, words in instructions() if words.startswith("EXTRAS=")]
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])

    def test_it_runs_without_root(self):
        assert last("USER").isdigit()
        assert int(last("USER")) > 0
        assert f"--uid {last('USER')}" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
        assert [name for name, _ in instructions()].index("USER") < [name for name, _ in instructions()].index("CMD")

    def test_variables_are_known(self):
        names = [word.partition("=")[0] for word in shlex.split(last("ENV"))]
        ours = {name for name in names if name.startswith("COBANDIT_")}
        assert ours
        assert ours <= KNOWN

    def test_the_command_exists_and_needs_nothing_else(self, monkeypatch):
        assert json.loads(last("ENTRYPOINT")) == ["cobandit"]
        command = " ".join(json.loads(last("CMD")))
        for word in shlex.split(last("ENV")):
            name, _, given = word.partition("=")
            if name.startswith("COBANDIT_"):
                monkeypatch.setenv(name, given)
        parsed = server_commands()[command].make_context("serve", []).params
        assert (parsed["host"], parsed["log"], list(parsed["designs"])) == ("0.0.0.0", "json", ["burger"])
        assert str(parsed["port"]) == last("EXPOSE")

    def test_buildah_keeps_the_health_check(self):
        """Its default format has none."""
        recipe = subprocess.run(
            ["make", "-n", "container", "BUILDER=buildah"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert "BUILDAH_FORMAT=docker buildah build" in recipe.stdout

    def test_the_health_check_asks_an_address_that_exists(self, short_app_routes):
        check = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
        compile(check[2], "health check", "exec")
        assert re.search(r"\}(/[\w/]+)'", check[2])[1] in short_app_routes  # type: ignore[index]


@pytest.fixture(scope="module")
def short_app_routes(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    from cobandit.web import WebConfig

    app = create_app(WebConfig(f"sqlite:///{tmp_path_factory.mktemp('app') / 'studies.sqlite'}"))
    return set(app.openapi()["paths"])


class TestCompose:
    def service(self, name: str) -> dict[str, Any]:
        return dict(COMPOSE["services"][name])

    def test_variables_of_the_server_are_known(self):
        names = {name for name in self.service("server")["environment"] if name != "FORWARDED_ALLOW_IPS"}
        assert names <= KNOWN

    def test_values_are_accepted(self, monkeypatch):
        example = {"DOMAIN": "study.example.org", "POSTGRES_PASSWORD": "p" * 20, "COBANDIT_METRICS_TOKEN": "t" * 20}

        def filled(text: str) -> str:
            """Fill in variables as compose does: ${NAME}, ${NAME:-default}, ${NAME:?message}."""
            return re.sub(
                r"\$\{(\w+)(?::([-?])([^}]*))?\}",
                lambda match: example.get(match[1]) or (match[3] if match[2] == "-" else ""),
                text,
            )

        for name, value in self.service("server")["environment"].items():
            monkeypatch.setenv(name, filled(str(value)))
        context = server_commands()["study serve"].make_context("serve", [])
        assert context.params["workers"] == 2
        assert context.params["backup"] == Path("/backups")
        assert context.params["public_url"] == "https://study.example.org"
        assert context.params["alert_url"] is None

    def test_variables_and_command_of_the_partner_service_are_known(self):
        partner = self.service("partner")
        command = server_commands()[" ".join(partner["command"])]
        names = {name for name in partner["environment"] if name != "FORWARDED_ALLOW_IPS"}
        assert names <= set(variables(command)) | set(SECRETS)
        for name in ("COBANDIT_DATABASE", "COBANDIT_PUBLIC_URL", "COBANDIT_PASSWORD_FILE"):
            assert partner["environment"][name] == self.service("server")["environment"][name]

    @pytest.mark.parametrize("name", ["server", "partner"])
    def test_the_servers_are_closed_to_the_outside(self, name):
        server = self.service(name)
        assert server["read_only"] is True
        assert server["cap_drop"] == ["ALL"]
        assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["proxy"]
        trusted = server["environment"]["FORWARDED_ALLOW_IPS"]
        assert trusted == self.service("proxy")["networks"]["inside"]["ipv4_address"]

    @pytest.mark.parametrize("name", ["server", "partner"])
    def test_the_head_of_the_audit_log_can_be_written(self, name):
        """The file system is read-only, and the working folder, too: the head needs a volume."""
        folder = dict(word.partition("=")[::2] for word in shlex.split(last("ENV")))["XDG_STATE_HOME"]
        assert f"state:{folder}" in self.service(name)["volumes"]
        assert folder in json.loads(last("VOLUME"))

    def test_volumes_secrets_and_networks_are_declared(self):
        for service in COMPOSE["services"].values():
            for volume in service.get("volumes", ()):
                source = volume.split(":")[0]
                assert source.startswith("./") or source in COMPOSE["volumes"]
            assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
            assert set(service.get("networks", ())) <= set(COMPOSE["networks"])
            assert set(service.get("depends_on", ())) <= set(COMPOSE["services"])

    def test_backups_go_to_a_volume_that_the_image_prepares(self):
        folder = self.service("server")["environment"]["COBANDIT_BACKUP"]
        assert f"backups:{folder}" in self.service("server")["volumes"]
        assert folder in json.loads(last("VOLUME"))

    def test_the_proxy_forwards_to_the_server(self):
        caddy = (ROOT / "docs/examples/Caddyfile").read_text(encoding="utf-8")
        assert f"reverse_proxy server:{last('EXPOSE')}" in caddy
        assert "{$DOMAIN} {" in caddy

    @pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is not installed")
    def test_caddy_reads_its_file_and_finds_both_servers(self):
        command = ["caddy", "adapt", "--config", str(ROOT / "docs/examples/Caddyfile"), "--adapter", "caddyfile"]
        environment = os.environ | {"DOMAIN": "study.example.org"}
        adapted = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        [site] = json.loads(adapted)["apps"]["http"]["servers"].values()
        [route] = site["routes"]
        assert route["match"] == [{"host": ["study.example.org"]}]
        refusal, *passed_on = route["handle"][0]["routes"]
        assert [*refusal["match"][0]["header_regexp"]] == ["Content-Length"]
        assert [(step["handler"], step["status_code"]) for step in refusal["handle"]] == [("static_response", 413)]
        ways = [(way.get("match"), way["handle"][0]["upstreams"]) for way in passed_on]
        port = last("EXPOSE")
        assert ways == [
            ([{"path": ["/v1/*", "/admin/keys", "/admin/keys/*"]}], [{"dial": f"partner:{port}"}]),
            (None, [{"dial": f"server:{port}"}]),
        ]

    def test_commands_of_the_page_exist(self):
        page = (ROOT / "docs/how-to/deploy.md").read_text(encoding="utf-8")
        used = re.findall(r"docker compose (?:--profile \w+ )?(?:run --rm|exec|stop) (\w+)", page)
        assert used
        assert set(used) <= set(COMPOSE["services"])
        for command in re.findall(r"(?:server|cobandit) study (\w+)", page):
            assert command in ("serve", "backup", "restore")
