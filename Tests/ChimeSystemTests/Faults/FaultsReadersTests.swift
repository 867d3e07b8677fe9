import Foundation
import Glibc
import Testing

/// Nobody reads the daemon's log or its notifications to the service manager.
@Suite struct FaultsReadersTests {
  @Test(.timeLimit(.minutes(1)))
  func blockedReadersDoNotDelayTheDaemon() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let (pipe, manager) = (home.path + "/standing-log", home.path + "/standing-manager")
      try #require(mkfifo(pipe, 0o600) == 0)
      // Open both ends, so that the pipe exists without a reader.
      let log = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      defer { close(log) }
      let silent = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      defer { close(silent) }
      try #require(withUnixAddress(manager) { bind(silent, $0, $1) } == 0)
      let daemon = try await home.spawn(
        "sh", ["-c", "exec \(Machine.chimed) 2>\(pipe)"], environment: ["NOTIFY_SOCKET": manager])
      try await eventually("it answers") { (try? await home.call("io.chime.Daemon.Status")) != nil }

      let count = 1_000
      let pad = String(repeating: ".", count: 100)
      func fire(_ name: String, in all: Int) async throws {
        let drafts = (1...count).map { JSON.object(["title": .string("\(name) \($0) \(pad)"), "when": "in 1s"]) }
        _ = try await home.answer("io.chime.Reminders.AddMany", ["reminders": .array(drafts)])
        try await eventually("all have fired") {
          try await home.answer("io.chime.Daemon.Status")["status"]["openOccurrences"].int == all
        }
      }
      // A pipe holds 64 KiB.
      try await fire("First", in: count)
      // When reading resumes, nothing is missing.
      var told = Data()
      func read() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = Glibc.read(log, &buffer, buffer.count), count > 0 { told += buffer[..<count] }
        return String(decoding: told, as: UTF8.self)
      }
      try await eventually("all of it is reported") {
        Set(read().matches(of: /First [0-9]+/).map(\.output)).count == count
      }
      #expect(told.count > 65_536)
      try await fire("Second", in: 2 * count)
      daemon.send(SIGTERM)
      #expect(try await daemon.ended() == .exited(0))
    }
  }
}
