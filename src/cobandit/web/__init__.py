"""The studies on the web: participants' pages, researcher's pages, a database behind them."""

from cobandit.base.extras import require_extras

require_extras("A study on the web", web=True)  # before the imports below fail one after the other

from cobandit.web.app import create_app  # noqa: E402
from cobandit.web.config import WebConfig  # noqa: E402

__all__ = ["WebConfig", "create_app"]
