"""``python -m cobandit.cli`` is the same as ``cobandit``."""

from cobandit.cli import main

main()
