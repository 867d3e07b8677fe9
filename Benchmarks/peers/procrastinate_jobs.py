"""procrastinate_jobs.py CONNECTION COUNT: how many jobs a second procrastinate defers one by one, defers in batches of 500,
and fetches, runs and finishes, in an empty database that it makes its tables in."""

import asyncio
import sys
import time

import procrastinate


async def main(connection: str, count: int) -> None:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=connection))
    done = 0

    @app.task(name="remind")
    async def remind(title: str) -> None:
        nonlocal done
        done += 1

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        begin = time.monotonic()
        for number in range(count):
            await remind.defer_async(title=f"Reminder number {number}")
        single = count / (time.monotonic() - begin)
        begin = time.monotonic()
        for _ in range(count // 500):
            await remind.batch_defer_async(*({"title": "Drink water"} for _ in range(500)))
        batched = count // 500 * 500 / (time.monotonic() - begin)
        begin = time.monotonic()
        await app.run_worker_async(wait=False, concurrency=16, install_signal_handlers=False, listen_notify=False)
        print(single, batched, done / (time.monotonic() - begin))


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
