"""The panels are those of the paper, with what varies and what is fixed in each."""

import pytest

import cobandit as cb
from cobandit.experiments import Job, Settings, chunks, with_index
from cobandit.experiments.figures import HIDDEN_ACTIONS, PANELS, STANDOFF, THEORY, panel
from cobandit.experiments.figures.curiosity import CURIOSITY
from cobandit.problem import FixedMeans, RandomMeans
from cobandit.theory import bound

FIXED = [0.8, 0.4, 0.2, 0.6]


def teams(name: str) -> list[dict]:
    return [curve.team.describe() for curve in panel(name).curves]


def sights(name: str) -> list[tuple]:
    return [curve.problem.observation.levels for curve in panel(name).curves]


def test_every_panel_can_be_made() -> None:
    assert THEORY not in PANELS
    for name in (*PANELS, THEORY):
        found = panel(name)
        assert found.name == name
        assert found.claims
        assert found.horizon == (10_000 if name in ("sim3-right", "very-naive") else 2_000)


def test_the_standoff_is_in_the_setting_of_the_theorem_and_played_only_when_named() -> None:
    found = panel(STANDOFF)
    assert STANDOFF not in (*PANELS, *(panel.name for panel in Job.paper().panels))
    assert (found.horizon, found.long_horizon) == (200_000, 10_000_000)
    assert panel(THEORY).long_horizon is None
    printed, curious, heeding = (teams(STANDOFF)[i::3] for i in range(3))
    assert {(team["window"], team["repeat"]) for team in teams(STANDOFF)} == {(1, 2)}
    assert {team["exploration"] for team in (*printed, *heeding)} == {2.0}
    assert [team["follower_exploration"] for team in curious] == pytest.approx([8.0, 4.5, 4.2722], abs=1e-4)
    assert all(team["heed"] for team in heeding)
    footnote, alike, better = (curve.problem for curve in found.curves[::3])
    assert (footnote.known_ranks(), alike.known_ranks(), better.known_ranks()) == ((1, 0), (0, 1), (0, 1))
    assert alike.arms == (2, 31)
    assert bound(alike, 10**8).proved == pytest.approx(623_948, abs=1)
    assert bound(better, 3 * 10**8).proved == pytest.approx(635_925, abs=1)
    assert not bound(alike, 10**8).logarithmic


def test_hidden_actions_differ_only_in_whether_rewards_are_common() -> None:
    found = panel(HIDDEN_ACTIONS)
    assert HIDDEN_ACTIONS not in (*PANELS, *(panel.name for panel in Job.paper().panels))
    for curve in found.curves:
        problem = curve.problem
        assert problem.hides_actions
        common = curve.name.endswith("-common")
        noise, spread = problem.observation.noise, problem.reward.low
        assert (noise, spread) == (((0.0, 0.0), 0.25) if common else ((0.25, 0.25), 0.0))
        assert {team.get("exploration", 0.125) for team in teams(HIDDEN_ACTIONS)} == {0.125}
    assert {claim.kind for claim in found.claims} == {"linear", "sublinear", "beats", "no difference"}


def test_curiosity_varies_the_exploration_of_followers() -> None:
    assert [made.name for made in Job.paper(["curiosity"]).panels] == list(CURIOSITY)
    for name in CURIOSITY:
        ratios = teams(name)[:5]
        assert [team.get("follower_exploration") for team in ratios] == [0.0125, 0.025, 0.05, 0.1, 0.2]
        assert {team["exploration"] for team in ratios} == {0.025}
        assert panel(name).claims
    with pytest.raises(cb.UnknownName, match="curiosity-fixed"):
        panel("curiosity-fixd")


def test_curiosity_in_larger_teams_doubles_from_rank_to_rank() -> None:
    team = panel("curiosity-n-4").curve("by-rank").team
    assert [member.exploration for member in team.lineup] == [0.2, 0.1, 0.05, 0.025]


def test_heeding_at_a_small_constant_is_forced_on_both_engines() -> None:
    with pytest.raises(cb.InvalidInput, match=r"exploration must be above 0\.5 for a heeding leader"):
        cb.PartnerAwareUCB(exploration=0.025, heed=True)
    curve = panel("curiosity-fixed").curve("heeding")
    fast, plain = (
        cb.simulate(curve.problem, curve.team, 400, runs=30, seed=5, engine=engine) for engine in ("fast", "reference")
    )
    assert fast.task_regret.tolist() == plain.task_regret.tolist()
    printed = cb.simulate(curve.problem, panel("curiosity-fixed").curve("ratio-1").team, 400, runs=30, seed=5)
    assert fast.task_regret.tolist() != printed.task_regret.tolist()


def test_curiosity_has_the_runs_that_decide_it() -> None:
    panels = Job.paper(["curiosity"]).panels
    usual, given = Settings(panel_runs=True), Settings(runs=7)
    assert [usual.runs_of(made) for made in panels] == [4_000, 4_000, 100, 4_000, 4_000]
    assert {given.runs_of(made) for made in panels} == {7}
    assert sum(chunk.runs for chunk in chunks(panels[0], usual)) == 6 * 4_000
    assert {usual.runs_of(panel(name)) for name in (*PANELS, THEORY, STANDOFF, HIDDEN_ACTIONS)} == {100}
    assert "panel_runs" not in given.to_dict()
    assert Settings(**usual.to_dict()) == usual
    with pytest.raises(cb.InvalidInput, match="panel_runs must be True or False, got 1"):
        Settings(panel_runs=1)  # type: ignore[arg-type]


