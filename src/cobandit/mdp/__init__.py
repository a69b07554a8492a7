"""Teams in Markov decision processes: the paper's future work, with the bandit as its one-state case.

>>> from cobandit import mdp
>>> problem = mdp.make_problem("burger-line", steps=2)
>>> result = mdp.simulate(problem, mdp.Team.of("partner-aware-ucbvi"), episodes=50, runs=4, seed=0, engine="reference")
>>> result.horizon
100
"""

from __future__ import annotations

from cobandit.base.lazy import lazy_package

__getattr__, __dir__ = lazy_package(__name__)
