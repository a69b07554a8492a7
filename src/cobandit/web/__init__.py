"""The studies on the web: participants' pages, researcher's pages, a database behind them."""

from cobandit.web.app import create_app
from cobandit.web.config import WebConfig

__all__ = ["WebConfig", "create_app"]
