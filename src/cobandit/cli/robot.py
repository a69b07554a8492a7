"""``cobandit robot ...``: a clip of a burger, and a first test of an arm."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TextIO

import typer

from cobandit.cli import options as shared
from cobandit.cli.declare import flag, option
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import GroupedHelp

__all__ = ["app"]

NO_MOTION = ("simulated", "null")
"""Drivers that move no real arm."""

app = typer.Typer(
    name="robot",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Simulate the burger robot, or test a real arm.",
)


@app.command(cls=GroupedHelp)
@shared.with_option_groups
def demo(
    out: Annotated[Path | None, option("FILE", "Clip: .mp4, .webm or .png (animated)", shared.THE_OUTPUT)] = None,
    configuration: Annotated[str, option("P,R", "First filling of the person and of the robot, 0 or 1 each")] = "0,0",
    seed: Annotated[int, option("INTEGER", "Random seed of item positions and of the person's hand")] = 0,
    speed: Annotated[float, option("FLOAT", "Speed relative to the robot")] = 3.0,
    width: Annotated[int | None, option("PIXELS", "Width of the clip, which is 16:10 (default: 960; .png 640)")] = None,
    skin: Annotated[str, option("own|fetch", "Our own arm, or the meshes of gymnasium-robotics")] = "own",
    form: TextOrJson = TextOrJson(),
) -> None:
    """Record a clip of the simulated arm stacking a burger.

    Without --out the clip is out/burger.mp4, or out/burger.png, a smaller animated picture, if no encoder is installed.
    Drawing needs OpenGL, with or without a display.
    """
    from cobandit.base.extras import require_extras

    require_extras("The simulated arm", robot=True)
    from cobandit.base.checks import whole
    from cobandit.cli import output, parsing
    from cobandit.cli.door import say
    from cobandit.robot.burger import checked_configuration

    arms = checked_configuration(parsing.numbers("--configuration", configuration, "0,1"))
    from cobandit.robot import clip  # selects an OpenGL library before MuJoCo is imported

    path = out or Path("out") / ("burger.mp4" if clip.encoder() else "burger.png")
    usual = clip.WIDTHS.get(path.suffix.lower(), clip.USUAL_WIDTH)
    width = whole(160, 3840)("--width", usual if width is None else width)
    clip.checked_path(path)
    if out is None and path.suffix == ".png":
        say("Without ffmpeg the clip will be a small animated picture; for a film pip install imageio-ffmpeg.")
    with clip.ClipMaker(width, width * 5 // 16 * 2, skin) as maker:
        from cobandit.robot import simulate_burger

        recording = simulate_burger(arms, seed)
        say(f"{recording.message} {recording.duration:.0f} s of the robot's time; drawing ...")
        maker.write(recording, path, speed)
    if form.as_json:
        output.print_json({"clip": str(path), "bytes": path.stat().st_size, "credit": maker.credit or None})
        return
    if maker.credit:
        typer.echo(f"Robot: {maker.credit['name']}, {maker.credit['licence']}.")
    typer.echo(f"Clip: {path} ({path.stat().st_size / 1e3:,.0f} KB)")


@app.command(cls=GroupedHelp)
@shared.with_option_groups
def check(
    driver: Annotated[str, option("NAME", "Driver: simulated, rosbridge, null, or from a plugin")] = "simulated",
    url: Annotated[str | None, option("URL", "Address of rosbridge, such as ws://192.168.1.20:9090")] = None,
    arm_file: Annotated[
        Path | None, option("FILE", "TOML file that describes an arm other than a Fetch", None, "--arm")
    ] = None,
    item: Annotated[str, option("NAME", "Item to pick: tomato, lettuce or top_bun")] = "tomato",
    speed: Annotated[float, option("FLOAT", "Fraction of the allowed joint speeds")] = 0.25,
    yes: Annotated[bool, flag("--yes", "No question before a real arm moves")] = False,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Test a robot arm step by step.

    Connect, home, pick one slice, place it, home. Every step is printed. Behind rosbridge, ROS 1 or 2 is detected.

    Joints and their speeds are compared with the limits. The exit code is 1 if a step fails.
    """
    from cobandit.robot.names import require_arm

    require_arm(driver, f"The driver {driver!r}")
    from cobandit.cli import output
    from cobandit.robot.driver import make_arm
    from cobandit.robot.dry_run import DryStep, dry_run
    from cobandit.robot.layout import item_named

    item_named(item)
    arm = make_arm(driver, url, speed, model=arm_file)
    if driver not in NO_MOTION and not yes:
        typer.confirm(
            "Are all people out of the arm's reach, and a hand on the stop button?", abort=True, err=form.as_json
        )
    stop_asking = _answer_requests(arm, sys.stderr if form.as_json else sys.stdout)
    steps: list[dict[str, object]] = []

    def show(step: DryStep) -> None:
        if form.as_json:
            outcome = {"message": step.outcome.message, "seconds": step.outcome.duration, "joints": step.joints}
            steps.append({"step": step.text, "ok": step.ok, **outcome})
            return
        mark = "ok  " if step.ok else "FAIL"
        said = step.outcome.message.removesuffix(".")
        details = "; ".join(filter(None, [said, f"{step.outcome.duration:.1f} s", step.joints]))
        typer.echo(f"{mark} {step.text}: {details}")

    try:
        passed = dry_run(arm, show, item)
    finally:
        stop_asking()
    if form.as_json:
        output.print_json({"ready": passed, "steps": steps})
    else:
        typer.echo("The arm is ready." if passed else "The arm is not ready.")
    raise typer.Exit(0 if passed else 1)


def _answer_requests(arm: object, screen: TextIO) -> Callable[[], None]:
    """Forward the arm's requests to the person at the terminal; the returned function stops this."""
    from cobandit.robot import AsksPeople

    over = threading.Event()
    if not isinstance(arm, AsksPeople):
        return over.set

    def ask() -> None:
        while not over.wait(0.05):
            request = arm.request
            if request is None:
                continue
            done = False
            try:
                print(f"     {request.text} [Enter: done, s: skip] ", end="", file=screen, flush=True)
                done = input().strip().lower() != "s"
            except (EOFError, OSError, ValueError):  # stdin is closed, or the answer cannot be decoded
                pass
            finally:  # even after an error, the arm's own thread must not wait forever
                (arm.confirm if done else arm.skip)(request.number)

    threading.Thread(target=ask, daemon=True).start()
    return over.set
