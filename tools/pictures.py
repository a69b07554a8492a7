"""Draw the pictures of the README and of the first page, each in light and dark (``make pictures``).

They go to docs/assets/pictures. The pictures of results contain the numbers they show as metadata;
tests/tools/test_pictures.py computes these numbers again and fails if a picture is out of date. Needs the extras fast,
plot, robot and web, Playwright and Chromium.
"""

from __future__ import annotations

import itertools
import json
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import httpx
import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from playwright.sync_api import ViewportSize

import cobandit as cb
from cobandit.robot import simulate_burger
from cobandit.robot.recording import POSITION_UNIT, Recording
from cobandit.studies import load_design
from tools.browsing import demo_site

ColorScheme = Literal["light", "dark"]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "assets" / "pictures"
STILLS = Path(__file__).resolve().parents[1] / "src" / "cobandit" / "web" / "static" / "stills"
"""The pictures of the studies on the first page."""
STILL = """() => {
  const shop = document.querySelector(".cloth")?.closest("svg");
  const parts = shop ? [shop] : [...document.querySelectorAll(".machine")];
  const boxes = parts.map((part) => part.getBoundingClientRect());
  const [x, y] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  return { x: x + 1, y: y + 1, width: right - x - 2, height: bottom - y - 2 };
}"""
MOST_FURTHER = 8
"""The most rounds that are played until the latest outcome is good."""
KEY = "cobandit"
"""The key of the facts in a picture's metadata."""

THEMES: dict[str, dict[str, str]] = {
    "light": {
        "page": "#ffffff",
        "ink": "#1f2933",
        "soft": "#5b6875",
        "grid": "#e3e8ee",
        "sky": "#dfe9ef",
        "floor": "#dcd9d4",
    },
    "dark": {
        "page": "#0d1117",
        "ink": "#e6edf3",
        "soft": "#9aa7b4",
        "grid": "#252d37",
        "sky": "#2a3641",
        "floor": "#3a4148",
    },
}
TEAMS = {
    "naive-ucb": ("Naive UCB", "#c2410c", "#ff8a5c"),
    "naive-ts": ("Naive Thompson sampling", "#8a6d00", "#e0b84a"),
    "partner-aware-ucb": ("Partner-aware UCB", "#0b7a95", "#38bdd8"),
    "centralised-ucb": ("Centralised UCB (agents that can talk)", "#5b6875", "#9aa7b4"),
}
"""The teams of the first picture: label, colour on a light and on a dark page."""

HORIZON, RUNS, SEED = 2_000, 1_000, 0
STANDOFF_ROUNDS = 20_000
STUDIES = {"burger": (0, 1, 0, 0, 1, 0), "casino": (0, 1, 1, 0, 1, 1, 1, 0)}
"""The studies with screenshots, and the arms that are played before one is taken."""
KEYS = {"burger": ("1", "2"), "casino": ("w", "s")}
SCREEN: ViewportSize = {"width": 1366, "height": 700}

MOMENT = 0.86
"""The moment of the recording that is shown, as a share of its length: the robot sets the lettuce down."""


def simulated_teams() -> dict[str, cb.Result]:
    """Simulate the teams of the first picture on the paper's main problem, arms relabelled."""
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5]).relabelled()
    return {
        name: cb.simulate(problem, cb.Team.of(name), horizon=HORIZON, runs=RUNS, seed=SEED, checkpoints=100)
        for name in TEAMS
    }


def burger() -> Recording:
    """Simulate the burger of the first picture."""
    recording = simulate_burger((0, 0), 1)
    if recording.status != "done":
        sys.exit(f"The burger does not stand: {recording.message}")
    return recording


def facts(results: Mapping[str, cb.Result], recording: Recording) -> dict[str, Any]:
    """Return the numbers behind the first picture: each team's final regret, and the positions of the robot's hand and
    the food.
    """
    frame = round(MOMENT * (recording.frames - 1))
    centimetres = 100 * POSITION_UNIT * recording.poses[frame, :, :3]
    return {
        "regret": {name: round(float(result.task_regret[:, -1].mean()), 1) for name, result in results.items()},
        "centimetres": {
            body: centimetres[number].round().astype(int).tolist() for number, body in enumerate(recording.bodies)
        },
    }


def _robot_image(recording: Recording, theme: Mapping[str, str]) -> Any:
    from cobandit.robot.rendering import Camera, FrameRenderer
    from cobandit.robot.scene import scene_description

    scene = scene_description("own") | {"background": theme["sky"]}
    floor = {"colour": theme["floor"]}
    scene["geoms"] = [geom | floor if geom["type"] == "plane" else geom for geom in scene["geoms"]]
    camera = Camera((1.8, -1.35, 1.62), (0.5, 0.1, 0.93), 33)
    with FrameRenderer(scene, 1520, 1240) as renderer:
        drawn = renderer.draw(recording, MOMENT * (recording.frames - 1), camera).astype(float)
    return drawn.reshape(620, 2, 760, 2, 3).mean(axis=(1, 3)).round().astype(np.uint8)


