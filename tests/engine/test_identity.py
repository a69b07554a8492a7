"""A loaded result is that of the agents that played it, or it is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as parquet
import pytest

import cobandit as cb
from cobandit.agents.base import TeamAction, option
from cobandit.base.checks import whole

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])


class Playing(cb.Agent):
    """Plays the arm of its option."""

    def choose(self) -> int:
        """The arm."""
        return self.arm  # type: ignore[attr-defined]

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Nothing is learned."""


@dataclass
class Stubborn(Playing):
    """An agent with a name of its own."""

    name: ClassVar[str] = "stubborn"
    arm: int = option(0, "the arm", whole(0))


@dataclass
class Impostor(Playing):
    """An agent with the name of a registered one."""

    name: ClassVar[str] = "naive-ucb"
    arm: int = option(1, "the arm", whole(0))


def stubborn_class(arm: int) -> Any:
    """Another class with the same name: it plays another arm whatever its option says."""

    class Other(Stubborn):
        name: ClassVar[str] = "stubborn"

        def choose(self) -> int:
            return arm

    return Other


def played(agent: cb.Agent, **options: Any) -> cb.Result:
    return cb.simulate(PROBLEM, cb.Team.of(agent), 60, 5, seed=2, engine="reference", **options)


def without_identities(path: Path) -> Path:
    """The file as earlier versions wrote it."""
    table = parquet.read_table(path)
    facts = json.loads(table.schema.metadata[b"cobandit"])
    del facts["agents"]
    facts["team"].pop("class", None)
    metadata = {**table.schema.metadata, b"cobandit": json.dumps(facts).encode()}
    parquet.write_table(table.replace_schema_metadata(metadata), path)
    return path


def test_an_agent_with_a_name_comes_back(tmp_path: Path) -> None:
    result = played(Stubborn(arm=1))
    loaded = cb.Result.load(result.save(tmp_path / "r.parquet"), own=[Stubborn])
    assert isinstance(loaded.team.lineup[0], Stubborn)
    assert loaded.team == result.team
    assert cb.Result.from_dict(json.loads(json.dumps(result.describe())), own=[Stubborn]).team == result.team


def test_a_file_holds_the_identity_of_every_agent(tmp_path: Path) -> None:
    team = cb.Team([Stubborn(), cb.NaiveUCB()])
    path = cb.simulate(PROBLEM, team, 20, 2, seed=0, out=tmp_path / "r.parquet").save(tmp_path / "s.parquet")
    for file in (path, tmp_path / "r.parquet"):
        own, ours = json.loads(parquet.read_schema(file).metadata[b"cobandit"])["agents"]
        assert (own["agent"], own["module"], own["class"]) == ("stubborn", __name__, "Stubborn")
        assert len(own["digest"]) == 64
        assert (ours["class"], ours["registered"], ours["digest"]) == ("NaiveUCB", True, None)


@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_an_own_agent_never_becomes_the_registered_one_of_its_name(tmp_path: Path, keep: str) -> None:
    result = played(Impostor(), keep=keep)
    path = result.save(tmp_path / "r.parquet")
    with pytest.raises(cb.InvalidInput, match=r"Impostor, not the registered agent of that name; own must hold"):
        cb.Result.load(path)
    assert isinstance(cb.Result.load(path, own=[Impostor]).team.lineup[0], Impostor)
    with pytest.raises(cb.InvalidInput, match="not the registered agent of that name"):
        cb.Team.from_dict(result.team.describe())
    assert cb.Team.of(Impostor()) != cb.Team.of("naive-ucb")


@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_another_class_of_the_same_name_must_play_the_same_rounds(tmp_path: Path, keep: str) -> None:
    path = played(Stubborn(arm=1), keep=keep).save(tmp_path / "r.parquet")
    assert cb.Result.load(path, own=[stubborn_class(1)]).runs == 5
    with pytest.raises(cb.InvalidInput, match=r"plays differently: the task regret of run 0 after 1 rounds is"):
        cb.Result.load(path, own=[stubborn_class(0)])


def test_a_registered_agent_is_not_replaced_by_an_own_class(tmp_path: Path) -> None:
    path = played(cb.NaiveUCB()).save(tmp_path / "r.parquet")

    class Mine(cb.NaiveUCB):
        name: ClassVar[str] = "naive-ucb"

    with pytest.raises(cb.InvalidInput, match=r"was played by cobandit\.agents\.naive\.NaiveUCB"):
        cb.Result.load(path, own=[Mine])


def test_files_without_identities_are_compared_by_a_replay(tmp_path: Path) -> None:
    ours = without_identities(played(cb.NaiveUCB()).save(tmp_path / "ours.parquet"))
    assert cb.Result.load(ours).team == cb.Team.of("naive-ucb")
    own = without_identities(played(Stubborn(arm=1)).save(tmp_path / "own.parquet"))
    assert cb.Result.load(own, own=[Stubborn]).runs == 5
    with pytest.raises(cb.InvalidInput, match="does not say which classes played"):
        cb.Result.load(own, own=[stubborn_class(0)])


def test_an_old_file_of_an_impostor_warns(tmp_path: Path) -> None:
    class Silent(Playing):
        name: ClassVar[str] = "naive-ucb"
        arm = 1

    path = without_identities(played(Silent()).save(tmp_path / "r.parquet"))
    with pytest.warns(UserWarning, match="naive-ucb plays differently now: the task regret of run 0"):
        cb.Result.load(path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda agents: 3, "agents must be the identities of 1 agents, got 3"),
        (lambda agents: agents * 2, "agents must be the identities of 1 agents"),
        (lambda agents: [{}], "agents must be the identities of 1 agents"),
    ],
)
def test_spoiled_identities_are_refused(spoil: Callable[[Any], Any], said: str) -> None:
    described = played(cb.NaiveUCB()).describe()
    with pytest.raises(cb.InvalidInput, match=said):
        cb.Result.from_dict(described | {"agents": spoil(described["agents"])})


def test_own_classes_must_have_different_names() -> None:
    with pytest.raises(cb.InvalidInput, match="own must hold classes with different names"):
        cb.Team.from_dict({"agent": "stubborn"}, own=[Stubborn, stubborn_class(1)])
