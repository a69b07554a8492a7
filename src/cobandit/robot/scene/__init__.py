"""The scene of a burger as data that any renderer can draw: our page, our clips, or others."""

from cobandit.robot.scene.description import scene_description

__all__ = ["scene_description"]
