import Foundation
import Testing

/// Several users of the system's daemon: members of its group, root, and others.
@Suite(.enabled(if: Machine.canBoot, "needs root, namespaces and control groups"), .timeLimit(.minutes(2)))
struct SystemUsersTests {
  private static let (ann, ben, eve) = (2_001, 2_002, 2_003)

  @Test func membersSeeTheirOwnRemindersAndOthersAreRefused() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      for (name, uid) in [("ann", Self.ann), ("ben", Self.ben), ("eve", Self.eve)] {
        try await machine.mustRun("groupadd", "--gid", "\(uid)", name)
        try await machine.mustRun("useradd", "--uid", "\(uid)", "--gid", "\(uid)", "--no-create-home", name)
      }
      for name in ["ann", "ben"] { try await machine.mustRun("usermod", "--append", "--groups", "chime", name) }
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")

      let watching = try await machine.spawn("chime", ["--system", "watch", "--json"], as: Self.ben)
      try await eventually("ben watches") {
        try await machine.run("chime", ["--system", "status", "--json"]).json["status"]["connections"].int == 2
      }
      let hers = try await machine.run("chime", ["--system", "in", "1s", "Hers", "--json"], as: Self.ann)
      let id = try #require(try hers.json["reminder"]["id"].string, "\(hers.text)")
      try await machine.mustRun("chime", "--system", "in", "30m", "His", as: Self.ben)

      // Each user sees only their own reminders, by whatever request.
      #expect(try await titles(machine, as: Self.ann) == ["Hers"])
      #expect(try await titles(machine, as: Self.ben) == ["His"])
      try await machine.logs("13b0501020e54ba7842ac4fa0a86843f", "hers fires")
      for arguments in [
        ["show", id], ["remove", id, "--yes"], ["edit", id, "--title", "x"], ["done", id], ["pause", "Hers"],
      ] {
        let output = try await machine.run("chime", ["--system"] + arguments, as: Self.ben)
        #expect(output.status == 1 && output.err.contains("there is no"), "\(arguments): \(output.text)")
      }
      let history = try await machine.run("chime", ["--system", "history", "--json"], as: Self.ben)
      #expect(try history.json["occurrences"].elements.isEmpty)
      #expect(!watching.output.contains("Hers") && watching.output.contains("His"))
      for listing in [["status"], ["next"], ["deliveries"], ["endpoint", "list"]] {
        let output = try await machine.run("chime", ["--system", "--json"] + listing, as: Self.ann)
        #expect(output.status == 0 && !output.out.contains("His"), "\(listing): \(output.text)")
      }
      // Operations that affect everybody are for root only: a reload restarts channels and aborts others' attempts.
      for method in ["Reload", "TakeSnapshot", "Metrics"] {
        let message = #"printf '{"method":"io.chime.Daemon.\#(method)"}\0'"#
        let call = "\(message) | socat -t 10 - UNIX-CONNECT:/run/chime/io.chime"
        let refused = try await machine.run("sh", ["-c", call], as: Self.ann, in: "chime")
        #expect(refused.out.contains("org.varlink.service.PermissionDenied"), "\(method): \(refused.text)")
        let done = try await machine.run("sh", ["-c", call])
        #expect(done.out.contains("\"parameters\"") && !done.out.contains("\"error\""), "\(method): \(done.text)")
      }
      // systemd's status text is readable by everybody.
      let told = try await machine.mustRun("systemctl", "show", "chimed.service", "--property=StatusText", as: Self.eve)
      // Late in the evening the next time is tomorrow, with its date.
      let isNext = told.contains("next at") || told.contains("next on")
      #expect(isNext && !told.contains("His"), "\(told)")
      // Root sees both.
      #expect(try await titles(machine, as: nil) == ["Hers", "His"])

      // The socket's mode excludes non-members.
      let stranger = try await machine.run("chime", ["--system", "list"], as: Self.eve)
      #expect(stranger.status == 77 && stranger.err.contains("members of the group \"chime\""), "\(stranger.text)")
      // A session from before a removal from the group can connect, but the daemon refuses it.
      let begin = ContinuousClock.now
      async let first = machine.run("chime", ["--system", "list"], as: Self.eve, in: "chime")
      async let second = machine.run("chime", ["--system", "list"], as: Self.eve, in: "chime")
      async let third = machine.run("chime", ["--system", "list"], as: Self.eve, in: "chime")
      for former in try await [first, second, third] {
        #expect(former.status == 77 && former.err.contains("does not serve this user"), "\(former.text)")
      }
      let refusals = try await machine.journal("MESSAGE_ID=d48ee5937e914145865fa92751e70a63")
      // It is logged every ten seconds.
      let most = 1 + Int(begin.duration(to: .now) / .seconds(10))
      #expect((1...most).contains(refusals.count) && refusals.allSatisfy { $0["CHIME_UID"].string == "\(Self.eve)" })
      #expect(refusals.allSatisfy { $0["PRIORITY"].string == "4" })
      // The removal applies although the daemon knew the user.
      try await machine.mustRun("gpasswd", "--delete", "ben", "chime")
      let gone = try await machine.run("chime", ["--system", "list"], as: Self.ben, in: "chime")
      #expect(gone.status == 77, "\(gone.text)")
    }
  }

  private func titles(_ machine: BootedSystem, as user: Int?) async throws -> [String] {
    let output = try await machine.run("chime", ["--system", "list", "--json"], as: user)
    return try output.json["reminders"].elements.compactMap { $0["title"].string }.sorted()
  }
}
