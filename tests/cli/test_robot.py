"""``cobandit robot``: clips that are films, tries that tell each step, and what is missing told before any work."""

from __future__ import annotations

import importlib.util
import os
import struct
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cobandit.cli import app
from cobandit.robot import simulated

DRAWS = bool(os.environ.get("DISPLAY") or find_library("EGL") or find_library("OSMesa"))


def run(*arguments: str, **answers):
    return CliRunner().invoke(app, ["robot", *arguments], **answers)


def apart(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: what draws is chosen once, when MuJoCo is loaded."""
    command = [sys.executable, "-m", "cobandit", "robot", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


class TestCheck:
    def test_each_step_is_told(self):
        result = run("check", "--speed", "1")
        assert result.exit_code == 0
        lines = result.output.splitlines()
        assert [line[:4] for line in lines[:-1]] == ["ok  "] * 6
        assert "of its limit" in lines[3]
        assert lines[-1] == "The arm is ready."

    def test_the_first_trouble_ends_it(self, monkeypatch):
        monkeypatch.setattr(simulated.SimulatedArm, "gap", lambda self: 0.0)
        result = run("check", "--speed", "1")
        assert result.exit_code == 1
        assert "FAIL pick the tomato" in result.output
        assert "could not be grasped" in result.output
        assert "place the tomato" not in result.output
        assert result.output.endswith("The arm is not ready.\n")

    def test_without_a_robot_the_terminal_asks(self, monkeypatch):
        monkeypatch.setattr("builtins.input", lambda: "")
        result = run("check", "--driver", "null")
        assert "stop button" not in result.output, "nothing moves"
        assert ".;" not in result.output
        assert result.exit_code == 0, result.output
        assert "ok   place the tomato on the bottom bun" in result.output

    def test_somebody_skips(self, monkeypatch):
        monkeypatch.setattr("builtins.input", lambda: "s")
        result = run("check", "--driver", "null", "--yes")
        assert result.exit_code == 1
        assert "skipped" in result.output

    @pytest.mark.parametrize("trouble", [EOFError, OSError, UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no letter")])
    def test_where_nobody_can_answer_it_is_skipped(self, monkeypatch, trouble):
        def fail():
            raise trouble

        monkeypatch.setattr("builtins.input", fail)
        result = run("check", "--driver", "null")
        assert result.exit_code == 1
        assert "was skipped" in result.output

    def test_a_real_arm_does_not_move_before_somebody_says_so(self):
        result = run("check", "--driver", "rosbridge", "--url", "ws://127.0.0.1:9", input="n\n")
        assert "connect:" not in result.output
        assert result.exit_code == 1
        assert "connect" not in result.output

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--driver", "nul"), "Did you mean 'null'"),
            (("--driver", "rosbridge"), "needs its address"),
            (("--item", "tomatoe"), "Did you mean 'tomato'"),
            (("--speed", "0"), "speed must be"),
        ],
    )
    def test_wrong_input(self, arguments, words):
        result = run("check", *arguments)
        assert result.exit_code == 2
        assert words in result.output

    def test_missing_extras(self, monkeypatch):
        real = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name in ("mujoco", "roslibpy") else real(name)
        )
        for arguments, extra in (
            (["check"], "robot"),
            (["check", "--driver", "rosbridge"], "ros"),
            (["demo"], "robot"),
        ):
            result = run(*arguments)
            assert result.exit_code == 2
            assert f"cobandit[{extra}]" in result.output


class TestDemo:
    @pytest.mark.skipif(not DRAWS, reason="no OpenGL on this machine: no display, EGL or OSMesa")
    def test_an_animated_picture(self, tmp_path):
        path = tmp_path / "burger.png"
        result = apart("demo", "--out", str(path), "--width", "160", "--speed", "20")
        assert result.returncode == 0, result.stderr
        assert f"Clip: {path}" in result.stdout
        assert "stands" in result.stderr
        frames, size = animation(path.read_bytes())
        assert size == (160, 100)
        assert frames > 8
        assert path.stat().st_size < 400_000

    def test_without_opengl_it_says_so_before_any_work(self, tmp_path):
        path = tmp_path / "burger.png"
        result = apart("demo", "--out", str(path), "--width", "160", MUJOCO_GL="disable", DISPLAY="")
        assert result.returncode == 2
        assert "Frames cannot be drawn here" in result.stderr
        assert "MUJOCO_GL=egl" in result.stderr
        assert "Traceback" not in result.stderr
        assert not path.exists()

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--configuration", "0,2"), "robot's arm must be an integer from 0 to 1, got 2"),
            (("--configuration", "burger"), "--configuration"),
            (("--width", "3"), "--width must be an integer from 160 to 3,840, got 3"),
            (("--out", "burger.gif"), ".png"),
        ],
    )
    def test_wrong_input(self, arguments, words, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        result = apart("demo", *arguments)
        assert result.returncode == 2
        assert words in result.stderr
        assert not list(Path().iterdir())


def animation(data: bytes) -> tuple[int, tuple[int, int]]:
    """How many frames an animated PNG has, by its chunks, and its size."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, frames, told = 8, 0, 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            size = struct.unpack_from(">II", data, at + 8)
        told = struct.unpack_from(">I", data, at + 8)[0] if kind == b"acTL" else told
        frames += kind == b"fcTL"
        at += 12 + length
    assert frames == told
    return frames, size
