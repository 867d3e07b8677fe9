import ChimeWords

/// The socket on which the daemon listens.
struct SocketPath: Equatable {
  var path: String
  var isSystem: Bool
  /// Whether the path comes from XDG_RUNTIME_DIR alone. Then the listener must run as the user or as root: after su(1),
  /// the runtime directory may belong to another user, whose daemon must not receive this user's reminders.
  var isGuessed = false

  static let system = "/run/chime/io.chime"

  /// Chooses the socket: `--socket`, `--system`, `CHIME_SOCKET`, else the one in the user's runtime directory.
  static func chosen(by line: ParsedLine, environment: [String: String], userID: UInt32) throws -> SocketPath {
    if let path = line.value("socket") {
      try need(!path.isEmpty, localized("--socket needs the path of a socket"))
      return SocketPath(path: plain(path), isSystem: plain(path) == system)
    }
    if line.has("system") { return SocketPath(path: system, isSystem: true) }
    if let path = environment["CHIME_SOCKET"], !path.isEmpty {
      return SocketPath(path: plain(path), isSystem: plain(path) == system)
    }
    let directory = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/run/user/\(userID)"
    return SocketPath(path: "\(directory)/chime/io.chime", isSystem: false, isGuessed: true)
  }

  /// Strips Varlink's `unix:` prefix.
  private static func plain(_ path: String) -> String {
    path.hasPrefix("unix:") ? String(path.dropFirst(5)) : path
  }

  /// The command that starts the daemon now and at each login.
  var remedy: String {
    isSystem
      ? localized("start it with `sudo systemctl enable --now chimed.socket chimed.service`")
      : localized("start it with `systemctl --user enable --now chimed.socket chimed.service`, or run `chimed`")
  }
}
