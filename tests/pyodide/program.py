"""What the test runs twice, in Pyodide and in this Python: it prints its results as lines of JSON."""

import json

import cobandit as cb

TEAMS = ("partner-aware-ucb", "naive-ucb", "naive-ts", "partner-aware-ts", "knowledge-gradient", "centralised-ucb")


def show(name, value):
    """Print one result; floats in full, so that equal text means equal bits."""
    print(json.dumps({name: value}), flush=True)


problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
for team in TEAMS:
    result = cb.simulate(problem, cb.Team.of(team), horizon=100, runs=4, seed=0, engine="reference")
    show(team, result.task_regret.tolist())

three = cb.Problem.bernoulli([[[0.9, 0.1], [0.3, 0.5]], [[0.2, 0.4], [0.6, 0.7]]], observability=[1.0, 0.6, 0.3])
result = cb.simulate(three, cb.Team.of("partner-aware-ucb"), horizon=60, runs=3, seed=1, engine="reference")
show("three agents", [list(map(int, arms)) for arms in result.trajectory(2).actions])

partner = cb.Partner("partner-aware-ucb", arms=(2, 2), seat=1, horizon=100, observability=(1.0, 0.4), seed=7)
arms = []
for t in range(30):
    arms.append(int(partner.choose()))
    partner.observe((t % 2, arms[-1]), 1.0 if arms[-1] == t % 2 else 0.0)
show("partner", arms)
show("partner's state", cb.Partner.from_state(partner.state()).state())

data = cb.studies.rehearsed_data(cb.studies.load_design("burger"), [("softmax", 1, 0)])
show("rehearsed study", repr(data.participants)[:2000])