def draw_teams(name: str, results: Mapping[str, cb.Result], recording: Recording) -> Path:
    """Draw the first picture: the robot stacks a burger, next to the regret of four teams."""
    theme = THEMES[name]
    figure = Figure(figsize=(16, 6.4), dpi=100, facecolor=theme["page"])
    left = figure.add_axes((0.0, 0.015, 0.475, 0.97))
    left.axis("off")
    image = left.imshow(_robot_image(recording, theme), interpolation="none")
    corners = FancyBboxPatch(
        (0, 0), 1, 1, boxstyle="round,pad=0,rounding_size=.035", transform=left.transAxes, mutation_aspect=76 / 62
    )
    image.set_clip_path(corners)
    axes = figure.add_axes((0.545, 0.135, 0.44, 0.72), facecolor=theme["page"])
    for team, result in results.items():
        label, *colours = TEAMS[team]
        colour = colours[name == "dark"]
        result.plot(axes, color=colour, linewidth=3 if team == "partner-aware-ucb" else 2, label=label)
        final = result.task_regret[:, -1].mean()
        below = team == "centralised-ucb"
        axes.text(
            *(HORIZON * 0.985, final - 34 if below else final + 16),
            label,
            color=colour,
            ha="right",
            va="top" if below else "bottom",
            fontsize=14,
        )
    axes.set_title(
        "Rewards lost by two agents that cannot talk",
        loc="left",
        fontsize=18,
        color=theme["ink"],
        pad=16,
        weight="bold",
    )
    axes.set_xlabel("round", fontsize=13, color=theme["soft"])
    axes.set_ylabel("cumulative task regret", fontsize=13, color=theme["soft"])
    axes.set(xlim=(0, HORIZON), ylim=(-60, 750), yticks=range(0, 800, 100), xticks=range(0, HORIZON, 500))
    axes.tick_params(colors=theme["soft"], labelsize=12, length=0)
    axes.grid(color=theme["grid"])
    axes.spines[:].set_visible(False)
    path = FOLDER / f"teams-{name}.png"
    figure.savefig(
        path, metadata={KEY: json.dumps(facts(results, recording)), "Software": None}, facecolor=theme["page"]
    )
    return path


def compared() -> cb.experiments.TeamComparison:
    """Return the comparison of the README's example."""
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    teams = ["partner-aware-ucb", "naive-ucb", "centralised-ucb"]
    return cb.experiments.compare_teams(problem.relabelled(), teams, horizon=2_000, runs=1_000)


def draw_example(name: str, comparison: cb.experiments.TeamComparison) -> Path:
    """Draw the figure of the README's example, as its code draws it."""
    theme = THEMES[name]
    style: dict[Any, str] = {
        "axes.edgecolor": theme["soft"],
        "axes.facecolor": theme["page"],
        "axes.labelcolor": theme["ink"],
        "figure.facecolor": theme["page"],
        "legend.facecolor": theme["page"],
        "svg.hashsalt": "cobandit",
        "text.color": theme["ink"],
        "xtick.color": theme["soft"],
        "ytick.color": theme["soft"],
    }
    path = FOLDER / f"example-{name}.svg"
    with mpl.rc_context(style):
        figure = Figure(figsize=(7, 3.6), layout="tight")
        comparison.plot(figure.subplots())
        regret = {label: round(row[1], 1) for label, row in zip(comparison.labels, comparison.rows(), strict=True)}
        figure.savefig(path, metadata={"Description": json.dumps({"regret": regret}), "Date": None})
    return path


def standoff_run() -> tuple[Any, dict[str, Any]]:
    """Return both agents' indices in a run that ends in a standoff, every 20 rounds, and the plays of each action.

    Of the indices, [agent, point, arm 0, arm 1], agent 1 leads and picks the second arm.
    """
    problem = cb.Problem.bernoulli([[1.0, 0.67], [0.75, 0.0]], observability=[1.0, 0.5], roles=(1, 0))
    team = cb.Team.of("partner-aware-ucb", window=1, repeat=2, exploration=2.0)
    run = cb.simulate(problem, team, STANDOFF_ROUNDS, runs=1, seed=0).trajectory(0)
    played = np.zeros((STANDOFF_ROUNDS, 2, 2))
    played[np.arange(STANDOFF_ROUNDS), run.actions[:, 0], run.actions[:, 1]] = 1
    counts = played.cumsum(axis=0)[19::20]
    sums = (run.seen.T[:, :, np.newaxis, np.newaxis] * played).cumsum(axis=1)[:, 19::20]
    with np.errstate(divide="ignore", invalid="ignore"):
        indices = sums / counts + 2 * np.sqrt(np.log(STANDOFF_ROUNDS) / counts)
    return indices, {"plays": counts[-1].astype(int).tolist(), "indices": indices[:, -1].round(3).tolist()}


