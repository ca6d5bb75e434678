"""The shipped command on a terminal of 80x24 beside bare Textual apps, seen from outside: bytes, time, CPU, memory."""

from collections.abc import Iterator

from benchmarks import homes
from benchmarks.figures import Figure, Goal
from benchmarks.homes import Place
from benchmarks.processes import PYTHON, environment, spark_tui
from benchmarks.pty import ROWS, Terminal
from benchmarks.setting import Setting
from benchmarks.timing import Samples
from engine.memory.listing import Filter

SIZE = 10_000
FIRST_FRAME = Goal(times=1.5)
SETTLED_S = 2.0
SETTLE_MOST_S = 30.0
LAST_LINE = f"\x1b[{ROWS};".encode()  # a frame is whole when something was drawn on the last line
DOWN, UP = b"\x1b[B", b"\x1b[A"
STROKES = 20  # more than a screen: the list scrolls
AFTER_KEY_S = 0.03
NAME_SHOWN = 6


def run(setting: Setting) -> Iterator[Figure | str]:
    """First frames, then both apps side by side: at rest, and under keys."""
    (size,) = setting.sizes(SIZE)
    place = homes.built(setting.folder, size)
    with place.open() as engine:
        newest = engine.listing.window(Filter(), limit=1)[0].name[:NAME_SHOWN].encode()
    yield from _first_frames(place, newest, size, setting.either(10, 2))
    with _ours(place) as ours, _bare(place, "lines", str(size)) as bare:
        ours.until(lambda seen: newest in seen)
        bare.until(lambda seen: LAST_LINE in seen)
        for each in (ours, bare):
            each.quiet(SETTLED_S, SETTLE_MOST_S)
        yield from _at_rest(ours, bare, setting.either(10, 2))
        yield from _under_keys(ours, bare, size, setting.either(6, 1))


def _ours(place: Place) -> Terminal:
    return Terminal(spark_tui(), place.project, environment(place.home.root))


def _bare(place: Place, *arguments: str) -> Terminal:
    return Terminal([PYTHON, "-m", "benchmarks.bare_app", *arguments], place.project, environment())


def _first_frames(place: Place, newest: bytes, size: int, rounds: int) -> Iterator[Figure]:
    taken: dict[str, list[float]] = {"frame": [], "rows": [], "bare": []}
    for number in range(-1, rounds):
        with _ours(place) as ours:
            frame, rows = ours.until(lambda seen: LAST_LINE in seen), ours.until(lambda seen: newest in seen)
        with _bare(place, "frame") as bare:
            alone = bare.until(lambda seen: LAST_LINE in seen)
        if number >= 0:
            for name, value in zip(taken, (frame, rows, alone), strict=True):
                taken[name].append(value)
    reference = ("a bare Textual app", _milliseconds(taken["bare"]))
    yield Figure(f"first frame, {size:,} memories", _milliseconds(taken["frame"]), reference, FIRST_FRAME)
    yield Figure(f"first frame with its memories, {size:,}", _milliseconds(taken["rows"]), reference, FIRST_FRAME)


def _milliseconds(seconds: list[float]) -> Samples:
    return Samples(tuple(each * 1000 for each in seconds))


def _at_rest(ours: Terminal, bare: Terminal, seconds: int) -> Iterator[Figure]:
    """Both rest at the same time, so that whatever else the machine does meets both."""
    spent: dict[Terminal, list[float]] = {ours: [], bare: []}
    written: dict[Terminal, int] = {ours: 0, bare: 0}
    for _ in range(seconds):
        before = {each: each.cpu() for each in spent}
        for _ in range(10):
            for each in spent:
                written[each] += each.during(0.05)
        for each in spent:
            spent[each].append((each.cpu() - before[each]) * 1000)
    flow = {each: Samples((written[each] / seconds,), "B/s") for each in spent}
    name = "a bare app"
    yield Figure("at rest, bytes to the terminal", flow[ours], (name, flow[bare]), Goal(plus=0))
    cpu = {each: Samples(tuple(values), "ms/s") for each, values in spent.items()}
    yield Figure("at rest, CPU", cpu[ours], (name, cpu[bare]), Goal(times=2))
    held = {each: Samples((each.resident(),), "MiB") for each in spent}
    yield Figure("resident memory, model not loaded", held[ours], (name, held[bare]), Goal(plus=120))


def _under_keys(ours: Terminal, bare: Terminal, size: int, rounds: int) -> Iterator[Figure]:
    spent: dict[Terminal, list[float]] = {ours: [], bare: []}
    written: dict[Terminal, list[float]] = {ours: [], bare: []}
    for number in range(-1, rounds):
        for each in spent:
            before, seen = each.cpu(), len(each.seen)
            _stroke(each, DOWN if number % 4 < 3 else UP)
            if number >= 0:
                spent[each].append((each.cpu() - before) * 1000 / STROKES)
                written[each].append((len(each.seen) - seen) / STROKES)
    name, rows = "a bare line list", f"{size:,} rows"
    cpu = {each: Samples(tuple(values), "ms") for each, values in spent.items()}
    yield Figure(f"CPU per key in the list, {rows}", cpu[ours], (name, cpu[bare]), Goal(times=2))
    flow = {each: Samples(tuple(values), "B") for each, values in written.items()}
    yield Figure(f"bytes per key in the list, {rows}", flow[ours], (name, flow[bare]))


def _stroke(terminal: Terminal, key: bytes) -> None:
    """Keys one at a time, each drawn before the next, or several would share a frame."""
    for _ in range(STROKES):
        terminal.send(key)
        terminal.quiet(AFTER_KEY_S, 1.0)
