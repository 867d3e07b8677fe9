#!/usr/bin/env python3
"""Receives webhooks of Chime and believes none that does not verify. Needs nothing but Python.

    receive.py SECRET_FILE [PORT]

SECRET_FILE has the secret that `chime endpoint add NAME URL --new-secret SECRET_FILE` wrote: whsec_ and base64.
"""

import base64
import hashlib
import hmac
import http.server
import json
import sys
import time

with open(sys.argv[1]) as file:
    # While a secret is being replaced there are two lines; each may have signed.
    keys = [base64.b64decode(line.split()[0].removeprefix("whsec_")) for line in file if line.strip()]
seen = set()


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
        if not is_genuine(self.headers, body):
            return self.answer(401)
        # A message may come twice, with the same id; it counts once.
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            message = json.loads(body)
            # `chime endpoint test` sends the type chime.test, which tells of no reminder.
            print(f"{message['type']}: {message['data'].get('title', '')}", flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Receiver)
print(f"listening at http://127.0.0.1:{server.server_address[1]}/", flush=True)
server.serve_forever()
