"""Drivers by name, ours and those of other packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import subprocess
import sys
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput, MissingExtra, PluginError, UnknownName
from cobandit.robot import Arm, NullArm, known_arms, make_arm, require_arm


class Group(list):
    """Entry points as the standard library gives them."""


@pytest.fixture
def bring(monkeypatch):
    """Have another package bring a driver."""

    def as_entry(value: str, name: str = "lego") -> None:
        entry = importlib.metadata.EntryPoint(name, value, "cobandit.arms")
        monkeypatch.setattr(
            "cobandit.base.plugins.entry_points", lambda group: [entry] if group == "cobandit.arms" else []
        )

    return as_entry


def lego(url=None, speed=1.0, seed=0):
    arm: Any = NullArm()
    arm.built_with = (url, speed, seed)
    return arm


def half_an_arm(url=None, speed=1.0, seed=0):
    return object()


def no_arm(url=None, speed=1.0, seed=0):
    raise OSError("no such port")


class TestByName:
    def test_ours(self):
        for name, url in (("simulated", None), ("null", None), ("rosbridge", "ws://127.0.0.1:9090")):
            arm = make_arm(name, url)
            assert isinstance(arm, Arm)
            assert arm.name == name
            assert not arm.is_connected
        assert known_arms() == ["simulated", "rosbridge", "null"]

    def test_a_slip_gets_the_nearest_name(self):
        with pytest.raises(UnknownName, match="Did you mean 'simulated'"):
            make_arm("simulatd")
        with pytest.raises(UnknownName, match="Known: simulated, rosbridge, null"):
            make_arm(None)  # type: ignore[arg-type]

    @pytest.mark.parametrize("speed", [0, -1, 1.01, math.nan, math.inf, "1", None, True])
    def test_bad_speeds(self, speed):
        with pytest.raises(InvalidInput, match="speed"):
            make_arm("null", speed=speed)

    @pytest.mark.parametrize("seed", [-1, 1.5, "0", math.nan])
    def test_bad_seeds(self, seed):
        with pytest.raises(InvalidInput, match="seed"):
            make_arm("simulated", seed=seed)

    def test_addresses_where_there_are_none_and_none_where_one_is_needed(self):
        for name in ("simulated", "null"):
            with pytest.raises(InvalidInput, match="leave it out"):
                make_arm(name, "ws://127.0.0.1:9090")
        with pytest.raises(InvalidInput, match="needs its address"):
            make_arm("rosbridge")
        with pytest.raises(InvalidInput, match="as text"):
            make_arm("rosbridge", 9090)  # type: ignore[arg-type]


class TestOtherPackages:
    def test_bring_a_driver(self, bring):
        bring(f"{__name__}:lego")
        sys.modules.setdefault(__name__, sys.modules[lego.__module__])
        arm: Any = make_arm("lego", "usb:1", 0.5, 7)
        assert arm.built_with == ("usb:1", 0.5, 7)
        assert known_arms()[-1] == "lego"
        require_arm("lego", "This")

    def test_cannot_replace_ours(self, bring):
        bring("nowhere:nothing", "null")
        assert isinstance(make_arm("null"), NullArm)
        assert known_arms().count("null") == 1

    @pytest.mark.parametrize(
        ("what", "trouble"),
        [
            ("half_an_arm", "lacks a part"),
            ("no_arm", "no such port"),
            ("math", "is <module"),
            ("nothing", "cannot be loaded"),
        ],
    )
    def test_a_broken_one_is_named(self, bring, what, trouble):
        bring(f"{__name__}:{what}")
        sys.modules.setdefault(__name__, sys.modules[lego.__module__])
        with pytest.raises(PluginError, match=trouble):
            make_arm("lego")


class TestExtras:
    def test_missing_ones_are_told_before_any_work(self, monkeypatch):
        real = importlib.util.find_spec
        hidden = ("mujoco", "roslibpy")
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in hidden else real(name))
        with pytest.raises(MissingExtra, match=r"cobandit\[robot\]"):
            make_arm("simulated")
        with pytest.raises(MissingExtra, match=r"cobandit\[ros\]"):
            make_arm("rosbridge", "ws://127.0.0.1:9090")
        with pytest.raises(MissingExtra, match=r"cobandit\[robot\]"):
            require_arm("simulated", "This")
        require_arm("null", "This")

    def test_what_needs_no_extra_loads_none(self):
        code = (
            "import sys, cobandit.robot as r; r.NullArm(); r.burger_layers((0, 0)); r.scene_description()\n"
            "print([m for m in ('mujoco', 'roslibpy') if m in sys.modules])"
        )
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert printed == "[]\n"
