"""The recorded rehearsals, crowds and power analyses."""

from dataclasses import replace
from typing import Any, cast

from cobandit.studies import StudyDesign, make_behaviour
from tests.regression.games import ROWS, words
from tests.regression.kinds import FAST, PLAIN, THREADS, Case, Company, Designs, Power, Rehearsal, Ways

PEOPLE: list[tuple[str, dict[str, Any]]] = [
    ("softmax", {}),
    ("softmax", {"memory": 1}),
    ("softmax", {"memory": 32, "temperature": 0.3}),
    ("softmax", {"memory": 33, "temperature": 0.05}),
    ("softmax", {"memory": 10**6, "temperature": 0.02}),
    ("softmax", {"temperature": 1e-3}),
    ("win-stay-lose-shift", {}),
    ("win-stay-lose-shift", {"slip": 0.0}),
    ("win-stay-lose-shift", {"slip": 1.0}),
    ("epsilon-greedy", {}),
    ("epsilon-greedy", {"epsilon": 0.0}),
    ("epsilon-greedy", {"epsilon": 0.7}),
]
AGENTS_AS_PEOPLE = [row for row in ROWS if not row[0].startswith("centralised")]


def _with_arms(design: StudyDesign, rows: int, columns: int) -> StudyDesign:
    labels = tuple(tuple(f"{side} {arm}" for arm in range(n)) for side, n in (("row", rows), ("column", columns)))
    return replace(design, arms=(rows, columns), task=replace(design.task, arms=labels))


def _with_ais(design: StudyDesign, *rows: tuple[str, dict[str, Any]]) -> StudyDesign:
    first = design.conditions[0]  # like a warm start, it reads its options from a plain dict, hence the casts
    made = [replace(first, name=f"ai-{i}", agent=a, options=cast("Any", o)) for i, (a, o) in enumerate(rows)]
    return replace(design, conditions=tuple(made))


def _short(designs: Designs) -> StudyDesign:
    casino = designs["casino"]
    assert casino.practice is not None
    return replace(casino, rounds=60, episodes=2, practice=replace(casino.practice, rounds=5))


def _rehearsals(designs: Designs) -> list[Rehearsal]:
    """Every person in every shipped study, agents as participants, every agent as the AI and in its warm start."""
    short, burger = _short(designs), designs["burger"]
    assert burger.warm_start is not None
    shipped = [("burger", burger), ("short casino", short), ("three-by-three", designs["three-by-three"])]
    made = []
    for number, (name, options) in enumerate([*PEOPLE, *AGENTS_AS_PEOPLE[::4]]):
        for turn in range(3 if number < len(PEOPLE) else 1):
            label, design = shipped[(number + turn) % 3]
            seed = (number, 2**32 + number, 2**64 - 1 - number)[turn]
            person = make_behaviour(name, **options)
            order = (number + turn) % len(design.orders)
            made.append(Rehearsal(f"{name} ({words(options)}) in {label}", design, person, seed, order))
    for number, (name, options) in enumerate(AGENTS_AS_PEOPLE[::3]):
        design = replace(
            _with_ais(_with_arms(burger, 2 + number % 3, 2 + number % 2), (name, options), AGENTS_AS_PEOPLE[number]),
            observation=("missed", "missed-known", "flipped")[number % 3],
            observability=((1.0, 0.5), (0.4, 0.9), (0.7, 0.7))[number % 3],
            shared_luck=number % 2 == 0,
            swap_labels=number % 4 < 2,
            warm_start=replace(burger.warm_start, agent=name, options=cast("Any", options), rounds=7 + number),
        )
        person = make_behaviour(*PEOPLE[number % len(PEOPLE)][:1])
        made.append(Rehearsal(f"AI {name} ({words(options)})", design, person, 2**40 + number, number % 2))
    person = make_behaviour("softmax", memory=40)
    made.append(Rehearsal("softmax in the whole casino", designs["casino"], person, 3, 0, ways=FAST))
    made.append(Rehearsal("a seed of 100 bits", burger, make_behaviour("softmax"), 2**100 + 1, 1, ways=PLAIN))
    return made


