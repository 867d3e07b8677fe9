"""Parses emails with Python's email package: reads a JSON list with one text per line, writes a JSON object per line.

Ends when its input ends.
"""
import email, email.policy, json, sys

for line in sys.stdin:
    raw = json.loads(line)[0].encode()
    message = email.message_from_bytes(raw, policy=email.policy.default)
    parts = list(message.walk())
    texts = {part.get_content_type(): part.get_content().replace("\r\n", "\n") for part in parts if not part.is_multipart()}
    defects = [str(defect) for part in parts for defect in part.defects]
    defects += [str(defect) for value in message.values() for defect in getattr(value, "defects", ())]
    print(json.dumps({
        "names": [name.lower() for name in message.keys()],
        "headers": {name.lower(): str(value) for name, value in message.items()},
        "types": [part.get_content_type() for part in parts],
        "text": texts.get("text/plain", ""), "html": texts.get("text/html", ""),
        "longest": max(len(line) for line in raw.split(b"\r\n")),
        "bare": raw.replace(b"\r\n", b"").count(b"\n") + raw.replace(b"\r\n", b"").count(b"\r"),
        "ascii": raw.isascii(), "defects": defects,
    }), flush=True)
