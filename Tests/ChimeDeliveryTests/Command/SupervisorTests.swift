import Foundation
import Testing

@testable import ChimeDelivery

extension SerialTests {
  @Suite(.serialized) struct SupervisorTests {
    private func events(
      _ supervisor: Supervisor, _ fake: String, run: Supervisor.RunID = 1
    ) -> Events<Supervisor.Event> {
      let events = Events<Supervisor.Event>()
      let program = Program(
        name: support("fake-notify-send"), arguments: [], environment: ["FAKE": fake, "PATH": "/usr/bin:/bin"])
      _ = supervisor.start(run, program, deadline: .seconds(120)) { events.append($0) }
      return events
    }

    @Test func childHasThreeDescriptorsAndItsOwnGroup() async throws {
      let supervisor = Supervisor()
      // Descriptors without the close-on-exec flag, as a careless library would leave them.
      let careless = [open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY)]
      defer { for descriptor in careless { close(descriptor) } }
      let events = events(supervisor, "descriptors")
      var complaint = ""
      var ended: ProgramExit?
      while ended == nil {
        switch try await events.next() {
        case .errors(let bytes): complaint += String(decoding: bytes, as: UTF8.self)
        case .ended(let exit): ended = exit
        default: break
        }
      }
      #expect(ended == .status(3))
      #expect(complaint.contains("0 -> /dev/null") && complaint.contains("1 -> /dev/pts/"))
      #expect(complaint.contains("2 -> pipe:") && !complaint.contains("/dev/zero"))
      // The line of /proc/self/stat: the group is neither this process's nor its session's.
      let stat = try #require(complaint.split(separator: "\n").first { $0.contains("(cat)") }).split(separator: " ")
      #expect(Int32(stat[4]) != getpgrp() && stat[4] != stat[5])
      await supervisor.stop()
    }

    /// notify-send reports a popup as shown before it handles the interrupt that closes it.
    @Test func programIsInterruptedOnceItHandlesTheSignal() async throws {
      let supervisor = Supervisor()
      let events = events(supervisor, "slow-to-listen")
      _ = try await events.first { if case .output = $0 { true } else { false } }
      supervisor.end(1, with: Supervisor.interrupt)
      var complaint = ""
      var ended: ProgramExit?
      while ended == nil {
        switch try await events.next() {
        case .errors(let bytes): complaint += String(decoding: bytes, as: UTF8.self)
        case .ended(let exit): ended = exit
        default: break
        }
      }
      #expect(complaint == "closed\n")
      #expect(ended == .status(0))
      await supervisor.stop()
    }

    @Test func stopLeavesNoProcessBehind() async throws {
      let before = ProcessResources()
      for round in 1...2 {
        let supervisor = Supervisor()
        let all = ["hang", "stubborn", "orphan", "crash", "quiet"].enumerated().map { index, fake in
          events(supervisor, fake, run: UInt64(index + 1))
        }
        // Two end by themselves before the rest is ended, one of those only by SIGKILL.
        for index in [3, 4] { _ = try await all[index].first { if case .ended = $0 { true } else { false } } }
        if round == 1 { supervisor.end(1, with: SIGINT) }
        await supervisor.stop()
        for index in 0...2 { _ = try await all[index].first { if case .ended = $0 { true } else { false } } }
      }
      #expect(ProcessResources() == before)
      // A killed process that is nobody's child disappears shortly.
      let end = ContinuousClock.now + .seconds(60)
      while !ProcessResources.orphans(named: "sleep").isEmpty, ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(ProcessResources.orphans(named: "sleep").isEmpty)
    }
  }
}
