"""Sweep files: what they make, and what is refused with the nearest right word."""

import sys
from pathlib import Path

import pytest

import cobandit as cb
from cobandit.experiments import Job, Processes
from cobandit.experiments.claims import Beats
from cobandit.experiments.sweep import parse_sweep, sweep_text

GOOD = """
name = "windows"
horizon = 300
runs = 20

[problem]
means = [[0.8, 0.4], [0.2, 0.6]]
observability = [1.0, 0.5]

[[team]]
name = "aware"
agent = "partner-aware-ucb"
exploration = 0.1

[[team]]
name = "mixed"
members = [{ agent = "knowledge-gradient" }, { agent = "partner-aware-ucb", repeat = 2 }]

[[team]]
agent = "naive-ucb"

[grid]
window = [1, 25]
"problem.observability" = [[1.0, 0.5], [1.0, 0.2]]

[[claim]]
kind = "beats"
better = "aware-window-1"
others = ["naive-ucb"]
"""


def test_the_grid_makes_curves_and_panels() -> None:
    panels, settings = parse_sweep(GOOD)
    assert [panel.name for panel in panels] == ["windows-observability-1.0-0.5", "windows-observability-1.0-0.2"]
    assert (settings.runs, settings.horizon, settings.seed) == (20, 300, 0)
    curves = {curve.name: curve for curve in panels[1].curves}
    assert list(curves) == ["aware-window-1", "aware-window-25", "mixed-window-1", "mixed-window-25", "naive-ucb"]
    assert curves["aware-window-25"].label == "aware, window = 25"
    assert curves["aware-window-25"].team == cb.Team.of("partner-aware-ucb", window=25, exploration=0.1)
    follower = cb.PartnerAwareUCB(window=1, repeat=2)
    assert curves["mixed-window-1"].team == cb.Team([cb.KnowledgeGradient(), follower])
    assert curves["naive-ucb"].problem.observation.levels == (1.0, 0.2)
    (claim,) = panels[0].claims
    assert isinstance(claim, Beats)
    assert claim.others == ("naive-ucb",)


def test_gaussian_and_random_problems() -> None:
    text = """
name = "noise"
horizon = 50
runs = 5
[problem]
reward = "gaussian"
means = "random"
arms = [2, 3]
noise = [0.1, 0.5]
sd = [0.2, 0.4]
[[team]]
agent = "partner-aware-ts"
"""
    (panel,), _ = parse_sweep(text)
    assert panel.curves[0].problem == cb.Problem.gaussian("random", [0.1, 0.5], arms=(2, 3), sd=(0.2, 0.4))


