"""Maximum likelihood: against independent searches, closed forms, statsmodels and simulated people."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import warnings

import numpy as np
import pytest
from scipy import optimize

from cobandit.analysis import (
    CHOICE_MODELS,
    calibrate,
    fit_models,
    fitted_population,
    power_analysis,
    read_choices,
    read_population,
    recover_models,
)
from cobandit.analysis.choices import choices_of_tables
from cobandit.analysis.fitting import fit_model
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.stats.optimum import one_blas_thread
from cobandit.studies import StudyDesign, load_design, rehearsed_data, tables, write_export
from tests.analysis import choice_oracle
from tests.analysis.test_choice_models import choices_of
from tests.parameters import quick

BURGER = load_design("burger")


def study(people, design=BURGER):
    return rehearsed_data(design, people, answers="none")


@pytest.fixture(scope="module")
def mixed():
    """Twelve simulated people of four kinds, fitted by all models."""
    kinds = ["softmax", "epsilon-greedy", "win-stay-lose-shift", "recency-softmax"]
    return fit_models(study([(kinds[seed % 4], seed, seed % 2) for seed in range(12)]))


def histories(person, arms=(2, 2)):
    """The rounds of a person in seat 0 as the oracle takes them."""
    return [
        [
            (tuple(int(arm) for arm in np.unravel_index(cell, arms)), None if math.isnan(seen) else float(seen))
            for cell, seen in zip(cells, rewards, strict=True)
            if cell >= 0
        ]
        for cells, rewards in zip(person.cells.tolist(), person.seen.tolist(), strict=True)
    ]


SEARCHED = ["win-stay-lose-shift", "epsilon-greedy", "recency-softmax", "recency-softmax-own-arms", "softmax-ucb"]


@pytest.mark.parametrize("name", quick([*SEARCHED, "forgetful-knowledge-gradient"], ["epsilon-greedy", "softmax-ucb"]))
def test_no_other_search_finds_more(mixed, name):
    """A grid and Nelder-Mead on the oracle's likelihood, on the scale of the options."""
    place = [model.name for model in mixed.models].index(name)
    model, person, fit = mixed.models[place], mixed.people[3], mixed.fits[3][place]
    episodes = histories(person)

    def loss(values):
        pairs = zip(model.parameters, values, strict=True)
        if not all(p.low * (1 - 1e-9) <= value <= p.high * (1 + 1e-9) for p, value in pairs):
            return 1e9
        return -choice_oracle.log_likelihood(name, episodes, (2, 2), 0, BURGER.rounds, *values)

    grid = [np.geomspace(p.low * 2, p.high / 2, 6) if p.scale == "log" else [0.05, 0.2, 0.5, 0.8] for p in model.smooth]
    start = min(itertools.product(*grid), key=loss)
    other = optimize.minimize(loss, start, method="Nelder-Mead", options={"maxiter": 150, "xatol": 1e-5})
    assert loss(fit.values) == pytest.approx(-fit.log_likelihood, abs=1e-6)
    assert fit.log_likelihood > -other.fun - 1e-3


def test_the_memory_of_softmax_is_profiled(mixed):
    place = [model.name for model in mixed.models].index("softmax")
    for person, row in list(zip(mixed.people, mixed.fits, strict=True))[:3]:
        fit, episodes = row[place], histories(person)
        for memory in (1, 2, 4, 8, 12, 19):
            found = optimize.minimize_scalar(
                lambda log, memory=memory, episodes=episodes: (
                    -choice_oracle.log_likelihood("softmax", episodes, (2, 2), 0, BURGER.rounds, math.exp(log), memory)
                ),
                bounds=(math.log(0.01), math.log(10)),
                method="bounded",
            )
            assert fit.log_likelihood > -found.fun - 0.02


def test_slips_have_a_closed_form():
    """With two arms a slip shows in half of the cases: slip = 2 (1 - share of predicted choices), s.e. 2 sqrt(...)."""
    data = study([("win-stay-lose-shift", 3, 0)])
    person = read_choices(data).people[0]
    certain = CHOICE_MODELS["win-stay-lose-shift"].prepare(person)(np.array([[1e-9]]))[0]
    told = certain[~np.isclose(certain, math.log(0.5))]  # without first rounds, in which nothing is predicted
    share = float((told > math.log(0.5)).mean())
    fit = fit_model(CHOICE_MODELS["win-stay-lose-shift"], [person], "p")
    assert fit.values[0] == pytest.approx(2 * (1 - share), rel=1e-4)
    assert fit.estimates[0].se == pytest.approx(2 * math.sqrt(share * (1 - share) / len(told)), rel=1e-3)


