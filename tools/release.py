"""Build the wheel and the sdist, install them in fresh environments, and try them. Nothing is uploaded.

`make release` refuses a tree with uncommitted changes, a CHANGELOG without the version and its date, and a CITATION.cff
with another version. `make release DRAFT=1` only warns about these, so that you can try the rest any time.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.third_party import listed_files

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "out" / "release"
DIST = ROOT / "dist"
TOOLS = ("build==1.6.1", "twine==7.0.0")
GAME = ("simulate", "--runs", "3", "--horizon", "50", "--seed", "1")

PRESENT = """
import sys
from importlib.metadata import version
from importlib.resources import files

import cobandit

assert version("cobandit") == sys.argv[1], version("cobandit")
assert sys.prefix in cobandit.__file__, cobandit.__file__
missing = [name for name in sys.stdin.read().splitlines() if not files("cobandit").joinpath(name).is_file()]
sys.exit("Missing in the installed package: " + ", ".join(missing) if missing else 0)
"""

USED = """
import asyncio

import httpx

from cobandit.report.kit.html import Frame, render_page
from cobandit.web import WebConfig, create_app
from cobandit.web.services.robot.show import three_address


async def status(address):
    app = create_app(WebConfig("sqlite:///used.sqlite"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        return (await client.get(address)).status_code


page = render_page("layout.html", Frame("Title", "Lead", scripts=("report.js",)), {})
assert "var uPlot=" in page and "The MIT License" in page, "a report has no chart library"
assert asyncio.run(status(three_address())) == 200, "the server does not send three.js"
"""


def hindrances(version: str, changes: str, changelog: str, citation: str) -> list[str]:
    """Return the reasons why this tree must not be released, one sentence each."""
    sentences = []
    if changes.strip():
        sentences.append(
            f"There are changes that are not committed:\n{changes.rstrip()}\nCommit them, or put them away."
        )
    heading = re.search(rf"^## \[{re.escape(version)}\](.*)$", changelog, re.MULTILINE)
    if heading is None:
        sentences.append(f"CHANGELOG.md has no section for {version}: add '## [{version}] - YYYY-MM-DD'.")
    elif not re.fullmatch(r" - \d{4}-\d\d-\d\d", heading[1]):
        sentences.append(f"CHANGELOG.md gives no date for {version}, but {heading[1]!r}: write ' - YYYY-MM-DD'.")
    cited = re.search(r"^version: (.*)$", citation, re.MULTILINE)
    if cited is None or cited[1].strip() != version:
        sentences.append(f"CITATION.cff has the version {cited[1] if cited else None!r}, pyproject.toml {version!r}.")
    return sentences


def said(command: Sequence[str | Path], given: str | None = None) -> str:
    """Run a command in the tree and return its output. If the command fails, the release fails."""
    print("  " + " ".join("..." if "\n" in str(word) else str(word) for word in command), flush=True)
    done = subprocess.run(command, cwd=PLACE, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(
            f"{done.stdout}{done.stderr}\nThat failed with exit code {done.returncode}. Nothing is released."
        )
    return done.stdout


def tracked(folder: str) -> list[str]:
    """Return the files of a folder that git tracks, relative to the folder."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--", folder], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [Path(name).relative_to(folder).as_posix() for name in listing.split("\0") if name]


def third_party_names(folder: str) -> list[str]:
    """Return the third-party files that a build adds to a folder, relative to it."""
    targets = (file.target for file in listed_files(ROOT))
    return [target.relative_to(ROOT / folder).as_posix() for target in targets if target.is_relative_to(ROOT / folder)]


def members(archive: Path) -> set[str]:
    """Return the files in a wheel or in an sdist, without the top folder of the sdist."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return set(wheel.namelist())
    with tarfile.open(archive) as packed:
        return {name.partition("/")[2] for name in packed.getnames()}


def needless(names: Iterable[str]) -> list[str]:
    """Return the files that belong in no archive, such as caches."""
    left = re.compile(r"(^|/)(__pycache__|node_modules|out|\.venv[^/]*)/|\.(py[co]|nb[ic])$")
    return sorted(name for name in names if left.search(name))


def environment(name: str, *packages: str | Path) -> Path:
    """Create a fresh environment with these packages and return its Python."""
    venv = PLACE / name
    shutil.rmtree(venv, ignore_errors=True)
    said([sys.executable, "-m", "venv", venv])
    said([venv / "bin" / "python", "-m", "pip", "install", "--quiet", *map(str, packages)])
    return venv / "bin" / "python"


def try_out(archive: Path, version: str) -> None:
    """Install one archive in a fresh environment, without and with the extras, and use it."""
    wheel = archive.suffix == ".whl"
    python = environment("wheel" if wheel else "sdist", archive)
    package = [*tracked("src/cobandit"), *third_party_names("src/cobandit")]
    said([python, "-c", PRESENT, version], given="\n".join(package))
    command = python.with_name("cobandit")
    for words in (["--version"], GAME):
        print("    " + said([command, *words]).strip().replace("\n", "\n    "))
    if wheel:
        said([python, "-m", "pip", "install", "--quiet", f"{archive}[all]"])
        print("    " + said([command, *GAME, "--engine", "fast"]).strip().replace("\n", "\n    "))
        said([python, "-c", USED])


def main() -> None:
    """Check the tree, build, install and try the archives."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = project["project"]["version"]
    changes = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True, text=True)
    texts = ((ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    reasons = hindrances(version, changes.stdout, *texts)
    if reasons and "--draft" not in sys.argv[1:]:
        raise SystemExit("\n".join([*reasons, "Nothing was built. To build it anyway: make release DRAFT=1"]))
    print("\n".join(f"Draft, not to be published: {reason}" for reason in reasons))

    PLACE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(DIST, ignore_errors=True)
    tools = environment("tools", *TOOLS)
    said([tools, "-m", "build", "--outdir", DIST, ROOT])
    archives = sorted(DIST.iterdir())
    if sorted(archive.suffix for archive in archives) != [".gz", ".whl"]:
        raise SystemExit(f"One wheel and one sdist were to be built, not {[archive.name for archive in archives]}.")
    said([tools, "-m", "twine", "check", "--strict", *archives])
    for archive in archives:
        names = members(archive)
        if left := needless(names):
            raise SystemExit(f"{archive.name} holds what tools left behind: {', '.join(left[:10])}")
        if archive.suffix == ".gz" and (missing := set(third_party_names(".")) - names):
            raise SystemExit(f"{archive.name} lacks third-party scripts: {', '.join(sorted(missing))}")
        try_out(archive, version)
    for archive in archives:
        print(f"{archive.relative_to(ROOT)}  sha256 {hashlib.sha256(archive.read_bytes()).hexdigest()}")
    print("Both were installed and tried. Nothing was uploaded.")


if __name__ == "__main__":
    main()
