from cobandit.web.app import create_app as create_app
from cobandit.web.config import WebConfig as WebConfig

__all__: list[str]