def test_temperature_and_standard_error_are_those_of_a_logistic_regression():
    """At a fixed rate, softmax over two own arms is a regression on the difference of their values."""
    from statsmodels.discrete.discrete_model import Logit

    model = CHOICE_MODELS["recency-softmax-own-arms"]
    person = read_choices(study([("softmax", 1, 0)])).people[0]
    fixed = dataclasses.replace(model, parameters=model.parameters[1:], prepare=lambda c: _at_rate(model, c, 0.3))
    fit = fit_model(fixed, [person], "p", cross_validate=False)
    differences, chosen = [], []
    for episode in histories(person):
        values = [0.5, 0.5]
        for action, reward in episode:
            differences.append(values[1] - values[0])
            chosen.append(action[0])
            values[action[0]] += 0.3 * (reward - values[action[0]])
    regression = Logit(np.array(chosen), np.array(differences)[:, np.newaxis]).fit(disp=0)
    slope, se = regression.params[0], regression.bse[0]
    assert fit.values[0] == pytest.approx(1 / slope, rel=1e-4)
    assert fit.log_likelihood == pytest.approx(regression.llf, abs=1e-6)
    assert fit.estimates[0].se == pytest.approx(se / slope**2, rel=1e-3)  # delta method for 1 / slope


def _at_rate(model, choices, rate):
    likelihood = model.prepare(choices)
    return lambda points: likelihood(np.column_stack([np.full(len(points), rate), points]))


def test_pooled_fits_find_the_truth():
    people = [("recency-softmax", seed, seed % 2) for seed in range(30)]
    fits = fit_models(study(people), ["recency-softmax", "win-stay-lose-shift"], cross_validate=False)
    pooled = next(fit for fit in fits.pooled if fit.model.name == "recency-softmax")
    for estimate, true in zip(pooled.estimates, (0.3, 0.15), strict=True):
        assert abs(estimate.value - true) < 4 * estimate.se
        assert estimate.low < true < estimate.high
    assert pooled.choices == sum(len(person) for person in fits.people) == 30 * 40
    by_person = sum(row[1].log_likelihood for row in fits.fits)
    assert min(fit.log_likelihood for fit in fits.pooled) <= by_person


def test_criteria_and_counts(mixed):
    for person, row in zip(mixed.people, mixed.fits, strict=True):
        for fit in row:
            assert fit.choices == len(person) == 40
            assert fit.bic == pytest.approx(len(fit.values) * math.log(40) - 2 * fit.log_likelihood)
            assert fit.aic == pytest.approx(2 * len(fit.values) - 2 * fit.log_likelihood)
            assert fit.converged
            assert 1 <= fit.found <= fit.starts
    by_bic = mixed.best("bic")
    for name, row in zip(by_bic, mixed.fits, strict=True):
        assert name == min(row, key=lambda fit: fit.bic).model.name
    assert sum(total.best_by_bic for total in mixed.totals) == len(mixed.people)
    assert [total.bic for total in mixed.totals] == sorted(total.bic for total in mixed.totals)
    chance = next(total for total in mixed.totals if total.model.name == "chance")
    assert chance.probability == pytest.approx(0.5)
    assert chance.cross_validated == pytest.approx(-12 * 40 * math.log(2))


def test_episodes_are_left_out_one_by_one():
    person = read_choices(study([("epsilon-greedy", 2, 0)])).people[0]
    fit = fit_model(CHOICE_MODELS["epsilon-greedy"], [person], "p")
    total = 0.0
    for episode in (0, 1):
        history = histories(person)
        kept, left_out = [history[1 - episode]], [history[episode]]

        def loss(logit, kept=kept):
            epsilon = 1 / (1 + math.exp(-logit))
            width = 2 * math.log((1 - 1e-4) / 1e-4) / 4
            return 0.5 * (logit / width) ** 2 - choice_oracle.log_likelihood(
                "epsilon-greedy", kept, (2, 2), 0, 20, epsilon
            )

        best = optimize.minimize_scalar(loss, bounds=(-9, 9), method="bounded", options={"xatol": 1e-8}).x
        total += choice_oracle.log_likelihood("epsilon-greedy", left_out, (2, 2), 0, 20, 1 / (1 + math.exp(-best)))
    assert fit.cross_validated == pytest.approx(total, abs=1e-4)


