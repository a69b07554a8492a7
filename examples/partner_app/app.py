"""A partner in a small web app: the cook picks the dish, the app picks the drink, and the guest is happy or not.

Run it with ``python examples/partner_app/app.py 8080``; docs/tutorials/partner-in-an-app.md builds it step by step.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import cobandit as cb

FILE = Path("partner.json")
SETTING = {"arms": (2, 2), "seat": 1, "horizon": 1000, "observability": (1.0, 0.4), "seed": 7}


class App(BaseHTTPRequestHandler):
    """What the cook's screen talks to."""

    def do_GET(self) -> None:
        """Tell the round under way and the drink for it."""
        self.answer(200)

    def do_POST(self) -> None:
        """Learn, keep the state, tell what comes next."""
        try:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if told["round"] != partner.round:
                return self.answer(409, error="this round is over, or still to come")
            partner.observe((told["dish"], partner.choose()), told["happy"])
        except (KeyError, TypeError, ValueError) as error:  # cobandit's InvalidInput is a ValueError
            return self.answer(400, error=str(error))
        fresh = FILE.with_suffix(".new")
        fresh.write_text(json.dumps(partner.state()))
        fresh.replace(FILE)  # the old state or the new one, never half of one
        self.answer(200)

    def answer(self, status: int, **more: str) -> None:
        """The round under way as JSON."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"round": partner.round, "drink": partner.choose(), **more}).encode())


if __name__ == "__main__":
    if FILE.exists():
        partner = cb.Partner.from_state(json.loads(FILE.read_text()))
    else:
        partner = cb.Partner("partner-aware-ucb", window=5, **SETTING)
    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), App)
    print(f"round {partner.round} at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