def test_an_unknown_panel_gets_the_nearest() -> None:
    with pytest.raises(cb.UnknownName, match="Did you mean 'sim1-left'"):
        panel("sim1-lefft")


def test_what_varies() -> None:
    assert [team["repeat"] for team in teams("sim0-left")] == [1, 2, 3, 4]
    assert {team["window"] for team in teams("sim0-left")} == {1}
    assert [team["window"] for team in teams("sim0-right")] == [1, 5, 10, 25, 50, 100]
    for side in ("left", "right"):
        assert [team["agent"] for team in teams(f"sim1-{side}")] == ["partner-aware-ucb", "naive-ucb", "naive-ts"]
    assert sights("sim2-left") == [(0.6, 0.5), (0.8, 0.5), (1.0, 0.5)]
    assert sights("sim2-right") == [(1.0, 0.2), (1.0, 0.5), (1.0, 0.8)]
    assert [curve.problem.arms for curve in panel("sim3-left").curves] == [(2, 2), (3, 3), (4, 4)]
    assert [curve.problem.arms for curve in panel("sim3-right").curves] == [(30, 30)]
    assert sights("sim4") == [(1 / 2, 1.0), (1 / 3, 2 / 3, 1.0), (1 / 4, 1 / 2, 3 / 4, 1.0)]
    assert [team["members"][0]["agent"] for team in teams("apx1")] == ["knowledge-gradient"] * 3
    assert [team["members"][1]["window"] for team in teams("apx1")] == [1, 5, 25]
    assert [team["agent"] for team in teams("very-naive")] == ["partner-aware-ucb", "very-naive-ucb"]
    assert {key: teams(THEORY)[0][key] for key in ("window", "repeat", "exploration")} == {
        "window": 1,
        "repeat": 2,
        "exploration": 2.0,
    }


def test_what_is_fixed() -> None:
    for name in ("sim0-left", "sim0-right", "sim1-left", "sim2-left", "sim2-right", "apx1"):
        for curve in panel(name).curves:
            assert isinstance(curve.problem.means, FixedMeans)
            assert list(curve.problem.means.values) == FIXED
    for name in ("sim1-right", "sim3-right", "other-envs-left", "other-envs-right", "very-naive"):
        assert all(isinstance(curve.problem.means, RandomMeans) for curve in panel(name).curves)
    assert {curve.problem.observation.name for curve in panel("other-envs-left").curves} == {"flipped"}
    gaussian = panel("other-envs-right").curves[0].problem
    assert isinstance(gaussian.reward, cb.Gaussian)
    assert isinstance(gaussian.observation, cb.Noisy)
    assert (gaussian.reward.low, gaussian.reward.high, gaussian.observation.noise) == (0.1, 0.5, (0.1, 0.5))
    for curve in panel("sim4").curves:
        assert isinstance(curve.problem.means, FixedMeans)
        assert curve.problem.known_ranks()[-1] == 0
    for name in PANELS:
        for curve in panel(name).curves:
            described = curve.team.describe()
            for member in described.get("members", [described]):
                assert member.get("exploration", 0.025) == 0.025


def test_another_index_goes_to_whoever_has_one() -> None:
    changed = with_index(panel("apx1"), "companion")
    members = changed.curves[0].team.describe()["members"]
    assert members[0] == cb.Team.of("knowledge-gradient").describe()
    assert members[1]["index"] == "companion"
    assert panel("apx1").curves[0].team.describe()["members"][1]["index"] == "paper"


def test_chunks_cover_every_run_once_and_have_stable_ids() -> None:
    pieces = list(chunks(panel("sim1-left"), Settings(runs=1201, chunk_runs=500)))
    assert [piece.id for piece in pieces[:3]] == [f"sim1-left/partner-aware-ucb/{k}" for k in range(3)]
    for curve in panel("sim1-left").curves:
        runs = [range(p.first_run, p.first_run + p.runs) for p in pieces if p.curve.name == curve.name]
        assert [run for part in runs for run in part] == list(range(1201))
    assert len({piece.digest for piece in pieces}) == len(pieces)


@pytest.mark.parametrize("change", [{"seed": 1}, {"horizon": 300}, {"runs": 150, "chunk_runs": 20}])
def test_a_digest_tells_settings_apart(change: dict) -> None:
    first = next(chunks(panel("sim4"), Settings()))
    assert first.digest == next(chunks(panel("sim4"), Settings())).digest
    assert first.digest != next(chunks(panel("sim4"), Settings(**change))).digest
    assert first.digest != next(chunks(with_index(panel("sim4"), "anytime"), Settings())).digest


@pytest.mark.parametrize(
    "wrong", [{"runs": 0}, {"seed": -1}, {"horizon": 1}, {"index": "papper"}, {"chunk_runs": 0}, {"runs": "many"}]
)
def test_bad_settings(wrong: dict) -> None:
    with pytest.raises(cb.InvalidInput):
        Settings(**wrong)
