"""Verifies a delivery with both public libraries. Input: {"secret": ..., "headers": {...}, "body": ...}; output: "ok"."""
import json, sys

try:
    from standardwebhooks.webhooks import Webhook as Standard
    from svix.webhooks import Webhook as Svix
except ImportError as error:
    sys.exit(f"install the PyPI packages standardwebhooks and svix ({error}), or set CHIME_SKIP_PEERS=1")

request = json.load(sys.stdin)
for verifier in (Standard, Svix):
    verifier(request["secret"]).verify(request["body"], request["headers"])
    changed = request["body"].replace("a", "e", 1)
    try:
        verifier(request["secret"]).verify(changed, request["headers"])
    except Exception:
        continue
    sys.exit(f"{verifier.__module__} took a changed body")
print("ok")
