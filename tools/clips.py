"""Record the four burgers in two colours of the robot as films, for browsers that cannot draw them (``make clips``).

The films go to src/cobandit/web/static/robot/clips. The page's own player draws them, in a browser without a window, so
a film has the same kitchen, customers and camera as the page. Needs the extra robot, Playwright, Chromium and ffmpeg
(or imageio-ffmpeg). Each frame is drawn once and encoded twice.
"""

from __future__ import annotations

import base64
import gzip
import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib.image
import numpy as np
from playwright.sync_api import Page

from cobandit.robot import CONFIGURATIONS, simulate_burger
from cobandit.robot.clip import encode
from cobandit.robot.recording import Recording
from cobandit.robot.rendering import Image
from cobandit.robot.scene import scene_description
from cobandit.web.services.robot.show import three_address
from tools.browsing import demo_site

FOLDER = Path(__file__).resolve().parents[1] / "src" / "cobandit" / "web" / "static" / "robot" / "clips"
SIZE, FPS = (640, 400), 22
SECONDS, HOLD = 3.2, 0.2
"""How long the page plays a burger, and how long the last picture is shown, in seconds."""
LOOKS = {"teal": "", "amber": "amber-"}
"""The looks of partners that have films, each with the first part of its file names: those of the shipped design."""
LARGEST = 250_000
SEED = 1

# Time advances only with the film's pictures. The player treats the software renderer as a graphics card and draws at
# the size of the page. Smooth edges and shadows are off: without a graphics card they take seconds per picture.
BEFORE = """
sessionStorage.setItem("cobandit:robot:quality", "2");
window.due = [];
window.time = 0;
window.requestAnimationFrame = (draw) => window.due.push(draw);
window.cancelAnimationFrame = () => {};
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
  return context.call(this, kind, { ...options, antialias: false });
};
const parameter = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (name) {
  const value = parameter.call(this, name);
  return typeof value === "string" && /swiftshader|llvmpipe/i.test(value) ? "a graphics card" : value;
};
"""
OPEN = """async ({ library, scene, bytes, size, look }) => {
  const [three, { Player }, { Recording }] = await Promise.all([
    import(library),
    import("/static/participant/robot/player.js"),
    import("/static/participant/robot/recording.js"),
  ]);
  const recording = new Recording(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)).buffer);
  const player = new Player(three, scene, recording, "film", look, () => {});
  const [width, height] = size.map((pixels) => `${pixels}px`);
  Object.assign(player.element.style, { position: "fixed", inset: "0", width, height });
  document.body.replaceChildren(player.element);
  await new Promise((resolve) => setTimeout(resolve, 200)); // the player learns its size
  player.feel(0, "wait");
  player.play(recording, () => {});
  window.player = player;
}"""
DRAW = """(milliseconds) => {
  window.time += milliseconds;
  for (const draw of window.due.splice(0)) draw(window.time);
  return window.player.element.toDataURL("image/png").split(",")[1];
}"""


def pictures(page: Page, recording: Recording, look: str) -> Iterator[Image]:
    """Yield the pictures of a burger's film."""
    bytes_ = base64.b64encode(gzip.decompress(recording.to_bytes())).decode()
    given = {"scene": scene_description("own"), "bytes": bytes_, "size": SIZE, "look": look}
    page.evaluate(OPEN, given | {"library": three_address()})
    for number in range(round(SECONDS * FPS) + 1):
        drawn = base64.b64decode(page.evaluate(DRAW, 1000 / FPS if number else 0))
        yield (255 * matplotlib.image.imread(io.BytesIO(drawn), format="png")[..., :3]).round().astype(np.uint8)
    page.evaluate("window.player.close()")


def write(page: Page, arms: tuple[int, int], look: str) -> None:
    """Write the two films of a burger in one look."""
    recording = simulate_burger(arms, SEED)
    if recording.status != "done":
        sys.exit(f"The burger {arms} does not stand: {recording.message}")
    images = list(pictures(page, recording, look))
    images += [images[-1]] * round(HOLD * FPS)
    for kind in (".webm", ".mp4"):
        path = FOLDER / f"burger-{LOOKS[look]}{arms[0]}-{arms[1]}{kind}"
        encode(path, images, SIZE, FPS)
        size = path.stat().st_size
        print(f"{path.name}: {size / 1e3:.0f} KB", flush=True)
        if size > LARGEST:
            sys.exit(f"{path.name} has {size / 1e3:.0f} KB; at most {LARGEST / 1e3:g} are sent for a burger.")


def main() -> None:
    """Write the films of the looks named on the command line, or of all looks. A file that is too large is an error."""
    looks = sys.argv[1:] or list(LOOKS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with demo_site() as (address, browser):
        page = browser.new_page(viewport={"width": 800, "height": 600})
        page.add_init_script(BEFORE)
        for look, arms in itertools.product(looks, CONFIGURATIONS):
            page.goto(address)
            write(page, arms, look)


if __name__ == "__main__":
    main()
