"""Learn while serving: a learner behind HTTP, with a durable log.

    request ─parse─▶ examples ─queue─▶ writer: log (SQLite, one commit for all that wait) ─▶ learner
                                                 └── snapshot every N examples, names its position
    start = newest whole snapshot + the log behind it: the bits of a learner that never stopped

An example is acknowledged only when it is in the log. One thread, the writer, owns the log and the
order of learning; predictions are made by whoever is asked, while it learns.

The extra ``[serve]`` installs what this package needs.
"""

from lessregret.service.application import app
from lessregret.service.settings import Settings

__all__ = ["Settings", "app"]
