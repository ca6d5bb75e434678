"""Keys in no sensible order: whatever is pressed, the screens live and the store stays sound."""

import asyncio
import random

from textual.events import Key

from engine.memory.listing import Filter
from tests.support import Place, complaints
from tests.tui.desk import remember, seated
from tests.tui.gallery import LASTING
from tests.tui.review_gallery import proposed

KEYS = (
    "j", "k", "G", "g", "down", "up", "pageup", "pagedown", "ctrl+d", "ctrl+u", "enter", "escape", "tab", "shift+tab",
    "space", "asterisk", "V", "slash", "question_mark", "colon", "ctrl+p", "full_stop", "a", "e", "v", "A", "D", "u", "h",
    "i", "x", "o", "t", "w", "1", "7", "8", "m", "d", "left", "right", "home", "end", "backspace", "ctrl+g", "c", "z", "1",
    "2", "2", "]", "]", "[", "y", "n", "r", "s",
)  # fmt: skip
SIZES = ((80, 24), (120, 40), (40, 12), (60, 20))


async def walk(place: Place, seed: int, steps: int) -> None:
    """Bursts of ten keys that do not wait for each other, then a look; another size now and then."""
    chance = random.Random(seed)
    async with seated(place, size=SIZES[seed % len(SIZES)]) as desk:
        for step in range(0, steps, 10):
            for key in chance.choices(KEYS, k=10):
                desk.app.post_message(Key(key, key if len(key) == 1 else None))
                await asyncio.sleep(0)
            await desk.pilot.pause()
            if step % 100 == 90:
                await desk.pilot.resize_terminal(*chance.choice(SIZES))
            assert desk.app.is_running, f"the app ended by step {step + 10}"


async def test_five_hundred_random_keys_end_in_no_crash_and_a_sound_store(place: Place) -> None:
    with place.open() as engine:
        for scope, type, name, description, body, entities in LASTING:
            agent = "claude-code" if scope == "agent" else None
            remember(engine, name, description, body, scope=scope, type=type, entities=entities, agent=agent)
            proposed(engine, f"{name}-again", description, body)
    await walk(place, seed=11, steps=500)
    with place.open() as engine:
        assert complaints(place, engine) == []
        assert engine.listing.count(Filter(state=None)) > 0