def test_an_export_gives_the_same_as_memory(tmp_path):
    data = study([("softmax", seed, seed % 2) for seed in range(2)])
    write_export(data, tmp_path / "export")
    ours, theirs = (fit_models(source, "recency-softmax") for source in (data, tmp_path / "export"))
    assert [row[1].values for row in ours.fits] == [row[1].values for row in theirs.fits]
    files = ours.save(tmp_path / "fit")
    assert [file.name for file in files] == ["fits.json", "fits.csv", "parameters.csv"]
    stored = json.loads(files[0].read_text())
    assert stored["people"] == 2
    assert stored["models"][0]["pooled"]["choices"] == 80


class TestOddData:
    def test_somebody_who_never_changes(self):
        """Every estimate of a constant person lies on a bound or is flat, and says so."""
        episodes = [[((0, t % 2), 1.0) for t in range(20)] for _ in range(2)]
        person = choices_of(episodes, (2, 2), 0, 20)
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("error")
            fits = {name: fit_model(model, [person], "p") for name, model in CHOICE_MODELS.items()}
        assert fits["win-stay-lose-shift"].estimates[0].flag == "at bound"
        assert fits["win-stay-lose-shift"].estimates[0].se is None
        assert fits["win-stay-lose-shift"].log_likelihood == pytest.approx(-2 * math.log(2), abs=0.01)
        for fit in fits.values():
            assert math.isfinite(fit.log_likelihood)
            assert math.isfinite(fit.cross_validated)

    def test_one_round(self):
        person = choices_of([[((1, 0), 0.0)]], (2, 2), 0, 20)
        for model in CHOICE_MODELS.values():
            fit = fit_model(model, [person], "p")
            assert fit.log_likelihood == pytest.approx(math.log(0.5), abs=1e-6)
            assert fit.cross_validated is None
            assert all(estimate.se is None for estimate in fit.estimates)

    def test_nothing_was_ever_seen(self):
        episodes = [[((t % 2, 0), None) for t in range(6)]]
        person = choices_of(episodes, (2, 2), 0, 6)
        for name in ("softmax", "recency-softmax", "naive-ts", "epsilon-greedy"):
            fit = fit_model(CHOICE_MODELS[name], [person], "p")
            assert fit.log_likelihood == pytest.approx(6 * math.log(0.5), abs=1e-6)

    def test_the_simplest_of_equals_is_best(self):
        data = study([("softmax", 1, 0)])
        choices = read_choices(data)
        person = choices_of([[((1, 0), 0.0)]], (2, 2), 0, 20)
        fits = fit_models(dataclasses.replace(choices, people=(person,), orders=(0,)))
        assert fits.best() == ("chance",)
        assert fits.best("cross_validated") == (None,)
        assert all(total.cross_validated is None for total in fits.totals)

    @pytest.mark.parametrize(
        ("column", "value", "words"),
        [("arm_0", 2, "arm_0 of r-0001 must be a whole number from 0 to 1, got 2"),
         ("seen_0", 0.4, "seen_0 of r-0001 must be 0, 1 or empty, got 0.4"),
         ("seen_0", math.inf, "seen_0 of r-0001 must be 0, 1 or empty, got inf")],
    )  # fmt: skip
    def test_impossible_values(self, column, value, words):
        exported = tables(study([("softmax", 1, 0)]), practice=False)
        exported["long"][column] = exported["long"][column].copy()
        exported["long"][column][3] = value
        with pytest.raises(InvalidInput, match=words):
            choices_of_tables(BURGER, exported)

    def test_unseen_rounds_and_lost_rounds(self):
        exported = tables(study([("softmax", 1, 0), ("softmax", 2, 1)]), practice=False)
        exported["long"]["seen_0"] = exported["long"]["seen_0"].copy()
        exported["long"]["seen_0"][3] = math.nan
        exported["long"]["t"] = exported["long"]["t"].copy()
        exported["long"]["t"][5] = 99
        choices = choices_of_tables(BURGER, exported)
        assert len(choices.people[0].episodes) == 1
        assert any("not numbered from 1" in note for note in choices.notes)

    def test_nobody(self):
        with pytest.raises(InvalidInput, match="There are no choices to fit"):
            fit_models(study([]))
        data = study([("softmax", 1, 0)])
        unfinished = dataclasses.replace(data.participants[0], status="dropped")
        with pytest.raises(InvalidInput, match="1 of 1 are excluded"):
            fit_models(dataclasses.replace(data, participants=(unfinished,)))
        with pytest.raises(InvalidInput, match="StudyData or the folder"):
            fit_models(3)

    def test_no_rounds(self):
        exported = tables(study([("softmax", 1, 0)]), practice=False)
        exported["long"] = {name: values[:0] for name, values in exported["long"].items()}
        with pytest.raises(InvalidInput, match="no choices to fit: 1 began without rounds"):
            choices_of_tables(BURGER, exported)

    def test_scores_are_refused(self):
        points = {"rewards": {"kind": "points", "highest": 10}, "means": {"low": 0.0, "high": 10.0}}
        design = StudyDesign.from_dict(
            load_design("three-by-three").to_dict() | {"observation": "missed-known", **points}
        )
        with pytest.raises(InvalidInput, match="must be 0 or 1 for models of choices, got points"):
            fit_models(study([("softmax", 1, 0)], design))

    def test_wrong_arguments(self, mixed):
        with pytest.raises(UnknownName):
            fit_models(study([("softmax", 1, 0)]), ["no-such-model"])
        with pytest.raises(InvalidInput, match="starts must be"):
            fit_models(study([("softmax", 1, 0)]), starts=0)
        with pytest.raises(UnknownName):
            mixed.best("aic?")