def test_the_example_file_is_a_sweep() -> None:
    panels, settings = parse_sweep(sweep_text(Path(__file__).parents[2] / "examples" / "windows.toml"))
    assert len(panels) == 2
    assert settings.runs == 200


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "windows"\n', "", "must have the field 'name'"),
        ("horizon = 300", "horizont = 300", "There is no key 'horizont'. Did you mean 'horizon'?"),
        ("runs = 20", "runs = 0", "runs must be"),
        ('name = "windows"', 'name = "../up"', "name must be lower-case letters"),
        ("observability = [1.0, 0.5]\n\n", "observabilty = [1.0, 0.5]\n\n", "Did you mean 'observability'"),
        ('"partner-aware-ucb"\nexpl', '"partner-aware-usb"\nexpl', "Did you mean 'partner-aware-ucb'"),
        ("exploration = 0.1", "explorations = 0.1", "Did you mean 'exploration'"),
        ("window = [1, 25]", "windows = [1, 25]", "Did you mean 'window'"),
        ("window = [1, 25]", "window = 1", "grid.window must be a list"),
        ("window = [1, 25]", "window = []", "a list of at least one value"),
        ("problem.observability", "problem.sight", "There is no key of problem called 'sight'"),
        ('kind = "beats"', 'kind = "beat"', "Did you mean 'beats'"),
        ('better = "aware-window-1"', 'better = "aware-window-2"', "Did you mean 'aware-window-25'"),
        ('better = "aware-window-1"', "", "A 'beats' claim needs better"),
        ('better = "aware-window-1"', 'beter = "aware-window-1"', "Did you mean 'better'"),
        ('agent = "naive-ucb"', 'name = "aware-window-1"\nagent = "naive-ucb"', "Two teams are called"),
        ('agent = "naive-ucb"', 'name = "x"', "needs an agent or a list of members"),
        ('{ agent = "knowledge-gradient" }', '{ agent = "centralised-ucb" }', "cannot be a member"),
        ('{ agent = "knowledge-gradient" }, ', "", "members must hold at least 2"),
        ("means = [[0.8", "sd = 0.3\nmeans = [[0.8", "problem.sd requires reward = 'gaussian'"),
        ("[[team]]", "[team]", "is not valid TOML"),
    ],
)
def test_mistakes_are_named(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(cb.InvalidInput, match=message):
        parse_sweep(GOOD.replace(old, new, 1))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(cb.InvalidInput, match="cannot be read: No such file"):
        sweep_text(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(cb.InvalidInput, match="is not UTF-8 text"):
        sweep_text(tmp_path / "binary.toml")
    (tmp_path / "huge.toml").write_text("#" * 1_000_001)
    with pytest.raises(cb.InvalidInput, match="is larger than"):
        sweep_text(tmp_path / "huge.toml")


def test_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "marked.toml").write_text(GOOD, encoding="utf-8-sig")
    assert sweep_text(tmp_path / "marked.toml") == GOOD


def test_a_grid_without_end_is_refused() -> None:
    many = GOOD.replace("window = [1, 25]", f"window = {list(range(1, 300))}")
    with pytest.raises(cb.InvalidInput, match="at most 500 make sense"):
        parse_sweep(many)


OWN = """
from dataclasses import dataclass

from cobandit import Agent, Controller


@dataclass
class Stubborn(Agent):
    arm: int = 0

    def choose(self):
        return self.arm

    def observe(self, team_action, reward):
        pass


class Needy(Stubborn):
    def __init__(self, partner):
        pass
"""
OWN_SWEEP = """
name = "own"
horizon = 10
runs = 4
[problem]
means = [[0.8, 0.4], [0.2, 0.6]]
observability = [1.0, 0.5]
[[team]]
agent = "my_sweep_agents:Stubborn"
[[team]]
name = "mixed"
members = [{ agent = "my_sweep_agents:Stubborn", arm = 1 }, { agent = "naive-ucb" }]
"""


@pytest.fixture
def own_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of somebody's own, the present one."""
    (tmp_path / "my_sweep_agents.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_sweep_agents", raising=False)
    return tmp_path


def test_agents_of_ones_own_play_in_workers_and_resume(own_agents: Path) -> None:
    (own_agents / "own.toml").write_text(OWN_SWEEP)
    job = Job.sweep("own.toml")
    (played,) = job.run(own_agents / "out", Processes(1))
    assert [curve.curve.name for curve in played.curves] == ["stubborn", "mixed"]
    assert played.curves[0].task_regret[:, -1].tolist() == [0.0] * 4
    assert played.curves[1].task_regret[:, -1].min() > 0.0
    events: list[str] = []
    (again,) = job.run(own_agents / "out", Processes(1), resume=True, watch=lambda event: events.append(event.kind))
    assert events == ["kept", "kept"]
    (stored,) = Job.stored(own_agents / "out").results(own_agents / "out")
    assert stored.curves[1].task_regret.tolist() == again.curves[1].task_regret.tolist()


def test_the_grid_reaches_options_of_ones_own_agents(own_agents: Path) -> None:
    (panel,), _ = parse_sweep(f"{OWN_SWEEP}[grid]\narm = [0, 1]\n".replace(", arm = 1", ""))
    assert [curve.name for curve in panel.curves] == [
        *("stubborn-arm-0", "stubborn-arm-1"),
        *("mixed-arm-0", "mixed-arm-1"),
    ]


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("no_such_module_here:Mine", "cannot be loaded"),
        ("my_sweep_agents:Yours", "has no 'Yours'"),
        ("my_sweep_agents:", "must be module:Class"),
        ("my_sweep_agents:dataclass", "must be a subclass of Agent or Controller"),
        ("my_sweep_agents:Needy", "cannot be made with these options"),
    ],
)
def test_mistakes_about_ones_own_agents_are_named(own_agents: Path, agent: str, message: str) -> None:
    with pytest.raises(cb.InvalidInput, match=message):
        parse_sweep(OWN_SWEEP.replace("my_sweep_agents:Stubborn", agent))


def test_a_grid_over_the_exploration_of_followers_and_heeding():
    teams = '[[team]]\nname = "aware"\nagent = "partner-aware-ucb"\nexploration = 2.0\n'
    grid = "[grid]\nfollower_exploration = [2.0, 8.0]\nheed = [false, true]\n"
    panels, _ = parse_sweep(GOOD.split("[[team]]")[0] + teams + grid)
    members = [curve.team.lineup[0] for curve in panels[0].curves]
    options = [(member.follower_exploration, member.heed) for member in members]
    assert options == [(2.0, False), (2.0, True), (8.0, False), (8.0, True)]
    with pytest.raises(cb.InvalidInput, match=r"exploration must be at least 0\.5 for a heeding leader"):
        parse_sweep(GOOD.split("[[team]]")[0] + teams.replace("2.0", "0.1") + grid)


def test_hidden_actions_and_who_may_play_them():
    text = GOOD.split("[[team]]")[0].replace("observability = [1.0, 0.5]", 'actions = "hidden"')
    teams = '[[team]]\nname = "plans"\nagent = "mucb"\n[grid]\n"problem.actions" = ["observed", "hidden"]\n'
    panels, _ = parse_sweep(text + teams)
    assert [made.curves[0].problem.actions for made in panels] == ["observed", "hidden"]
    with pytest.raises(cb.InvalidInput, match="actions is 'hidden', but bank needs"):
        parse_sweep(text + teams.replace("mucb", "bank"))
    with pytest.raises(cb.UnknownName, match="hidden"):
        parse_sweep(text.replace('"hidden"', '"hiden"') + teams.split("[grid]")[0])
