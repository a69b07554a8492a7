"""A small web game with an AI partner from the partner service: you brew the tea, the partner picks the cake.

Run ``cobandit partner serve``, make a key with ``cobandit partner keys add tea-house --scope admin``, and then
``COBANDIT_KEY=cb_... python examples/partner_game/server.py 8080``. Open http://127.0.0.1:8080.

The key stays in this server. A browser knows a random name of its game and nothing else.
"""

import json
import os
import random
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cobandit.remote.partner import PartnerClient, PartnerError

FOLDER = Path(__file__).parent
FILES = {
    "/": ("index.html", "text/html"),
    "/history": ("history.html", "text/html"),
    "/game.js": ("game.js", "text/javascript"),
    "/icons.js": ("icons.js", "text/javascript"),
    "/history.js": ("history.js", "text/javascript"),
    "/style.css": ("style.css", "text/css"),
}
POLICY = "default-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
HAPPY = ((0.75, 0.35, 0.2), (0.25, 0.6, 0.3), (0.3, 0.4, 0.9))
"""How often a guest is happy, by tea and cake."""
PARTNER_SEES = 0.4
"""You see every guest leave; the partner sees two guests in five."""


def guest(game: str, round_number: int, tea: int, cake: int) -> tuple[bool, bool]:
    """Return whether the guest is happy, and whether the partner sees it: the same for every retry."""
    luck = random.Random(f"{game}/{round_number}")
    return luck.random() < HAPPY[tea][cake], luck.random() < PARTNER_SEES


def play(name: str, round_number: int, tea: int) -> dict:
    """Play one round: the partner's cake was fixed before it learns the tea."""
    game = client.game("tea-house", name)
    cake = game.choose(round=round_number).arm
    happy, partner_sees = guest(name, round_number, tea, cake)
    game.observe((tea, cake), float(happy and partner_sees), round=round_number)
    return {"round": round_number, "tea": tea, "cake": cake, "happy": happy}


def history(name: str) -> dict:
    """Begin or continue a game and return its rounds."""
    game = client.new_game("tea-house", name)
    rounds = []
    for played in game.history():
        if played.action is not None:
            tea, cake = played.action
            happy, partner_sees = guest(name, played.round, tea, cake)
            row = {"round": played.round, "tea": tea, "cake": cake, "happy": happy, "seen": partner_sees}
            rounds.append(row | {"foreseen": played.predictions.get(0)})
    return {"rounds": rounds, "next": len(rounds) + 1}


class App(BaseHTTPRequestHandler):
    """Pages, and two calls for them."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a page, or the history of a game."""
        path, _, query = self.path.partition("?")
        if path == "/api/history":
            self.reply(lambda: history(checked_name(query.removeprefix("game="))))
        elif path in FILES:
            name, kind = FILES[path]
            self.send(200, kind, (FOLDER / name).read_bytes())
        else:
            self.send(404, "text/plain", b"There is nothing here.")

    def do_POST(self) -> None:
        """Play a round."""
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length) if length < 1000 else b""

        def answer() -> dict:
            body = json.loads(sent)
            tea = int(body["tea"])
            if tea not in range(len(HAPPY)):
                raise ValueError("tea")
            return play(checked_name(body["game"]), int(body["round"]), tea)

        self.reply(answer)

    def reply(self, work) -> None:
        """Send what a function returns as JSON, or what the service says against it."""
        try:
            status, body = 200, work()
        except PartnerError as error:
            status, body = (error.status or 503), {"error": error.code, "message": str(error)}
        except (KeyError, TypeError, ValueError):
            status, body = 400, {"error": "invalid", "message": "This is not a move of the game."}
        self.send(status, "application/json", json.dumps(body).encode())

    def send(self, status: int, kind: str, content: bytes) -> None:
        """Send a whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_) -> None:
        """Print nothing: addresses hold names of games."""


def checked_name(name: str) -> str:
    """Return the name of a game as browsers make it."""
    if not re.fullmatch(r"[0-9a-f-]{32,36}", name):
        raise ValueError("game")
    return name


if __name__ == "__main__":
    client = PartnerClient(os.environ.get("COBANDIT_URL", "http://127.0.0.1:8000"), os.environ["COBANDIT_KEY"])
    client.create_team(
        "tea-house",
        "partner-aware-ucb",
        (3, 3),
        1,
        horizon=200,
        observability=[1.0, PARTNER_SEES],
        options={"window": 5},
    )
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), App)
    print(f"The tea house is open at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
