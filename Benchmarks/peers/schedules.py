"""How long cronsim, croniter and dateutil take for the next occurrence, in nanoseconds: `PEER NAME WHAT N` a line."""

import datetime
import itertools
import statistics
import time
import zoneinfo

import cronsim
import croniter
import dateutil.rrule
import dateutil.tz

EXPRESSION = "30 8 * * 1-5"
START = datetime.datetime(2026, 11, 20, 12, tzinfo=zoneinfo.ZoneInfo("America/New_York"))


def median(run, count, samples):
    values = []
    for _ in range(samples):
        begin = time.perf_counter_ns()
        run()
        values.append((time.perf_counter_ns() - begin) / count)
    return statistics.median(values)


def report(peer, name, what, value):
    print(peer, name, what, f"{value:.1f}")


for peer, cold in [
    ("cronsim", lambda: next(cronsim.CronSim(EXPRESSION, START))),
    ("croniter", lambda: croniter.croniter(EXPRESSION, START).get_next(datetime.datetime)),
]:
    report(peer, "cron", "cold", median(cold, 1, 51))
simulation = cronsim.CronSim(EXPRESSION, START)
report("cronsim", "cron", "next", median(lambda: [next(simulation) for _ in range(10)], 10, 31))
iteration = croniter.croniter(EXPRESSION, START)
report("croniter", "cron", "next", median(lambda: [iteration.get_next(datetime.datetime) for _ in range(10)], 10, 31))

for name, rule, start in [
    ("rrule-weekly", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", datetime.datetime(2026, 1, 5, 8, 30)),
    ("rrule-yearly", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", datetime.datetime(2026, 11, 26, 8, 30)),
]:
    start = start.replace(tzinfo=dateutil.tz.gettz("America/New_York"))
    parsed = dateutil.rrule.rrulestr(rule, dtstart=start)
    iterator = iter(parsed)
    report("dateutil", name, "next", median(lambda: list(itertools.islice(iterator, 20)), 20, 31))
    report("dateutil", name, "cold", median(lambda: next(iter(dateutil.rrule.rrulestr(rule, dtstart=start))), 1, 51))
    decade = start.replace(year=2036)
    report("dateutil", name, "decade", median(lambda: parsed.after(decade), 1, 11))
