"""A desktop without a screen: a private session bus and python3-dbusmock's notification server.

Writes one JSON object a line: {"event": "ready", "bus": ADDRESS}, then {"event": "call", "name": ..., "args": [...]}
for each call the server gets. Reads one JSON array a line: ["press", id, action], ["close", id], ["stop"] and
["start"] for the server. Ends, with all it started, when its input ends.
"""
import json, os, subprocess, sys, tempfile, threading

HERE = os.path.dirname(os.path.abspath(__file__))
NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


def fail(sentence):
    print(json.dumps({"event": "failed", "reason": sentence}), flush=True)
    sys.exit(1)


try:
    import dbus, dbus.mainloop.glib, dbusmock
    from gi.repository import GLib
except ImportError as error:
    fail(f"install python3-dbusmock ({error})")

try:
    daemon = subprocess.Popen(
        ["dbus-daemon", f"--config-file={HERE}/bus.conf", "--nofork", "--nopidfile", "--print-address=1",
         # The run's own files are here, and are removed with it.
         f"--address=unix:tmpdir={tempfile.gettempdir()}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
except FileNotFoundError:
    fail("install dbus: there is no dbus-daemon")
address = daemon.stdout.readline().strip()
os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
loop = GLib.MainLoop()
server = None


def say(**event):
    print(json.dumps(event), flush=True)


def owner_changed(owner):
    say(event="ready" if owner else "gone", bus=address)


def start():
    global server
    server = subprocess.Popen(
        ["/usr/bin/python3", "-m", "dbusmock", "--session", "--template", "notification_daemon",
         "-p", '{"capabilities": "body body-markup actions persistence"}'],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def emit(signal, signature, arguments):
    bus.get_object(NAME, PATH).EmitSignal(NAME, signal, signature, arguments, dbus_interface="org.freedesktop.DBus.Mock")


def obey(words):
    if words[0] == "press":
        emit("ActionInvoked", "us", [dbus.UInt32(words[1]), words[2]])
    elif words[0] == "close":
        emit("NotificationClosed", "uu", [dbus.UInt32(words[1]), dbus.UInt32(2)])
    elif words[0] == "stop":
        server.kill()
        server.wait()
    elif words[0] == "start":
        start()
    return False


def read():
    for line in sys.stdin:
        GLib.idle_add(obey, json.loads(line))
    GLib.idle_add(loop.quit)


bus.add_signal_receiver(
    lambda name, arguments: say(event="call", name=str(name), args=arguments),
    signal_name="MethodCalled", dbus_interface="org.freedesktop.DBus.Mock")
# Skip the event for the owner that does not exist yet: the first event is "ready".
seen = []
bus.watch_name_owner(NAME, lambda owner: owner_changed(owner) if owner or seen or seen.append(owner) else None)
start()
threading.Thread(target=read, daemon=True).start()
loop.run()
server.kill()
server.wait()
daemon.kill()
daemon.wait()
