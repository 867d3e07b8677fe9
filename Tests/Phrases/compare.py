"""Compares the first times that Chime and other programs read in the phrases of Tests/ChimeScheduleTests/Spoken/SpokenTests.swift.

If a phrase names no exact time of day, each program has its own default hour. Only days are compared then.
"""

import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from zoneinfo import ZoneInfo

warnings.filterwarnings("ignore")

import dateparser  # noqa: E402
import parsedatetime  # noqa: E402
from dateutil.rrule import rrulestr  # noqa: E402
from recurrent.event_parser import RecurringEvent  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent / "ChimeScheduleTests/Spoken/SpokenTests.swift"
ZONE = ZoneInfo("Europe/Prague")
NOW = datetime.datetime(2026, 11, 23, 8, 15)
CLOCK = re.compile(
    r"\d\s*[ap]\b|\d\s*[ap]\.?m\b|\d:\d|\bat \d\.\d\d\b|\d ?h\d*\b|\bat (?!\d{4}-)\d|\bnoon|midday|midnight|lunch|teatime"
    r"|o'clock|past|\bcob\b|\beod\b|end of day|close of business|T\d\d|half|hour|minute|second|\bmin\b|\bin \d+[hms]|@|quarter"
)


def phrases():
    text = TABLE.read_text("utf-8")
    text = text[text.index("static let table") : text.index("@Test(arguments: table)")]
    found = re.findall(r'\("((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\)', text)
    return list(dict.fromkeys((json.loads(f'"{phrase}"'), canonical) for phrase, canonical in found))


def chime(texts):
    lines = "".join(
        json.dumps({"when": text, "timezone": "Europe/Prague", "count": 5, "after": int(NOW.replace(tzinfo=ZONE).timestamp())})
        + "\n"
        for text in texts
    )
    command = [os.path.join(os.environ["CHIME_PROGRAMS"], "chime"), "when", "--batch"]
    answers = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    times = [[datetime.datetime.fromtimestamp(one, ZONE).replace(tzinfo=None) for one in json.loads(line).get("next", [])]
             for line in answers]
    return dict(zip(texts, times, strict=True))


def of_parsedatetime(text):
    time, context = parsedatetime.Calendar(version=parsedatetime.VERSION_CONTEXT_STYLE).parseDT(text, sourceTime=NOW)
    return [time] if context.hasDateOrTime else []


def of_dateparser(text):
    settings = {"RELATIVE_BASE": NOW, "PREFER_DATES_FROM": "future", "DATE_ORDER": "MDY"}
    time = dateparser.parse(text, languages=["en"], settings=settings)
    return [time.replace(tzinfo=None)] if time else []


def of_recurrent(text):
    try:
        found = RecurringEvent(now_date=NOW).parse(text)
        if found is None or isinstance(found, datetime.datetime):
            return [found] if found else []
        rule = rrulestr(found) if "DTSTART" in found else rrulestr(found, dtstart=NOW)
        first = rule.after(NOW)
        return [first] if first else []
    except Exception:  # recurrent fails in many ways on phrases it does not understand.
        return []


class At:
    """Runs at(1) under another clock. It uses a copy, because a set-user-id program ignores LD_PRELOAD."""

    def __init__(self, folder):
        self.program = shutil.copy(shutil.which("at"), folder)
        os.chmod(self.program, 0o755)

    def __call__(self, text):
        result = subprocess.run(
            ["faketime", str(NOW), self.program, *text.split()], input="true\n", capture_output=True, text=True,
            env={"TZ": "Europe/Prague", "PATH": os.environ["PATH"], "LC_ALL": "C"}, timeout=30)
        found = re.search(r"^job \d+ at (.*)$", result.stderr, re.MULTILINE)
        return [datetime.datetime.strptime(found[1], "%a %b %d %H:%M:%S %Y")] if found else []


def is_same(phrase, ours, theirs):
    if CLOCK.search(phrase):
        return theirs == ours[0]
    return theirs.date() in {time.date() for time in ours}


def main():
    rows = phrases()
    times = chime([phrase for phrase, _ in rows])
    explained = [line.split("\t") for line in (HERE / "explained.tsv").read_text("utf-8").splitlines() if line[:1] not in "#"]
    used = set()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        peers = {"at": At(folder), "parsedatetime": of_parsedatetime, "dateparser": of_dateparser, "recurrent": of_recurrent}
        for name, peer in peers.items():
            alike = other = unread = 0
            for phrase, canonical in rows:
                # The others read single moments only. A phrase with a calendar of the daemon has no times without it.
                if not times[phrase] or name != "recurrent" and not canonical.startswith("at "):
                    continue
                theirs = peer(phrase)
                if not theirs:
                    unread += 1
                elif is_same(phrase, times[phrase], theirs[0]):
                    alike += 1
                else:
                    other += 1
                    reasons = [index for index, row in enumerate(explained)
                               if name in row[0].split(",") and re.search(row[1], phrase)]
                    used.update(reasons)
                    if not reasons:
                        faults += 1
                        print(f"{name}: \"{phrase}\" is {times[phrase][0]} here and {theirs[0]} there")
            print(f"{name}: {alike} alike, {other} different and explained, {unread} not understood there")
    for index, row in enumerate(explained):
        if index not in used:
            faults += 1
            print(f"explained.tsv explains no difference: {row}")
    print(f"{len(rows)} phrases, {faults} to be looked at")
    return faults > 0


sys.exit(main())
