"""Third-party scripts: fetched by a real npm from a registry of the tests, verified, copied, and packed by a build."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import unable
from tools import third_party

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = {"LICENSE": b"Do as you like.", "dist/chart.js": b"const chart = 1;"}
CHART = "src/cobandit/report/static/vendor/chart-1.2.3"
DEAD_END = "http://127.0.0.1:9"


def archive(files: dict[str, bytes]) -> bytes:
    """Return a package as npm packs it."""
    manifest = json.dumps({"name": "chart-package", "version": "1.2.3"}).encode()
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
            for name, content in {"package.json": manifest, **files}.items():
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(content)
                packed.addfile(member, io.BytesIO(content))
        return buffer.getvalue()


@pytest.fixture
def npm() -> list[str]:
    command = third_party.installed_npm()
    return command if command is not None else unable("npm is needed to fetch packages.")


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """Serve a registry with one package, whose files a test may change."""
    files = dict(LIBRARY)

    class Registry(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith(".tgz"):
                body = archive(files)
            else:
                version = {"name": "chart-package", "version": "1.2.3", "dist": {"tarball": f"{address}/chart.tgz"}}
                body = json.dumps({"name": "chart-package", "versions": {"1.2.3": version}}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("npm_config_registry", address)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield files
        server.shutdown()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a project that uses the package."""
    root = tmp_path / "project"
    table = root / third_party.TABLE
    table.parent.mkdir(parents=True)
    digests = "\n".join(f'"{name}" = "{hashlib.sha256(text).hexdigest()}"' for name, text in LIBRARY.items())
    folder = Path(CHART).parent.as_posix()
    rows = f'[chart]\npackage = "chart-package"\nversion = "1.2.3"\nfolder = "{folder}"\n[chart.files]\n{digests}\n'
    table.write_text(rows, encoding="utf-8")
    manifest = json.dumps({"dependencies": {"chart-package": "1.2.3"}})
    (root / "package.json").write_text(manifest, encoding="utf-8")
    return root


def test_files_are_copied_once_and_other_versions_removed(
    npm: list[str], published: dict[str, bytes], project: Path
) -> None:
    old = project / CHART.replace("1.2.3", "1.0.0")
    old.mkdir()
    assert third_party.get(npm, project) == 2
    copies = {path.name: path.read_bytes() for path in (project / CHART).iterdir()}
    assert copies == {"LICENSE": LIBRARY["LICENSE"], "chart.js": LIBRARY["dist/chart.js"]}
    assert not old.exists()
    assert third_party.get(None, project) == 0, "nothing is fetched again, so no npm is needed"
    (project / CHART / "chart.js").write_text("altered", encoding="utf-8")
    assert third_party.get(npm, project) == 1
    assert (project / CHART / "chart.js").read_bytes() == LIBRARY["dist/chart.js"]


def test_another_digest_is_refused_and_nothing_copied(
    npm: list[str], published: dict[str, bytes], project: Path
) -> None:
    published["dist/chart.js"] = b"const chart = steal();"
    with pytest.raises(third_party.WrongContents, match=r"chart\.js of chart-package 1\.2\.3 must have the SHA-256"):
        third_party.get(npm, project)
    del published["dist/chart.js"]
    shutil.rmtree(project.parent / "cache")
    with pytest.raises(third_party.WrongContents, match=r"has no file dist/chart\.js"):
        third_party.get(npm, project)
    assert not (project / CHART).exists()


def test_without_npm_or_a_network_the_scripts_are_unavailable(
    npm: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(third_party.Unavailable, match="npm is not installed"):
        third_party.get(None, project)
    monkeypatch.setenv("npm_config_registry", DEAD_END)
    with pytest.raises(third_party.Unavailable, match="ECONNREFUSED"):
        third_party.get(npm, project)


def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    forever = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    with pytest.raises(third_party.Unavailable, match=r"did not finish within 0\.2 s"):
        third_party._run(forever, tmp_path, 0.2)


def test_versions_are_those_of_package_json(project: Path) -> None:
    manifest = json.dumps({"dependencies": {"chart-package": "1.2.4"}})
    (project / "package.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(third_party.WrongContents, match=r"must be those of package\.json"):
        third_party.listed_files(project)


def test_every_version_is_exact_and_every_library_has_its_licence() -> None:
    manifest = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    versions = {**manifest["dependencies"], **manifest["devDependencies"]}.values()
    assert [version for version in versions if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    table = tomllib.loads((ROOT / third_party.TABLE).read_text(encoding="utf-8"))
    assert [name for name, library in table.items() if "LICENSE" not in library["files"]] == []
    assert third_party.listed_files()


def test_no_third_party_script_is_in_the_repository() -> None:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("This is not a git repository.")
    names = {file.target.name for file in third_party.listed_files()} - {"LICENSE", "index.js"}
    assert [path for path in listing.stdout.splitlines() if Path(path).name in names or path.endswith(".min.js")] == []


@pytest.mark.usefixtures("npm")
@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_missing_scripts_fail_only_in_ci(project: Path, monkeypatch: pytest.MonkeyPatch, ci: str, code: int) -> None:
    command = project / "tools" / "third_party.py"
    command.parent.mkdir()
    shutil.copy(third_party.__file__, command)
    monkeypatch.setenv("npm_config_registry", DEAD_END)
    monkeypatch.setenv("CI", ci)
    done = subprocess.run([sys.executable, command], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Third-party scripts are missing, so pages show films and static charts: npm" in done.stdout + done.stderr


# ---- the package ----


@pytest.fixture
def package(project: Path) -> Path:
    """Add what a build needs to the project: our own build file and hook, and a package of one module."""
    for name in ("pyproject.toml", "hatch_build.py", "tools/third_party.py", "README.md", "LICENSE"):
        target = project / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    shutil.copy(ROOT / ".gitignore", project)
    (project / "src/cobandit/__init__.py").touch()
    return project


def build(root: Path, kind: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(root / "dist")]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("npm", "published")
def test_sdist_and_wheel_contain_the_scripts_and_a_wheel_of_the_sdist_needs_no_npm(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=package, check=True)  # git ignores the scripts, the build must not
    sdist = build(package, "sdist")
    assert sdist.returncode == 0, sdist.stderr
    with tarfile.open(package / "dist/cobandit-0.1.0.tar.gz") as packed:
        assert f"cobandit-0.1.0/{CHART}/chart.js" in packed.getnames()
        packed.extractall(tmp_path, filter="data")
    monkeypatch.setenv("npm_config_registry", DEAD_END)
    monkeypatch.setenv("CI", "true")
    unpacked = tmp_path / "cobandit-0.1.0"
    wheel = build(unpacked, "wheel")
    assert wheel.returncode == 0, wheel.stderr
    with zipfile.ZipFile(next((unpacked / "dist").glob("*.whl"))) as packed:
        copies = {name.removeprefix("cobandit/") for name in packed.namelist() if "chart" in name}
    assert copies == {f"{CHART.removeprefix('src/cobandit/')}/{name}" for name in ("LICENSE", "chart.js")}


@pytest.mark.usefixtures("npm")
@pytest.mark.parametrize(("ci", "code"), [pytest.param("", 0, marks=pytest.mark.long), ("true", 1)])
def test_a_build_without_a_network_warns_and_fails_only_in_ci(
    package: Path, monkeypatch: pytest.MonkeyPatch, ci: str, code: int
) -> None:
    monkeypatch.setenv("npm_config_registry", DEAD_END)
    monkeypatch.setenv("CI", ci)
    done = build(package, "wheel")
    assert done.returncode == code, done.stderr
    assert "ECONNREFUSED" in done.stdout + done.stderr
