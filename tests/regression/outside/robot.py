"""What was recorded, turned into what a server answers that may have a robot."""

from __future__ import annotations

from typing import Any

_MESSAGES = {
    "en": {
        "robot.skip": "Skip",
        "robot.adds": "{partner} adds: {item}",
        "robot.person": "{participant} add: {item}",
        "robot.item.top_bun": "top bun",
        "robot.trouble": "The robot could not be shown this time. Your choice is stored, and the burger counts.",
        "robot.stacking": "{partner} is stacking …",
        "robot.stacking.heading": "Your burger is being stacked",
        "robot.stopped.text": "The robot has paused for a moment. Your choice is stored; somebody will help, and this "
        "page goes on by itself.",
        "robot.busy.heading": "The robot is busy",
        "robot.busy.text": "The robot is working with somebody else just now. Please wait: this page goes on by "
        "itself.",
        "robot.your-turn": "Your turn: please place this layer: {item}",
        "robot.placed": "I have placed it",
    },
    "de": {
        "robot.skip": "Überspringen",
        "robot.adds": "{partner} legt auf: {item}",
        "robot.person": "{participant}: {item}",
        "robot.item.top_bun": "Brötchendeckel",
        "robot.trouble": "Der Roboter konnte diesmal nicht gezeigt werden. Ihre Wahl ist gespeichert, und der "
        "Burger zählt.",
        "robot.stacking": "{partner} stapelt …",
        "robot.stacking.heading": "Ihr Burger wird gestapelt",
        "robot.stopped.text": "Der Roboter macht eine kurze Pause. Ihre Wahl ist gespeichert; gleich hilft jemand, und "
        "diese Seite geht von selbst weiter.",
        "robot.busy.heading": "Der Roboter ist beschäftigt",
        "robot.busy.text": "Der Roboter arbeitet gerade mit jemand anderem. Bitte warten Sie: Diese Seite geht von "
        "selbst weiter.",
        "robot.your-turn": "Sie sind dran: Bitte legen Sie diese Lage auf: {item}",
        "robot.placed": "Sie liegt",
    },
}
_OF_PARTICIPANTS = {
    "/api/participants/{token}/robot": "get",
    "/api/robot/{version}/scene.json": "get",
    "/api/robot/{version}/recordings/{name}": "get",
}
_OF_THE_CONSOLE = {"/api/admin/robot": "get"} | {
    f"/api/admin/robot/{button}": "post" for button in ("stop", "retry", "skip", "placed", "release", "connect")
}


def with_messages(value: Any) -> Any:
    """The pages have words for a robot."""
    body = value["body"]
    return value | {"body": body | {"messages": body["messages"] | _MESSAGES[body["language"]]}}


def with_routes(value: Any) -> Any:
    """What pages ask of a robot, and what its console asks; every route may be refused in the same ways as others."""
    refusals = [status for status in value["/api/health"]["get"] if status != "200"]
    placed = {"/api/participants/{token}/robot/placed": {"post": ["204", *refusals]}}
    plain = {path: {method: ["200", *refusals]} for path, method in _OF_PARTICIPANTS.items()}
    console = {path: {method: ["200", "401", *refusals]} for path, method in _OF_THE_CONSOLE.items()}
    return value | placed | plain | console


def with_event(value: Any) -> Any:
    """Pages tell of the robot, too."""
    message = value["body"]["message"].replace("'language' or 'error'", "'language', 'error' or 'robot'")
    return value | {"body": value["body"] | {"message": message}}
