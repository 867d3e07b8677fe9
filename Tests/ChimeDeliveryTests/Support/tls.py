"""Receivers over TLS, each with a certificate of its own kind, that answer 204 to everything.

Writes one line: {"ca": PATH of the authority's certificate, NAME: port …}; then {"received": NAME} for each request.
Ends when its input ends.
"""
import json, os, shutil, ssl, subprocess, sys, tempfile, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = tempfile.mkdtemp()
lock = threading.Lock()
CONFIGURATION = """
[ca]
default_ca = here
[here]
dir = .
database = ./index
serial = ./serial
new_certs_dir = .
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
"""


def openssl(*words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def key(name):
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", f"{name}.key")


def signed(name, host, start="20200101000000Z", end="20990101000000Z"):
    key(name)
    openssl("req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-addext", f"subjectAltName={host}",
            "-out", f"{name}.csr")
    openssl("ca", "-batch", "-config", "configuration", "-cert", "ca.pem", "-keyfile", "ca.key", "-startdate", start,
            "-enddate", end, "-in", f"{name}.csr", "-out", f"{name}.pem", "-notext")


def self_signed(name, *more):
    key(name)
    openssl("req", "-x509", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-days", "3650", *more,
            "-out", f"{name}.pem")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        with lock:
            print(json.dumps({"received": self.server.name}), flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, name, certificate, change=lambda context: None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.name = name
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")
        change(self.context)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, address):
        # In the connection's own thread, so that a client without a handshake delays nobody.
        request.settimeout(10)
        super().finish_request(self.context.wrap_socket(request, server_side=True), address)

    def handle_error(self, request, address):
        pass


def only_old(context):
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.maximum_version = ssl.TLSVersion.TLSv1_1


def only_1_2(context):
    context.maximum_version = ssl.TLSVersion.TLSv1_2


with open(f"{folder}/configuration", "w") as file:
    file.write(CONFIGURATION)
open(f"{folder}/index", "w").close()
with open(f"{folder}/serial", "w") as file:
    file.write("1000\n")
self_signed("ca", "-addext", "basicConstraints=critical,CA:true")
HERE = "DNS:localhost,IP:127.0.0.1"
signed("good", HERE)
signed("expired", HERE, start="20200101000000Z", end="20210203000000Z")
signed("future", HERE, start="20980102000000Z")
signed("elsewhere", "DNS:elsewhere.example")
self_signed("alone", "-addext", f"subjectAltName={HERE}")
servers = [Server(name, name) for name in ["good", "expired", "future", "elsewhere", "alone"]]
servers += [Server("old", "good", only_old), Server("twelve", "good", only_1_2)]
ports = {server.name: server.server_address[1] for server in servers}
print(json.dumps({"ca": f"{folder}/ca.pem", "alone.pem": f"{folder}/alone.pem", **ports}), flush=True)
sys.stdin.read()
shutil.rmtree(folder)
os._exit(0)
