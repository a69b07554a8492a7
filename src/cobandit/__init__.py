"""Bandit teams: agents, or a person and an AI, who choose together, see different rewards and cannot talk.

>>> import cobandit as cb
>>> problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]], observability=[1.0, 0.5])
>>> team = cb.Team.of("partner-aware-ucb", window=25)
>>> result = cb.simulate(problem, team, horizon=200, runs=20, seed=0)
>>> result.task_regret.shape
(20, 100)

``__init__.pyi`` declares the public names. Each is loaded when it is first used, so importing the package costs next to
nothing. So are the public modules: ``cb.studies.load_design("burger")`` needs no further import.
"""

from __future__ import annotations

from cobandit.base.lazy import lazy_package, provide

__version__ = "0.1.0"

__getattr__, __dir__ = lazy_package(__name__, extras={"compiled": "fast"}, renamed={"BankFollower": "Bank"})

provide(__getattr__, ("mdp", "report"))  # results, in a lower layer, draw and store themselves with these
