import Foundation
import Testing

/// Competing daemons, and the remains of a dead one.
@Suite(.serialized) struct FaultsOwnershipTests {
  /// A store has one owner, even by another name of the file, another folder, or other arguments.
  @Test(.timeLimit(.minutes(1)))
  func storeHasOneDaemonUnderAnyPath() async throws {
    try await Home.run { home in
      let first = try await home.start()
      _ = try await home.add("Mine", "in 1h")
      let other = home.path + "/other"
      try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
      let link = other + "/linked.db"
      try #require(symlink(home.state + "/chime.db", link) == 0)
      let folder = home.path + "/folder"
      try #require(symlink(home.state, folder) == 0)
      for path in [link, folder + "/chime.db"] {
        try home.write("[store]\npath = \"\(path)\"\n", to: other + "/chimed.toml")
        let second = try await home.run(
          Machine.chimed, ["--config", other + "/chimed.toml", "--state-dir", other, "--socket", other + "/socket"])
        #expect(second.status == 75, "\(path): \(second.text)")
        #expect(second.err.contains("another daemon uses the store (pid \(first.process.pid)): stop it first"))
        #expect(!FileManager.default.fileExists(atPath: other + "/socket"), "nobody is invited to one that ends")
      }
      #expect(try await home.answer("io.chime.Reminders.List")["reminders"].elements.count == 1)
      // The killed process is not even reaped: the kernel releases the lock, and nothing needs cleaning up.
      try await first.crash()
      let third = try await home.start()
      #expect(try await home.answer("io.chime.Reminders.List")["reminders"].elements.count == 1)
      try await third.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func socketHasOneDaemon() async throws {
    try await Home.run { home in
      let first = try await home.start()
      _ = try await home.add("Mine", "in 1h")
      let second = try await home.run(
        Machine.chimed, ["--state-dir", home.path + "/other", "--socket", home.socket])
      #expect(second.status == 73, "\(second.text)")
      #expect(second.err.contains(home.socket) && second.err.contains("Address already in use"), "\(second.err)")
      #expect(try await home.answer("io.chime.Reminders.List")["reminders"].elements.count == 1, "it is the first's")

      // A stopped daemon still owns its socket.
      first.process.send(SIGSTOP)
      try await eventually("it is stopped") { first.process.runState == "T" }
      let third = try await home.run(Machine.chimed, ["--state-dir", home.path + "/third", "--socket", home.socket])
      #expect(third.status == 73, "\(third.text)")
      first.process.send(SIGCONT)
      #expect(try await home.answer("io.chime.Reminders.List")["reminders"].elements.count == 1)
      try await first.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func staleSocketIsReplacedAndOtherFilesAreKept() async throws {
    try await Home.run { home in
      let first = try await home.start()
      try await first.crash()
      #expect(FileManager.default.fileExists(atPath: home.socket), "a stale socket")
      let second = try await home.start()
      #expect(try await home.chime("status").status == 0)
      try await second.stopCleanly()
      // A file that is no socket is not replaced.
      try home.write("a letter", to: home.socket)
      let refused = try await home.run(Machine.chimed, [])
      #expect(refused.status == 73, "\(refused.text)")
      #expect(refused.err.contains(home.socket) && refused.err.contains("File exists"), "\(refused.err)")
      #expect(try String(contentsOfFile: home.socket, encoding: .utf8) == "a letter")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func tooLongSocketPathIsReported() async throws {
    try await Home.run { home in
      let long = home.path + "/" + String(repeating: "x", count: 120)
      let refused = try await home.run(Machine.chimed, ["--socket", long])
      #expect(refused.status == 73, "\(refused.text)")
      #expect(refused.err.contains("at most 107 bytes"), "\(refused.err)")
      let asked = try await home.chime("--socket", long, "status")
      #expect(asked.status != 0)
      #expect(asked.err.contains("107 bytes"), "\(asked.err)")
    }
  }
}
