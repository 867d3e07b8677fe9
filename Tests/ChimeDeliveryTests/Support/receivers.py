#!/usr/bin/env python3
"""The services that the shipped templates are for, as their API documentation describes what they take.

Listens on a free port of 127.0.0.1 and prints it as {"port": N}; then one JSON object a request: the service, what it
understood, or why it refused. Every refusal is an answer of 4xx, so a template that is wrong delivers nothing.

    ntfy            https://docs.ntfy.sh/publish/
    gotify          https://gotify.net/docs/pushmsg, /docs/msgextras
    slack           https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, formatting-message-text
    discord         https://discord.com/developers/docs/resources/webhook#execute-webhook
    homeassistant   https://www.home-assistant.io/docs/automation/trigger/#webhook-trigger
    healthchecks    https://healthchecks.io/docs/http_api/, attaching_logs
"""

import email.header
import http.server
import json
import re
import sys
import threading
import urllib.parse

TOKEN = "tk_AbCdEf0123456789"
CLIENT = "tk_GhIjKl0123456789"


class Refused(Exception):
    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


def need(condition, why, status=400):
    if not condition:
        raise Refused(status, why)


def bearer(headers):
    need(headers.get("authorization") == f"Bearer {TOKEN}", "no bearer token", 401)


def parsed(headers, body):
    need(headers.get("content-type", "").split(";")[0] == "application/json", "no JSON", 415)

    def unique(pairs):
        need(len(dict(pairs)) == len(pairs), "a key twice")
        return dict(pairs)

    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=unique)
    except ValueError as error:
        raise Refused(400, f"broken JSON: {error}") from None
    need(isinstance(value, dict), "no object")
    return value


def only(value, **types):
    for key, item in value.items():
        need(key in types, f"unexpected {key}")
        need(isinstance(item, types[key]) and not (types[key] is int and item is True), f"{key} is of another type")


def decoded(value):
    """A header's text; RFC 2047's encoded words are read."""
    need(value.isascii(), "a header that is not ASCII")
    return str(email.header.make_header(email.header.decode_header(value)))


def actions(text):
    """ntfy's short form, as far as the template writes it: `key=value` or `key="value"`, with commas, then semicolons."""
    found = []
    for one in re.findall(r'(?:"[^"]*"|[^;"])+', text):
        parts = re.findall(r'\s*([a-z]+)=("[^"]*"|[^,"]*)\s*(?:,|$)', one)
        action = {key: value.strip('"') for key, value in parts}
        need(set(action) == {"action", "label", "url", "method", "body", "clear"}, f"actions: {one}")
        need(action["action"] == "http" and action["label"] and action["url"].startswith("http"), f"actions: {one}")
        found.append(action)
    need(len(found) <= 3, "only 3 actions allowed")
    return found


def ntfy(method, path, headers, body):
    cleared = re.fullmatch(r"/[-_A-Za-z0-9]{1,64}/([-_A-Za-z0-9]{1,64})/clear", path)
    if cleared:
        need(method == "PUT", "method", 405)
        return {"cleared": cleared[1]}
    need(method in ("POST", "PUT"), "method", 405)
    need(re.fullmatch(r"[-_A-Za-z0-9]{1,64}", headers.get("x-sequence-id", "x")), "sequence ID invalid")
    need(re.fullmatch(r"/[-_A-Za-z0-9]{1,64}", path), "topic", 404)
    need(len(body) <= 4096, "too long: it would become an attachment", 413)
    if "authorization" in headers:
        bearer(headers)
    levels = {"min": 1, "low": 2, "default": 3, "high": 4, "max": 5, "urgent": 5}
    priority = headers.get("priority", "default")
    need(priority in levels, "invalid priority")
    tags = decoded(headers["tags"]).split(",") if "tags" in headers else []
    return {
        "topic": path[1:], "sequence": headers.get("x-sequence-id"), "title": decoded(headers["title"]) if "title" in headers else None,
        "message": body.decode("utf-8") or "triggered", "priority": levels[priority],
        "tags": [tag.strip() for tag in tags], "click": headers.get("click"),
        "actions": actions(decoded(headers["actions"])) if "actions" in headers else None,
    }  # fmt: skip


