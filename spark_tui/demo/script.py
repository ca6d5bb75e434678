"""What the server answers next: steps in their order, then rules by prompt, then a default; for many threads."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spark_tui.demo.steps import EMPTY, RefuseMaxTokens, RefuseSchema, Step, When


class Script:
    """Steps, rules and a default; ``next`` hands out each step once and counts how often a rule was used."""

    def __init__(self, steps: Iterable[Step] = (), rules: Iterable[When] = (), default: Step = EMPTY) -> None:
        self._lock = threading.Lock()
        self._steps = deque(steps)
        self._rules: list[tuple[When, int]] = [(rule, 0) for rule in rules]
        self.default = default

    def then(self, *steps: Step) -> None:
        """Add steps for the requests to come; they go before rules and default."""
        with self._lock:
            self._steps.extend(steps)

    def when(self, contains: str | tuple[str, ...], answer: Step, times: int | None = None) -> None:
        """Add a rule; of several that fit the first with uses left is taken."""
        with self._lock:
            self._rules.append((When(contains, answer, times), 0))

    @property
    def left(self) -> int:
        """How many steps nobody has asked for yet."""
        with self._lock:
            return len(self._steps)

    def next(self, prompt: str, stays: Callable[[Step], bool]) -> Step:
        """The step for a prompt; one that ``stays`` is given to the next request again."""
        with self._lock:
            if self._steps:
                return self._steps[0] if stays(self._steps[0]) else self._steps.popleft()
            for at, (rule, used) in enumerate(self._rules):
                if (rule.times is None or used < rule.times) and rule.fits(prompt):
                    self._rules[at] = (rule, used + (not stays(rule.answer)))
                    return rule.answer
            return self.default


def refusal(step: Step, body: Mapping[str, Any]) -> str | None:
    """The field for which a step refuses this request, or None when it answers it."""
    if isinstance(step, RefuseMaxTokens):
        return step.field if step.field in body else None
    if not isinstance(step, RefuseSchema):
        return None
    kind = (body.get("response_format") or {}).get("type", "text")
    if kind != "text" and not (kind == "json_object" and step.weaker):
        return "response_format"
    if "output_format" in body:
        return "output_format"
    if "format" in (body.get("output_config") or {}):
        return "output_config"
    forced = (body.get("tool_choice") or {}) if "max_tokens" in body and not step.weaker else {}
    return "tool_choice" if isinstance(forced, dict) and forced.get("type") == "tool" else None
