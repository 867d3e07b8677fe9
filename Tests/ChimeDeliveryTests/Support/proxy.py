"""A proxy on a free port of 127.0.0.1: HTTP with CONNECT, or with `--socks` SOCKS 5 (RFC 1928).

Writes {"port": N}, then {"asked": target, "headers": […]} for each connection. `--refuse` answers 403. Names ending in .test
resolve to 127.0.0.1 only here, which shows that the proxy resolves names. Ends when its input ends.
"""
import json, os, select, socket, sys, threading

lock = threading.Lock()


def tell(asked, headers=()):
    with lock:
        print(json.dumps({"asked": asked, "headers": list(headers)}), flush=True)


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise OSError("ended")
        data += part
    return data


def reach(host, port):
    host = "127.0.0.1" if host.endswith(".test") else host.strip("[]")
    return socket.create_connection((host, port), timeout=5)


def join(one, other):
    while True:
        for side in select.select([one, other], [], [])[0]:
            data = side.recv(65536)
            if not data:
                return
            (other if side is one else one).sendall(data)


def http(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return
        data += part
    head, rest = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    tell(f"{method} {target}", lines[1:])
    if "--refuse" in sys.argv:
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        return
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        with reach(host, int(port)) as other:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\nx-of-the-proxy: yes\r\n\r\n")
            other.sendall(rest)
            join(connection, other)
        return
    place, _, path = target.removeprefix("http://").partition("/")
    host, _, port = place.rpartition(":")
    with reach(host, int(port)) as other:
        lines = [line for line in lines if not line.lower().startswith(("proxy-connection:", "connection:"))]
        lines[0] = f"{method} /{path} HTTP/1.1"
        other.sendall("\r\n".join(lines + ["connection: close", "", ""]).encode("latin-1") + rest)
        join(connection, other)


def socks(connection):
    count = exactly(connection, 2)[1]
    exactly(connection, count)
    connection.sendall(b"\5\0")
    kind = exactly(connection, 4)[3]
    if kind == 3:
        host = exactly(connection, exactly(connection, 1)[0]).decode()
    else:
        host = socket.inet_ntop(*((socket.AF_INET, exactly(connection, 4)) if kind == 1
                                  else (socket.AF_INET6, exactly(connection, 16))))
    port = int.from_bytes(exactly(connection, 2), "big")
    tell(f"SOCKS {host}:{port}")
    with reach(host, port) as other:
        connection.sendall(b"\5\0\0\1\0\0\0\0\0\0")
        join(connection, other)


def serve(connection):
    try:
        (socks if "--socks" in sys.argv else http)(connection)
    except OSError:
        pass
    finally:
        connection.close()


def accept(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
sys.stdin.read()
os._exit(0)
