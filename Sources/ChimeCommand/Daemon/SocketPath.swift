import ChimeWords

/// Where the daemon listens.
struct SocketPath: Equatable {
  var path: String
  var isSystem: Bool
  /// Whether it was found by the environment alone: then whoever listens there has to be the user, or root. After su(1)
  /// the runtime directory may be somebody else's, who would be told what is meant for one's own daemon.
  var isGuessed = false

  static let system = "/run/chime/io.chime"

  /// `--socket`, `--system`, `CHIME_SOCKET`, else the user's own in the runtime directory.
  static func chosen(by line: ParsedLine, environment: [String: String], userID: UInt32) throws -> SocketPath {
    if let path = line.value("socket") {
      guard !path.isEmpty else { throw Failure.usage(localized("--socket needs the path of a socket")) }
      return SocketPath(path: plain(path), isSystem: plain(path) == system)
    }
    if line.has("system") { return SocketPath(path: system, isSystem: true) }
    if let path = environment["CHIME_SOCKET"], !path.isEmpty {
      return SocketPath(path: plain(path), isSystem: plain(path) == system)
    }
    let directory = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/run/user/\(userID)"
    return SocketPath(path: "\(directory)/chime/io.chime", isSystem: false, isGuessed: true)
  }

  /// Varlink's way to write the address is accepted too.
  private static func plain(_ path: String) -> String {
    path.hasPrefix("unix:") ? String(path.dropFirst(5)) : path
  }

  /// What starts the daemon that would listen there, today and later: one that is only started is gone with the login.
  var remedy: String {
    isSystem
      ? localized("start it with `sudo systemctl enable --now chimed.socket chimed.service`")
      : localized("start it with `systemctl --user enable --now chimed.socket chimed.service`, or run `chimed`")
  }
}
