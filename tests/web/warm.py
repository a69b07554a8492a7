"""What every server builds when it starts, built once in the process that servers of tests are forked from."""

import gc

from cobandit.web.app import _routes

_routes()
gc.collect()
gc.freeze()  # or each server would look through, and so copy, all of this
