"""Build the documentation site into a folder: ``python tools/docs.py out/docs``.

With ``--lite`` the site also has the notebooks in JupyterLite, which runs them in the browser (tools/lite.py). That is
for a web server: the pages of JupyterLite fetch Python from another host, which a study's server does not allow.

The build is skipped if neither pages nor code have changed. The site is built in a second folder, which then replaces
the first one, so readers never see half a site. Every warning fails the build.
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
LITE = "COBANDIT_DOCS_LITE"
"""The variable with which tools/site_hooks.py links the pages of notebooks to JupyterLite."""


def sources_digest() -> str:
    """Return the digest of everything that the site is made from."""
    digest = hashlib.sha256(sys.version.encode())
    pages = [ROOT / "mkdocs.yml", ROOT / "constraints.txt", *ROOT.glob("*.md"), *ROOT.glob("tools/*.py")]
    trees = [*(ROOT / "docs").rglob("*"), *(ROOT / "src" / "cobandit").rglob("*")]
    for path in sorted({*pages, *trees}):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def build(folder: Path, *, with_lite: bool = False) -> bool:
    """Build the site unless the folder is up to date, and return whether it was built."""
    wanted = sources_digest() + (" lite" if with_lite else "")
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return False
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(fresh)]
    # Without --quiet, because mkdocs counts only the warnings that it prints.
    settings = {"NO_MKDOCS_2_WARNING": "1", LITE: "1" if with_lite else ""}
    subprocess.run(command, cwd=ROOT, env=os.environ | settings, check=True)
    if with_lite:
        subprocess.run([sys.executable, ROOT / "tools" / "lite.py", fresh / "lite"], cwd=ROOT, check=True)
    (fresh / STAMP).write_text(wanted, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return True


def main() -> None:
    """Build the site into the folder that the command line names."""
    places = [argument for argument in sys.argv[1:] if argument != "--lite"]
    if len(places) != 1:
        sys.exit("usage: python tools/docs.py FOLDER [--lite]")
    folder = Path(places[0]).resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / STAMP).is_file():
        sys.exit(f"{folder} holds other things than a site; name an empty folder or a new one.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        built = build(folder, with_lite="--lite" in sys.argv)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # mkdocs or tools/lite.py has printed the error
    print(f"The documentation is {'built' if built else 'up to date'}: {folder / 'index.html'}")


if __name__ == "__main__":
    main()
