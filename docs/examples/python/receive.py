#!/usr/bin/env python3
"""Receives webhooks of Chime, believes none that does not verify, and shows a page with buttons that answer. Needs nothing but Python.

    receive.py SECRET_FILE [PORT]

SECRET_FILE has the secret that `chime endpoint add NAME URL --new-secret SECRET_FILE` wrote: whsec_ and base64. The buttons work
with `--replies poll:URL/answers`: whoever reaches the page may press them.
"""

import base64
import hashlib
import hmac
import html
import http.server
import json
import sys
import threading
import time
import urllib.parse

with open(sys.argv[1]) as file:
    # While a secret is being replaced there are two lines; each may have signed.
    keys = [base64.b64decode(line.split()[0].removeprefix("whsec_")) for line in file if line.strip()]
seen = set()
# What waits for an answer, and answers that Chime has not acknowledged yet. A receiver that is to lose none keeps them in a file.
waiting, answers = {}, []
changed = threading.Condition()


def is_genuine(headers, body):
    """Standard Webhooks: HMAC-SHA256 over id.timestamp.body, and not older or newer than five minutes."""
    message, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{message}.{timestamp}.".encode() + body
    expected = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    given = [part[3:] for part in headers.get("webhook-signature", "").split() if part.startswith("v1,")]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path == "/press":
            token = urllib.parse.parse_qs(body.decode()).get("token", [""])[0]
            with changed:
                # An id is not used again, also when this program is started anew.
                answers.append({"id": str(time.time_ns()), "token": token})
                for occurrence in [key for key, data in waiting.items() if f'"{token}"' in json.dumps(data)]:
                    del waiting[occurrence]
                changed.notify_all()
            return self.answer(303, location="/")
        if not is_genuine(self.headers, body):
            return self.answer(401)
        # A message may come twice, with the same id; it counts once.
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            message = json.loads(body)
            # `chime endpoint test` sends the type chime.test, which tells of no reminder.
            print(f"{message['type']}: {message['data'].get('title', '')}", flush=True)
            occurrence = message["data"].get("occurrence")
            waiting.pop(occurrence, None)
            # What was answered elsewhere (`--events done,snoozed,dismissed,missed`) has no answers any more.
            if message["data"].get("answers"):
                waiting[occurrence] = message["data"]
        self.answer(204)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/":
            return self.answer(200, page().encode(), content_type="text/html; charset=utf-8")
        if path != "/answers" or not is_genuine(self.headers, b""):
            return self.answer(404 if path != "/answers" else 401)
        # The headers leave at once: Chime is heard. What was answered follows when there is something.
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        last = urllib.parse.parse_qs(query).get("after", [""])[0]
        with changed:
            # What is asked for next acknowledges all up to there.
            places = [place for place, answer in enumerate(answers) if answer["id"] == last]
            del answers[: places[0] + 1 if places else 0]
            changed.wait_for(lambda: answers, timeout=50)
            said = json.dumps({"answers": answers}).encode()
        self.wfile.write(said)

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def page():
    rows = ""
    for data in list(waiting.values()):
        offers = [data["answers"][name] for name in ("done", "log", "snooze", "dismiss") if data["answers"][name]]
        buttons = "".join(
            f'<button name="token" value="{html.escape(offer["token"])}">{html.escape(offer["label"])}</button>'
            for offer in offers
        )
        rows += f'<form method="post" action="/press">{html.escape(data["title"])} {buttons}</form>\n'
    return f"<!doctype html><title>Reminders</title>\n{rows or 'Nothing waits for an answer.'}\n"


port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
server.daemon_threads = True
print(f"listening at http://127.0.0.1:{server.server_address[1]}/", flush=True)
server.serve_forever()
