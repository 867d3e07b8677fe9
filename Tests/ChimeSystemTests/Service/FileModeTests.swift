import Foundation
import Testing

/// File modes of all that the daemon creates, whatever the umask.
@Suite(.serialized) struct FileModeTests {
  /// Returns a file's mode in octal, with a letter for its type.
  private func mode(_ path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0 else { return "absent" }
    let kind =
      switch status.st_mode & S_IFMT {
      case S_IFDIR: "d"
      case S_IFSOCK: "s"
      case S_IFREG: "f"
      default: "?"
      }
    return kind + String(status.st_mode & 0o7777, radix: 8)
  }

  private func modes(below folder: String) -> [String: String] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return Dictionary(uniqueKeysWithValues: names.map { ($0, mode(folder + "/" + $0)) })
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["000", "022", "077"])
  func filesArePrivateUnderAnyUmask(_ umask: String) async throws {
    try await Home.run { home in
      // The daemon creates all of its folders.
      let folders = ["/state/new/chime", "/run/new"]
      let runtime = home.path + folders[1]
      let environment = ["XDG_STATE_HOME": home.path + "/state/new", "XDG_RUNTIME_DIR": runtime]
      let daemon = try await home.start(
        "sh", ["-c", "umask \(umask); ulimit -c unlimited; exec \(Machine.chimed)"], environment: environment)
      try home.write(Receiver.secret, to: home.path + "/secret")
      let socket = ["CHIME_SOCKET": runtime + "/chime/io.chime"]
      for words in [
        ["endpoint", "add", "team", "http://127.0.0.1:9/", "--secret-file", home.path + "/secret"],
        ["endpoint", "rotate", "team", "--new-secret", home.path + "/made"], ["in", "1h", "Tea"],
      ] {
        let output = try await home.run(
          "sh", ["-c", "umask \(umask); exec \"$@\"", "sh", Machine.chime] + words, environment: socket)
        #expect(output.status == 0, "\(output.text)")
      }
      #expect(mode(home.path + "/made") == "f600")
      let found = modes(below: home.path + folders[0])
      #expect(
        found["chime.db"] == "f600" && found["chime.db-wal"] == "f600" && found["secrets/\(getuid())-team"] == "f600")
      for (name, mode) in found { #expect(mode == "f600" || mode == "d700", "\(name) is \(mode)") }
      for folder in ["/state/new", folders[0], "/run/new", "/run/new/chime"] {
        #expect(mode(home.path + folder) == "d700", "\(folder)")
      }
      #expect(mode(runtime + "/chime/io.chime") == "s600")
      // Core dumps are disabled, because they would contain secrets.
      let limits = try String(contentsOfFile: "/proc/\(daemon.process.pid)/limits", encoding: .utf8)
      let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
      #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core)")
    }
  }

  @Test(.enabled(if: Machine.isRoot, "needs root, whom the system's daemon serves"), .timeLimit(.minutes(1)))
  func systemSocketIsOpenToItsGroupOnly() async throws {
    try await Home.run { home in
      try home.configure("")
      _ = try await home.start(
        "sh",
        [
          "-c",
          "umask 000; exec \(Machine.chimed) --system --socket \(home.runtime)/io --state-dir \(home.state) "
            + "--config \(home.configuration)",
        ])
      #expect(mode(home.runtime + "/io") == "s660")
      for (name, mode) in modes(below: home.state) { #expect(mode == "f600" || mode == "d700", "\(name) is \(mode)") }
    }
  }

  /// Folders that others created or can write to are refused, because their contents cannot be trusted.
  @Test(.enabled(if: Machine.isRoot, "needs root, to be two users"), .timeLimit(.minutes(1)))
  func foldersOfOtherUsersAreRefused() async throws {
    try await Home.run { home in
      let tricks: [(String, String)] = [
        ("the state folder of another user", "mkdir -m 755 \"$S\"; chown 65534 \"$S\""),
        ("a state folder that others may write to", "mkdir \"$S\"; chmod 777 \"$S\""),
        ("a link to one", "mkdir -m 755 \"$S.real\"; chown 65534 \"$S.real\"; ln -s \"$S.real\" \"$S\""),
        ("the runtime folder of another user", "mkdir -m 755 -p \"$R/chime\"; chown 65534 \"$R/chime\""),
        ("a runtime folder that others may write to", "mkdir -p \"$R/chime\"; chmod 777 \"$R/chime\""),
        ("a file in the socket's place", "mkdir -m 700 -p \"$R/chime\"; echo mine >\"$R/chime/io.chime\""),
        (
          "a link in the socket's place",
          "mkdir -m 700 -p \"$R/chime\"; echo mine >\"$R/file\"; ln -s \"$R/file\" \"$R/chime/io.chime\""
        ),
      ]
      for (index, (what, trick)) in tricks.enumerated() {
        let place = "\(home.path)/\(index)"
        let environment = [
          "S": place + "/chime", "R": place + "/run", "XDG_STATE_HOME": place, "XDG_RUNTIME_DIR": place + "/run",
        ]
        let made = try await home.run("sh", ["-ec", "mkdir -p \(place)/run; " + trick], environment: environment)
        #expect(made.status == 0, "\(made.text)")
        let output = try await home.run(Machine.chimed, [], environment: environment)
        #expect(output.status == 73, "\(what): \(output.text)")
        #expect(output.err.contains(place), "\(what): \(output.text)")
      }
    }
  }

  /// In a runtime directory of another user, as after su(1), the listener is not trusted.
  @Test(.enabled(if: Machine.isRoot && Machine.has("setpriv"), "needs root, to be two users"), .timeLimit(.minutes(1)))
  func commandSendsNothingToAnotherUsersDaemon() async throws {
    try await Home.run { home in
      let place = home.path + "/theirs"
      let made = try await home.run(
        "sh", ["-ec", "chmod 755 \(home.path); mkdir -m 700 \(place); chown 65534 \(place)"])
      #expect(made.status == 0, "\(made.text)")
      let script =
        "import os, socket\ns = socket.socket(socket.AF_UNIX)\nos.makedirs('\(place)/chime')\n"
        + "s.bind('\(place)/chime/io.chime')\ns.listen()\nprint('up')\nwhile True: print(s.accept()[0].recv(9999))"
      let impostor = try await home.spawn(
        "setpriv",
        ["--reuid", "65534", "--regid", "65534", "--clear-groups", Machine.debianPython, "-u", "-c", script])
      try await eventually("it listens; it said \(impostor.errors)") { impostor.output.contains("up") }
      try home.write(Receiver.secret, to: home.path + "/secret")
      let output = try await home.chime(
        "endpoint", "add", "team", "http://127.0.0.1:9/", "--secret-file", home.path + "/secret",
        environment: ["XDG_RUNTIME_DIR": place])
      #expect(output.status == 77 && output.err.contains("runs as another user (65534)"), "\(output.text)")
      try await eventually("the connection is over") { impostor.lines.count == 2 }
      #expect(impostor.lines.last == "b''", "\(impostor.output)")
    }
  }
}
