"""The compiled engine: the first result, nanoseconds a round, memory, and ``make run`` on a fresh machine."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import NOW, Pair, both, c_nanoseconds, first_results, first_run, only_now, versions
from benchmarks.report import Report

Members = list[tuple[str, dict[str, Any]]]

AWARE: Members = [("partner-aware-ucb", {"window": 25})]
THOMPSON: Members = [("partner-aware-ts", {})]
GRADIENT: Members = [("knowledge-gradient", {}), ("partner-aware-ucb", {"window": 25})]
MIXED = "knowledge gradient + partner-aware UCB"

NS = "ns a round"


def aware(**options: Any) -> Members:
    """A team of partner-aware UCB with other options."""
    return [("partner-aware-ucb", {"window": 25, **options})]


def add_lines(report: Report) -> None:
    """Every figure of the compiled engine."""
    starts(report)
    general_loop(report)
    beyond_the_paper(report)
    in_step(report)
    sizes(report)
    memory(report)
    fresh_machine(report)


def starts(report: Report) -> None:
    """The first result: few enough runs for the general loop, and once enough of them to be played in step."""
    for label, team, runs in (
        ("partner-aware UCB", AWARE, 100),
        (MIXED, GRADIENT, 100),
        ("partner-aware Thompson", THOMPSON, 100),
        ("partner-aware UCB, 1,000 runs", AWARE, 1000),
    ):
        cold, warm = first_results(team, 2000, runs)
        report.at_most(f"first result, nothing compiled: 2x2 {label}", cold, "CPU s", 3.0)
        report.add(f"first result, compiled before: 2x2 {label}", warm, "CPU s")
    for name in ("steered", "bank", "elected", "handshake"):
        cold, _ = first_results([(name, {})], 2000, 100, [NOW])
        report.at_most(f"first result, nothing compiled: 2x2 {name}", cold, "CPU s", 3.0)


def general_loop(report: Report) -> None:
    """The loop that plays everything, one run after another, on one thread."""
    kinds: list[tuple[str, Members, float | None]] = [
        (f"partner-aware UCB, {index} index, {ties} ties", aware(index=index, ties=ties), 45.0)
        for index in ("paper", "companion", "anytime")
        for ties in ("first", "random")
    ]
    kinds += [("partner-aware Thompson", THOMPSON, 200.0), (MIXED, GRADIENT, None)]
    for label, team, most in kinds:
        figure = both("nanoseconds", team=team, horizon=2000, runs=640, kernel="general")
        if most is None:
            report.add(f"general loop, 2x2 {label}", figure, NS)
        else:
            report.at_most(f"general loop, 2x2 {label}", figure, NS, most)


def beyond_the_paper(report: Report) -> None:
    """Steered teams, beside partner-aware UCB in the same loop: three times its time is the goal."""
    shared = {"horizon": 2000, "runs": 320, "kernel": "general"}
    plain = only_now("nanoseconds", team=aware(index="companion", window=1), **shared)
    for index in ("ucb", "gittins-horizon", "gittins"):
        ours = only_now("nanoseconds", team=[("steered", {"index": index})], **shared)
        report.add(f"general loop, 2x2 steered, {index}", ours, NS)
        report.at_most(f"2x2 steered, {index} / partner-aware UCB", ours.over(plain), "", 3.0)


def in_step(report: Report) -> None:
    """Many runs in lock-step, beside the loop one would write in C."""
    ours = both("nanoseconds", team=AWARE, horizon=2000, runs=6400, kernel="lockstep")
    report.add("in step, 2x2 partner-aware UCB, one thread", ours, NS)
    plain = c_nanoseconds(2000, 4000)
    if plain is not None:
        report.add("the same in plain scalar C", plain, NS)
        report.at_most("in step / C", ours.over(plain), "", 0.4)
    for label, team, runs in (("partner-aware UCB", AWARE, 12_800), ("partner-aware Thompson", THOMPSON, 1600)):
        one, two = ({"team": team, "horizon": 2000, "runs": runs, "threads": n, "wall": True} for n in (1, 2))
        times = both("alternating", one=one, other=two)
        report.limit(f"2x2 {label}: one thread / two", times, "", "at least 1.8", lambda now: now >= 1.8)


def sizes(report: Report) -> None:
    """Many team actions."""

    def ratio(name: str, one: dict[str, Any], other: dict[str, Any], most: float | None = None, tries: int = 5) -> None:
        figure = both("alternating", one=one, other=other, tries=tries)
        if most is None:
            report.add(name, figure)
        else:
            report.at_most(name, figure, "", most)

    def square(size: int, runs: int, **options: Any) -> dict[str, Any]:
        return {"team": aware(**options), "horizon": 10_000, "runs": runs, "arms": [size, size]}

    for size in (4, 8, 16, 30):
        most = 5.0 if size == 30 else None
        ratio(f"{size}x{size} / 2x2, paper index, 10,000 rounds", square(size, 320), square(2, 320), most)
    ratio("30x30 / 2x2 with random ties", square(30, 32, ties="random"), square(2, 32, ties="random"), tries=3)
    ratio("30x30 anytime / 30x30 paper", square(30, 100, index="anytime"), square(30, 100), 5.0, 3)
    large = {"team": aware(index="anytime"), "horizon": 20_000, "runs": 4, "arms": [100, 100], "tries": 2}
    report.add("100x100 anytime, 20,000 rounds", both("nanoseconds", **large), NS)
    six = {"team": AWARE, "horizon": 4000, "runs": 320, "arms": [3] * 6}
    ratio("3^6: automatic choice / general loop", six, {**six, "kernel": "general"}, 1.05)


def memory(report: Report) -> None:
    """Peak memory must depend neither on the rounds nor on the runs."""

    def ratio(name: str, few: dict[str, int], many: dict[str, int]) -> None:
        figure = both("peak_megabytes", **many).over(both("peak_megabytes", **few))
        report.limit(name, figure, "", "about 1", lambda times: times < 1.1)

    report.add("peak memory, 10,000 runs", both("peak_megabytes", horizon=200, runs=10_000), "MB")
    ratio(
        "peak memory, 20,000 runs of 4,000 rounds / of 200",
        {"horizon": 200, "runs": 20_000},
        {"horizon": 4000, "runs": 20_000},
    )
    ratio(
        "peak memory, 1,000,000 runs / 10,000, 100 checkpoints",
        {"horizon": 200, "runs": 10_000},
        {"horizon": 200, "runs": 1_000_000},
    )


def fresh_machine(report: Report) -> None:
    """``make run`` after installing, nothing compiled."""
    runs = [first_run(source) for source in versions()]

    def part(name: str) -> Pair:
        return Pair(*(getattr(run, name) for run in runs))

    report.add("make run, nothing compiled: compare and reproduce", part("cpu"), "CPU s")
    report.add("make run, nothing compiled: compare", part("compare"), "s")
    report.add("make run, nothing compiled: reproduce", part("reproduce"), "s")
    report.add("make run, nothing compiled: from serving to the first page", part("page"), "s")
    report.at_most("make run, nothing compiled: to the first page", part("wall"), "s", 25.0)
