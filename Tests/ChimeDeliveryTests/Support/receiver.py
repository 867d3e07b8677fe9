"""An HTTP receiver on a free port of 127.0.0.1 that answers as its path says.

Writes {"port": N}, then one JSON object per request and line: path, headers (lowercase names), body.
Ends when its input ends. `--tls` uses a self-signed certificate.
"""
import email.utils, json, os, socket, struct, subprocess, sys, tempfile, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

over = threading.Event()
counts = {}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with lock:
            counts[self.path] = counts.get(self.path, 0) + 1
            count = counts[self.path]
            print(json.dumps({"path": self.path, "headers": headers, "body": body.decode(),
                              "client": self.client_address[1]}), flush=True)
        what = self.path.strip("/").split("/")
        if what[0] == "hang":
            over.wait()
        elif what[0] == "status":
            self.answer(int(what[1]), b"said \x07 the r\xc3\xa9ceiver\n" if what[1] != "204" else b"")
        elif what[0] == "echo":
            key = self.headers.get("authorization", "")
            shown = {"escaped": json.dumps({"saw": key}).replace("/", "\\/"),
                     "long": "." * int(what[3]) + key if len(what) > 3 else "",
                     "action": json.dumps({"action": key.removeprefix("Bearer ")})}
            self.answer(int(what[1]), shown.get(what[2], f"not {key}, whsec_AbC+/= nor whsk_x").encode(),
                        **{"www-authenticate": f"Bearer error=\"{key}\""})
        elif what[0] == "flaky":
            self.answer(500 if count == 1 else 204)
        elif what[0] == "redirect":
            self.answer(302, location="/status/204")
        elif what[0] == "retry":
            value = {"seconds": "120", "past": email.utils.formatdate(time.time() - 60, usegmt=True),
                     "date": email.utils.formatdate(time.time() + 300, usegmt=True)}[what[2]]
            self.answer(int(what[1]), **{"retry-after": value})
        elif what[0] == "big":
            self.stream(10_000_000, 65_536, 0)
        elif what[0] == "drip":
            self.stream(10_000, 1, 0.05)
        elif what[0] == "reset":
            # With zero linger time, closing sends RST.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif what[0] == "nonsense":
            self.wfile.write(b"\x00\xff this is no HTTP\r\n\r\n")
            self.close_connection = True

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, length, step, pause):
        self.send_response(200)
        self.send_header("content-length", str(length))
        self.end_headers()
        try:
            for _ in range(0, length, step):
                self.wfile.write(b"x" * step)
                if pause and over.wait(pause):
                    break
        except OSError:
            pass
        self.close_connection = True

    def log_message(self, *words):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", 0), Handler)
if "--tls" in sys.argv:
    import ssl
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_address[1]}), flush=True)
sys.stdin.read()
over.set()
os._exit(0)
