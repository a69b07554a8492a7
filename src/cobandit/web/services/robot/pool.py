"""Recorded burgers on disk: several seeded variants of each configuration, made by a process of their own.

The pool is a folder, and nothing else: the process that fills it and those that serve from it share no memory, and a
recording is there as soon as its file is. The folder is named after a digest of everything that decides how a burger
moves, so another physics never plays an old recording.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata, resources
from pathlib import Path

from cobandit.base.extras import installed
from cobandit.base.files import make_folder, whole_file
from cobandit.base.json_types import JsonObject
from cobandit.robot import CONFIGURATIONS

SCENE = "scene.json.gz"
OWN_SKIN = "own"
_NAME = re.compile(r"([01])-([01])-(\d{1,9})")


@dataclass(frozen=True)
class RecordedBurger:
    """One recording by what it was made from; ``version`` is that of the physics."""

    configuration: tuple[int, int]
    seed: int
    version: str

    @property
    def name(self) -> str:
        """How files and addresses call it."""
        return f"{self.configuration[0]}-{self.configuration[1]}-{self.seed}"

    def to_dict(self) -> JsonObject:
        """Return the data for the log."""
        return {"configuration": list(self.configuration), "seed": self.seed, "version": self.version}


@lru_cache(maxsize=1)
def physics_version() -> str:
    """Return a digest of the code that moves and draws, and of the physics engine; "none" where the engine is
    missing.
    """
    if not installed("robot"):
        return "none"
    digest = hashlib.sha256(metadata.version("mujoco").encode())
    sources = resources.files("cobandit.robot")
    for folder in (sources, sources / "scene"):
        files = (file for file in folder.iterdir() if file.name.endswith(".py"))
        for file in sorted(files, key=lambda file: file.name):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def default_folder() -> Path:
    """Return the folder of recordings for all servers of this user."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "cobandit" / "burgers"


class Pool:
    """The recordings of one version of the physics, ``variants`` of each configuration, and a kitchen in one skin."""

    def __init__(self, folder: Path, version: str, variants: int, skin: str = OWN_SKIN) -> None:
        self.version = version if skin == OWN_SKIN else f"{version}-{skin}"
        self.variants, self.skin = variants, skin
        self.home = folder
        self._folder = folder / self.version

    @classmethod
    def open(cls, folder: str | None, variants: int, skin: str = OWN_SKIN) -> Pool:
        """Return the pool of this installation; in the user's own folder, where none is named."""
        return cls(default_folder() if folder is None else Path(folder), physics_version(), variants, skin)

    # Taking

    def pick(self, key: str, configuration: Sequence[int]) -> RecordedBurger | None:
        """Return the variant for a key (who, when); None while there is none of this configuration.

        Each key has an order of its own in which it wants the variants, and takes the first that is there.
        """
        first, second = configuration
        burgers = [RecordedBurger((first, second), seed, self.version) for seed in range(self.variants)]
        burgers.sort(key=lambda burger: hashlib.sha256(f"{key}:{burger.seed}".encode()).digest())
        return next((burger for burger in burgers if self._path(burger.name).is_file()), None)

    def read(self, name: str) -> bytes | None:
        """Return a recording as it is sent, gzipped; None where there is none of this name."""
        return self._read(self._path(name)) if _NAME.fullmatch(name) else None

    def scene(self) -> bytes | None:
        """Return the description of the kitchen, gzipped JSON; None if it is not written yet."""
        return self._read(self._folder / SCENE)

    @property
    def has_scene(self) -> bool:
        """Whether pages can build the kitchen."""
        return (self._folder / SCENE).is_file()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.burger.gz"

    def _read(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except OSError:
            return None

    # Filling

    def missing(self, turn: int = 0) -> Iterator[RecordedBurger]:
        """Yield the missing recordings, one variant of every configuration before the next.

        Servers that fill one folder at the same time begin at different positions (``turn``) and check before each
        recording, so they share the work.
        """
        count = len(CONFIGURATIONS)
        for seed in range(self.variants):
            for place in range(count):
                burger = RecordedBurger(CONFIGURATIONS[(turn + place) % count], seed, self.version)
                if not self._path(burger.name).is_file():
                    yield burger

    def add(self, burger: RecordedBurger, recording: bytes) -> None:
        """Keep a recording; it appears whole or not at all."""
        self._write(self._path(burger.name), recording)

    def add_scene(self, description: JsonObject) -> None:
        """Keep what the kitchen is made of."""
        text = json.dumps(description, separators=(",", ":")).encode()
        self._write(self._folder / SCENE, gzip.compress(text, 9, mtime=0))

    def _write(self, path: Path, contents: bytes) -> None:
        make_folder(self._folder)
        with whole_file(path) as file:
            file.write(contents)
