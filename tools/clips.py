"""``make clips``: the four burgers as films, for browsers that cannot draw them.

They go to src/cobandit/web/static/robot/clips. Needs the extra robot, OpenGL and ffmpeg (or imageio-ffmpeg); frames are
drawn once and encoded twice.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cobandit.robot.clip import ClipMaker
from cobandit.robot.simulated import simulate_burger

FOLDER = Path(__file__).resolve().parents[1] / "src" / "cobandit" / "web" / "static" / "robot" / "clips"
CONFIGURATIONS = ((0, 0), (0, 1), (1, 0), (1, 1))
WIDTH, HEIGHT, FPS, SPEED = 640, 400, 15, 3.2
LARGEST = 150_000
SEED = 1


def main() -> None:
    """Write all eight files; too large a one is an error."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ClipMaker(WIDTH, HEIGHT) as maker:
        for person, robot in CONFIGURATIONS:
            recording = simulate_burger((person, robot), SEED)
            if recording.status != "done":
                sys.exit(f"The burger ({person}, {robot}) does not stand: {recording.message}")
            paths = [FOLDER / f"burger-{person}-{robot}{kind}" for kind in (".webm", ".mp4")]
            maker.write_all(recording, paths, SPEED, FPS)
            for path in paths:
                size = path.stat().st_size
                print(f"{path.name}: {size / 1e3:.0f} KB", flush=True)
                if size > LARGEST:
                    sys.exit(f"{path.name} has {size / 1e3:.0f} KB; at most {LARGEST / 1e3:g} are sent for a burger.")


if __name__ == "__main__":
    main()
