"""Build the notebooks as a JupyterLite site into a folder: ``python tools/lite.py out/lite``.

JupyterLite is Jupyter without a server: Python runs in the reader's browser, by Pyodide. The site contains the
notebooks and this version of cobandit as a wheel. The browser gets Pyodide, NumPy and Matplotlib from jsDelivr, where
Pyodide publishes them, or from the address in ``JUPYTERLITE_PYODIDE_URL``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"

# With Pyodide 314, the first one with a Matplotlib that the library supports (3.10). These packages are installed in an
# environment of their own, because only this tool needs them.
TOOLS = ("jupyterlite-core==0.8.6", "jupyterlite-pyodide-kernel==0.8.6", "jupyter-server>=2.14")


def build(folder: Path) -> None:
    """Build the site, and replace the folder by it."""
    uv = str(Path(sys.executable).with_name("uv"))
    with tempfile.TemporaryDirectory() as temporary:
        work, site = Path(temporary), Path(temporary) / "site"
        subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", str(work), str(ROOT)], check=True)
        wheel = next(work.glob("*.whl"))
        command = [uv, "run", "--quiet", "--no-project", "--isolated"]
        for tool in TOOLS:
            command += ["--with", tool]
        command += ["jupyter", "lite", "build", "--contents", str(NOTEBOOKS), "--output-dir", str(site)]
        command += ["--piplite-wheels", str(wheel), "--apps", "lab", "--no-sourcemaps", "--no-unused-shared-packages"]
        subprocess.run(command, cwd=work, check=True, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(site, folder)


def main() -> None:
    """Build the site into the folder that the command line names."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/lite.py FOLDER")
    try:
        build(Path(sys.argv[1]).resolve())
    except subprocess.CalledProcessError as error:
        sys.exit(f"JupyterLite could not be built: {error.cmd[0]} exited with {error.returncode}.")


if __name__ == "__main__":
    main()
