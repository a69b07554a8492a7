"""A task with states over HTTP: bots play it, and a researcher sees the burgers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cobandit.studies import StudyDesign, load_design
from cobandit.web.clients.bots import play_study
from tests.browser.site import PASSWORD, Site

LINE = StudyDesign.from_dict(load_design("burger-line").to_dict() | {"rounds": 6, "completion_code": "DONE4242"})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    server = Site(tmp_path_factory.mktemp("line"), LINE)
    yield server
    server.close()


def test_bots_finish_and_a_researcher_sees_burgers(site: Site) -> None:
    login = site.post("admin/login", {"password": PASSWORD})["token"]
    results = play_study(site.address, "burger-line", 2, "softmax", design=LINE, kind="rehearsal", login=login)
    assert [(str(result.code)[:9], result.conflicts) for result in results] == [("REHEARSAL", 0)] * 2
    one = f"/api/admin/studies/1/participants/{results[0].participant}"
    view = site.admin.get(one).json()["episodes"][0]
    assert sum(cell["played"] for cell in view["cells"]) == 3
    assert sum(cell["good"] for cell in view["cells"]) == view["good"]
    whole = site.admin.get(f"{one}/episodes/0?from=1").json()["rounds"]
    part = site.admin.get(f"{one}/episodes/0?from=2&limit=3").json()["rounds"]
    assert part == whole[1:4]  # the regret of a second layer depends on the first one
    assert view["regret"] == pytest.approx(sum(played["regret"] for played in whole))
