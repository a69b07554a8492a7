"""The pool of recordings, and the process that fills it."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from pathlib import Path

import pytest

from cobandit.robot import CONFIGURATIONS, Recording
from cobandit.web.services.robot.filler import Filler, fill
from cobandit.web.services.robot.pool import Pool, RecordedBurger, physics_version
from tests.clients import PATIENCE


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path, "v1", 4)


def add(pool: Pool, configuration: tuple[int, int], *seeds: int) -> None:
    for seed in seeds:
        burger = RecordedBurger(configuration, seed, pool.version)
        pool.add(burger, gzip.compress(burger.name.encode()))


def test_an_empty_pool_has_nothing(pool: Pool) -> None:
    assert pool.pick("anybody", (0, 1)) is None
    assert pool.read("0-1-0") is None
    assert pool.scene() is None
    assert not pool.has_scene
    assert len(list(pool.missing())) == 4 * len(CONFIGURATIONS)


def test_a_key_takes_the_same_variant_each_time_and_keys_take_different_ones(pool: Pool) -> None:
    add(pool, (0, 1), 0, 1, 2, 3)
    keys = [f"42:0:{t}" for t in range(80)]
    picks = [pool.pick(key, (0, 1)) for key in keys]
    assert picks == [pool.pick(key, [0, 1]) for key in keys]
    counts = Counter(burger.seed for burger in picks if burger is not None)
    assert set(counts) == {0, 1, 2, 3}
    assert min(counts.values()) > 5
    assert pool.pick("42:0:1", (1, 1)) is None, "another configuration is none"


def test_another_skin_is_another_pool(tmp_path: Path) -> None:
    own, fetch = Pool(tmp_path, "v1", 4), Pool(tmp_path, "v1", 4, "fetch")
    fetch.add_scene({"credit": "theirs"})
    assert not own.has_scene
    assert fetch.version == "v1-fetch"
    assert json.loads(gzip.decompress(fetch.scene() or b"")) == {"credit": "theirs"}


def test_while_variants_are_missing_those_that_are_there_are_taken(pool: Pool) -> None:
    add(pool, (1, 0), 2)
    assert {pool.pick(str(n), (1, 0)) for n in range(20)} == {RecordedBurger((1, 0), 2, "v1")}


def test_what_is_read_is_what_was_added_and_other_versions_are_apart(pool: Pool, tmp_path: Path) -> None:
    add(pool, (1, 1), 3)
    assert gzip.decompress(pool.read("1-1-3") or b"") == b"1-1-3"
    assert Pool(tmp_path, "v2", 4).read("1-1-3") is None
    for name in ("../v1/1-1-3", "1-1-3.burger.gz", "", "2-0-0", "1-1-" + "9" * 40):
        assert pool.read(name) is None


def test_the_first_variant_of_every_configuration_comes_first(pool: Pool) -> None:
    for turn in range(6):
        order = list(pool.missing(turn))
        assert {burger.configuration for burger in order[:4]} == set(CONFIGURATIONS)
        assert [burger.seed for burger in order] == sorted(burger.seed for burger in order)
    firsts = {next(pool.missing(turn)).configuration for turn in range(4)}
    assert firsts == set(CONFIGURATIONS), "several servers begin at different places"


def test_what_another_server_has_made_meanwhile_is_not_made_again(pool: Pool) -> None:
    order = pool.missing()
    first = next(order)
    add(pool, CONFIGURATIONS[1], 0)
    assert next(order).configuration == CONFIGURATIONS[2]
    assert first.configuration == CONFIGURATIONS[0]


@pytest.mark.slow
def test_the_process_fills_the_pool_and_ends(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    pool = Pool(tmp_path, physics_version(), 1)
    filler = Filler(pool)
    deadline = time.monotonic() + PATIENCE
    while next(pool.missing(), None) is not None and time.monotonic() < deadline:
        time.sleep(0.1)
    filler.stop()
    scene = json.loads(gzip.decompress(pool.scene() or b""))
    for configuration in CONFIGURATIONS:
        burger = pool.pick("anybody", configuration)
        assert burger is not None
        packed = pool.read(burger.name) or b""
        assert len(packed) <= 60_000
        recording = Recording.from_bytes(packed)
        assert (recording.configuration, recording.seed, recording.status) == (configuration, 0, "done")
        assert set(recording.bodies) == set(scene["moving"])
    assert fill(pool) == [], "nothing is left to do"