def test_each_person_of_a_team_has_the_view_of_the_own_seat():
    design = load_design("burger-pair")
    data = rehearsed_data(design, [("softmax", 1, 0), ("epsilon-greedy", 2, 0)], answers="none")
    choices = read_choices(data)
    assert [person.seat for person in choices.people] == list(design.participant_seats)
    for person, stored in zip(choices.people, data.participants, strict=True):
        index = next(i for i in sorted(stored.episodes) if not stored.plan(design).episode(i).practice)
        log = stored.episodes[index]
        assert person.own[0].tolist() == log.arms[:, person.seat].tolist()
        np.testing.assert_array_equal(person.seen[0], log.seen[:, person.seat])
    fits = fit_models(choices, ["softmax", "epsilon-greedy"])
    assert len(fits.pooled[0].participant) > 0
    assert fits.pooled[0].choices == sum(map(len, choices.people))


def test_conditions_of_different_length_have_horizons_of_their_own():
    """The agents behind these models look at the number of rounds; a fit to each length alone is the oracle."""
    given = BURGER.to_dict()
    given["conditions"][1]["rounds"] = 8
    choices = read_choices(study([("softmax", seed, seed % 2) for seed in range(2)], StudyDesign.from_dict(given)))
    person = choices.people[0]
    assert sorted(zip(person.horizons.tolist(), person.counted.sum(axis=1).tolist(), strict=True)) == [(8, 8), (20, 20)]
    episodes = histories(person)
    for name, values in {"softmax-ucb": (0.3, 0.2, 0.1), "forgetful-knowledge-gradient": (0.8, 0.5)}.items():
        logs = CHOICE_MODELS[name].prepare(person)(np.array([values]))
        expected = [
            choice_oracle.log_likelihood(name, [episode], (2, 2), 0, horizon, *values)
            for episode, horizon in zip(episodes, person.horizons.tolist(), strict=True)
        ]
        assert logs.sum() == pytest.approx(sum(expected), abs=1e-9)
    pooled = fit_models(choices, ["softmax-ucb"], cross_validate=False).pooled
    assert {fit.choices for fit in pooled} == {2 * 28}


def test_rounds_that_an_ai_took_over_are_seen_but_not_fitted():
    design = load_design("burger-pair")
    exported = tables(rehearsed_data(design, [("softmax", 1, 0), ("softmax", 2, 0)], answers="none"), practice=False)
    before = choices_of_tables(design, exported).people[0]
    places = np.flatnonzero(exported["long"]["seat"] == 0)[3:10]
    exported["long"]["by_0"] = exported["long"]["by_0"].copy()
    exported["long"]["by_0"][places] = "agent"
    choices = choices_of_tables(design, exported)
    person = choices.people[0]
    np.testing.assert_array_equal(person.cells, before.cells)
    np.testing.assert_array_equal(person.seen, before.seen)
    assert np.flatnonzero(before.counted & ~person.counted).tolist() == list(range(3, 10))
    assert any("an AI chose in place of a person in 7 of the counted rounds" in note for note in choices.notes)
    model = CHOICE_MODELS["softmax"]
    logs = model.prepare(before)(np.array([[0.2, 3.0]]))[0]
    np.testing.assert_array_equal(model.prepare(person)(np.array([[0.2, 3.0]]))[0], np.delete(logs, range(3, 10)))


