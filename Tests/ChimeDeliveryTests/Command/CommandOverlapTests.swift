import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

/// Overlapping runs of commands, changed definitions, and the end.
extension SerialTests.CommandTests {
  // MARK: Overlap

  private func waiting(_ overlap: CommandDefinition.Overlap) -> CommandDefinition {
    definition(["waits", home]) { $0.overlap = overlap }
  }

  private func begun() -> [String] { (file("begun") ?? "").split(separator: "\n").map(String.init) }

  @Test func queuedRunsFollowEachOther() async throws {
    let channel = channel(waiting(.queue))
    let all = try ["a1", "b2", "c3"].map { channel.reports(of: try message(id: $0, channel: "script")) }
    _ = try await eventually { begun().isEmpty ? nil : true }
    #expect(begun() == ["a1@1774744200"] && channel.running(ChannelName(rawValue: "script")) == 1)
    try Data().write(to: folder.appending(path: "go"))
    for reports in all { #expect(try await reports.next().next == .settled) }
    #expect(begun() == ["a1@1774744200", "b2@1774744200", "c3@1774744200"])
    #expect(file("begun") == file("ended"))
    await channel.stop()
    #expect(waiting(.queue).concurrency == 1)
  }

  @Test func skippedRunStatesItsReason() async throws {
    let channel = channel(waiting(.skip))
    let first = channel.reports(of: try message(id: "a1", channel: "script"))
    _ = try await eventually { begun().isEmpty ? nil : true }
    let second = try await channel.deliver(message(id: "b2", channel: "script"))
    #expect(second.next == .cancel && second.attempt?.outcome == .refused)
    #expect(second.attempt?.error == "skipped: \"script\" was still running for an earlier reminder")
    try Data().write(to: folder.appending(path: "go"))
    #expect(try await first.next().next == .settled)
    #expect(try await channel.deliver(message(id: "c3", channel: "script")).next == .settled)
    await channel.stop()
  }

  @Test func parallelRunsDoNotWait() async throws {
    let channel = channel(waiting(.parallel))
    let all = try ["a1", "b2", "c3"].map { channel.reports(of: try message(id: $0, channel: "script")) }
    _ = try await eventually { begun().count == 3 ? true : nil }
    #expect(channel.running(ChannelName(rawValue: "script")) == 3)
    try Data().write(to: folder.appending(path: "go"))
    for reports in all { #expect(try await reports.next().next == .settled) }
    await channel.stop()
  }

  @Test func otherCommandsDoNotWait() async throws {
    let channel = channel(waiting(.queue), definition(["input"], name: "other"))
    let first = channel.reports(of: try message(id: "a1", channel: "script"))
    #expect(try await channel.deliver(message(channel: "other")).next == .settled)
    await channel.stop()
    #expect(try await first.next().next == .blocked(.seconds(1)))
  }

  // MARK: Changes and the end

  @Test func changedDefinitionAppliesToLaterRuns() async throws {
    let channel = channel(waiting(.queue))
    let first = channel.reports(of: try message(id: "a1", channel: "script"))
    _ = try await eventually { begun().isEmpty ? nil : true }
    channel.adopt(book([definition(["arguments", "new"])]))
    let second = channel.reports(of: try message(id: "b2", channel: "script"))
    #expect(channel.running(ChannelName(rawValue: "script")) == 1)
    try Data().write(to: folder.appending(path: "go"))
    #expect(try await first.next().attempt?.outcome == .delivered)
    #expect(try await second.next().attempt?.answer == "<new>")
    channel.adopt(book([]))
    let gone = try await channel.deliver(message(channel: "script"))
    #expect(gone.next == .blocked(.minutes(5)))
    await channel.stop()
  }

  @Test func stopEndsRunningProgramsAndRefusesNewOnes() async throws {
    let channel = channel(
      definition(["polite", home + "/pid"]), definition(["stubborn", home + "/pid2"], name: "other"))
    let all = [
      channel.reports(of: try message(id: "a1", channel: "script")),
      channel.reports(of: try message(id: "b2", channel: "script")),
      channel.reports(of: try message(id: "c3", channel: "other")),
    ]
    let groups = [try await number(in: "pid"), try await number(in: "pid2")]
    await channel.stop()
    for reports in all {
      let report = try await reports.next()
      // It does not count as an attempt.
      #expect(report.next == .blocked(.seconds(1)) && report.attempt?.outcome == .refused)
      #expect(report.attempt?.error == "cancelled because the daemon is stopping")
    }
    for group in groups { try await isGone(group) }
    #expect(
      try await channel.deliver(message(channel: "script")).attempt?.error == "cancelled because the daemon is stopping"
    )
    #expect(ProcessResources() == before)
  }

  @Test func testReportsInputOutputAndVariables() async throws {
    let command = definition(["input"]) { $0.environment = ["TOKEN": "never-shown"] }
    let channel = channel(command)
    let test = await channel.test(command, owner: 1_000)
    #expect(test.isDelivered && test.output == test.input + "\n" && !test.isCut)
    #expect(test.input.contains("\"type\":\"chime.test\"") && test.input.contains("\"channel\":\"script\""))
    #expect(test.variables.contains("CHIME_TYPE=chime.test") && test.variables.contains("CHIME_CHANNEL=script"))
    #expect(!"\(test)".contains("never-shown"))
    #expect(test.path == support("fake-command") && test.arguments == ["input"])
    await channel.stop()
  }

  /// An owner whose tests hang may not start another; other owners may.
  @Test func hangingTestsBlockOnlyTheirOwner() async throws {
    let command = waiting(.parallel)
    let channel = channel(command)
    async let first = channel.test(command, owner: 1_000)
    async let second = channel.test(command, owner: 1_000)
    async let others = channel.test(command, owner: 1_001)
    _ = try await eventually { channel.running(command.name) == 3 ? true : nil }
    let refused = await channel.test(command, owner: 1_000)
    #expect(!refused.isDelivered && refused.attempt.error == "the limit of concurrent tests is reached")
    async let another = channel.test(command, owner: 1_001)
    _ = try await eventually { channel.running(command.name) == 4 ? true : nil }
    try Data().write(to: folder.appending(path: "go"))
    for test in await [first, second, others, another] { #expect(test.isDelivered, "\(test.attempt)") }
    await channel.stop()
  }

  /// The number of tests running at once is limited over all owners.
  @Test func testsOfAllOwnersAreBounded() throws {
    var runQueue = CommandRunQueue()
    _ = runQueue.adopt(book([waiting(.parallel)]))
    var (started, refused) = (0, 0)
    for owner in 0..<20 as Range<UInt32> {
      for _ in 0..<2 {
        var sample = try message(channel: "script")
        let (delivery, queue) = (sample.delivery, DeliveryQueue(owner: owner, channel: sample.delivery.queue.channel))
        sample.delivery = Delivery(
          id: delivery.id, occurrence: delivery.occurrence, queue: queue, round: 1, createdAt: delivery.createdAt)
        for order in runQueue.admit(CommandJob(message: sample, type: "chime.test", isTest: true) { _, _ in }) {
          if case .start = order { started += 1 } else { refused += 1 }
        }
      }
    }
    #expect(started == 16 && refused == 24)
  }
}
