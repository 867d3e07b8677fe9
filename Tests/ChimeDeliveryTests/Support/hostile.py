"""A receiver that does, as its path says, what no receiver should. On a free port of 127.0.0.1 and of ::1.

Writes {"port": N} and then {"path": …, "client": …} for each request that it has read whole. Ends when its input ends.
"""
import gzip, json, os, socket, sys, threading

over = threading.Event()
lock = threading.Lock()


def request(connection, rest):
    """The path and headers of the next request, and what was read beyond it; None at the end."""
    while b"\r\n\r\n" not in rest:
        part = connection.recv(65536)
        if not part:
            return None
        rest += part
    head, rest = rest.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length = int(headers.get("content-length", 0))
    while len(rest) < length:
        rest += connection.recv(65536)
    return lines[0].split(" ")[1], headers, rest[length:]


def forever(connection, part, pause=0):
    while not over.wait(pause) if pause else not over.is_set():
        connection.sendall(part)


def act(connection, what):
    """Whether the connection is kept."""
    send = connection.sendall
    name, *more = what.strip("/").split("/")
    if name == "hang-in-headers":
        send(b"HTTP/1.1 200 OK\r\ncontent-type: te")
        over.wait()
    elif name == "hang-in-body":
        send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nten bytes.")
        over.wait()
    elif name == "drip-headers":
        send(b"HTTP/1.1 200 OK\r\nx: ")
        forever(connection, b"y", 0.02)
    elif name == "endless-headers":
        send(b"HTTP/1.1 200 OK\r\n")
        forever(connection, b"x-more: " + b"y" * 1000 + b"\r\n")
    elif name == "endless-header":
        send(b"HTTP/1.1 200 OK\r\nx: ")
        forever(connection, b"y" * 65536)
    elif name == "endless-interim":
        forever(connection, b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n")
    elif name == "some-interim":
        send(b"HTTP/1.1 100 Continue\r\n\r\n" + b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" * 3)
        send(b"HTTP/1.1 204 No Content\r\n\r\n")
        return True
    elif name == "endless-body":
        send(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n")
        forever(connection, b"y" * 65536)
    elif name == "endless-chunks":
        send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        forever(connection, b"1\r\ny\r\n" * 1000)
    elif name == "sixty-kilobytes":
        send(b"HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n" + b"y" * 60000)
        return True
    elif name == "endless-extension":
        send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x=")
        sent = 0
        try:
            while not over.is_set():
                sent += connection.send(b"y" * 65536)
        finally:
            with lock:
                print(json.dumps({"path": "sent", "bytes": sent}), flush=True)
    elif name == "bad-chunks":
        send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzzzz\r\n")
    elif name == "endless-trailers":
        send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n")
        forever(connection, b"x-more: " + b"y" * 1000 + b"\r\n")
    elif name == "old":
        send(b"this is HTTP/0.9: all of it is the body")
    elif name == "short":
        send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nten bytes.")
    elif name == "long":
        send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 Surprise\r\ncontent-length: 0\r\n\r\n")
        return True
    elif name == "body-of-204":
        send(b"HTTP/1.1 204 No Content\r\ncontent-length: 17\r\n\r\n{\"action\":\"done\"}")
        return True
    elif name == "nul":
        send(b"HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n")
    elif name == "bomb":
        body = gzip.compress(bytes(10_000_000))
        send(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        return True
    elif name == "loop":
        send(b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n")
        return True
    elif name == "switch":
        send(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n")
        over.wait()
    elif name == "retry":
        send(b"HTTP/1.1 429 Too Many Requests\r\nretry-after: %s\r\ncontent-length: 0\r\n\r\n" % (more or [""])[0].encode())
        return True
    elif name == "json":
        send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
             % (len(more[0]), more[0].encode()))
        return True
    elif name == "cookie":
        send(b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nserver: hostile\r\ncontent-length: 0\r\n\r\n")
        return True
    elif name == "once":
        send(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
    else:
        send(b"HTTP/1.1 204 No Content\r\n\r\n")
        return True
    return False


def serve(connection, client):
    rest = b""
    try:
        while True:
            seen = request(connection, rest)
            if seen is None:
                return
            path, headers, rest = seen
            with lock:
                print(json.dumps({"path": path, "client": client[0], "port": client[1], "headers": headers}), flush=True)
            # %7B and the like, as they appear in a path.
            path = bytes(path, "latin-1").replace(b"%7B", b"{").replace(b"%7D", b"}").replace(b"%22", b'"').decode()
            if not act(connection, path):
                return
    except OSError:
        pass
    finally:
        connection.close()


def listen(listener):
    while True:
        connection, client = listener.accept()
        threading.Thread(target=serve, args=(connection, client), daemon=True).start()


def listeners():
    for _ in range(100):
        first = socket.create_server(("127.0.0.1", 0), backlog=128)
        port = first.getsockname()[1]
        try:
            return port, [first, socket.create_server(("::1", port), family=socket.AF_INET6, backlog=128)]
        except OSError as error:
            if error.errno == 98:  # somebody has that port of ::1
                continue
            return port, [first]
    sys.exit("no port that is free on both")


port, all = listeners()
for listener in all:
    threading.Thread(target=listen, args=(listener,), daemon=True).start()
print(json.dumps({"port": port, "both": len(all) == 2}), flush=True)
sys.stdin.read()
over.set()
os._exit(0)
