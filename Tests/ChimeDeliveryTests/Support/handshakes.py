"""Receivers with endless TLS handshakes, each of a different kind.

Writes one line {"pem": certificate of `tickets`, NAME: port …}, then {"begun": NAME} for each connection on which a client
has started a handshake. Ends when its input ends.
"""
import json, os, socket, ssl, subprocess, sys, tempfile, threading, time

lock = threading.Lock()


def record(kind, body):
    return bytes([kind, 3, 3]) + len(body).to_bytes(2, "big") + body


def message(kind, length):
    return bytes([kind]) + length.to_bytes(3, "big")


# TLS 1.2, ECDHE-RSA-AES128-GCM-SHA256, with secure renegotiation.
SERVER_HELLO = record(22, message(2, 45) + b"\3\3" + bytes(32) + b"\0\xc0\x2f\0" + b"\0\5\xff\1\0\1\0")


def flood(client, piece, pause=0):
    while True:
        client.sendall(piece)
        time.sleep(pause)


def silent(client):
    flood(client, b"", 1)


def hello(client):
    client.sendall(SERVER_HELLO)
    silent(client)


def chain(client):
    """A chain of the maximum length, without its last bytes."""
    client.sendall(SERVER_HELLO + record(22, message(11, 102_000)) + record(22, bytes(16_000)) * 6)
    silent(client)


def drip(client):
    client.sendall(SERVER_HELLO + record(22, message(11, 90_000)))
    flood(client, record(22, b"\0"), 0.05)


def requests(client):
    """Renegotiation requests, which a client in a handshake skips."""
    client.sendall(SERVER_HELLO)
    flood(client, record(22, message(0, 0) * 4_000))


def certificate(client):
    client.sendall(SERVER_HELLO + record(22, message(11, 0xFFFFFF)))
    flood(client, record(22, bytes(16_000)))


def warnings(client):
    client.sendall(SERVER_HELLO)
    flood(client, record(21, b"\1\x5a"))


def empty(client):
    client.sendall(SERVER_HELLO)
    flood(client, record(22, b""))


def ciphers(client):
    flood(client, record(20, b"\1"))


def rubbish(client):
    flood(client, b"no TLS " * 1_000)


def tickets(client):
    """Session tickets of TLS 1.3, after the handshake."""
    context.wrap_socket(client, server_side=True)
    silent(client)


def run(receiver, client):
    try:
        if receiver is not tickets:
            head = client.recv(5, socket.MSG_WAITALL)
            client.recv(int.from_bytes(head[3:], "big"), socket.MSG_WAITALL)
        with lock:
            print(json.dumps({"begun": receiver.__name__}), flush=True)
        receiver(client)
    except OSError:
        client.close()


def serve(receiver, listener):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=run, args=(receiver, client), daemon=True).start()


with tempfile.TemporaryDirectory() as folder:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650",
         "-subj", "/CN=tickets", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key", "-out", "pem"],
        cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/pem", f"{folder}/key")
    with open(f"{folder}/pem") as file:
        said = {"pem": file.read()}
context.minimum_version = ssl.TLSVersion.TLSv1_3
context.num_tickets = 10_000_000
for receiver in [silent, hello, chain, drip, requests, certificate, warnings, empty, ciphers, rubbish, tickets]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    said[receiver.__name__] = listener.getsockname()[1]
    threading.Thread(target=serve, args=(receiver, listener), daemon=True).start()
print(json.dumps(said), flush=True)
sys.stdin.read()
os._exit(0)
