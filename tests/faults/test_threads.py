"""One engine used by many threads, as screens use it: nothing is lost, nothing waits for ever."""

import threading
from collections import Counter

from engine.errors import AlreadyExists, VersionConflict
from engine.memory.injection import Request
from engine.memory.listing import Filter
from engine.memory.model import Changes
from tests.support import Place, complaints, draft, everything

THREADS = 6
STEPS = 15


def test_threads_of_one_engine_lose_no_update(place: Place) -> None:
    counted: Counter[str] = Counter()
    failures: list[BaseException] = []
    with place.open() as engine:
        shared = [engine.store.add(draft(f"shared-{number}", "counted 0")).id for number in range(3)]
        place.configure(memory__quota__user=1000)

        def count_up(entry_id: str) -> None:
            now = engine.listing.entry(entry_id)
            wanted = Changes(description=f"counted {int(now.description.split()[1]) + 1}")
            engine.store.edit(entry_id, wanted, now.version)
            counted[entry_id] += 1

        def work(number: int) -> None:
            for step in range(STEPS):
                try:
                    count_up(shared[step % 3])
                    engine.store.archive([engine.store.add(draft(f"mine-{number}-{step}")).id])
                    engine.listing.window(Filter(state=None), 0, 10)
                    engine.search("counted")
                    engine.refresh()
                except (VersionConflict, AlreadyExists):
                    continue
                except BaseException as error:
                    failures.append(error)
                    raise

        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert failures == []
        assert not any(thread.is_alive() for thread in threads)
        for entry_id in shared:
            entry = engine.listing.entry(entry_id)
            assert (entry.description, entry.version) == (f"counted {counted[entry_id]}", counted[entry_id] + 1)
        assert complaints(place, engine) == []


def test_an_engine_with_workers_stays_true_while_another_process_writes(place: Place) -> None:
    with place.open() as watched, place.open() as other:
        seen = threading.Event()
        watched.bus.listen(lambda fact: seen.set())
        watched.workers.start()
        entry = other.store.add(draft("a-fact", "first"))
        assert seen.wait(30)
        path = place.path(entry)
        for number in range(5):
            seen.clear()
            text = path.read_text("utf-8")
            now = other.listing.entry(entry.id).description
            path.write_text(text.replace(f"description: {now}", f"description: hand-{number}"), "utf-8")
            while watched.listing.entry(entry.id).description != f"hand-{number}":
                assert seen.wait(30)
                seen.clear()
            other.refresh()
        watched.workers.stop()
        assert complaints(place, watched) == []


def test_closing_while_threads_read_and_write_ends_them_with_an_error_not_a_crash(place: Place) -> None:
    engine = place.open()
    for number in range(5):
        engine.store.add(draft(f"fact-{number}"))
    stop, started = threading.Event(), threading.Barrier(3)

    def work() -> None:
        started.wait(30)
        while not stop.is_set():
            try:
                engine.listing.window(Filter())
                engine.inject(Request(count_hits=True))
            except Exception:  # whatever a closed database says
                return

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    started.wait(30)
    engine.close()
    stop.set()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    with place.open() as again:
        assert len(everything(again)) == 5
        assert complaints(place, again) == []
