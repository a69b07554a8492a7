"""``cobandit play``: games from piped lines, as a person would type them."""

from __future__ import annotations

import builtins
import csv
import errno

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine import reference

RANDOM = cb.Problem.bernoulli(arms=(2, 2), observability=[1.0, 0.5])


def lines(*answers: object) -> str:
    return "".join(f"{answer}\n" for answer in answers)


def scripted(arms: list[int], problem: cb.Problem, partner: cb.Agent, seed: int, rounds: int) -> cb.Trajectory:
    """The same game, played by a script in the person's place."""
    answers = iter(arms)
    person = cb.Human(ask=lambda human: next(answers), tell=lambda human, action, seen: None)
    return reference.run_trajectory(problem, cb.Team([person, partner]), rounds, seed, 0)


class TestAGame:
    def test_hidden_actions_show_own_arms_only(self, run):
        words = ("play", "--actions", "hidden", "--labels", "a,b;c,d", "--seed", "3")
        done = run(*words, "--rounds", "3", stdin=lines("a", "b", "b"))
        assert done.exit_code == 0
        during, end = done.stdout.split("The game is over after 3 of 3 rounds.")
        assert "No player learns the arms of the others." in " ".join(during.split())
        assert "You a: " in during
        assert "You b: " in during
        assert "partner c" not in during
        assert "partner d" not in during
        assert "partner c" in end
        assert "2 very-naive-ucb agents with the same luck" in " ".join(end.split())

    def test_hidden_actions_refuse_a_partner_that_needs_them(self, run):
        done = run("play", "--actions", "hidden", "--partner", "partner-aware-ucb", "--seed", "3", stdin=lines(0))
        assert done.exit_code == 2
        assert "needs the arms of its partners" in " ".join(done.stderr.split())
        assert done.stdout == ""

    def test_hidden_actions_are_for_bandits(self, run):
        done = run("play", "--actions", "hidden", "--problem", "burger-line")
        assert done.exit_code == 2
        assert "--actions cannot be combined with --problem" in " ".join(done.stderr.split())

    def test_the_partner_is_the_agent_of_simulations(self, run, tmp_path):
        arms = [0, 1, 1, 0, 1, 0, 0, 1]
        target = tmp_path / "game.csv"
        words = ("--window", "2", "--exploration", "0.01", "--seed", "5", "--rounds", "8", "--save", str(target))
        done = run("play", *words, stdin=lines(*arms))
        game = scripted(arms, RANDOM, cb.PartnerAwareUCB(window=2, exploration=0.01), 5, 8)
        with target.open(newline="") as file:
            kept = list(csv.DictReader(file))
        assert list(kept[0]) == list(game.columns())
        for name, column in game.columns().items():
            assert [float(row[name]) for row in kept] == column.tolist()
        sentence = f"The rounds are kept in {target}."  # a long path is broken to fit the screen
        assert "".join(sentence.split()) in "".join(done.stdout.split())
        assert (
            f"You and your partner: task regret {game.task_regret[-1]:.2f}, {int(game.rewards.sum())} hit"
            in done.stdout
        )

    def test_each_outcome_and_the_counts(self, run):
        arms = [0, 1, 1, 0, 1, 0]
        game = scripted(arms, RANDOM, cb.PartnerAwareUCB(), 3, 6)
        shown = run("play", "--seed", "3", "--rounds", "6", stdin=lines(*arms)).stdout
        told = [line for line in shown.splitlines() if line.startswith("You ") and "partner" in line and ":" in line][
            1:
        ]
        expected = [
            f"You {own}, partner {other}: {'HIT' if seen else 'MISS'}"
            for (own, other), seen in zip(game.actions.tolist(), game.seen[:, 0], strict=True)
        ]
        assert told[:6] == expected
        hits = sum(1 for (own, other), seen in zip(game.actions.tolist(), game.seen[:, 0], strict=True) if seen)
        last = shown.split("That was the last round.")[0].split("Round 6")[1]
        words = last.replace(",", " ").split()
        counted = sum(int(words[k - 1]) for k, word in enumerate(words) if word in ("hit", "hits"))
        assert counted == hits

    def test_the_means_are_told_at_the_end_and_not_before(self, run):
        means = scripted([0], RANDOM, cb.NaiveUCB(), 11, 1).means
        shown = run("play", "--seed", "11", "--rounds", "4", "--partner", "naive-ucb", stdin=lines(0, 1, 0, 1)).stdout
        before, after = shown.split("The game is over")
        for mean in means.ravel():
            assert f"{mean:.2f}" not in before
            assert f"{mean:.2f}" in after
        best = " + ".join(str(int(arm)) for arm in np.unravel_index(int(means.argmax()), means.shape))
        assert f"The best team action was {best}" in after

    def test_how_a_pair_of_agents_would_have_done(self, run):
        words = ("--seed", "11", "--rounds", "6", "--window", "3")
        shown = run("play", *words, stdin=lines(*[0] * 6)).stdout
        pair = reference.run_trajectory(RANDOM, cb.Team.of("partner-aware-ucb", window=3), 6, 11, 0)
        line = f"2 partner-aware-ucb agents with the same luck: task regret {pair.task_regret[-1]:.2f}, "
        assert line + f"{int(pair.rewards.sum())} hit" in " ".join(shown.split())

    def test_without_a_seed_every_game_is_another(self, run):
        seeds = {run("play", "--rounds", "1", stdin=lines(0)).stdout.split("The seed was ")[1] for _ in range(2)}
        assert len(seeds) == 2

    def test_three_agents(self, run):
        done = run("play", "--arms", "2,2,2", "--seed", "3", "--rounds", "2", stdin=lines(1, 0))
        assert done.exit_code == 0
        assert "You and your 2 partners" in done.stdout
        assert "You see 100% of the hits, your 2 partners 50%, 50%" in " ".join(done.stdout.split())
        assert "3 partner-aware-ucb agents with the same luck" in done.stdout

    def test_many_arms_make_a_list(self, run):
        done = run("play", "--arms", "2,9", "--seed", "3", "--rounds", "2", stdin=lines(1, 0))
        assert done.exit_code == 0
        assert max(map(len, done.stdout.splitlines())) <= 80

    def test_more_arms_than_are_worth_telling(self, run):
        done = run("play", "--arms", "9,9", "--seed", "3", "--rounds", "2", stdin=lines(1, 8))
        assert done.exit_code == 0
        assert len(done.stdout.splitlines()) < 60


