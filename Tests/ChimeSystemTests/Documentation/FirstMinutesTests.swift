import Foundation
import Testing

/// Errors in the first minutes name their remedies.
@Suite(.timeLimit(.minutes(1))) struct FirstMinutesTests {
  @Test func commandWithoutADaemonNamesHowToStartOneAndTheDoctor() async throws {
    try await Home.run { home in
      let output = try await home.chime("list")
      #expect(output.status == 69)
      #expect(output.err.contains("no daemon answers at \(home.socket)"))
      #expect(
        output.err.contains("systemctl --user enable --now chimed.socket chimed.service")
          && output.err.contains("chime doctor"), "\(output.err)")
    }
  }

  @Test func socketInUseNamesItsProcess() async throws {
    try await Home.run { home in
      let first = try await home.start()
      let second = try await home.run(Machine.chimed, ["--state-dir", home.path + "/other"])
      #expect(second.status == 73)
      #expect(
        second.err.contains("chimed (process \(first.process.pid)) listens there: stop it first"), "\(second.err)")
      #expect(
        second.err.contains("systemctl --user stop chimed.socket chimed.service") && second.err.contains("--socket"))
    }
  }

  @Test func daemonWithoutALoginSessionAsksForASocketPath() async throws {
    try await Home.run { home in
      // As after su(1), or in a container: the runtime directory is missing and cannot be created.
      let output = try await home.run(Machine.chimed, [], environment: ["XDG_RUNTIME_DIR": "/dev/null/user"])
      #expect(output.status == 73)
      #expect(output.err.contains("no login session sets"), "\(output.err)")
      #expect(output.err.contains("--socket PATH") && output.err.contains("export CHIME_SOCKET=PATH"))
      // The advice works.
      let socket = home.path + "/socket"
      _ = try await home.start(
        Machine.chimed, ["--socket", socket], environment: ["XDG_RUNTIME_DIR": "/dev/null/user"])
      let listed = try await home.chime(
        "list", environment: ["XDG_RUNTIME_DIR": "/dev/null/user", "CHIME_SOCKET": socket])
      #expect(listed.status == 0, "\(listed.text)")
    }
  }

  @Test func uncreatableStateFolderNamesTheOption() async throws {
    try await Home.run { home in
      let output = try await home.run(Machine.chimed, ["--state-dir", "/dev/null/state"])
      #expect(
        output.status == 73 && output.err.contains("choose one that you may write to with --state-dir"), "\(output.err)"
      )
    }
  }

  /// Both programs report a second daemon on the same store in one line.
  @Test func storeInUseNamesItsProcess() async throws {
    try await Home.run { home in
      let first = try await home.start()
      let second = try await home.run(Machine.chimed, ["--socket", home.path + "/socket"])
      #expect(second.status == 75)
      #expect(second.err.contains("another daemon uses the store (pid \(first.process.pid)): stop it first"))
    }
  }
}
