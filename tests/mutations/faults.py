"""Seeded faults: small changes of the source that the named tests must catch.

`python -m tests.mutations` (or `make mutations`) tries each of them on a copy of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Replace ``old``, which occurs exactly once in ``file``, by ``new``; one of ``tests`` must then fail."""

    name: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]


AGENTS = (
    Fault(
        "index-bonus-sign",
        "src/cobandit/agents/beliefs.py",
        "total / n + scale * (1.0 / math.sqrt(n))",
        "total / n - scale * (1.0 / math.sqrt(n))",
        "UCB agents avoid team actions that were tried rarely instead of exploring them.",
        ("tests/golden/test_partner_aware_ucb.py",),
    ),
    Fault(
        "thompson-swapped-counts",
        "src/cobandit/agents/beliefs.py",
        "rng.beta(1.0 + sums, 1.0 + counts - sums)",
        "rng.beta(1.0 + counts - sums, 1.0 + sums)",
        "Thompson sampling prefers team actions that failed.",
        ("tests/golden/test_thompson.py",),
    ),
    Fault(
        "window-one-too-long",
        "src/cobandit/agents/foresight.py",
        "deque[int](maxlen=window)",
        "deque[int](maxlen=window + 1)",
        "A follower predicts the leader from W + 1 past arms instead of W.",
        ("tests/golden/test_partner_aware_ucb.py",),
    ),
    Fault(
        "repeat-off-by-one",
        "src/cobandit/agents/partner_aware.py",
        "(self.round - 1) % self.repeat != 0",
        "self.round % self.repeat != 0",
        "The leader decides in the last round of a block of L rounds instead of the first.",
        ("tests/golden/test_partner_aware_ucb.py",),
    ),
    Fault(
        "election-tie",
        "src/cobandit/agents/election.py",
        "and other < agent)",
        "and other > agent)",
        "Of agents with equal votes the one with the higher index leads.",
        ("tests/golden/test_elected.py",),
    ),
)

ENGINE = (
    Fault(
        "swapped-roles",
        "src/cobandit/problem/problem.py",
        "key=lambda i: -self.observation.quality(i)",
        "key=lambda i: self.observation.quality(i)",
        "The worst observer leads.",
        ("tests/problem/test_problems.py",),
    ),
    Fault(
        "reward-draw-inverted",
        "src/cobandit/problem/rewards.py",
        "return 1.0 if rng.random() < mean else 0.0",
        "return 1.0 if rng.random() > mean else 0.0",
        "A team action with mean 0.9 is rewarded in 10 % of the rounds.",
        ("tests/problem/test_rewards_and_observation.py",),
    ),
    Fault(
        "reference-delay",
        "src/cobandit/engine/match.py",
        "len(self._waiting) <= delay",
        "len(self._waiting) < delay",
        "The reference engine delivers feedback one round too early.",
        ("tests/equivalence/test_compiled.py::test_every_round_is_the_same[told late, while means turn]",),
    ),
    Fault(
        "partner-decides-twice",
        "src/cobandit/engine/partner.py",
        "        if self._pending is None:\n            arm = self._agent.choose()",
        "        if True:\n            arm = self._agent.choose()",
        "Asking a partner twice in one round draws a second choice.",
        ("tests/engine/test_partner.py::TestRounds::test_the_same_answer_until_the_round_is_over",),
    ),
    Fault(
        "fast-index-stale-count",
        "src/cobandit/engine/fast/kinds/ucb.py",
        "me.kept[cell] = s / n + me.scale * root(world, n)",
        "me.kept[cell] = s / n + me.scale * root(world, n - 1)",
        "The compiled index uses the count before the round.",
        ("tests/equivalence/test_compiled.py::test_every_round_is_the_same[scans]",),
    ),
    Fault(
        "fast-window-too-short",
        "src/cobandit/engine/fast/kinds/foresight.py",
        "remembered = known if known < me.window else me.window",
        "remembered = known if known < me.window else me.window - 1",
        "The compiled follower forgets the oldest round of its window.",
        ("tests/equivalence/test_compiled.py::test_every_round_is_the_same[scans]",),
    ),
    Fault(
        "fast-random-bits",
        "src/cobandit/engine/fast/random.py",
        "streams[at + 1] = c + (c << uint64(3))",
        "streams[at + 1] = c + (c << uint64(5))",
        "Compiled streams of random numbers differ from those of NumPy.",
        ("tests/engine/test_random_bits.py::test_draws_of_every_kind_in_any_order",),
    ),
)