class TestLabels:
    LABELS = ("--labels", "patty,cheese;tomato,lettuce", "--seed", "3")

    @pytest.mark.parametrize("answer", ["cheese", "CHEESE", "che", "1", " cheese "])
    def test_an_arm_by_its_name(self, run, answer):
        shown = run("play", *self.LABELS, "--rounds", "1", stdin=lines(answer)).stdout
        assert "Your arm (0 patty, 1 cheese; q to stop)" in shown
        assert "You cheese, partner " in shown
        assert "partner lettuce" in shown

    def test_a_beginning_that_two_names_share(self, run):
        shown = run("play", "--labels", "tea,toast;a,b", "--rounds", "1", stdin=lines("t", "toast")).stdout
        assert "'t' is none of your arms" in shown
        assert "You toast, partner" in shown

    def test_numbers_as_labels_where_they_agree(self, run):
        assert run("play", "--labels", "0,1;2,3", "--rounds", "1", stdin=lines(1)).exit_code == 0


class TestBadInput:
    @pytest.mark.parametrize("answer", ["2", "-1", "x", "0.5", "", "0 1", "²", "1" * 5000, "\x00"])
    def test_is_asked_again(self, run, answer):
        done = run("play", "--seed", "3", "--rounds", "1", stdin=lines(answer, 1))
        assert done.exit_code == 0
        assert done.stdout.count("Your arm (0, 1; q to stop)") == 2
        assert "Please type one of: 0, 1; or q to stop." in " ".join(done.stdout.split())
        assert "The game is over after 1 of 1 rounds." in done.stdout


class TestLeaving:
    @pytest.mark.parametrize("last", ["q\n", "Q\n", "quit\n", "exit\n", ""])
    def test_politely_with_what_was_played(self, run, last, tmp_path):
        target = tmp_path / "game.csv"
        done = run("play", "--seed", "3", "--save", str(target), stdin=lines(0, 1) + last)
        assert done.exit_code == 0
        assert "The game is over after 2 of 20 rounds." in done.stdout
        assert "The best team action was" in done.stdout
        pair = reference.run_trajectory(RANDOM, cb.Team.of("partner-aware-ucb"), 20, 3, 0)
        assert f"task regret {pair.task_regret[1]:.2f}" in done.stdout
        assert target.read_text().count("\n") == 3

    def test_before_the_first_round(self, run, tmp_path):
        target = tmp_path / "game.csv"
        done = run("play", "--seed", "3", "--save", str(target), stdin="")
        assert done.exit_code == 0
        assert "The game is over after 0 of 20 rounds." in done.stdout
        assert "Nothing was played, so nothing was kept." in done.stdout
        assert not target.exists()

    def test_by_ctrl_c(self, run, monkeypatch, tmp_path):
        answers = iter(["0", "1"])

        def typed(question: str) -> str:
            answer = next(answers, None)
            if answer is None:
                raise KeyboardInterrupt
            return answer

        monkeypatch.setattr(builtins, "input", typed)
        target = tmp_path / "game.csv"
        done = run("play", "--seed", "3", "--save", str(target))
        assert done.exit_code == 130
        assert "The game is over after 2 of 20 rounds." in done.stdout
        assert done.stderr == ""
        assert target.read_text().count("\n") == 3

    def test_a_file_that_cannot_be_written_costs_nobody_the_end(self, run, monkeypatch, tmp_path):
        from cobandit import Trajectory

        target = tmp_path / "game.csv"

        def full(*args: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))

        monkeypatch.setattr(Trajectory, "save", full)
        done = run("play", "--seed", "3", "--save", str(target), stdin=lines(0, "q"))
        assert done.exit_code == 2
        assert "The best team action was" in done.stdout
        assert done.stderr == f"Error: No space left on device: {str(target)!r}.\n"

    def test_a_folder_in_the_files_place(self, run, tmp_path):
        (tmp_path / "game.csv").mkdir()
        assert run("play", "--save", str(tmp_path / "game.csv"), stdin=lines(0)).exit_code == 2


def test_as_a_program(program):
    done = program("play", "--seed", "3", "--rounds", "2", stdin="x\n0\n1\n")
    assert done.returncode == 0, done.stderr
    assert "'x' is none of your arms" in done.stdout
    assert "The game is over after 2 of 2 rounds." in done.stdout
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
