"""Means that all participants share are the study's own secret: nobody can work them out from the design."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cobandit.studies import ParticipantPlan, StudyDesign, verify_study
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from cobandit.web.storage.studies import Study, find_study
from cobandit.web.storage.study_data import study_data

SHARED = {"draw": "uniform", "per": "study"}


@pytest.fixture
def casino(short: StudyDesign) -> StudyDesign:
    """The short study with means that are drawn once for everybody, as in the casino that is shipped."""
    return StudyDesign.from_dict(short.to_dict() | {"means": SHARED})


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def stored(site: Any, name: str = "short") -> Study:
    with site.database.read() as connection:
        study = find_study(connection, name)
    assert study is not None
    return study


def means_of(site: Any, person: Any, design: StudyDesign) -> NDArray[np.float64]:
    """The means of the first episode that counts, as the researcher sees them."""
    person.go_on(design, "rest")
    person.go_on(design, "rest-2")
    client = site.client(headers={"authorization": f"Bearer {site.login()}"})
    view = client.get(f"/api/admin/studies/1/participants/{site.public_id(person.token)}").json()
    return np.array([cell["mean"] for cell in view["episodes"][1]["cells"]])


def test_means_are_not_those_of_the_design(open_site: Callable[..., Any], address: str, casino: StudyDesign) -> None:
    site = open_site(address, casino, demo=True)
    header = {"authorization": f"Bearer {site.login()}"}
    people = {
        "real": site.person(),
        "another": site.person(),
        "demo": site.person(demo=True),
        "rehearsal": type(site.person())(
            site.client(), site.arrive(client=site.client(headers=header), rehearsal=True).json()["token"]
        ),
    }
    means = {name: means_of(site, person, casino) for name, person in people.items()}
    public = ParticipantPlan(casino, 0, 0).episode(1).unswapped_means.ravel()
    assert np.array_equal(means["real"], means["another"])
    told = [public, means["real"], means["demo"], means["rehearsal"]]
    assert all(not np.intersect1d(one, other).size for i, one in enumerate(told) for other in told[:i])
    with site.database.read() as connection:
        assert verify_study(study_data(connection, stored(site), "real", "demo", "rehearsal")) == []


def test_every_installation_has_its_own(tmp_path: Any, casino: StudyDesign) -> None:
    secrets = set()
    for place in ("here", "there"):
        address = f"sqlite:///{tmp_path / place}.sqlite"
        prepare(address, [casino], make_password=False)
        database = Database(address)
        with database.read() as connection:
            study = find_study(connection, "short")
        database.close()
        assert study is not None
        secrets |= {study.secret_for(kind) for kind in ("real", "rehearsal", "demo")}
    assert len(secrets) == 6


def test_a_study_from_before_goes_on_and_verifies(
    open_site: Callable[..., Any], address: str, casino: StudyDesign
) -> None:
    site = open_site(address, casino)
    site.change("UPDATE studies SET secret = NULL")
    means = means_of(site, site.person(), casino)
    assert np.array_equal(np.sort(means), np.sort(ParticipantPlan(casino, 0, 0).episode(1).unswapped_means.ravel()))
    prepare(address, [casino])
    assert stored(site).secret is None
    with site.database.read() as connection:
        assert verify_study(study_data(connection, stored(site))) == []


def test_a_design_that_is_replaced_gets_a_secret(
    open_site: Callable[..., Any], sqlite: str, short: StudyDesign, casino: StudyDesign
) -> None:
    site = open_site(sqlite, short)
    given = stored(site).secret
    site.change("UPDATE studies SET secret = NULL")
    prepare(sqlite, [casino])
    assert stored(site).secret == given is not None


def test_no_answer_holds_the_secret(open_site: Callable[..., Any], sqlite: str, casino: StudyDesign) -> None:
    site = open_site(sqlite, casino)
    person = site.person()
    person.go_on(casino, "rest-2")
    client = site.client(headers={"authorization": f"Bearer {site.login()}"})
    study = stored(site)
    assert study.secret is not None
    secrets = (study.secret, study.secret_for("real"), str(study.seed))
    answers = [
        client.get("/api/admin/studies"),
        client.get("/api/admin/studies/1/live"),
        client.get(f"/api/admin/studies/1/participants/{site.public_id(person.token)}"),
        client.get("/api/studies/short"),
        client.get(person.path),
    ]
    assert not [secret for secret in secrets for answer in answers if secret in answer.text]
