import Foundation
import Testing

/// Files beside the store are durable before they are acknowledged, and the remains of a killed daemon do no harm.
@Suite(.serialized, .enabled(if: Machine.has("cc"), "needs cc"))
struct DurabilityTests {
  /// Checks the order of system calls: fsync of the file, rename, fsync of the folder.
  @Test(.timeLimit(.minutes(1)))
  func secretsAndFoldersAreFsynced() async throws {
    try await Home.run { home in
      let trace = home.path + "/trace"
      let daemon = try await home.start(
        environment: ["LD_PRELOAD": try await home.diesAt(), "CHIME_TRACE": trace])
      func calls() throws -> [String] {
        try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").map(String.init)
      }
      let start = try calls()
      #expect(start.isOrdered(["mkdir \(home.state) 0", "fsync \(home.path)/state"]), "\(start)")

      let secrets = home.state + "/secrets"
      let file = "\(secrets)/\(geteuid())-team"
      let new = "\(secrets)/.\(geteuid())-team.new"
      let put: JSON = ["name": "team", "url": "http://127.0.0.1:9/", "secret": .string(Receiver.secret)]
      _ = try await home.answer("io.chime.Endpoints.Put", put)
      let first = Array(try calls().dropFirst(start.count))
      #expect(
        first.isOrdered([
          "mkdir \(secrets) 0", "fsync \(home.state)", "fsync \(new)", "rename \(new) \(file)", "fsync \(secrets)",
          "fsync \(home.state)/chime.db-wal",
        ]), "\(first)")
      _ = try await home.answer("io.chime.Endpoints.Rotate", ["name": "team"])
      let second = Array(try calls().dropFirst(start.count + first.count))
      #expect(second.isOrdered(["fsync \(new)", "rename \(new) \(file)", "fsync \(secrets)"]), "\(second)")
      _ = try await home.answer("io.chime.Endpoints.Remove", ["name": "team"])
      let third = Array(try calls().dropFirst(start.count + first.count + second.count))
      #expect(
        third.isOrdered(["fsync \(home.state)/chime.db-wal", "unlink \(file)", "fsync \(secrets)"]), "\(third)")
      try await daemon.stopCleanly()
    }
  }

  /// The lock ends with the process, even if a program that it started survives with inherited descriptors.
  @Test(.timeLimit(.minutes(1)))
  func lockOfAKilledDaemonIsReleased() async throws {
    try await Home.run { home in
      try home.write(
        "#!/bin/sh\ncat > /dev/null; echo $$ >> \"$HOME/runs\"; while [ -e \"$HOME/hold\" ]; do sleep 0.02; done\n",
        to: home.path + "/note", mode: 0o700)
      try home.configure("[commands.note]\nprogram = \"\(home.path)/note\"\n")
      try home.write("", to: home.path + "/hold")
      func runs() -> [pid_t] {
        let text = (try? String(contentsOfFile: home.path + "/runs", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { pid_t($0) }
      }
      let daemon = try await home.start()
      try await home.mustRun("in", "1s", "Held", "--to", "note")
      let program = try await eventually("it runs") { runs().first }
      try await daemon.crash()
      #expect(FileManager.default.fileExists(atPath: home.socket), "a socket nobody answers is left")
      let refused = try await home.chime("status")
      #expect(refused.status != 0 && !refused.err.isEmpty, "\(refused.text)")

      let next = try await home.start()
      #expect(kill(program, 0) == 0, "programs of the dead daemon continue")
      try await eventually("it runs again, for the same message") { runs().count == 2 }
      unlink(home.path + "/hold")
      try await eventually("the first one ends by itself") { kill(program, 0) != 0 }
      try await eventually("nothing is pending") {
        try await home.answer("io.chime.Daemon.Status")["status"]["pendingDeliveries"].int == 0
      }
      try await next.stopCleanly()
      let left = try FileManager.default.contentsOfDirectory(atPath: home.state).sorted()
      #expect(left.filter { $0 != "snapshots" } == ["chime.db", "chime.db.lock"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.runtime + "/chime").isEmpty)
    }
  }
}

extension [String] {
  /// Whether all these lines occur in this order.
  fileprivate func isOrdered(_ wanted: [String]) -> Bool {
    var rest = self[...]
    for line in wanted {
      guard let found = rest.firstIndex(of: line) else { return false }
      rest = rest[(found + 1)...]
    }
    return true
  }
}
