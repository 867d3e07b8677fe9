"""apscheduler_burst.py COUNT: COUNT one-off jobs of APScheduler's BackgroundScheduler due in the same second, in memory.

Prints each job's lateness in microseconds, scheduled second to the job's first line, one a line.
"""

import datetime
import sys
import threading
import time

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

count = int(sys.argv[1])
due = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(seconds=4)
lateness = []
finished = threading.Event()


def fire():
    lateness.append(time.time() - due.timestamp())
    if len(lateness) == count:
        finished.set()


scheduler = BackgroundScheduler(executors={"default": ThreadPoolExecutor(10)}, timezone=datetime.timezone.utc)
scheduler.start(paused=True)
for _ in range(count):
    scheduler.add_job(fire, "date", run_date=due, misfire_grace_time=None)
scheduler.resume()
finished.wait(60)
scheduler.shutdown()
print(*(round(late * 1e6) for late in lateness), sep="\n")
