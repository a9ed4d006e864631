"""``python -m lessregret.cli``."""

from lessregret.cli import main

main()
