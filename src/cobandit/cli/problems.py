"""Build the problem that the options of a command describe (`options.ProblemOptions`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.cli import parsing
from cobandit.cli.options import REWARDS, ProblemOptions

if TYPE_CHECKING:
    from cobandit.problem import Problem

SIGHT = (1.0, 0.5)
NOISE = (0.1, 0.5)
"""The default observation noise of two agents with Gaussian rewards, as in the paper's simulations."""


def paper_sight(agents: int) -> tuple[float, ...]:
    """Return the observability of the paper's simulations, for two agents and for more (Fig. "sim4")."""
    return SIGHT if agents <= 2 else tuple((i + 1) / agents for i in range(agents))


def problem_of(options: ProblemOptions, sight_of: Callable[[int], tuple[float, ...]]) -> Problem:
    """Return the problem that the options describe; ``sight_of(agents)`` is the default observability."""
    from cobandit.problem.observation import OBSERVATIONS

    if options.reward not in REWARDS:
        raise UnknownName("reward model", options.reward, REWARDS)
    model = options.observation or ("missed" if options.reward == "bernoulli" else "noisy")
    if model not in OBSERVATIONS:
        raise UnknownName("observation model", model, OBSERVATIONS)
    ranks: Any = options.roles if options.roles[:1].isalpha() else parsing.numbers("--roles", options.roles, "1,0")
    sizes = None if options.arms is None else _arms(options.arms)
    matrix = parsing.means("--means", options.means)
    if options.changes_at is not None:
        matrix = _phases(matrix, options.changes_at)
    if isinstance(matrix, str) and matrix not in parsing.NAMED_MEANS:
        from cobandit.problem.named import named_means

        matrix = named_means(matrix, sizes)
    named = matrix if isinstance(matrix, str) else None
    agents = _depth(matrix) if named is None else 2 if sizes is None else len(sizes)

    sight: dict[str, Any] = {}
    if options.observability is not None:
        sight["observability"] = parsing.numbers("--observability", options.observability, "1,0.5")
    if options.noise is not None:
        sight["noise"] = parsing.numbers("--noise", options.noise, "0.1,0.5")
    kind = "noise" if model == "noisy" else "observability"
    if kind not in sight:
        sight[kind] = _default_noise(agents) if kind == "noise" else sight_of(agents)

    matrix = _means(matrix, sizes, agents, ranks, sight[kind], model)
    shared = {
        "arms": sizes,
        "observation": model,
        "weights": () if options.weights is None else parsing.numbers("--weights", options.weights, "1,1"),
        "roles": ranks,
        "delay": options.delay,
        "actions": options.actions,
        **sight,
    }
    described = _rewarded(options, matrix, shared)
    return described.relabelled() if options.relabel else described


def _rewarded(options: ProblemOptions, matrix: Any, shared: Mapping[str, Any]) -> Problem:
    """Return the problem with the rewards that the options describe."""
    from cobandit.problem import CorrelatedGaussian, Problem, StudentT

    spread = None if options.sd is None else parsing.value(options.sd)
    values = {"sd": spread, "df": options.df, "correlation": options.correlation}
    given = {name: value for name, value in values.items() if value is not None}
    for name, rewards in (("df", "student-t"), ("correlation", "correlated-gaussian")):
        if name in given and options.reward != rewards:
            raise InvalidInput(f"--{name} requires --reward {rewards}.")
    if options.reward == "bernoulli":
        if given:
            raise InvalidInput("--sd was given, but Bernoulli rewards have none; it requires --reward gaussian.")
        return Problem.bernoulli(matrix, **shared)
    if options.reward == "gaussian":
        return Problem.gaussian(matrix, sd=given.get("sd", (0.1, 0.5)), **shared)
    if options.reward == "student-t":
        given |= {"scale": given.pop("sd")} if "sd" in given else {}
        return Problem.of(matrix, StudentT(**given), **shared)
    return Problem.of(matrix, CorrelatedGaussian(**given), **shared)


def _phases(matrix: Any, text: str) -> Any:
    """Return means that change abruptly, from a list of matrices."""
    from cobandit.problem import PiecewiseMeans

    if not isinstance(matrix, (list, tuple)):
        raise InvalidInput(
            '--means must be a list of matrices with --changes-at, such as "[[[.8,.4],[.2,.6]],[[.3,.4],[.2,.9]]]", '
            f"got {matrix}."
        )
    return PiecewiseMeans.of(matrix, parsing.numbers("--changes-at", text, "201"))


def _means(
    matrix: Any, sizes: tuple[int, ...] | None, agents: int, ranks: Any, levels: Sequence[Any], model: str
) -> Any:
    """Return the means, after looking up a name."""
    if not isinstance(matrix, str):
        return matrix
    if matrix == "fixed":
        from cobandit.problem.named import FIXED

        return FIXED
    if matrix == "local-optima":
        from cobandit.problem.means import local_optima

        arms = sizes or (2, 2)
        if len(set(arms)) != 1 or len(arms) != 2:
            raise InvalidInput(f"--arms must be K,K, such as 3,3, with --means local-optima, got {_joined(arms)}.")
        return local_optima(arms[0])
    if matrix == "corners":
        from cobandit.problem.means import two_corners

        if sizes is not None and set(sizes) != {2}:
            raise InvalidInput(
                f"--arms must be 2 for each agent, such as 2,2,2, with --means corners, got {_joined(sizes)}."
            )
        return two_corners(agents, _leader(ranks, levels, model, agents))
    return matrix


def _leader(ranks: Any, levels: Sequence[Any], model: str, agents: int) -> int | None:
    """Return the leader, or None if it is unknown: --means corners depends on the leader."""
    if isinstance(ranks, tuple):
        return ranks.index(0) if 0 in ranks and len(ranks) == agents else None
    numeric = all(isinstance(level, (int, float)) for level in levels) and len(levels) == agents
    if ranks != "observability" or not numeric:
        return None  # drawn for each run, or an input that will be refused later
    best = min(levels) if model == "noisy" else max(levels)
    return levels.index(best)


def _arms(text: str) -> tuple[int, ...]:
    from cobandit.problem.means import checked_arms

    return checked_arms(parsing.numbers("--arms", text, "2,2"))


def _depth(matrix: Any) -> int:
    """Return the number of agents of the means: levels of brackets, or axes of a model."""
    if hasattr(matrix, "arms") or hasattr(matrix, "shape"):
        return len(getattr(matrix, "arms", None) or matrix.shape)
    depth = 0
    while isinstance(matrix, (list, tuple)):
        depth += 1
        matrix = matrix[0] if matrix else None
    return depth


def _default_noise(agents: int) -> tuple[float, ...]:
    if agents > 2:
        raise InvalidInput(f"--noise must be given for {agents} agents, such as --noise {_joined((0.1,) * agents)}.")
    return NOISE


def _joined(values: Sequence[Any]) -> str:
    return ",".join(str(entry) for entry in values)
