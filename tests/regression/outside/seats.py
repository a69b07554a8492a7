"""What seats have changed of the recordings: a place for each in what is said of a round, and exports of layout 2."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

MEANINGS = {
    "round_regret": "best mean minus the mean of the team action, of this round",
    "task_regret": "sum of round_regret over the episode up to this round",
    "team_regret": "what the agents observe of the task regret, summed likewise",
}
HEADS = ["Round", "Outcome", "Regret", "Reaction", "Stored at"]


def over_seats(value: Any) -> Any:
    """Answers and designs: whose seat is whose, and what each AI foresaw of each other."""
    if isinstance(value, list):
        return [over_seats(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: over_seats(part) for key, part in value.items()}
    if set(value) == {"kind", "arms"}:
        value["seat"] = 0
    if "predicted" in value:
        value["predictions"] = [[None, None], [value.pop("predicted"), None]]
    if "events_total" in value:
        words = value["study"]["words"]
        value |= {"seats": [words["participant"], words["partner"]], "seat": 0}
    if isinstance(value.get("design"), dict):
        value["design"]["seats"] = []
    return value


def layout_2(about: dict[str, Any]) -> dict[str, Any]:
    """``study.json``."""
    about = over_seats(about) | {"layout": 2}
    files = dict(about["files"])
    files["codebook.csv"] = files["codebook.csv"] | {"rows": files["codebook.csv"]["rows"] + 1}
    return about | {"files": files}


def codebook(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """One column more, and what the regrets mean now."""
    place = table["column"].index("task_regret")
    table = {name: [*values[:place], values[place], *values[place:]] for name, values in table.items()}
    table["column"][place] = "round_regret"
    for here in range(place, place + 3):
        table["meaning"][here] = MEANINGS[table["column"][here]]
    return table


def summed(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Rounds whose regrets are those of the episode so far."""
    sums: dict[str, list[float]] = {"task_regret": [], "team_regret": []}
    for name, column in sums.items():
        values = [float(value) for value in table[name]]
        for run in sorted(set(table["run"]), key=table["run"].index):
            column += accumulate(value for value, of in zip(values, table["run"], strict=True) if of == run)
    as_before = type(table["task_regret"][0])
    return (
        table
        | {"round_regret": table["task_regret"]}
        | {name: [_as(as_before, value) for value in column] for name, column in sums.items()}
    )


def _as(kind: type, value: float) -> Any:
    """A number as the file holds it: in CSV it is text without needless digits."""
    if kind is not str:
        return value
    return str(int(value)) if value.is_integer() else repr(value)


def summed_parquet(table: dict[str, Any]) -> dict[str, Any]:
    """The same in Parquet."""
    types = table["types"] | {"round_regret": table["types"]["task_regret"]}
    return {"types": types, "columns": summed(table["columns"])}


def without_heads(page: dict[str, Any]) -> dict[str, Any]:
    """The heads of the table of rounds are written by the script, which knows the seats."""
    text = page["text"]
    place = text.index("Stored at") - len(HEADS) + 1
    assert text[place : place + len(HEADS)] == HEADS
    return page | {"text": text[:place] + text[place + len(HEADS) :]}


def with_three_seats(answer: dict[str, Any]) -> dict[str, Any]:
    """One design more is known."""
    return answer | {"err": answer["err"].replace("three-by-three.", "three-by-three, three-seats.")}