def _companies(designs: Designs) -> list[Company]:
    """Crowds of one kind and of several, small ones on both engines."""
    short, burger, three = _short(designs), designs["burger"], designs["three-by-three"]
    everyone = [(make_behaviour(name, **options), 1.0 + i % 3) for i, (name, options) in enumerate(PEOPLE)]
    agents = [(make_behaviour(name, **options), 1.0) for name, options in AGENTS_AS_PEOPLE]
    three_people = [("softmax", 0.5), ("win-stay-lose-shift", 0.3), ("knowledge-gradient", 0.2)]
    fixed = type(short.means).read("means", {"draw": "fixed", "values": [[[0.9, 0.1], [0.3, 0.5]]]})
    all_three: Ways = (("fast", 1), ("fast", 2), ("reference", 1))
    return [
        Company("everyone at the burgers", burger, everyone, 30, 1, checkpoints=20, ways=all_three),
        Company("agents at the burgers", burger, agents, 40, 2**33, checkpoints=20, ways=all_three),
        Company("everyone at the short casino", short, everyone, 8, 2**64 + 1, checkpoints=60, ways=all_three),
        Company("agents at the short casino", short, agents, 12, 4, checkpoints=(1, 7, 59), ways=all_three),
        Company("everyone at three by three", three, everyone, 10, 5, checkpoints=7, ways=all_three),
        Company("agents at three by three", three, agents, 12, 2**128, ways=all_three),
        Company("one participant", burger, "softmax", 1, 0, checkpoints=20),
        Company("a weight of nothing", burger, [("softmax", 0), ("optimal", 2), ("naive-ts", 1)], 12, 8),
        Company("fixed means", replace(short, means=fixed), three_people, 8, 9, checkpoints=60),
        Company("no practice", replace(short, practice=None), three_people, 8, 10, checkpoints=60),
        Company("no warm start", replace(burger, warm_start=None), three_people, 12, 11, checkpoints=20),
        Company("known misses", replace(burger, observation="missed-known"), everyone, 24, 12, checkpoints=20),
        Company("flips", replace(three, observation="flipped"), everyone, 10, 13, checkpoints=5),
        Company("own luck", replace(burger, shared_luck=False, swap_labels=False), three_people, 12, 14),
        Company("four AIs", _with_ais(burger, *AGENTS_AS_PEOPLE[:4]), three_people, 12, 15, checkpoints=20),
        Company("Thompson AIs", _with_ais(short, *AGENTS_AS_PEOPLE[11:14]), three_people, 6, 16, checkpoints=60),
        Company("4x5", _with_arms(burger, 4, 5), three_people, 12, 17, checkpoints=20),
        Company("long memories", short, make_behaviour("softmax", memory=50), 6, 18, checkpoints=60),
        Company("the whole casino", designs["casino"], three_people, 24, 19, checkpoints=10, ways=THREADS),
        Company("many burgers", burger, three_people, 3000, 20, ways=THREADS),
        Company("many at three by three", three, everyone, 600, 21, checkpoints=3, ways=THREADS),
        Company("many agents", burger, agents, 1500, 22, checkpoints=2, ways=THREADS),
    ]


def _powers(designs: Designs) -> list[Power]:
    people = [("softmax", 0.5), ("win-stay-lose-shift", 0.3), ("knowledge-gradient", 0.2)]
    plain: Ways = (("fast", 1), ("fast", 2), ("reference", 1))
    return [
        Power("burger, three kinds", designs["burger"], people, (10, 20, 40), 60, 0),
        Power("burger, epsilon-greedy", designs["burger"], "epsilon-greedy", (12, 58), 40, 2**65),
        Power("burger, tiny", designs["burger"], people, (2, 5), 4, 3, plain),
        Power("short casino", _short(designs), people, (6, 12), 25, 1),
        Power("short casino, agents", _short(designs), "partner-aware-ts", (8,), 20, 2),
        Power("three-by-three", designs["three-by-three"], people, (8, 16), 25, 4),
    ]


def study_cases(designs: Designs) -> list[Case]:
    """All of them, with the shipped designs as they were recorded."""
    return [*_rehearsals(designs), *_companies(designs), *_powers(designs)]
