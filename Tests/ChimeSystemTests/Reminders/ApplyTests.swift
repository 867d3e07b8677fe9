import Foundation
import Testing

/// `chime apply` with files, against the real daemon.
@Suite(.serialized) struct ApplyTests {
  private static let file = """
    [[reminder]]
    id = "water"
    title = "Drink water"
    when = "every 90m from 8:00 to 22:00"
    tags = ["health"]

    [[reminder]]
    id = "standup"
    title = "Stand-up"
    when = "weekdays at 9:25"
    timezone = "Europe/Prague"

    """

  @Test(.timeLimit(.minutes(1)))
  func manifestIsAppliedExportedAndAppliedElsewhere() async throws {
    let exported = try await Home.run { home in
      _ = try await home.start()
      let file = home.path + "/home.toml"
      try home.write(Self.file, to: file)
      let dry = try await home.chime("apply", file, "--dry-run")
      #expect(dry.status == 0 && dry.err.hasSuffix("2 would be added, 0 unchanged\n"), "\(dry.text)")
      #expect(dry.out.contains("+ water  \"Drink water\"\n"), "\(dry.out)")
      let first = try await home.chime("apply", file)
      #expect(first.err == "2 added, 0 unchanged\n", "\(first.text)")
      let second = try await home.chime("apply", file)
      #expect(second.err == "nothing to change: all 2 match the files\n" && second.out.isEmpty, "\(second.text)")
      let json = try await home.chime("apply", file, "--json").json
      #expect(json["changed"] == false && json["set"] == "home")

      // A fault is reported with its position, for people and programs, and nothing changes.
      try home.write(Self.file.replacing("weekdays", with: "wekdays").replacing("9", with: "8"), to: file)
      let wrong = try await home.chime("apply", file, "--json")
      #expect(
        wrong.status == 1 && wrong.err.contains("\(file):10:8: reminder[standup].when: is not a schedule"),
        "\(wrong.text)"
      )
      #expect(try wrong.json["faults"].elements.map { $0["line"] } == [10])

      // Pruning asks on a terminal, or requires --yes.
      try home.write(String(Self.file.prefix(while: { _ in true }).components(separatedBy: "\n\n")[0]), to: file)
      let unasked = try await home.chime("apply", file, "--prune")
      #expect(unasked.status == 1 && unasked.err.contains("--prune would remove 1"), "\(unasked.text)")
      let pruned = try await home.chime("apply", file, "--prune", "--yes")
      #expect(pruned.status == 0 && pruned.out.contains("- standup  \"Stand-up\""), "\(pruned.text)")

      // A folder is a set too, in the order of file names; elsewhere, the export is byte-identical.
      let folder = home.path + "/reminders.d"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try home.write(Self.file, to: folder + "/10-home.toml")
      try home.write("[[reminder]]\nid = \"tea\"\ntitle = \"Tea\"\nwhen = \"sunset\"\n", to: folder + "/20-tea.toml")
      let placeless = try await home.chime("apply", folder)
      #expect(
        placeless.status == 1 && placeless.err.contains("20-tea.toml:4:8: reminder[tea].when"), "\(placeless.text)")
      try home.write(
        "[[reminder]]\nid = \"tea\"\ntitle = \"Tea\"\nwhen = \"sunset\"\nlatitude = 50.0875\nlongitude = 14.4213\n",
        to: folder + "/20-tea.toml")
      #expect(try await home.mustRun("apply", folder).contains("+ tea  \"Tea\""))
      let exported = try await home.mustRun("export")
      #expect(exported.contains("latitude = 50.0875\nlongitude = 14.4213\n"))
      let moved = home.path + "/moved.toml"
      try home.write(exported, to: moved)
      let here = try await home.chime("apply", moved, "--set", "reminders.d")
      #expect(here.err.hasSuffix("nothing to change: all 3 match the files\n"), "\(here.text)")
      return exported
    }
    // Use one home after the other: nested homes could deadlock with a test that runs alone.
    try await Home.run { other in
      let moved = other.path + "/moved.toml"
      try other.write(exported, to: moved)
      _ = try await other.start()
      try await other.mustRun("apply", moved)
      #expect(try await other.mustRun("export") == exported)
    }
  }

  /// After a kill at any moment, a set is applied completely or not at all.
  @Test(.proof(.kills), .timeLimit(.minutes(3)))
  func killedDaemonAppliesAManifestCompletelyOrNotAtAll() async throws {
    let count = 1_500
    let file = (0..<count).map {
      "[[reminder]]\nid = \"r\($0)\"\ntitle = \"Reminder \($0)\"\nwhen = \"daily at 9:00\"\n"
    }
    try await Home.run { home in
      let path = home.path + "/many.toml"
      try home.write(file.joined(), to: path)
      var (whole, none) = (0, 0)
      for delay in [20, 60, 120, 250, 500, 800, 1_200, 2_500] {
        var daemon = try await home.start()
        let client = try await home.spawn(Machine.chime, ["apply", path])
        // Do not wait for any event: the kill may come before, in or after the transaction.
        try await Task.sleep(for: .milliseconds(delay))
        try await daemon.crash()
        _ = try? await client.ended(within: .seconds(20))
        daemon = try await home.start()
        let there = try await home.json("list", "-n", "all")["reminders"].elements.count
        #expect(there == 0 || there == count, "after \(delay) ms there are \(there)")
        if there == count { whole += 1 } else { none += 1 }
        // The next apply completes it.
        try await home.mustRun("apply", path)
        let empty = home.path + "/empty.toml"
        try home.write("", to: empty)
        try await home.mustRun("apply", empty, "--set", "many", "--prune", "--yes")
        _ = try await daemon.stop()
      }
      #expect(none > 0, "no kill came before the end (\(whole) whole)")
    }
  }
}
