"""What was recorded, turned into what a server answers that knows four states of a study, and kind pages for errors."""

from __future__ import annotations

from typing import Any

MESSAGES = {
    "en": {
        "invite-only.title": "This study is by invitation",
        "invite-only.text": "People come in by personal links alone. If you were invited, please use the link that was "
        "sent to you.",
        "full.title": "This study is full",
        "full.text": "All places are taken at the moment. Thank you for your interest.",
        "not-ready.title": "This study has not begun yet",
        "not-ready.text": "It does not take participants yet. Please come back later, or ask the person who sent you "
        "the link.",
        "busy.title": "One moment, please",
        "busy.text": "There is a lot going on here just now. Nothing is lost: please load the page again in a minute.",
        "home.link": "To the front page",
        "home.studies": "To the studies",
    },
    "de": {
        "invite-only.title": "An dieser Studie kann man auf Einladung teilnehmen",
        "invite-only.text": "Man kommt nur mit einem persönlichen Link hinein. Wenn Sie eingeladen wurden, verwenden "
        "Sie bitte den Link, der Ihnen geschickt wurde.",
        "full.title": "Diese Studie ist voll",
        "full.text": "Zurzeit sind alle Plätze vergeben. Vielen Dank für Ihr Interesse.",
        "not-ready.title": "Diese Studie hat noch nicht begonnen",
        "not-ready.text": "Man kann noch nicht teilnehmen. Bitte kommen Sie später wieder oder fragen Sie die Person, "
        "von der Sie den Link haben.",
        "busy.title": "Einen Moment, bitte",
        "busy.text": "Hier ist gerade viel los. Nichts ist verloren: Bitte laden Sie die Seite in einer Minute neu.",
        "home.link": "Zur Startseite",
        "home.studies": "Zu den Studien",
    },
}
STATE = "/api/admin/studies/{number}/state"
BLIND = STATE.replace("state", "blind")
PLACES = {"naive-ucb": 1, "partner-aware-ucb": 0, "naive": 2, "aware": 3}
STUDY = {"open", "code", "words", "conditions"}
"""Keys by which the researcher's interface tells of a study."""


def with_messages(value: Any) -> Any:
    """The pages have words for every state of a study, and for the way home."""
    body = value["body"]
    return value | {"body": body | {"messages": body["messages"] | MESSAGES[body["language"]]}}


def with_route(value: Any) -> Any:
    """Who may begin can be said in one request."""
    return value | {STATE: value[STATE.replace("state", "close")]}


def with_blinding(value: Any) -> Any:
    """The monitor may be blind; the places of algorithms in the palette come with the curves."""
    routes = {path: value[STATE.replace("state", "close")] for path in (STATE.replace("state", "unblind"), BLIND)}
    return value | routes


def sighted(value: Any) -> Any:
    """Whoever has asked sees the conditions."""
    return value | {"body": value["body"] | {"blind": False}} if value["status"] == 200 else value


def coloured(value: Any) -> Any:
    """Each curve has the place of its algorithm."""
    body = value["body"]
    curves = [curve | {"number": PLACES[curve["name"]]} for curve in body["conditions"]]
    return value | {"body": body | {"conditions": curves, "blind": False}}


def with_reason(value: Any) -> Any:
    """A study that takes nobody says why."""
    body = value["body"]
    return value | {"body": body | {"refused": None if body["open"] else "closed"}}


def with_state(value: Any) -> Any:
    """Wherever the researcher is told of a study, its state is told."""
    if isinstance(value, list):
        return [with_state(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_state(part) for key, part in value.items()}
    return _stated(value) if value.keys() >= STUDY else value


def with_new_state(value: Any) -> Any:
    """The answer to opening and closing."""
    return value | {"body": _stated(value["body"])}


def listed(value: Any) -> Any:
    """The list of the command line."""
    return value | {"studies": [_stated(row) for row in value["studies"]]}


def _stated(study: dict[str, Any]) -> dict[str, Any]:
    return study | {"state": "open" if study["open"] else "closed", "quota": None}


WARNING = (
    "warning: The consent (en, de) is the placeholder of a shipped design: a server takes no participants with it. Put "
    "in the text that your ethics board has approved."
)
NO_LINK = "Please check that the link is complete, or ask the person who sent it to you."
CHOICES = [
    "Who may begin?",
    "Who may begin",
    "Anybody with the open link, or a personal one",
    "By invitation: personal links alone",
    "Anybody, until so many take part:",
    "Number of participants",
    "Nobody new: the study is closed",
    "Whoever has begun may always finish, and nothing is deleted. Who has dropped out does not count against the "
    "number.",
    "Save",
    "Cancel",
]


PAGER = ["Pages of participants", "Previous page", "Next page"]
NOTES = [
    "Conditions are hidden: they stand as letters, and regret by condition is not shown.",
    "Show conditions …",
    "You see the conditions, and the audit log says since when.",
    "Hide them again",
]
UNBLIND = [
    "Show the conditions?",
    "You will see who plays with which algorithm, and how each is doing. Whoever knows this while people take part may "
    "treat them differently, or stop at a moment that suits; so it is written into the audit log, with your account "
    "and the time.",
    "Show the conditions",
    "Cancel",
]


def checked(answer: dict[str, Any]) -> dict[str, Any]:
    """A check warns of a consent that is a placeholder."""
    if not isinstance(answer.get("out"), list):
        return answer
    *lines, last = answer["out"]
    return answer | {"out": [*lines, WARNING, last]}


def leading_home(page: dict[str, Any]) -> dict[str, Any]:
    """A page of an error leads home, and says what to do in the visitor's words."""
    first, title, said, *more = page["text"]
    german = title.startswith("Diese")
    home = "Zur Startseite" if german else "To the front page"
    if said.startswith(("There is no study number", "Nobody in this study")):
        home = "To the studies"
    return page | {
        "text": [first, title, NO_LINK if said == "There is nothing at this address." else said, *more, home]
    }


def who_may_begin(page: dict[str, Any]) -> dict[str, Any]:
    """The monitor has a dialog for the four states in place of one for closing."""
    if not isinstance(page.get("text"), list) or "Close this study?" not in page["text"]:
        return page
    text = ["Who may begin …" if part == "Close the study …" else part for part in page["text"]]
    start = text.index("Close this study?")
    end = text.index("Cancel", start)
    text = [*text[:start], *PAGER, *CHOICES, *UNBLIND, *text[end + 1 :]]
    place = text.index("By condition")
    return page | {"text": [*text[:place], *NOTES, *text[place:]]}
