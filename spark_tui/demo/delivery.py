"""Plays one step of a script on one connection; decides nothing about which step it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spark_tui.demo.line import Line
from spark_tui.demo.script import refusal
from spark_tui.demo.steps import (
    CloseKeepAlive,
    Cut,
    Delay,
    ErrorAfter200,
    Fail,
    Hang,
    HangUp,
    Malformed,
    Redirect,
    RefuseMaxTokens,
    RefuseSchema,
    Say,
    SlowBytes,
    Step,
)
from spark_tui.demo.wire import Refused, Spoken, Wire

ECHOED = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer about to be sent over one line."""

    line: Line
    wire: Wire
    spoken: Spoken
    body: Mapping[str, Any]
    stream: bool

    def play(self, *, until: int | None = None, between: float = 0.0) -> None:
        """Send it: all, or until so many characters are out (bytes of the body without streaming)."""
        whole = self.wire.whole(self.spoken, self.body)
        if not self.stream:
            self.line.body(200, whole, until=until)
            return
        self.line.begin()
        self.frames(until=until, between=between)
        if until is None:
            self.line.end()

    def frames(self, *, since: int = -1, until: int | None = None, between: float = 0.0) -> None:
        """The frames of the stream after ``since`` characters (-1: from the opening on) and up to ``until``."""
        edge = until if until is not None else since
        for frame in self.wire.frames(self.spoken, self.body, edge):
            out = not frame.closing and frame.sent <= since
            if until is not None and (frame.closing or frame.sent > until):
                return
            if not out:
                self.line.chunk(frame.data)
                self.line.wait(between)

    def refuse(self, refused: Refused, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """An HTTP error in the protocol's own shape."""
        self.line.body(refused.status, self.wire.error(refused), headers)


def deliver(step: Step, answer: Answer) -> bool:
    """Play a step; true when the connection is to be closed at its next request, against what was promised."""
    line = answer.line
    match step:
        case Say():
            answer.play()
        case Delay(before, between):
            line.wait(before)
            answer.play(between=between)
        case SlowBytes(between):
            line.pace = between
            answer.play()
        case CloseKeepAlive(_, at_next_request):
            line.promise = True
            answer.play()
            if not at_next_request:
                line.drop()
            return at_next_request
        case RefuseSchema() | RefuseMaxTokens():
            _answer_or_refuse(step, answer)
        case Redirect(to, status):
            line.body(status, b"", [("location", to)])
        case Fail():
            _fail(step, answer)
        case _:
            _break(step, answer)
    return False


def _break(step: Cut | HangUp | ErrorAfter200 | Malformed | Hang, answer: Answer) -> None:
    line = answer.line
    match step:
        case HangUp(reset):
            line.drop(reset=reset)
        case Cut(after, _, reset):
            answer.play(until=after)
            line.drop(reset=reset)
        case Hang(after):
            if after is not None:
                answer.play(until=after)
            line.wait_until_gone()
        case ErrorAfter200():
            _error_after_200(step, answer)
        case Malformed():
            _malformed(step, answer)


def _answer_or_refuse(step: RefuseSchema | RefuseMaxTokens, answer: Answer) -> None:
    field = refusal(step, answer.body)
    if field is None:
        answer.play()
        return
    said = f"Unsupported parameter: '{field}' is not supported with this model."
    if field in ("max_tokens", "max_completion_tokens"):
        other = "max_completion_tokens" if field == "max_tokens" else "max_tokens"
        said += f" Use '{other}' instead."
    answer.refuse(Refused(400, said, "unsupported_parameter" if "_tokens" in field else None, field))


def _fail(step: Fail, answer: Answer) -> None:
    wait = step.retry_after
    told = wait if isinstance(wait, str) else f"{wait:g}" if wait is not None else None
    headers = (("retry-after", told),) if told is not None else ()
    if step.raw is not None:
        answer.line.body(step.status, step.raw, headers)
        return
    prompt = answer.wire.prompt(answer.body)[:ECHOED]
    key = answer.wire.key(answer.line.headers)
    message = step.message or f"request refused (key: {key}; it began with: {prompt})"
    answer.refuse(Refused(step.status, message, step.type), headers)


def _error_after_200(step: ErrorAfter200, answer: Answer) -> None:
    refused = Refused(529, "Overloaded", step.type)
    if not answer.stream:
        answer.line.body(200, answer.wire.error(refused))
        return
    answer.play(until=step.after_chars)
    answer.line.chunk(answer.wire.error_event(refused))
    answer.line.end()


def _malformed(step: Malformed, answer: Answer) -> None:
    if not answer.stream:
        answer.line.body(200, step.chunk)
        return
    answer.play(until=step.after_chars)
    answer.line.chunk(answer.wire.raw_event(step.chunk))
    if step.goes_on:
        answer.frames(since=step.after_chars)
    answer.line.end()