STORAGE = (
    Fault(
        "stale-moves-stored",
        "src/cobandit/web/storage/moves.py",
        'last_seen = ?3 WHERE id = ?1 AND revision = ?2"',
        'last_seen = ?3 WHERE id = ?1 AND ?2 = ?2"',
        "A process stores moves although another one has changed the participant.",
        ("tests/web/storage/test_moves.py::test_only_the_stale_one_fails",),
    ),
    Fault(
        "takeover-outside-the-guard",
        "src/cobandit/web/storage/team_writes.py",
        "AND moves.t = {4}) = {5} ",
        "AND moves.t = {4}) >= 0 AND {5} >= 0 ",
        "A takeover is stored without a look at the move that came in the meantime.",
        ("tests/web/storage/test_team_writes.py::test_of_two_moves_for_a_seat_the_second_is_stale",),
    ),
    Fault(
        "round-sealed-in-another-transaction",
        "src/cobandit/web/storage/team_writes.py",
        "                if job.sealed is not None\n            ],",
        "                if job.sealed is not None and False\n            ],",
        "The move that completes a round is stored, and the round is not.",
        ("tests/faults/test_team_history.py::test_a_quiet_run_is_as_it_should_be",),
    ),
    Fault(
        "team-formed-twice",
        "src/cobandit/web/services/lobby.py",
        "    leave_lobby(connection, people)\n    for person in people:",
        "    for person in people:",
        "People stay in the lobby when their team is formed, so that another team is formed of them.",
        ("tests/faults/test_team_history.py::test_a_quiet_run_is_as_it_should_be",),
    ),
    Fault(
        "pending-move-shown",
        "src/cobandit/web/services/games.py",
        "        known = seat in self.pending\n",
        "        known = bool(self.pending)\n",
        "A member's page tells that another member has moved.",
        (
            "tests/web/services/test_simultaneous.py::TestLeaks::test_answers_are_the_same_with_and_without_a_pending_move",
        ),
    ),
    Fault(
        "practice-is-paid",
        "src/cobandit/web/storage/rounds.py",
        "            plays.c.condition != practice,\n",
        "",
        "Successes in practice episodes are paid.",
        ("tests/web/services/test_payments.py::test_amounts_by_the_rules_of_the_design",),
    ),
    Fault(
        "event-key-lost",
        "src/cobandit/web/storage/events.py",
        '"key": event.key,',
        '"key": None,',
        "Events lose their idempotency key, so that a request sent twice is stored twice.",
        ("tests/web/services/test_exactly_once.py::TestExactlyOnce::test_events",),
    ),
    Fault(
        "audit-head-stays",
        "src/cobandit/web/storage/audit.py",
        "values(number=entry.number, hash=entry.hash)",
        "values(number=entry.number, hash=previous)",
        "The chain of the audit log is broken after each entry.",
        ("tests/web/services/test_audit.py::test_what_is_done_without_the_triggers_is_found",),
    ),
)

