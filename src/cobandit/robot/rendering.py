"""Frames of a recording, drawn by MuJoCo from the description of the scene: for clips and stills.

Drawing needs OpenGL: a display, or ``MUJOCO_GL=egl`` or ``osmesa`` in the environment before MuJoCo is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import CobanditError
from cobandit.robot.recording import POSITION_UNIT, QUATERNION_UNIT, Recording


class NoDrawing(CobanditError):
    """This machine cannot draw frames; the message names the missing library."""

    def __init__(self, error: Exception) -> None:
        super().__init__(
            f"Frames cannot be drawn here: OpenGL does not start ({type(error).__name__}: {error}). On a machine "
            "without a display install libegl1 (or libosmesa6) and set MUJOCO_GL=egl (or osmesa)."
        )


try:
    from cobandit.robot.opengl import mujoco
except Exception as error:  # a library that was asked for and is not there shows in many ways
    raise NoDrawing(error) from error

Image = NDArray[np.uint8]
FINISHES = {"matt": (0.05, 0.1), "satin": (0.25, 0.4), "gloss": (0.6, 0.8)}
"""Specular and shininess."""


class Camera:
    """A viewpoint, as in the description of a scene."""

    def __init__(self, position: Sequence[float], target: Sequence[float], fov: float) -> None:
        self.position, self.target, self.fov = np.array(position), np.array(target), fov

    def to_mujoco(self) -> mujoco.MjvCamera:
        """Return the camera for MuJoCo: a distance and two angles about the target."""
        way = self.target - self.position
        camera = mujoco.MjvCamera()
        camera.lookat[:] = self.target
        camera.distance = float(np.linalg.norm(way))
        camera.azimuth = math.degrees(math.atan2(way[1], way[0]))
        camera.elevation = math.degrees(math.asin(way[2] / camera.distance))
        return camera


class FrameRenderer:
    """Draws frames of recordings in one scene. Use it as a context: it holds a part of the graphics card."""

    def __init__(self, scene: Mapping[str, Any], width: int, height: int) -> None:
        self.model = mujoco.MjModel.from_xml_string(drawing_model(scene, width, height))
        self._data = mujoco.MjData(self.model)
        self.camera = Camera(**scene["camera"])
        self._moving = {name: int(self.model.body(name).mocapid[0]) for name in scene["moving"]}
        try:
            self._renderer = mujoco.Renderer(self.model, height, width)
        except Exception as error:
            raise NoDrawing(error) from error

    def __enter__(self) -> FrameRenderer:
        return self

    def __exit__(self, *_: object) -> None:
        self._renderer.close()

    def draw(self, recording: Recording, frame: float, camera: Camera | None = None) -> Image:
        """Draw one frame; poses between two frames are blended."""
        view = camera or self.camera
        self.model.vis.global_.fovy = view.fov
        poses = _blended(recording, frame)
        for number, name in enumerate(recording.bodies):
            self._data.mocap_pos[self._moving[name]] = poses[number, :3]
            self._data.mocap_quat[self._moving[name]] = poses[number, 3:]
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_camlight(self.model, self._data)
        self._renderer.update_scene(self._data, view.to_mujoco())
        self._renderer.scene.flags[mujoco.mjtRndFlag.mjRND_FOG] = True
        return np.array(self._renderer.render())


def _blended(recording: Recording, frame: float) -> NDArray[np.float64]:
    left = int(min(max(frame, 0), recording.frames - 1))
    right, part = min(left + 1, recording.frames - 1), frame - left
    poses: NDArray[np.float64] = recording.poses[left] * (1.0 - part) + recording.poses[right] * float(part)
    poses[:, :3] *= POSITION_UNIT
    poses[:, 3:] *= QUATERNION_UNIT
    return poses


def drawing_model(scene: Mapping[str, Any], width: int, height: int) -> str:
    """Return the scene in MuJoCo's XML, every moving body to be put where a recording says."""
    meshes = "".join(
        f'<mesh name={quoteattr(name)} inertia="shell" vertex="{_numbers(mesh["vertices"])}" '
        f'face="{_numbers(mesh["faces"])}"/>'
        for name, mesh in scene["meshes"].items()
    )
    names = [*scene["bodies"], *(name for name in scene["moving"] if name not in scene["bodies"])]
    bodies = "".join(_body(scene, name) for name in names)
    sky = _numbers(_rgb(scene["background"]))
    return f"""<mujoco model="scene"><compiler angle="radian"/>
<visual>
  <global offwidth="{width}" offheight="{height}" fovy="{scene["camera"]["fov"]}"/>
  <quality shadowsize="2048" offsamples="4"/>
  <headlight ambient=".42 .42 .44" diffuse=".22 .22 .22" specular=".05 .05 .05"/>
  <map znear=".05" zfar="40" fogstart="1.2" fogend="3.2" shadowclip=".8"/>
  <rgba fog="{sky} 1"/>
</visual>
<statistic center=".5 0 .8" extent="2" meansize=".1"/>
<asset>
  <texture name="sky" type="skybox" builtin="flat" rgb1="{sky}" rgb2="{sky}" width="64" height="64"/>
  {_materials()}{meshes}
</asset>
<worldbody>{"".join(map(_light, scene["lights"]))}{bodies}</worldbody></mujoco>"""


def _materials() -> str:
    return "".join(
        f'<material name="{name}" specular="{specular}" shininess="{shininess}"/>'
        for name, (specular, shininess) in FINISHES.items()
    )


def _light(light: Mapping[str, Any]) -> str:
    way = np.subtract(light["target"], light["position"])
    strength = _numbers([light["intensity"] * 0.62] * 3)
    shadow = "true" if light["shadow"] else "false"
    return (
        f'<light pos="{_numbers(light["position"])}" dir="{_numbers(way)}" diffuse="{strength}" '
        f'specular="{_numbers([light["intensity"] * 0.3] * 3)}" castshadow="{shadow}" type="directional"/>'
    )


def _body(scene: Mapping[str, Any], name: str) -> str:
    place = scene["bodies"].get(name, {"pos": (0, 0, 0), "quat": (1, 0, 0, 0)})
    mocap = ' mocap="true"' if name in scene["moving"] else ""
    geoms = "".join(_geom(geom) for geom in scene["geoms"] if geom["body"] == name)
    return f'<body name="{name}" pos="{_numbers(place["pos"])}" quat="{_numbers(place["quat"])}"{mocap}>{geoms}</body>'


def _geom(geom: Mapping[str, Any]) -> str:
    size = (
        ""
        if geom["type"] == "mesh"
        else f'size="{_numbers([*geom["size"], *([0.1] if geom["type"] == "plane" else [])])}"'
    )
    mesh = f"mesh={quoteattr(geom['mesh'])}" if geom["type"] == "mesh" else ""
    return (
        f'<geom type="{geom["type"]}" {size} {mesh} pos="{_numbers(geom["pos"])}" quat="{_numbers(geom["quat"])}" '
        f'rgba="{_numbers(_rgb(geom["colour"]))} 1" material="{geom["finish"]}" contype="0" conaffinity="0" mass="0"/>'
    )


def _numbers(numbers: Any) -> str:
    return " ".join(f"{number:.6g}" for number in numbers)


def _rgb(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
