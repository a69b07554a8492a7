"""``python -m cobandit`` is the command line."""

from cobandit.cli import main

main()
