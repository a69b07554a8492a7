"""The comparison figure."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import cobandit as cb
from cobandit.report import draw_comparison
from cobandit.report.kit.palette import COLOURS, DASHES
from cobandit.report.simulation import comparison

pytest.importorskip("matplotlib")


def results(*teams: cb.Team, horizon: int = 30, runs: int = 5, **problem: object) -> list[cb.Result]:
    made = cb.Problem.bernoulli(problem.get("means", [[0.8, 0.4], [0.2, 0.6]]), observability=[1.0, 0.5])  # type: ignore[arg-type]
    return [cb.simulate(made, team, horizon, runs=runs, seed=0, engine="reference") for team in teams]


TWO = (cb.Team.of("naive-ucb"), cb.Team.of("partner-aware-ucb"))


class TestCurves:
    def lines(self, regret: str = "task") -> tuple[list[cb.Result], dict[str, object]]:
        played = results(*TWO)
        figure = comparison.comparison_figure(played, regret)  # type: ignore[arg-type]
        panels = [axes for part in figure.subfigs for axes in part.axes]
        return played, {line.get_gid(): line for axes in panels for line in axes.lines if line.get_gid()}

    def test_they_are_the_summary(self):
        played, lines = self.lines()
        assert set(lines) == {f"{kind}-{team.label}" for kind in ("mean", "median") for team in TWO}
        for result in played:
            summary = result.summary().task_regret
            for kind in ("mean", "median"):
                line = lines[f"{kind}-{result.team.label}"]
                assert np.array_equal(line.get_xdata(), [0, *result.checkpoints])  # type: ignore[attr-defined]
                assert np.array_equal(line.get_ydata(), [0.0, *getattr(summary, kind)])  # type: ignore[attr-defined]

    def test_team_regret(self):
        played, lines = self.lines("team")
        last = lines["mean-naive-ucb"].get_ydata()[-1]  # type: ignore[attr-defined]
        assert last == played[0].team_regret[:, -1].mean()

    def test_no_two_teams_look_alike(self):
        looks = list(itertools.islice(zip(itertools.cycle(COLOURS), itertools.cycle(DASHES)), 40))
        assert len(set(looks)) == 40


class TestFile:
    def test_svg_is_readable_text(self, tmp_path):
        target = draw_comparison(results(*TWO), tmp_path / "teams.svg")
        root = ElementTree.parse(target).getroot()
        words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
        assert {"naive-ucb", "partner-aware-ucb", "cumulative task regret", "round"} <= words

    def test_the_same_results_give_the_same_file(self, tmp_path):
        played = results(*TWO)
        first = draw_comparison(played, tmp_path / "a.svg").read_bytes()
        assert draw_comparison(played, tmp_path / "b.svg").read_bytes() == first

    @pytest.mark.parametrize("kind", ["png", "PDF"])
    def test_other_formats(self, tmp_path, kind):
        target = draw_comparison(results(*TWO), tmp_path / f"teams.{kind}")
        assert target.read_bytes()[:4] in (b"\x89PNG", b"%PDF")

    def test_nothing_half_done_is_left(self, tmp_path, monkeypatch):
        from matplotlib.figure import Figure

        def full(self: object, file: object, **options: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Figure, "savefig", full)
        with pytest.raises(OSError, match="No space"):
            draw_comparison(results(*TWO), tmp_path / "teams.svg")
        assert list(tmp_path.iterdir()) == []


class TestEdges:
    @pytest.mark.parametrize("count", [1, 12])
    def test_any_number_of_teams(self, tmp_path, count):
        (one,) = results(cb.Team.of("naive-ucb"))
        assert draw_comparison([one] * count, tmp_path / "teams.svg").exists()

    def test_one_run_of_one_round(self, tmp_path):
        assert draw_comparison(results(*TWO, horizon=1, runs=1), tmp_path / "teams.svg").exists()

    def test_large_regret_is_on_a_logarithmic_scale(self, tmp_path):
        figure = comparison.comparison_figure(results(*TWO, horizon=400), "task")
        assert {axes.get_yscale() for axes in figure.subfigs[1].axes if axes.get_visible()} == {"symlog"}

    def test_random_means_and_a_mixed_team(self, tmp_path):
        mixed = cb.Team([cb.KnowledgeGradient(), cb.PartnerAwareUCB()])
        target = draw_comparison(results(mixed, *TWO, means="random"), tmp_path / "teams.svg")
        assert 'id="mean-knowledge-gradient-and-partner-aware-ucb"' in target.read_text(encoding="utf-8")

    def test_noise_in_the_title(self):
        played = cb.simulate(cb.Problem.gaussian(arms=(2, 2), noise=[0.1, 0.5]), TWO[0], 5, 2, 0, engine="reference")
        assert comparison.comparison_title(played) == "2 x 2 arms, random means, noise 0.1, 0.5; 2 runs, seed 0"

    def test_models_of_ones_own_in_the_title(self):
        class Dice(cb.RandomMeans):
            pass

        class Eyes(cb.Missed):
            pass

        problem = cb.Problem.bernoulli(Dice((2, 2)), observation=Eyes((1.0, 0.5)))
        played = cb.simulate(problem, TWO[0], 5, runs=2, seed=0)
        assert comparison.comparison_title(played) == "2 x 2 arms, means by Dice, sight by Eyes: 1, 0.5; 2 runs, seed 0"


class TestRefused:
    def test_nothing_to_draw(self, tmp_path):
        with pytest.raises(cb.InvalidInput, match="at least one Result, got"):
            draw_comparison([], tmp_path / "teams.svg")

    def test_no_such_regret(self, tmp_path):
        with pytest.raises(cb.UnknownName, match="task"):
            draw_comparison(results(*TWO), tmp_path / "teams.svg", regret="tsk")  # type: ignore[arg-type]

    @pytest.mark.parametrize("name", ["teams", "teams.gif", "teams.svg.gz"])
    def test_no_such_format(self, tmp_path, name):
        with pytest.raises(cb.InvalidInput, match=r"\.svg, \.png, \.pdf"):
            comparison.checked_figure(tmp_path / name)

    def test_a_folder_of_that_name(self, tmp_path):
        (tmp_path / "teams.svg").mkdir()
        with pytest.raises(cb.InvalidInput, match="folder"):
            comparison.checked_figure(tmp_path / "teams.svg")
