"""A read-only replica: it predicts with the newest snapshot of a service that it follows.

It asks for ``/model`` every few seconds, with the ETag of what it has, and puts a new learner in
the place of the old one. A prediction that is being made ends with the learner it began with.
"""

from __future__ import annotations

import http.client
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, NoReturn
from urllib.error import URLError
from urllib.parse import urlsplit

from lessregret.errors import ModelFileError, SpecError
from lessregret.learners.learner import Learner
from lessregret.service.bodies import Bodies
from lessregret.service.many_classes import classes_of
from lessregret.service.measures import Measures
from lessregret.service.monitor import Monitor
from lessregret.service.predictor import Predictor
from lessregret.service.refusals import RefusedError
from lessregret.service.settings import Settings
from lessregret.service.snapshots import Snapshot, digest_of

POLL = 2.0
"""seconds between two questions"""


class ReadOnlyError(RefusedError):
    """Replicas do not learn."""

    status = 405


class Replica(Predictor):
    """Follows a service.

    Parameters
    ----------
    model : Path
        The model file to begin with.
    url : str
        Where the service is, ``http`` or ``https``.
    token : str, optional
        A token of the service for ``admin``.
    poll : float
        Seconds between two questions.
    """

    def __init__(
        self,
        model: Path,
        url: str,
        settings: Settings,
        token: str | None = None,
        poll: float = POLL,
    ) -> None:
        self.settings, self._token, self._poll = settings, token, poll
        self._url = _checked(url)
        self._model = model
        self._learner = Learner.load(model)
        self._tag = digest_of(model.read_bytes())
        self._position, self._changed = 0, time.time()
        self.monitor = Monitor(settings.window)
        self.measures = Measures(self)
        self.trouble: str | None = None
        self.waiting = self.absent = 0
        learner = self._learner
        bodies = Bodies(learner.space, settings.most_batch, classes_of(learner))
        super().__init__(learner, bodies)
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lessregret-replica", daemon=True)
        self._thread.start()

    @property
    def learner(self) -> Learner:
        """The learner as it is now."""
        return self._learner

    def _check_read(self) -> None:
        """There is always a learner."""

    def now(self) -> float:
        """The time."""
        return time.time()

    def close(self) -> None:
        """Stop following."""
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ends.is_set():
            self._follow()
            self._ends.wait(self._poll)

    def _follow(self) -> None:
        """Ask once; whatever goes wrong, the learner that is there stays."""
        try:
            found = self._fetched()
            if found is not None:
                self._swap(*found)
            self.trouble = None
        except (OSError, http.client.HTTPException, ModelFileError, SpecError) as error:
            told = error.reason if isinstance(error, URLError) else error
            self.trouble = f"the followed service gives no model: {str(told)[:200]}"

    def _fetched(self) -> tuple[bytes, str, int] | None:
        """The newest model, its ETag and its position; None if it is the one that is there."""
        headers = {"If-None-Match": f'"{self._tag}"'}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(f"{self._url}/model", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=self.settings.timeout) as answer:
                position = int(answer.headers.get("X-Log-Position", 0))
                return answer.read(), str(answer.headers["ETag"]).strip('"'), position
        except urllib.request.HTTPError as error:
            with error:
                if error.code == 304:
                    return None
                raise SpecError(f"status {error.code}") from None

    def _swap(self, content: bytes, tag: str, position: int) -> None:
        if digest_of(content) != tag:
            raise SpecError("the model was cut off on its way")
        learner = Learner.from_bytes(content)
        if learner.space != self.bodies.space:
            raise SpecError("its model has another feature space; start with that model")
        self._learner, self._tag, self._position = learner, tag, position
        self._changed = time.time()

    def _refuse(self, *_: Any) -> NoReturn:
        raise ReadOnlyError("this is a read-only replica; send it to the service that it follows")

    keep = learn = settle = snapshot = _refuse

    def newest_snapshot(self) -> Snapshot:
        """A replica keeps no snapshots."""
        self._refuse()

    def readiness(self) -> dict[str, Any]:
        """A replica can always predict; what it follows may be away."""
        found: dict[str, Any] = {"ready": True, "replica": True, "position": self._position}
        return found if self.trouble is None else {**found, "warnings": [self.trouble]}

    def gauges(self) -> dict[str, tuple[str, float]]:
        """Numbers that go up and down, with what they are."""
        age = time.time() - self._changed
        return {
            "ready": ("Whether examples can be predicted.", 1.0),
            "following": ("Whether the followed service answers.", float(self.trouble is None)),
            "rounds": ("Examples that the model has learned from.", self.learner.tally().rounds),
            "snapshot_position": ("The log position of the model.", self._position),
            "snapshot_age_seconds": ("Time since the model was changed.", age),
        }


def _checked(url: str) -> str:
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise SpecError(f"--follow {url}: expected an address such as http://10.0.0.7:8000")
    return url.rstrip("/")
