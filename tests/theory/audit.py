"""Every inequality of the proofs of Theorems A and B, checked on a run (docs/discussion/theorem-1-proofs.md).

Agent 0 leads: rows are its arms. ``counts[t, i, j]``, the estimates and the indices are those before round t. All
methods return violations, so that a proof's step holds on the run where the sum is 0.
"""

import math

import numpy as np

from cobandit.theory.corrected import Constants, noise_width

ROUNDING = 1e-9


class Audit:
    """One trajectory of Partner-Aware UCB with W = 1 and the paper's index, beside what the proofs say of it."""

    def __init__(self, trajectory, sees, constants, repeat):
        self.means, self.sees, self.repeat = trajectory.means, sees, repeat
        self.constants = Constants(*constants)
        self.alpha, self.beta = (math.sqrt(2 * c) for c in self.constants)
        rounds, rows = len(trajectory.actions), len(self.means)
        self.row, self.column = trajectory.actions.T
        self.predicted = trajectory.predictions[:, 1, 0]
        self.right = self.predicted == self.row
        played = np.zeros((rounds + 1, *self.means.shape))
        played[np.arange(rounds) + 1, self.row, self.column] = 1
        after = played.cumsum(axis=0)
        self.counts = after[:-1]
        self.after = after[1:]
        seen = [np.zeros((rounds + 1, *self.means.shape)) for _ in range(2)]
        for agent, sums in enumerate(seen):
            sums[np.arange(rounds) + 1, self.row, self.column] = trajectory.seen[:, agent]
        self.log = math.log(rounds)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.widths = np.sqrt(self.log / after[1:])  # after the round, for E1 to E5 at every count
            self.estimates = [sums.cumsum(axis=0)[1:] / after[1:] for sums in seen]
            self.leader_index, self.follower_index = (
                np.nan_to_num(
                    sums.cumsum(axis=0)[:-1] / self.counts + root * np.sqrt(self.log / self.counts),
                    nan=math.inf,
                    posinf=math.inf,
                )
                for sums, root in zip(seen, (self.alpha, self.beta), strict=True)
            )
        self.best_row = int(self.means.max(axis=1).argmax())
        self.best_column = int(self.means[self.best_row].argmax())
        self.other_rows = np.arange(rows) != self.best_row
        self.gaps = self.means.max() - self.means
        self.elsewhere = self.row != self.best_row
        self.decision = np.arange(rounds) - np.arange(rounds) % repeat
        self.pre_count = self.counts[np.arange(rounds), self.row, self.column]
        leading = self.leader_index[self.decision].reshape(rounds, -1)
        self.target = np.stack(np.unravel_index(leading.argmax(axis=1), self.means.shape), axis=1)

    def at_target(self, values):
        """Return the value of each round's target."""
        return values[np.arange(len(self.row)), self.target[:, 0], self.target[:, 1]]

    @property
    def surplus(self):
        """Return g of Theorem A."""
        p, q = self.sees
        return self.beta - noise_width(p, q) - self.alpha * q / p

    def bad_events(self):
        """Return how often E1 to E5 fail, each at any count of any cell that it speaks of."""
        p, q = self.sees
        leader, follower = self.estimates
        width = self.widths + ROUNDING
        best = (slice(None), self.best_row, self.best_column)
        others = (slice(None), self.other_rows)
        too_high = follower > q * self.means + width
        too_high[best] = False
        with np.errstate(invalid="ignore"):
            difference = follower - q / p * leader
            return {
                "E1": int((leader[best] < p * self.means.max() - width[best]).sum()),
                "E2": int(too_high.sum()),
                "E3": int((difference[others] < -noise_width(p, q) * self.widths[others] - ROUNDING).sum()),
                "E4": int((follower[best] < q * self.means.max() - width[best]).sum()),
                "E5": int((leader[others] > (p * self.means + width)[others]).sum()),
            }

    def key_lemma(self):
        """Return at how many decisions for another row the follower's index of the target is too low."""
        p, q = self.sees
        row_gaps = self.gaps.min(axis=1)[self.target[:, 0]]
        level = q * self.means.max() + max(self.surplus, 0.0) * p * row_gaps / (self.alpha + 1)
        decisions = np.arange(len(self.row)) % self.repeat == 0
        elsewhere = self.target[:, 0] != self.best_row
        return int((decisions & elsewhere & (self.at_target(self.follower_index) < level - ROUNDING)).sum())

    @property
    def counted(self):
        """Return which rounds are counted: right, or playing the target, while its count is that of the decision."""
        unplayed = self.at_target(self.counts) == self.at_target(self.counts[self.decision])
        return unplayed & (self.right | (self.column == self.target[:, 1]))

    def limits(self):
        """Return N of Theorem A."""
        p, q = self.sees
        gaps = q * self.gaps + max(self.surplus, 0.0) * p * self.gaps.min(axis=1, keepdims=True) / (self.alpha + 1)
        with np.errstate(divide="ignore"):
            return (self.beta + 1) ** 2 * self.log / gaps**2

    def pre_counts(self):
        """Return how many rounds exceed N: counted rounds elsewhere, right rounds of the best row off the best cell."""
        judged = np.where(self.elsewhere, self.counted, self.right & (self.column != self.best_column))
        return int((judged & (self.pre_count > self.limits()[self.row, self.column])).sum())

    def stays(self):
        """Return how many complete stays in other rows (L >= 2) have no counted round."""
        complete = len(self.row) - len(self.row) % self.repeat
        counted = self.counted[:complete].reshape(-1, self.repeat)
        return int((self.elsewhere[: complete : self.repeat] & ~counted.any(axis=1)).sum())

    def left_rows(self):
        """Return how often (L = 1) the leader leaves another row after a round that was not counted."""
        stayed = self.row[1:] == self.row[:-1]
        return int((self.elsewhere[:-1] & ~self.counted[:-1] & ~(stayed & self.counted[1:])).sum())

    def returns(self):
        """Return by how much wrong rounds in the best row exceed visits elsewhere plus one."""
        visits = int((self.elsewhere & np.r_[True, self.row[1:] != self.row[:-1]]).sum())
        return max(0, int((~self.right & ~self.elsewhere).sum()) - visits - 1)

    @property
    def off(self):
        """Return the number of rounds off the best cell."""
        return int((self.elsewhere | (self.column != self.best_column)).sum())


