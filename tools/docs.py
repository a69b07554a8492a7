"""Builds the documentation site into a folder: ``python tools/docs.py out/docs``.

Nothing is done where neither pages nor code have changed since. The folder appears whole: the site is built beside it
and put in its place. Every warning fails the build.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMP = ".digest"


def sources_digest() -> str:
    """The digest of everything that the site is made from."""
    digest = hashlib.sha256(sys.version.encode())
    pages = [ROOT / "mkdocs.yml", ROOT / "constraints.txt", *ROOT.glob("*.md"), *ROOT.glob("tools/*.py")]
    trees = [*(ROOT / "docs").rglob("*"), *(ROOT / "src" / "cobandit").rglob("*")]
    for path in sorted({*pages, *trees}):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def build(folder: Path) -> bool:
    """Build the site, unless the folder holds the present one; whether it was built."""
    wanted = sources_digest()
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return False
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(fresh)]
    # Not --quiet: warnings that are not printed are not counted as such either.
    subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True)
    (fresh / STAMP).write_text(wanted, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return True


def main() -> None:
    """Build it where the command says."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/docs.py FOLDER")
    folder = Path(sys.argv[1]).resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / STAMP).is_file():
        sys.exit(f"{folder} holds other things than a site; name an empty folder or a new one.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        built = build(folder)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # mkdocs has said what is wrong
    print(f"The documentation is {'built' if built else 'up to date'}: {folder / 'index.html'}")


if __name__ == "__main__":
    main()