STUDIES = (
    Fault(
        "move-key-unchecked",
        "src/cobandit/web/services/new_moves.py",
        "if keys[move.t - 1] != move.key:",
        "if keys[move.t - 1] == move.key:",
        "A retry is refused, and a second tab's choice is taken for the stored one.",
        ("tests/web/services/test_participants.py::test_a_retry_is_answered_from_the_store",),
    ),
    Fault(
        "quiz-attempt-not-counted",
        "src/cobandit/web/services/participants.py",
        '            if step.kind == "quiz":\n                changes["quiz_attempts"]',
        '            if step.kind == "quiz" and not wrong:\n                changes["quiz_attempts"]',
        "Wrong attempts at the quiz are not counted.",
        ("tests/web/services/test_participants.py::test_the_quiz_is_repeated_until_it_is_right",),
    ),
    Fault(
        "blind-account-sees-rewards",
        "src/cobandit/web/services/blinding.py",
        '            "reward": None,\n',
        "",
        "A blinded researcher reads the rewards of single rounds, which reveal the condition.",
        (
            "tests/web/services/test_blinding.py"
            "::test_no_route_tells_a_blind_account_outcomes_means_or_moves[researcher]",
        ),
    ),
    Fault(
        "quota-exceeded-by-one",
        "src/cobandit/web/services/admission.py",
        "seats_taken(connection, study) >= (study.quota or 0)",
        "seats_taken(connection, study) > (study.quota or 0)",
        "A study with a quota admits one participant too many.",
        ("tests/web/services/test_admission.py::test_a_quota_is_kept_to_and_frees_the_place_of_who_has_left",),
    ),
    Fault(
        "orders-unbalanced",
        "src/cobandit/studies/assignment.py",
        "fewest = min(counts.taken[order] for order in possible)",
        "fewest = max(counts.taken[order] for order in possible)",
        "New participants get the order of conditions that most participants already have.",
        ("tests/studies/test_plans.py::TestAssignment",),
    ),
    Fault(
        "bonus-cap-inverted",
        "src/cobandit/studies/payment.py",
        "return min(earned, Decimal(self.most))",
        "return max(earned, Decimal(self.most))",
        "Every participant gets at least the largest bonus.",
        ("tests/studies/test_payment.py",),
    ),
)

STATISTICS = (
    Fault(
        "paired-t-effect",
        "src/cobandit/stats/ttests.py",
        "d_z = t / math.sqrt(n)",
        "d_z = t / math.sqrt(n - 1)",
        "The effect size of the paired t test is too large.",
        ("tests/stats/test_oracles.py::TestT::test_paired",),
    ),
    Fault(
        "reml-degrees-of-freedom",
        "src/cobandit/stats/mixed.py",
        "/ (len(y) - design.shape[1])",
        "/ len(y)",
        "The mixed model estimates its variance by maximum likelihood instead of REML.",
        ("tests/stats/test_oracles.py::TestMixed::test_with_observations_missing",),
    ),
    Fault(
        "reversed-item",
        "src/cobandit/analysis/measures.py",
        "self.design.survey.points + 1 - self.survey",
        "self.design.survey.points - self.survey",
        "Reversed survey items are scored one point too low.",
        ("tests/analysis/test_analysis.py::TestMeasures::test_survey",),
    ),
    Fault(
        "exclusion-one-too-early",
        "src/cobandit/analysis/exclusions.py",
        "attempts > most",
        "attempts >= most",
        "Participants who needed exactly the allowed number of quiz attempts are excluded.",
        ("tests/analysis/test_analysis_odd_data.py::TestRules::test_quiz",),
    ),
)

PAGES_ROBOT_AND_CLI = (
    Fault(
        "second-choice-in-one-round",
        "src/cobandit/web/static/participant/turns.js",
        "    waiting = true;\n    chosenAt",
        "    waiting = false;\n    chosenAt",
        "The page accepts a second click before the outcome of the first is shown.",
        (
            "tests/browser/test_unsent_moves.py::TestNothingLostNothingDoubled"
            "::test_a_move_survives_a_reload_before_it_was_sent",
        ),
    ),
    Fault(
        "answered-move-kept",
        "src/cobandit/web/static/participant/moves.js",
        "move.episode !== episode || move.t > t)",
        "move.episode !== episode || move.t >= t)",
        "The page keeps the last acknowledged move and sends it for ever.",
        ("tests/browser/test_moves.py::test_one_request_at_a_time_and_all_that_waits_in_the_next",),
    ),
    Fault(
        "robot-stays-over-the-plate",
        "src/cobandit/robot/stacking.py",
        'following is None or following.by == "person"',
        "following is None",
        "The arm does not leave the plate before the person reaches for it.",
        ("tests/robot/test_burger.py::TestStacking::test_the_order_of_actions",),
    ),
    Fault(
        "thousands-separator",
        "src/cobandit/cli/parsing.py",
        'text.replace(",", "") if',
        'text.replace(",", ".") if',
        "`--rounds 2,000` is read as 2.",
        ("tests/cli/test_parsing.py",),
    ),
)

FAULTS = (*AGENTS, *ENGINE, *STORAGE, *STUDIES, *STATISTICS, *PAGES_ROBOT_AND_CLI)
