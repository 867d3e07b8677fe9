import CLinux
import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// The channel with the real notify-send, a real bus and python3-dbusmock's notification server.
  @Suite(.serialized) final class DesktopTests {
    let desktop: Script
    let environment: [String: String]
    let before: ProcessResources

    init() async throws {
      before = ProcessResources()
      guard FileManager.default.isExecutableFile(atPath: "/usr/bin/notify-send") else {
        throw Failure("install libnotify-bin: there is no notify-send")
      }
      desktop = try Script("/usr/bin/python3", [support("desktop.py")])
      let ready = try await desktop.lines.next()
      guard let bus = ready["bus"]?.string else { throw Failure(ready["reason"]?.string ?? "no desktop") }
      environment = ["PATH": "/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": bus]
    }

    deinit { desktop.end() }

    func channel(
      program: String = "notify-send", environment: [String: String]? = nil, limit: Int = 64,
      patience: Milliseconds = .seconds(60)
    ) -> DesktopChannel {
      var configuration = DesktopConfiguration(environment: environment ?? self.environment)
      configuration.program = program
      configuration.showTimeout = patience
      configuration.concurrentWaits = limit
      return DesktopChannel(configuration: configuration)
    }

    /// Returns the arguments of the server's next call of this name.
    func call(_ name: String) async throws -> [JSON] {
      try await desktop.lines.first { $0["name"]?.string == name }["args"]?.array ?? []
    }

    @Test func popupIsShownAndAnsweredDone() async throws {
      let channel = channel()
      let reports = channel.reports(
        of: try message("-Tè <b> 水", body: #"to & from C:\new \\ "x""# + "\nline") { $0.urgency = .critical })
      let shown = try await call("Notify")
      #expect(shown[0] == "Chime" && shown[1] == 0 && shown[3] == "-Tè <b> 水")
      #expect(shown[4].string == #"to &amp; from C:\new \\ "x""# + "\nline")
      #expect(shown[5].array == ["done", "Done", "snooze", "Snooze 10 min"])
      #expect(shown[6]["urgency"] == 2)
      let report = try await reports.next()
      #expect(report.next == .settled && report.attempt?.outcome == .delivered && report.attempt?.number == 1)
      try desktop.write(["press", 1, "done"])
      #expect(try await reports.next() == .answered(.done))
      await channel.stop()
      #expect(reports.isEmpty)
    }

    @Test func snoozeButtonUsesTheFirstLengthOfTheReminder() async throws {
      let channel = channel()
      let reports = channel.reports(of: try message { $0.snoozeLengths = [.minutes(25), .hours(1)] })
      #expect(try await reports.next().next == .settled)
      #expect(try await call("Notify")[5].array.last == "Snooze 25 min")
      try desktop.write(["press", 1, "snooze"])
      #expect(try await reports.next() == .answered(.snooze(for: .minutes(25))))
      await channel.stop()
    }

    @Test func closedPopupIsNoAnswer() async throws {
      let channel = channel()
      let reports = channel.reports(of: try message())
      #expect(try await reports.next().next == .settled)
      try desktop.write(["close", 1])
      let second = channel.reports(of: try message(id: "other"))
      #expect(try await second.next().next == .settled)
      await channel.stop()
      #expect(reports.isEmpty && second.isEmpty)
    }

    @Test func withdrawnPopupIsClosed() async throws {
      let channel = channel()
      let sample = try message()
      let reports = channel.reports(of: sample)
      #expect(try await reports.next().next == .settled)
      channel.withdraw(sample.occurrence.id)
      #expect(try await call("CloseNotification") == [1])
      await channel.stop()
      #expect(reports.isEmpty)
    }

    @Test func laterRoundReplacesTheEarlierPopup() async throws {
      let channel = channel()
      let first = channel.reports(of: try message())
      #expect(try await first.next().next == .settled)
      #expect(try await call("Notify")[1] == 0)
      let second = channel.reports(of: try message(round: 2))
      #expect(try await second.next().next == .settled)
      #expect(try await call("Notify")[1] == 1)
      try desktop.write(["press", 1, "done"])
      #expect(try await second.next() == .answered(.done))
      await channel.stop()
      #expect(first.isEmpty)
    }

    @Test func summaryReplacesTheEarlierSummary() async throws {
      let channel = channel()
      for (titles, replaced) in [(["a", "b"], 0), (["a", "b", "<c>"], 1)] {
        let reports = Events<ChannelReport>()
        channel.show(.summary(PopupSummary(number: 7, titles: titles))) { reports.append($0) }
        #expect(try await reports.next().next == .settled)
        let shown = try await call("Notify")
        #expect(shown[1] == .number(Double(replaced)) && shown[5].array.isEmpty)
        #expect(shown[3].string == "\(titles.count) more reminders while you were away")
        #expect(shown[4].string == titles.joined(separator: "\n").replacing("<c>", with: "&lt;c&gt;"))
      }
      let other = Events<ChannelReport>()
      channel.show(.summary(PopupSummary(number: 8, titles: ["d", "e"]))) { other.append($0) }
      #expect(try await other.next().next == .settled)
      #expect(try await call("Notify")[1] == 0)
      await channel.stop()
    }

    @Test func deliveryWaitsForABusAndAServer() async throws {
      for (environment, sentence) in [
        (["PATH": "/usr/bin:/bin"], "no session bus"),
        (["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"], "no session bus"),
      ] {
        let channel = channel(environment: environment)
        let report = try await channel.deliver(message())
        #expect(report.next == .blocked(.seconds(30)) && report.attempt?.outcome == .refused)
        #expect(report.attempt?.error?.contains(sentence) == true, "\(report.attempt?.error ?? "")")
        await channel.stop()
      }
      let channel = channel()
      let shown = channel.reports(of: try message())
      #expect(try await shown.next().next == .settled)
      try desktop.write(["stop"])
      _ = try await desktop.lines.first { $0["event"]?.string == "gone" }
      // The first round's number is known: notify-send prints it although nothing is shown.
      for round in 2...3 {
        let report = try await channel.deliver(message(round: round))
        #expect(report.next == .blocked(.seconds(30)))
        #expect(report.attempt?.error == "no notification server on the session bus")
      }
      try desktop.write(["start"])
      _ = try await desktop.lines.first { $0["event"]?.string == "ready" }
      #expect(try await channel.deliver(message(round: 4)).next == .settled)
      // A new server numbers popups from the start: the old number must not replace another program's popup.
      #expect(try await call("Notify")[1] == 0)
      await channel.stop()
    }

    @Test(.disabled(if: Sanitizer.forksForVfork, "not under this sanitizer")) func missingProgramNamesThePackage()
      async throws
    {
      for program in ["no-such-notify-send", "/no/such/notify-send"] {
        let channel = channel(program: program)
        let report = try await channel.deliver(message())
        #expect(report.next == .blocked(.seconds(30)) && report.attempt?.outcome == .refused)
        #expect(report.attempt?.error?.contains("install libnotify-bin") == true)
        await channel.stop()
      }
    }

    @Test func oldestProgramIsReleasedAtTheLimit() async throws {
      let channel = channel(limit: 16)
      let all = try (1...22).map { channel.reports(of: try message("title \($0)", id: "r\($0)")) }
      for reports in all { #expect(try await reports.next().next == .settled) }
      var last = 0
      for number in 1...22 where try await call("Notify")[3] == "title 22" { last = number }
      try desktop.write(["press", .number(Double(last)), "done"])
      #expect(try await all[21].next() == .answered(.done))
      // The first one shown was the first one released: some popup's button has no listener.
      for number in 1...22 { try desktop.write(["press", .number(Double(number)), "snooze"]) }
      await channel.stop()
      #expect(all.count { !$0.isEmpty } <= 15)
      #expect(ProcessResources.children(named: "notify-send").isEmpty)
    }

    @Test func seventyPopupsAreShownAtOnce() async throws {
      let channel = channel()
      let all = try (1...70).map { channel.reports(of: try message(id: "r\($0)")) }
      for reports in all { #expect(try await reports.next(within: .seconds(120)).next == .settled) }
      #expect((64...70).contains(ProcessResources.children(named: "notify-send").count))
      await channel.stop()
      #expect(ProcessResources.children(named: "notify-send").isEmpty)
      #expect(ProcessResources().terminals == before.terminals)
    }

    @Test(arguments: [
      ("hang", ChannelReport.NextStep.retry, "did not confirm the popup"),
      ("stubborn", .retry, "did not confirm the popup"), ("crash", .retry, "signal 11"),
      ("fails", .retry, "ExcessNotificationGeneration"), ("babble", .retry, "wrote more than 65536 bytes"),
    ])
    func badProgramAffectsNoOtherPopup(_ fake: String, _ next: ChannelReport.NextStep, _ sentence: String) async throws
    {
      let bad = channel(
        program: support("fake-notify-send"), environment: ["FAKE": fake, "PATH": "/usr/bin:/bin"],
        patience: ["hang", "stubborn"].contains(fake) ? .milliseconds(200) : .seconds(60))
      let good = channel()
      let report = bad.reports(of: try message())
      let beside = try await good.deliver(message(id: "beside"))
      #expect(beside.next == .settled)
      let ended = try await report.next()
      #expect(ended.next == next && ended.attempt?.outcome == .failed)
      #expect(ended.attempt?.error?.contains(sentence) == true, "\(String(describing: ended.attempt?.error))")
      await bad.stop()
      await good.stop()
      #expect(ProcessResources() == before)
    }

    @Test(arguments: ["old", "quiet", "crash-later", "orphan", "unended"])
    func oddProgramOutputStillDelivers(through fake: String) async throws {
      let channel = channel(
        program: support("fake-notify-send"), environment: ["FAKE": fake, "PATH": "/usr/bin:/bin"])
      let reports = channel.reports(of: try message())
      #expect(try await reports.next().next == .settled)
      if fake == "unended" { #expect(try await reports.next() == .answered(.done)) }
      await channel.stop()
      #expect(reports.isEmpty)
    }
  }
}

/// This process's resources that only these tests create: popup helpers, their pseudo-terminals and pidfds. Other tests
/// run in the same process, with children and descriptors of their own.
struct ProcessResources: Equatable {
  let helpers = ["notify-send", "fake-notify-sen", "sleep"].flatMap { Self.children(named: $0) }
  let terminals = Self.count("ptmx")
  let processDescriptors = Self.count("[pidfd]")

  /// Returns the IDs of the child processes of this name, zombies included.
  static func children(named name: String) -> [Int] {
    let own = Int(getpid())
    let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int($0) }
    return numbers.filter { number in
      guard let stat = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
        let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")")
      else { return false }
      let parent = stat[close...].split(separator: " ")[2]
      return Int(parent) == own && stat[stat.index(after: open)..<close] == name
    }.sorted()
  }

  /// Returns the IDs of processes of this name with the environment of a fake notify-send.
  static func orphans(named name: String) -> [Int] {
    let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int($0) }
    return numbers.filter { number in
      guard let comm = try? String(contentsOfFile: "/proc/\(number)/comm", encoding: .utf8), comm == name + "\n",
        let environment = FileManager.default.contents(atPath: "/proc/\(number)/environ")
      else { return false }
      return String(decoding: environment, as: UTF8.self).contains("FAKE=")
    }
  }

  private static func count(_ what: String) -> Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.count { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.contains(what) == true
    }
  }
}