class TestPopulation:
    def test_goes_through_a_file_into_simulated_studies(self, mixed, tmp_path):
        fitted = fitted_population(mixed, members=12, seed=4)
        assert sum(model.people for model in fitted.models) == 12
        assert fitted.to_dict() == fitted_population(mixed, members=12, seed=4).to_dict()
        people = read_population(str(fitted.save(tmp_path / "population.json")))
        assert people.label == "fitted to 12 simulated participants of burger"
        assert [(member.title, member.options) for member, _ in people.members] == [
            (member.title, member.options) for member in fitted.members
        ]
        power = power_analysis(BURGER, people, participants=[4], simulations=3)
        assert power.population.label == people.label
        rehearsed = calibrate(["burger"], 2, 4, indices=["paper"], further=[people])
        mine = next(r for r in rehearsed.rehearsals if r.population.label == people.label)
        assert sum(mine.to_dict()["shares"].values()) == pytest.approx(1.0)
        assert mine.rows

    def test_parameters_are_near_those_of_the_people(self):
        fits = fit_models(study([("softmax", seed, seed % 2) for seed in range(12)]), "softmax", cross_validate=False)
        fitted = fitted_population(fits, members=200)
        (model,) = [entry for entry in fitted.models if entry.model.name == "softmax"]
        assert model.people >= 10
        assert math.exp(model.mean[0]) == pytest.approx(0.1, rel=0.35)  # the temperature of the simulated people
        assert np.linalg.eigvalsh(model.covariance).min() > 0
        drawn = [member.options["temperature"] for member in fitted.members if member.title == "softmax"]
        assert np.log(drawn).mean() == pytest.approx(model.mean[0], abs=0.2)
        assert np.log(drawn).std() == pytest.approx(math.sqrt(model.covariance[0, 0]), rel=0.3)

    @pytest.mark.parametrize(
        ("text", "words"),
        [("{", "it is not JSON"), ("[]", "must be a population"), ('{"format": "cobandit-population"}', "layout None"),
         ('{"format": "cobandit-population", "layout": 1, "members": []}', "list of members"),
         ('{"format": "cobandit-population", "layout": 1, "members": [{"agent": 3}]}', "agent and options")],
    )  # fmt: skip
    def test_other_files_are_refused(self, tmp_path, text, words):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(InvalidInput, match=words):
            read_population(str(tmp_path / "other.json"))

    def test_a_missing_file_and_an_unknown_agent(self, tmp_path):
        with pytest.raises(InvalidInput, match="cannot be read: No such file"):
            read_population(str(tmp_path / "missing.json"))
        members = '[{"agent": "softmaxx", "options": {}}]'
        text = f'{{"format": "cobandit-population", "layout": 1, "members": {members}}}'
        (tmp_path / "p.json").write_text(text)
        with pytest.raises(UnknownName, match="softmax"):
            read_population(str(tmp_path / "p.json"))

    def test_the_same_population_twice_is_refused(self, mixed):
        people = fitted_population(mixed, members=2).population
        with pytest.raises(InvalidInput, match="rehearsed already"):
            calibrate(["burger"], 2, 4, further=[people, people])


def test_recovery(mixed, tmp_path):
    kept = fit_models(mixed.study, ["win-stay-lose-shift", "epsilon-greedy"], cross_validate=False)
    found = recover_models(kept, 6, seed=3)
    again = recover_models(kept, 6, seed=3)
    np.testing.assert_array_equal(found.confusion, again.confusion)
    assert found.parameters == again.parameters
    assert found.confusion.sum(axis=1).tolist() == [6, 6, 6]
    assert found.share("win-stay-lose-shift") > 0.6
    assert {entry.parameter for entry in found.parameters} == {"slip", "epsilon"}
    files = [file.name for file in found.save(tmp_path)]
    assert files == ["recovery.json", "recovery.csv", "confusion.csv"]
    with pytest.raises(InvalidInput, match="people must be"):
        recover_models(kept, 1)
