"""Where do the runs end that never find the best team action?

Run it with ``python examples/where_teams_get_stuck.py``.
"""

from __future__ import annotations

from collections import Counter

import cobandit as cb

RUNS = 2_000


def main() -> None:
    """Find the runs that still lose at the end, play them again and count the team actions they end in."""
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    for name in ("partner-aware-ucb", "naive-ucb", "centralised-ucb"):
        result = cb.simulate(problem, cb.Team.of(name), horizon=2_000, runs=RUNS, seed=0, checkpoints=[1_500, 2_000])
        late = result.task_regret[:, 1] - result.task_regret[:, 0]
        stuck = [int(run) for run in (late > 50).nonzero()[0]]
        print(f"{name}: {len(stuck)} of {RUNS:,} runs lose more than 50 in their last 500 rounds")
        ends = Counter()
        for run in stuck[:200]:
            actions = result.trajectory(run).actions[-100:]
            ends[Counter(map(tuple, actions.tolist())).most_common(1)[0][0]] += 1
        for action, count in ends.most_common():
            share = count / min(len(stuck), 200)
            print(f"    {share:>6.1%} of them play {action}, mean {problem.means.values[2 * action[0] + action[1]]:g}")


if __name__ == "__main__":
    main()
