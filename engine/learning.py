"""Takes finished turns in and does the queued work: finds the model, runs the job where it belongs, says what failed.

Nothing here may delay or fail a conversation: whatever goes wrong ends in the job's row and one line of the log.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from engine.clock import Clock
from engine.errors import (
    EngineClosing,
    IoFailed,
    ModelFailed,
    ModelUnavailable,
    PlaceGone,
    SparkError,
    StoreBusy,
    places,
)
from engine.job_worker import Work, Worker
from engine.jobs import Job, Jobs, JobState, Json
from engine.providers.asking import Ask

if TYPE_CHECKING:
    from engine.providers.chat import ChatModel

BACK_OFF_MS: Final = (2_000, 20_000)
POLL_S: Final = 0.5
UNAVAILABLE: Final = "memory extraction LLM unavailable"
_log = logging.getLogger(__name__)


class JobLost(SparkError):
    """Another worker has this job now: what it does from here on is its own."""

    code = "JOB_LOST"


class SwitchedOff(SparkError):
    """Memory was switched off while a job was being done."""

    code = "SWITCHED_OFF"


class Learner(Protocol):
    """An engine that stands where a job belongs and can do it."""

    def learn(self, kind: str, payload: Json, ask: Ask, progress: Json, keep: Callable[[Json], None]) -> "Result":
        """Do the work of one job."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a job: lines of names, ids and codes, and a word about them."""

    items: tuple[Json, ...]
    reason: str | None = None


Standing = Callable[[Path | None, str | None], AbstractContextManager[Learner]]
"""Opens an engine that stands in a job's folder, which must be that project still. Raises ``PlaceGone``."""
Choose = Callable[[Json], "ChatModel"]
"""The model for a job's payload. Raises ``ModelUnavailable``."""


class Learning:
    """The queue's two ends: ``submit`` at the end of a turn, ``run`` and ``drain`` wherever there is time."""

    def __init__(
        self,
        jobs: Jobs,
        hands: Callable[[], AbstractContextManager[Worker]],
        standing: Standing,
        choose: Choose,
        ask: Callable[["ChatModel", Callable[[], None]], AbstractContextManager[Ask]],
        is_on: Callable[[], bool],
        clock: Clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._jobs = jobs
        self._hands = hands
        self._standing = standing
        self._choose = choose
        self._ask = ask
        self._is_on = is_on
        self._clock = clock
        self._pause = pause

    def run(self, job_id: str) -> Job:
        """Do one job now, its pauses between tries included, and answer it as it is then.

        Somebody else who has it, or runs another of its kind, is waited for. While memory is switched off nothing is
        done, and the job is answered as it waits.
        """
        with self._hands() as hands:
            while True:
                work = hands.take(job_id=job_id) if self._is_on() else None
                job = self._jobs.get(job_id)
                goes_on = True
                if work is not None:
                    goes_on = self._do(hands, work)
                    job = self._jobs.get(job_id)
                if not goes_on or job.state not in (JobState.QUEUED, JobState.RUNNING) or not self._is_on():
                    return job
                wait = (job.due_at - self._clock.now_ms()) / 1000 if job.state is JobState.QUEUED else 0.0
                self._pause(min(max(wait, 0.1), BACK_OFF_MS[-1] / 1000))

    def drain(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Do every job that is due, oldest first; answers how many were taken."""
        taken = 0
        if not self._jobs.count(JobState.QUEUED, JobState.RUNNING):  # looked at often: a look must not take a lock
            return 0
        with self._hands() as hands:
            while self._is_on() and not stop():
                work = hands.take()
                if work is None:
                    break
                taken += 1
                if not self._do(hands, work):
                    break
        return taken

    def wait_for_due(self) -> bool:
        """Wait until a job that was put off is due again; False when nothing is queued."""
        if self._jobs.next_due() is None or not self._is_on():
            return False
        self._pause(min(self.until_due(BACK_OFF_MS[-1] / 1000), POLL_S))
        return True

    def until_due(self, most: float) -> float:
        """Seconds until a queued job becomes due, at most ``most``; one that is due already is held up by another."""
        due = self._jobs.next_due()
        wait = most if due is None else (due - self._clock.now_ms()) / 1000
        return min(wait, most) if wait > 0 else most

    def _do(self, hands: Worker, work: Work) -> bool:
        """Do one job and report on it; False when this process is to take no more."""
        try:
            result = self._result(hands, work)
            hands.done(work, result.items, result.reason)
            _log.info("%s %s done: %d items", work.job.kind, work.job.id, len(result.items))
        except JobLost:
            _log.warning("job %s went to another worker", work.job.id)
        except (EngineClosing, SwitchedOff):
            hands.give_back(work)
            return False
        except ModelUnavailable as error:
            _no_model(hands, work, error)
        except ModelFailed as error:
            self._failed_model(hands, work, error)
        except (StoreBusy, IoFailed, PlaceGone) as error:
            self._later(hands, work, error)
        except SparkError as error:
            hands.give_up(work, JobState.FAILED, error.message)
            _log.warning("%s %s failed: %s", work.job.kind, work.job.id, error.code)
        except Exception as error:  # one job that cannot be done must not end the worker of all others
            hands.give_up(work, JobState.FAILED, type(error).__name__)
            _log.error("%s %s failed: %s at %s", work.job.kind, work.job.id, type(error).__name__, places(error))
        return True

    def _result(self, hands: Worker, work: Work) -> Result:
        chat = self._choose(work.payload)
        progress: Mapping[str, Any] = work.progress

        def keep(far: Json) -> None:
            nonlocal progress
            progress = far
            if not self._is_on():
                raise SwitchedOff("memory is switched off")
            if not hands.keep(work, far):
                raise JobLost(f"job {work.job.id} is another worker's")

        place = self._standing(work.job.folder, work.payload.get("workspace"))
        with self._ask(chat, lambda: keep(progress)) as ask, place as engine:
            return engine.learn(work.job.kind, work.payload, ask, work.progress, keep)

    def _failed_model(self, hands: Worker, work: Work, error: ModelFailed) -> None:
        from engine.providers.faults import is_passing, is_unreachable

        if is_unreachable(error):
            _no_model(hands, work, error)
        elif is_passing(error):
            self._later(hands, work, error)
        else:
            hands.give_up(work, JobState.FAILED, error.message)
            _log.warning("%s %s failed: %s", work.job.kind, work.job.id, error.message)

    def _later(self, hands: Worker, work: Work, error: SparkError) -> None:
        """Try again after a while, at most twice (02 §3)."""
        tries = work.job.attempts
        if tries <= len(BACK_OFF_MS):
            asked = float(error.details.get("retry_after") or 0) * 1000
            hands.put_off(work, max(BACK_OFF_MS[tries - 1], round(asked)), error.message)
            _log.info("%s %s is tried again later: %s", work.job.kind, work.job.id, error.code)
            return
        hands.give_up(work, JobState.FAILED, error.message)
        _log.warning("%s %s failed after %d tries: %s", work.job.kind, work.job.id, tries, error.code)


def _no_model(hands: Worker, work: Work, error: SparkError) -> None:
    hands.give_up(work, JobState.NO_MODEL, error.message)
    _log.warning(UNAVAILABLE)