def draw_standoff(name: str, indices: Any, shown: Mapping[str, Any]) -> Path:
    """Draw what leader and follower think of the actions of a standoff, one above the other to fit a phone."""
    theme = THEMES[name]
    waited, declined, best = (
        TEAMS[team][1 + (name == "dark")] for team in ("naive-ucb", "partner-aware-ucb", "naive-ts")
    )
    rounds = np.arange(20, STANDOFF_ROUNDS + 1, 20)
    figure = Figure(figsize=(6.4, 6.4), facecolor=theme["page"], layout="constrained")
    views = (
        (
            1,
            "The leader's indices",
            (((1, 1), waited, "(1, 1), waited for"), ((0, 0), best, "(0, 0), the best action")),
        ),
        (
            0,
            "The follower's indices in that column",
            (((0, 1), declined, "(0, 1), played"), ((1, 1), waited, "(1, 1), declined")),
        ),
    )
    for axes, (agent, title, lines) in zip(figure.subplots(2, 1, sharex=True), views, strict=True):
        axes.set_facecolor(theme["page"])
        for cell, colour, label in lines:
            axes.plot(rounds, indices[agent, :, cell[0], cell[1]], color=colour, linewidth=2.2, label=label)
        axes.set_title(title, loc="left", color=theme["ink"], fontsize=13, weight="bold")
        axes.set(ylim=(0.4, 1.4), xlim=(0, STANDOFF_ROUNDS))
        axes.set_ylabel("index", color=theme["soft"])
        axes.tick_params(colors=theme["soft"], length=0)
        axes.grid(color=theme["grid"])
        axes.spines[:].set_visible(False)
        axes.legend(frameon=False, labelcolor=theme["ink"], loc="upper right", fontsize=12)
    axes.set_xlabel("round", color=theme["soft"])
    axes.set_xticks(range(0, STANDOFF_ROUNDS + 1, 5_000), [f"{t:,}" for t in range(0, STANDOFF_ROUNDS + 1, 5_000)])
    path = FOLDER / f"standoff-{name}.svg"
    with mpl.rc_context({"svg.hashsalt": "cobandit"}):
        figure.savefig(path, metadata={"Description": json.dumps(shown), "Date": None}, facecolor=theme["page"])
    return path


def take_screenshots() -> Iterator[Path]:
    """Play some rounds of both demos in Chromium and take pictures of the pages, as a participant sees them."""
    with demo_site([load_design(study) for study in STUDIES]) as (address, browser):
        for study, name in itertools.product(STUDIES, THEMES):
            page = browser.new_page(viewport=SCREEN, color_scheme=cast(ColorScheme, name), reduced_motion="reduce")
            token = _participant(address, study)
            page.goto(f"{address}/p/{token}")
            page.wait_for_selector(".choice, .machine")
            # A few rounds more until the latest outcome is good: a sad customer on the first page would not invite.
            for n, arm in enumerate([*STUDIES[study], *[STUDIES[study][-1]] * MOST_FURTHER]):
                if n >= len(STUDIES[study]) and _latest_is_good(address, token):
                    break
                page.keyboard.press(KEYS[study][arm])
                page.wait_for_selector(f"[data-shown='{n + 1}'], [data-played='{n + 1}']")
            page.screenshot(path=FOLDER / f"{study}-{name}.png")
            page.screenshot(path=STILLS / f"{study}-{name}.png", clip=page.evaluate(STILL))
            page.close()
            yield FOLDER / f"{study}-{name}.png"
            yield STILLS / f"{study}-{name}.png"


def _latest_is_good(address: str, token: str) -> bool:
    """Return whether the latest round of a participant had a good outcome."""
    state = httpx.get(f"{address}/api/participants/{token}", timeout=60, trust_env=False).raise_for_status().json()
    return bool(state["episode"]["latest"]["good"])


def _participant(address: str, study: str) -> str:
    """Create a participant of the demo, answer everything before the first round, and return the token."""
    design = load_design(study)
    answers: dict[str, dict[str, Any]] = {
        "demographics": {"age": 33, "gender": 0, "ai_researcher": 1},
        "quiz": {item.id: item.answer for item in design.quiz},
    }
    with httpx.Client(base_url=f"{address}/api/", timeout=60, trust_env=False) as client:
        arrival = {"key": str(uuid.uuid4()), "consent_version": design.consent.version, "language": "en", "demo": True}
        token = str(client.post(f"studies/{study}/participants", json=arrival).raise_for_status().json()["token"])
        while not (step := client.get(f"participants/{token}").json()["step"]["id"]).startswith("episode"):
            body = {"answers": answers.get(step, {})}
            client.post(f"participants/{token}/answers/{step}", json=body).raise_for_status()
    return token


def main() -> None:
    """Draw all pictures."""
    mpl.rcParams["font.family"] = "DejaVu Sans"
    FOLDER.mkdir(parents=True, exist_ok=True)
    STILLS.mkdir(parents=True, exist_ok=True)
    results, recording, comparison = simulated_teams(), burger(), compared()
    paths = [draw_teams(name, results, recording) for name in THEMES]
    paths += [draw_example(name, comparison) for name in THEMES]
    indices, shown = standoff_run()
    paths += [draw_standoff(name, indices, shown) for name in THEMES]
    for path in (*paths, *take_screenshots()):
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} KB", flush=True)


if __name__ == "__main__":
    main()
