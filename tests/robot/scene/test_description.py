"""The scene that pages draw: whole, plain JSON, small; and the genuine robot's looks where somebody has them."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import struct

import numpy as np
import pytest

from cobandit.base.errors import UnknownName
from cobandit.robot import scene_description
from cobandit.robot.layout import ITEMS, MOVING
from cobandit.robot.scene import skin
from cobandit.robot.scene.shapes import lathe, rounded_box, sheet, soft_profile, times, turn

SIZES = {"box": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "plane": 2, "mesh": 0}


@pytest.fixture(scope="module")
def scene():
    return scene_description()


def volume(mesh) -> float:
    corners = np.array(mesh["vertices"]).reshape(-1, 3)[np.array(mesh["faces"]).reshape(-1, 3)]
    return float(np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6)


class TestScene:
    def test_is_plain_json_and_small(self, scene):
        text = json.dumps(scene, allow_nan=False)
        assert json.loads(text) == scene
        assert len(gzip.compress(text.encode())) < 150_000

    def test_every_shape_is_whole(self, scene):
        places = {*scene["bodies"], *scene["moving"]}
        for geom in scene["geoms"]:
            assert geom["body"] in places
            assert len(geom["size"]) == SIZES[geom["type"]]
            assert all(size > 0 for size in geom["size"])
            assert np.linalg.norm(geom["quat"]) == pytest.approx(1, abs=1e-4)
            assert re.fullmatch(r"#[0-9a-f]{6}", geom["colour"])
            assert geom["finish"] in ("matt", "satin", "gloss")
            assert ("mesh" in geom) == (geom["type"] == "mesh")
        used = {geom["mesh"] for geom in scene["geoms"] if geom["type"] == "mesh"}
        assert used == set(scene["meshes"])

    def test_every_moving_body_is_seen_and_every_item_has_a_place(self, scene):
        assert scene["moving"] == list(MOVING)
        assert set(MOVING) <= {geom["body"] for geom in scene["geoms"]}
        assert set(ITEMS) <= set(scene["bodies"])
        assert set(scene["items"]) == set(ITEMS) - {"bottom_bun"}

    def test_meshes_are_seen_from_outside(self, scene):
        for name, mesh in scene["meshes"].items():
            count = len(mesh["vertices"]) // 3
            assert 0 <= min(mesh["faces"]) <= max(mesh["faces"]) < count
            assert volume(mesh) > 0, name

    def test_unknown_skins(self):
        with pytest.raises(UnknownName, match="Did you mean 'fetch'"):
            scene_description("fetsh")


class TestShapes:
    def test_volumes(self):
        drum = volume(lathe(soft_profile(1, 1, 0.01), 200).to_dict())
        assert drum == pytest.approx(2 * np.pi, rel=0.01)
        assert volume(rounded_box((1, 2, 3), 0.01).to_dict()) == pytest.approx(48, rel=0.01)
        disc = sheet(lambda angle: 1.0, lambda part, angle: 0.1 * part, 0.2, around=200)
        assert volume(disc.to_dict()) == pytest.approx(0.2 * np.pi, rel=0.01)

    def test_turns(self):
        quarter = turn("z", np.pi / 2)
        np.testing.assert_allclose(times(quarter, quarter), turn("z", np.pi), atol=1e-12)


class TestFetchSkin:
    """With a package of that name and meshes of our own: the genuine ones are not ours to keep."""

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        package = tmp_path / "gymnasium_robotics"
        meshes = package / skin.FOLDER
        meshes.mkdir(parents=True)
        (package / "__init__.py").write_text("raise ImportError('not to be loaded')")
        for file in [*(part[0] for part in skin.PARTS.values()), skin.TORSO_FIXED[0]]:
            (meshes / f"{file}.stl").write_bytes(stl())
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: Spec(str(package / "__init__.py")))
        return meshes

    def test_says_whose_it_is(self, folder):
        scene = scene_description("fetch")
        assert "NC" in scene["credit"]["licence"]
        assert "Fetch" in scene["credit"]["name"]
        assert set(MOVING) <= {geom["body"] for geom in scene["geoms"]}
        assert len(scene["meshes"]["gripper_link"]["faces"]) == 12

    def test_damaged_meshes(self, folder):
        (folder / "gripper_link.stl").write_bytes(stl()[:-3])
        with pytest.raises(skin.NoMeshes, match="no binary STL"):
            scene_description("fetch")
        (folder / "gripper_link.stl").unlink()
        with pytest.raises(skin.NoMeshes, match="cannot be read"):
            scene_description("fetch")

    def test_not_installed(self, monkeypatch):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(skin.NoMeshes, match="pip install gymnasium-robotics"):
            scene_description("fetch")


class Spec:
    def __init__(self, origin: str) -> None:
        self.origin = origin


def stl() -> bytes:
    """A tetrahedron."""
    a, b, c, d = (0.0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)
    faces = [(a, c, b), (a, b, d), (a, d, c), (b, c, d)]
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for corner in face for x in corner), 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + rows
