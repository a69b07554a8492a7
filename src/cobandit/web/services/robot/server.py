"""The robot that a server was started with."""

from __future__ import annotations

from cobandit.base.extras import installed
from cobandit.robot import make_arm
from cobandit.web.config import WebConfig
from cobandit.web.refusals import not_found
from cobandit.web.services.robot.filler import Filler
from cobandit.web.services.robot.lab import Lab
from cobandit.web.services.robot.pool import Pool
from cobandit.web.services.robot.show import Show
from cobandit.web.services.robot.stage import Stage
from cobandit.web.storage.database import Database

SCRIPTS = (
    "/static/participant/robot/player.js",
    "/static/participant/robot/kitchen.js",
    "/static/participant/robot/customer.js",
    "/static/participant/robot/merging.js",
    "/static/participant/robot/room.js",
    "/static/participant/robot/orbit.js",
)
"""Scripts that a page imports for the drawn arm, in addition to three.js, under the addresses it imports."""


class Robot:
    """None, recorded burgers, or an arm in a lab."""

    def __init__(self, database: Database, config: WebConfig) -> None:
        self._pool: Pool | None = None
        self._root = config.root_path
        self._filler: Filler | None = None
        self._lab: Lab | None = None
        self.stage: Stage | None = None
        if config.robot == "simulated":
            self._pool = Pool.open(config.robot_folder, config.robot_variants, config.robot_skin)
            self.stage = Show(database, self._pool, config.root_path)
        elif config.robot != "none":
            driver = make_arm(config.robot, config.robot_url, config.robot_speed, model=config.robot_arm)
            self.stage = self._lab = Lab(database, driver)

    async def start(self) -> None:
        """Begin to record in the background, or reach for the arm."""
        if self._pool is not None and installed("robot"):
            self._filler = Filler(self._pool)
        if self._lab is not None:
            await self._lab.start()

    def stop(self) -> None:
        """Record no more; let the arm go."""
        if self._filler is not None:
            self._filler.stop()
            self._filler = None
        if self._lab is not None:
            self._lab.stop()

    @property
    def in_lab(self) -> bool:
        """Whether there is an arm that an experimenter looks after."""
        return self._lab is not None

    @property
    def lab(self) -> Lab:
        """The arm in the lab, or a refusal where there is none."""
        if self._lab is None:
            raise not_found("This server has no robot in a lab; start it with --robot null or --robot rosbridge.")
        return self._lab

    def warm_up(self) -> dict[str, list[str]]:
        """Return the files that a page will need for the first burger: scripts and their data.

        Participants read for minutes before they choose, so browsers have time to load them.
        """
        if not isinstance(self.stage, Show) or (three := self.stage.three) is None:
            return {"scripts": [], "data": []}
        core = three.replace("three.module", "three.core")
        return {"scripts": [three, core, *(self._root + script for script in SCRIPTS)], "data": self.stage.addresses()}

    def scene(self, version: str) -> bytes | None:
        """Return the description of the kitchen, gzipped."""
        return self._pool.scene() if self._has(version) and self._pool is not None else None

    def recording(self, version: str, name: str) -> bytes | None:
        """Return a recording, gzipped."""
        return self._pool.read(name) if self._has(version) and self._pool is not None else None

    def _has(self, version: str) -> bool:
        return self._pool is not None and version == self._pool.version
