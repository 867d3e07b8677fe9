#!/usr/bin/env python3
"""Sets a reminder, waits until it fires, and says that it is done. Needs PyPI's varlink."""

import os
import sys

import varlink

runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
address = "unix:" + os.environ.get("CHIME_SOCKET", f"{runtime}/chime/io.chime")

with varlink.Client.new_with_address(address) as client:
    with client.open("io.chime.Reminders") as reminders, client.open("io.chime.Occurrences") as occurrences:
        # A stream of its own: the connection is busy with it. Its first reply says that it has begun, so nothing is missed.
        with client.open("io.chime.Daemon") as daemon:
            events = daemon.Monitor(_more=True)
            next(events)

            # The token makes it safe to try again: the same one gives the first answer.
            draft = {"title": "Stretch", "when": "in 2s", "tags": ["example"]}
            reminder = reminders.Add(draft, f"stretch-{os.getpid()}")["reminder"]
            print(f"added {reminder['id']}: {reminder['when']}, next {reminder['next']['at']}")

            # Pages have a cursor; what is not given is null.
            cursor = None
            while True:
                page = reminders.List({"tag": "example"}, 100, cursor)
                for each in page["reminders"]:
                    print(f"listed {each['id']}: {each['title']}")
                cursor = page.get("cursor")
                if not cursor:
                    break

            for reply in events:
                fired = [event for event in reply["events"]
                         if event["event"] == "fired" and event["reminder"] == reminder["id"]]
                if fired:
                    print(f"fired {fired[0]['occurrence']}")
                    break

        done = occurrences.Done(reminder["id"])["occurrence"]
        print(f"{done['state']} at {done['endedAt']['at']}")

        # Errors are typed, and carry what a person needs.
        try:
            reminders.Add({"title": "Never", "when": "every 90n"}, None)
        except varlink.VarlinkError as error:
            parameters = error.parameters()
            print(f"{error.error()}: {parameters['message']}")
            sys.exit(0 if parameters["suggestion"] else 1)