class HeedingAudit(Audit):
    """The proof of Theorem B on a run with L = 2, W = 1; ``refusals`` replays what the leader noted."""

    def __init__(self, trajectory, sees, constants, repeat=2):
        super().__init__(trajectory, sees, constants, repeat)
        self.theta = ((self.beta + 1) / (self.beta - 1)) ** 2
        self.row_gaps = self.means.max(axis=1, keepdims=True) - self.means
        with np.errstate(divide="ignore"):
            self.v = ((self.beta + 1) / (sees[1] * self.row_gaps)) ** 2 * self.log
            self.w = ((self.alpha + 1) / (sees[0] * self.gaps)) ** 2 * self.log
        others = np.stack([np.delete(self.w, j, axis=1).max(axis=1) for j in range(self.w.shape[1])], axis=1)
        self.x = np.maximum(self.w, self.theta * others)

    def steps(self):
        """Return violations of (1) a_* is never passed over, (3) right rounds, (4) answers at later decisions."""
        best = (self.best_row, self.best_column)
        answers, plays = [-1] * len(self.means), [0] * len(self.means)
        passed_over = late_answers = 0
        for t, (row, column) in enumerate(zip(self.row.tolist(), self.column.tolist(), strict=True)):
            if t % self.repeat == 0:
                j, a = answers[self.best_row], plays[self.best_row]
                passed_over += j not in (-1, self.best_column) and self.theta * self.counts[(t, *best)] < a
                j, a = answers[row], plays[row]
                late_answers += row != self.best_row and j >= 0 and a > min(self.v[row, j], self.x[row, j])
            if t > 0 and self.row[t - 1] == row:
                answers[row], plays[row] = column, int(self.counts[t, row, column])
        off_row_best = self.right & (self.row_gaps[self.row, self.column] > 0)
        right_rounds = int((off_row_best & (self.pre_count > self.v[self.row, self.column])).sum())
        return {"passed over": int(passed_over), "right rounds": right_rounds, "answers": int(late_answers)}