def gotify(method, path, headers, body):
    if method == "DELETE":
        taken = re.fullmatch(r"/message/(\d+)", path)
        need(taken, "message does not exist", 404)
        need(headers.get("x-gotify-key") == CLIENT, "you need to provide a valid access token", 401)
        need("authorization" not in headers and not body, "something beside it")
        return {"deleted": int(taken.group(1))}
    need(method == "POST" and path == "/message", "no such page", 404)
    need(headers.get("x-gotify-key") == TOKEN, "you need to provide a valid access token", 401)
    value = parsed(headers, body)
    only(value, title=str, message=str, priority=int, extras=dict)
    need(value.get("message"), "Field 'message' is required")
    for key, extra in value.get("extras", {}).items():
        need(re.fullmatch(r"[a-z]+::[a-z]+", key) and isinstance(extra, dict), f"extras {key}")
    click = value["extras"].get("client::notification", {}).get("click")
    need(click is None or click.get("url"), "a click without a URL")
    return value


def slack(method, path, headers, body):
    need(method == "POST" and re.fullmatch(r"/services/T\w+/B\w+/\w+", path), "no_service", 404)
    value = parsed(headers, body)
    only(value, text=str, mrkdwn=bool, unfurl_links=bool, unfurl_media=bool)
    text = value.get("text", "")
    # Longer texts are split or truncated (docs.slack.dev/reference/methods/chat.postMessage, "Truncating content").
    need(0 < len(text) <= 4000, "no_text")
    need(not re.search(r"[<>]|&(?!(amp|lt|gt);)", text), "control characters that are not escaped")
    return {"text": text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")}


def discord(method, path, headers, body):
    need(method == "POST" and re.fullmatch(r"/api/webhooks/\d+/[\w-]+", path), "Unknown Webhook", 404)
    value = parsed(headers, body)
    only(value, content=str, allowed_mentions=dict)
    content = value.get("content", "")
    need(content, "Cannot send an empty message")
    need(len(content.encode("utf-16-le")) // 2 <= 2000, "Must be 2000 or fewer in length.")
    need(value.get("allowed_mentions") == {"parse": []}, "it could mention everyone")
    bold, bare = re.match(r"\*\*((?:\\.|[^\\*])*)\*\*", content), None
    need(bold, "the title is not what is bold")
    bare = re.sub(r"\\([^0-9A-Za-z\s])", r"\1", content)
    return {"title": re.sub(r"\\([^0-9A-Za-z\s])", r"\1", bold[1]), "content": bare}


def homeassistant(method, path, headers, body):
    need(method in ("POST", "PUT") and re.fullmatch(r"/api/webhook/[\w-]+", path), "no such webhook", 404)
    return parsed(headers, body)


def healthchecks(method, path, headers, body):
    need(method in ("HEAD", "GET", "POST"), "method", 405)
    need(re.fullmatch(r"/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", path), "not found", 404)
    need(len(body) <= 100_000, "a log is cut at 100 kB", 413)
    return {"log": body.decode("utf-8")}


services = {service.__name__: service for service in (ntfy, gotify, slack, discord, homeassistant, healthchecks)}


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        name, _, rest = self.path[1:].partition("/")
        headers = {key.lower(): value for key, value in self.headers.items()}
        seen = {"service": name, "method": self.command}
        try:
            need(len(headers) == len(self.headers.items()), "a header twice")
            need(headers["webhook-signature"].startswith("v1"), "not signed")
            seen["understood"] = services[name](self.command, "/" + rest, headers, body)
            status = 204 if name == "discord" else 200
        except Refused as refusal:
            status = refusal.status
            seen["refused"] = str(refusal)
        print(json.dumps(seen), flush=True)
        answer = b"" if status == 204 else json.dumps(seen).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_PUT = do_POST
    do_GET = do_POST
    do_DELETE = do_POST

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
print(json.dumps({"port": server.server_address[1]}), flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()  # it ends with the test that started it
