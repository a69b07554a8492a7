"""Films of burgers: those that are shipped, those that are made here, and honest words where none can be made."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.robot import CONFIGURATIONS, clip
from tests.cli.test_robot import DRAWS

SHIPPED = Path(clip.__file__).parents[1] / "web" / "static" / "robot" / "clips"
SIGNS = {".mp4": (4, b"ftyp"), ".webm": (0, b"\x1a\x45\xdf\xa3")}


@pytest.mark.parametrize("kind", SIGNS)
@pytest.mark.parametrize(("person", "robot"), CONFIGURATIONS)
def test_shipped_films_are_there_and_small(person, robot, kind):
    data = (SHIPPED / f"burger-{person}-{robot}{kind}").read_bytes()
    at, sign = SIGNS[kind]
    assert data[at : at + len(sign)] == sign
    assert 20_000 < len(data) <= 250_000


@pytest.mark.skipif(not DRAWS or clip.encoder() is None, reason="no OpenGL or no ffmpeg on this machine")
def test_both_kinds_from_the_same_frames(tmp_path):
    """In a process of its own: what draws is chosen once, when MuJoCo is loaded."""
    code = f"""
from pathlib import Path
from cobandit.robot.clip import ClipMaker
from cobandit.robot.simulated import simulate_burger
with ClipMaker(160, 100) as maker:
    maker.write_all(simulate_burger((0, 0), 1), [Path({str(tmp_path)!r}) / name for name in ("b.mp4", "b.webm")], 50)
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
    for kind, (at, sign) in SIGNS.items():
        assert (tmp_path / f"b{kind}").read_bytes()[at : at + len(sign)] == sign
    assert len(list(tmp_path.iterdir())) == 2


class TestNoEncoder:
    @pytest.fixture(autouse=True)
    def _nothing_installed(self, monkeypatch):
        monkeypatch.setattr(shutil, "which", lambda name: None)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    def test_films_are_refused_with_a_way_out(self, tmp_path):
        with pytest.raises(clip.NoEncoder, match=r"install imageio-ffmpeg.*\.png"):
            clip.checked_path(tmp_path / "burger.mp4")

    def test_animated_pictures_need_none(self, tmp_path):
        assert clip.checked_path(tmp_path / "burger.PNG")


@pytest.mark.parametrize("name", ["burger.gif", "burger", ".mp4", "file/burger.png"])
def test_bad_names(name, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InvalidInput):
        clip.checked_path(tmp_path / name)
