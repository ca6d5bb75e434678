"""Facts on their way to the screens: of a burst only what still matters arrives, on the app's own thread."""

import threading
import time

from textual.app import App

from engine.bus import Bus
from engine.events import EmbeddingProgress, Fact, MemoryChanged, SearchDegraded, SettingsChanged
from spark_tui.bridge import Bridge, FactsWaiting, merged


class Listener(App[None]):
    """Follows a bridge."""

    def __init__(self) -> None:
        super().__init__()
        self.bridge = Bridge(self)
        self.told: list[tuple[Fact, ...]] = []
        self.threads: set[int] = set()

    def on_mount(self) -> None:
        self.bridge.follow(self._hear)

    def on_facts_waiting(self, event: FactsWaiting) -> None:
        self.bridge.deliver()

    def _hear(self, facts: tuple[Fact, ...]) -> None:
        self.told.append(tuple(facts))
        self.threads.add(threading.get_ident())


def test_changes_are_merged_and_an_unknown_set_swallows_a_known_one() -> None:
    assert merged(MemoryChanged(("a",)), MemoryChanged(("b", "a"))) == MemoryChanged(("a", "b"))
    assert merged(MemoryChanged(("a",)), MemoryChanged()) == MemoryChanged()
    assert merged(MemoryChanged(), MemoryChanged(("a",), "elsewhere")) == MemoryChanged((), "elsewhere")
    many = MemoryChanged(tuple(f"m{number}" for number in range(200)))
    assert merged(many, MemoryChanged(("a",))) == MemoryChanged()
    assert merged(EmbeddingProgress(1, 9), EmbeddingProgress(2, 9)) == EmbeddingProgress(2, 9)
    assert merged(None, SettingsChanged("ui.theme")) == SettingsChanged("ui.theme")


async def test_a_burst_from_another_thread_arrives_as_a_few_deliveries_with_the_last_of_each_kind() -> None:
    app, bus = Listener(), Bus()
    async with app.run_test() as pilot:
        app.bridge.open(bus)

        def work() -> None:
            for number in range(1000):
                bus.announce(MemoryChanged((f"m{number}",)))
                bus.announce(EmbeddingProgress(number + 1, 1000))
            bus.announce(SearchDegraded("vector", "no model"))
            bus.announce(SearchDegraded("vector", None))

        worker = threading.Thread(target=work)
        worker.start()
        end = time.monotonic() + 10
        while SearchDegraded("vector", None) not in [fact for facts in app.told for fact in facts]:
            assert time.monotonic() < end
            await pilot.pause(0.01)
        worker.join()
        assert len(app.told) < 50
        facts = [fact for facts in app.told for fact in facts]
        assert [fact for fact in facts if isinstance(fact, EmbeddingProgress)][-1] == EmbeddingProgress(1000, 1000)
        changes = [fact.ids for fact in facts if isinstance(fact, MemoryChanged)]
        assert () in changes or {id_ for ids in changes for id_ in ids} == {f"m{number}" for number in range(1000)}
        assert app.threads == {threading.get_ident()}


async def test_a_closed_bridge_hears_nothing() -> None:
    app, bus = Listener(), Bus()
    async with app.run_test() as pilot:
        app.bridge.open(bus)
        app.bridge.close()
        bus.announce(MemoryChanged())
        await pilot.pause(0.15)
        assert app.told == []
