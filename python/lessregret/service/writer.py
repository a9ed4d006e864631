"""The writer: the one thread that owns the log and the order of learning.

    take all jobs that wait ─▶ one transaction ─▶ learn, in the order of the log ─▶ answer
                                     └─ fails: nothing is learned, and all jobs are told why

A failed commit has one of two meanings. If nothing was written (disk full, database locked), the
next transaction tries again. After any other error only a new start knows what the disk holds: the
service goes on predicting, and refuses to learn.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from lessregret import _core
from lessregret.errors import DivergedError, InputError, LessRegretError
from lessregret.learners.learner import Learner
from lessregret.service.bodies import Bodies, Labelled
from lessregret.service.clock import Clock
from lessregret.service.jobs import GiveUp, Job, Probe, Surroundings
from lessregret.service.log import Log, LogError, is_passing, told
from lessregret.service.many_classes import classes_of
from lessregret.service.refusals import BusyError, NotLearnedError, RefusedError, UnavailableError
from lessregret.service.replay import learn_run, runs
from lessregret.service.settings import Settings
from lessregret.service.snapshots import Snapshot, Snapshots

TICK = 1.0
"""seconds after which labels that are overdue are looked for, if there is nothing else to do"""
MOST_JOBS = 4096
"""jobs of a transaction"""
Watch = Callable[[list[_core.Outcomes]], None]


class Writer:
    """Learns what the log has. :meth:`start` reads the log; then jobs are taken.

    Parameters
    ----------
    learner : Learner
        The learner as the snapshot has it.
    position : int
        The position of the log that the snapshot contains.
    watch : function
        Is told the outcomes of everything that is learned.
    """

    def __init__(
        self,
        learner: Learner,
        position: int,
        log: Log,
        snapshots: Snapshots,
        settings: Settings,
        clock: Clock,
        watch: Watch,
    ) -> None:
        self.learner, self.log, self.snapshots = learner, log, snapshots
        self.settings, self.clock, self._watch = settings, clock, watch
        self.bodies = Bodies(learner.space, settings.most_batch, classes_of(learner))
        self.position = position
        self.replayed = 0
        self.to_replay = log.examples_since(position)
        self.absent = 0
        self.trimmed = 0
        self.last_snapshot: Snapshot | None = None
        self.snapshot_time = clock.now()
        self.snapshot_trouble: str | None = None
        self.trouble: str | None = f"reading the log: {self.to_replay:,} examples"
        """why nothing can be learned now; None if it can"""
        self.failed = False
        """whether only a new start can help"""
        self._has_read = False
        self._since_snapshot = 0
        self._outcomes: list[_core.Outcomes] = []
        """of what was learned and not watched yet"""
        self._jobs: deque[Job] = deque()
        self._condition = threading.Condition()
        self._closing = False
        self._saving: threading.Thread | None = None
        # Log positions below the snapshot's may be lost in a power cut; they are not used again.
        log.last = max(log.last, position)
        self._thread = threading.Thread(target=self._run, name="lessregret-writer", daemon=True)

    def start(self) -> None:
        """Begin to read the log, in the writer's own thread."""
        self._thread.start()

    @property
    def is_ready(self) -> bool:
        """Whether examples can be learned."""
        return self.trouble is None

    @property
    def replayed_all(self) -> bool:
        """Whether the learner has all that the log had at the start."""
        return self._has_read

    def submit(self, job: Job) -> Future[dict[str, Any]]:
        """Ask for a job; the answer comes when it is in the log and learned."""
        with self._condition:
            if self._closing:
                raise UnavailableError("the service is being stopped")
            if self.failed:
                raise UnavailableError(self.trouble or "the service failed")
            if not self._has_read:
                raise UnavailableError("the log is being read")
            if len(self._jobs) >= self.settings.queue:
                raise BusyError(f"{len(self._jobs):,} requests wait already")
            self._jobs.append(job)
            self._condition.notify()
        return job.future

    def close(self) -> None:
        """Do what waits, write a snapshot and end."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._thread.is_alive():
            self._thread.join()
        self.log.close()

    def _run(self) -> None:
        try:
            self._replay()
            while self._step():
                pass
            if self._since_snapshot and not self.failed:
                self.snapshot()
        except Exception as error:
            self._fail(f"{type(error).__name__} in the writer")
            raise
        finally:
            self._join_saving()
            self._refuse_waiting()

    def _replay(self) -> None:
        """Learn what the log has behind the snapshot, to the bits that it was learned to before."""
        try:
            for run in runs(self.log.since(self.position)):
                if self._closing:
                    return
                learn_run(self.bodies, run, self._learn, self._rounds)
                self._tell_watch()
                self.position = run[-1].position
                self.replayed += sum(entry.examples for entry in run)
        except (LogError, LessRegretError, RefusedError) as error:
            self._fail(str(error))
            return
        self._has_read, self.trouble = True, None

    def _rounds(self) -> int:
        return self.learner.tally().rounds

    def _step(self) -> bool:
        jobs = self._take()
        if self._closing and not jobs:
            return False
        if self.failed:
            self._refuse(jobs, self.trouble or "the service failed")
        else:
            self._commit([*jobs, *self._own_jobs()])
        self._snapshot_if_due()
        return True

    def _own_jobs(self) -> list[Job]:
        own: list[Job] = [GiveUp()] if self.log.waiting else []
        return own if self.trouble is None else [*own, Probe()]

    def _take(self) -> list[Job]:
        with self._condition:
            if not self._jobs and not self._closing:
                self._condition.wait(TICK)
            count = min(len(self._jobs), MOST_JOBS)
            return [self._jobs.popleft() for _ in range(count)]

    def _commit(self, jobs: list[Job]) -> None:
        if not jobs:
            return
        given = Surroundings(self.log, self.bodies, self.settings, self.clock.now())
        written: list[Job] = []
        try:
            with self.log.transaction():
                for job in jobs:
                    self._write(job, given, written)
        except sqlite3.Error as error:
            self._note_trouble(error)
            self._refuse(jobs, f"the log cannot be written: {told(error)}")
            return
        except Exception:
            self._refuse(jobs, "the log cannot be written")
            raise
        self.trouble = None
        troubles = [self._learn_job(job) for job in written]
        self._tell_watch()
        for job, trouble in zip(written, troubles, strict=True):
            if trouble is None:
                job.future.set_result(job.answer)
            else:
                job.future.set_exception(trouble)

    def _write(self, job: Job, given: Surroundings, written: list[Job]) -> None:
        try:
            job.write(given)
            written.append(job)
        except RefusedError as refusal:
            job.future.set_exception(refusal)

    def _note_trouble(self, error: sqlite3.Error) -> None:
        reason = f"the log cannot be written: {told(error)}"
        if is_passing(error):
            self.trouble = reason
        else:
            self._fail(f"{reason}; the service must be started again")

    def _refuse(self, jobs: list[Job], reason: str) -> None:
        """Tell all jobs of a transaction that nothing of it was kept."""
        for job in jobs:
            if not job.future.done():
                job.future.set_exception(UnavailableError(reason))

    def _learn_job(self, job: Job) -> RefusedError | None:
        """Learn what the log now has; why it cannot be answered as asked, if so."""
        trouble: RefusedError | None = None
        if job.to_learn is not None:
            trouble = self._learn(job.to_learn)
            self.position = job.position
        self.absent += job.answer.get("absent", 0)
        if job.wants_snapshot:
            trouble = self._snapshot_for(job)
        return trouble

    def _learn(self, given: Labelled) -> RefusedError | None:
        """Learn; if a round diverges, the rest of the entry is not learned, now or at any start."""
        self._since_snapshot += len(given.examples)
        core, (examples, played) = self.learner._core, given
        try:
            learned = core.learn(examples) if played is None else core.learn_late(examples, played)
            self._outcomes.append(learned)
        except (DivergedError, InputError) as error:
            return NotLearnedError(str(error))
        return None

    def _tell_watch(self) -> None:
        if self._outcomes:
            self._watch(self._outcomes)
            self._outcomes = []

    def _snapshot_if_due(self) -> None:
        if self._saving is not None and not self._saving.is_alive():
            self._saving = None
            self._trim()
        if self._since_snapshot >= self.settings.snapshot_every and self._saving is None:
            self._start_snapshot()

    def _start_snapshot(self) -> None:
        """Copy the learner now; another thread writes the copy, and learning goes on."""
        content, self._since_snapshot = self.learner.to_bytes(), 0
        given = self.position, content
        self._saving = threading.Thread(target=self._save, args=given, name="lessregret-snapshot")
        self._saving.start()

    def snapshot(self) -> None:
        """Write a snapshot and wait for it."""
        self._join_saving()
        self._start_snapshot()
        self._join_saving()

    def _snapshot_for(self, job: Job) -> RefusedError | None:
        self.snapshot()
        if self.snapshot_trouble is not None or self.last_snapshot is None:
            return UnavailableError(self.snapshot_trouble or "no snapshot")
        job.answer = {"position": self.last_snapshot.position, "etag": self.last_snapshot.digest}
        return None

    def _save(self, position: int, content: bytes) -> None:
        try:
            self.last_snapshot = self.snapshots.write(position, content)
            self.snapshot_time, self.snapshot_trouble = self.clock.now(), None
        except OSError as error:
            self.snapshot_trouble = f"no snapshot: {error.strerror or 'trouble'}"

    def _join_saving(self) -> None:
        if self._saving is not None:
            self._saving.join()

    def _trim(self) -> None:
        """Forget what is older than asked for, and never what a kept snapshot needs."""
        until = self.clock.now() - self.settings.keep
        try:
            with self.log.transaction():
                self.trimmed += self.log.trim(self.snapshots.oldest_position(), until)
        except sqlite3.Error as error:
            if not is_passing(error):
                self._fail(f"the log cannot be trimmed: {told(error)}")

    def _fail(self, reason: str) -> None:
        self.failed, self.trouble = True, reason

    def _refuse_waiting(self) -> None:
        with self._condition:
            self._closing = True
            jobs, self._jobs = list(self._jobs), deque()
        for job in jobs:
            job.future.set_exception(UnavailableError(self.trouble or "the service is stopped"))
