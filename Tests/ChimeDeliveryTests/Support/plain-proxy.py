"""A proxy of HTTP with a mail server behind it that offers no STARTTLS, on a free port of 127.0.0.1.

Writes {"port": N}, {"asked": the first line of the request}, then {"said": the commands that the server was given}. Serves one
connection, and ends.
"""
import json, socket

listener = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
stream = listener.accept()[0].makefile("rwb")


def answer(text):
    stream.write(text.encode())
    stream.flush()


print(json.dumps({"asked": stream.readline().decode().strip()}), flush=True)
while stream.readline().strip():
    pass
answer("HTTP/1.1 200 OK\r\n\r\n220 mail.example.org ESMTP\r\n")
said = []
try:
    while line := stream.readline():
        said.append(line.decode("latin-1").strip())
        answer("250 mail.example.org\r\n" if said[-1].startswith("EHLO") else "221 bye\r\n")
except OSError:
    pass
# Whether the client sends QUIT does not matter.
print(json.dumps({"said": [line for line in said if line != "QUIT"]}), flush=True)
