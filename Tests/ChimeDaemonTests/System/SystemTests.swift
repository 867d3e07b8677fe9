import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Files, zones, secrets and clocks against the real system.
final class SystemEdgeTests {
  let folder = RunFolder.url.appending(path: "chime-edge-\(UUID().uuidString)").path()

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }

  @Test func onlyRegularFilesOfBoundedSizeAreRead() throws {
    #expect(throws: SystemError.self) { try SystemFiles.read(self.folder, atMost: 10) }
    #expect(throws: SystemError.self) { try SystemFiles.read("/dev/zero", atMost: 10) }
    #expect(throws: SystemError.self) { try SystemFiles.read("/proc/self/maps", atMost: 10) }
    try SystemFiles.replace(folder + "/a", with: Array("0123456789".utf8), mode: 0o600)
    #expect(try SystemFiles.read(folder + "/a", atMost: 10).count == 10)
    #expect(throws: SystemError.self) { try SystemFiles.read(self.folder + "/a", atMost: 9) }
    #expect(throws: SystemError.self) { try SystemFiles.replace("/nonexistent/a", with: [], mode: 0o600) }
  }

  @Test func localZoneFollowsTheLocaltimeLink() throws {
    let link = folder + "/localtime"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/usr/share/zoneinfo/Europe/Prague")
    let zones = ZoneCatalog(localLink: link)
    #expect(zones.local.identifier == "Europe/Prague")
    #expect(!zones.reload())
    let watch = try ClockWatch(localLink: link)
    #expect(!watch.linkChanged())
    try FileManager.default.createSymbolicLink(
      atPath: link + ".new", withDestinationPath: "/usr/share/zoneinfo/America/New_York")
    #expect(rename(link + ".new", link) == 0)
    #expect(watch.linkChanged())
    #expect(zones.reload())
    #expect(zones.local.identifier == "America/New_York")
    // A file beside the link is not the link.
    try SystemFiles.replace(folder + "/other", with: [], mode: 0o600)
    #expect(!watch.linkChanged())
    unlink(link)
    #expect(zones.reload())
    #expect(zones.local.identifier == "UTC")
  }

  @Test(arguments: [
    "Nowhere/Land", "../../etc/passwd", "/etc/passwd", "", "Europe/\u{0}Prague", String(repeating: "a", count: 9_999),
  ])
  func unknownZonesAreNotOpened(name: String) { #expect(ZoneCatalog().zone(name) == nil) }

  @Test func misspelledZoneHasASuggestion() {
    #expect(ZoneCatalog().near("Europe/Pargue").first == "Europe/Prague")
  }

  @Test func unchangedClockReportsNoChange() throws {
    let watch = try ClockWatch(localLink: folder + "/localtime")
    #expect(watch.clockChange() == .none)
  }

  @Test func dayEndsAtTheNextMidnightOfTheZone() throws {
    let zone = try #require(ZoneCatalog().zone("Europe/Prague"))
    // The night of 2026-10-25 has an extra hour.
    let evening = try RFC3339.parse("2026-10-24T22:30:00+02:00")
    #expect(RFC3339.format(Summary.endOfDay(evening, zone), in: zone) == "2026-10-25T00:00:00+02:00")
    let morning = try RFC3339.parse("2026-10-25T00:30:00+02:00")
    #expect(RFC3339.format(Summary.endOfDay(morning, zone), in: zone) == "2026-10-26T00:00:00+01:00")
  }

  @Test func onlyAStaleSocketIsReplaced() throws {
    let paths = try Arguments(["--socket", folder + "/io.chime"]).paths(environment: [:], uid: getuid())
    let first = try paths.listen()
    #expect(try mode(folder + "/io.chime") == 0o600)
    #expect(throws: SystemError("bind \(paths.socketPath)", code: EADDRINUSE)) { try paths.listen() }
    close(first)
    // Left by a crash.
    close(try paths.listen())
    unlink(paths.socketPath)
    try SystemFiles.replace(paths.socketPath, with: Array("precious".utf8), mode: 0o600)
    #expect(throws: SystemError("bind \(paths.socketPath)", code: EEXIST)) { try paths.listen() }
    #expect(try SystemFiles.read(paths.socketPath, atMost: 100) == Array("precious".utf8))
    let long = try Arguments(["--socket", folder + "/" + String(repeating: "x", count: 200)]).paths(
      environment: [:], uid: 1)
    #expect(throws: SystemError.self) { try long.listen() }
  }

  @Test func userDaemonServesItsUserAndRoot() throws {
    let paths = try Arguments([]).paths(environment: [:], uid: 1_000)
    #expect(paths.caller(uid: 1_000, gid: 1_000) == Caller(uid: 1_000, owner: 1_000, sees: nil))
    #expect(paths.caller(uid: 0, gid: 0) == Caller(uid: 0, owner: 1_000, sees: nil))
    #expect(paths.caller(uid: 1_001, gid: 1_000) == nil)
  }

  @Test func systemDaemonShowsUsersTheirOwnAndRootAll() throws {
    let paths = try Arguments(["--system"]).paths(environment: [:], uid: 990)
    #expect(paths.caller(uid: 0, gid: 0) == Caller(uid: 0, owner: 0, sees: nil))
    // An unknown user outside the group.
    #expect(paths.caller(uid: 4_000_000_000, gid: 4_000_000_000) == nil)
  }

  @Test func allInterfacesAreRegistered() {
    let service = DaemonMain.controlService()
    #expect(service.interfaces.contains("io.chime.Reminders"))
    #expect(service.interfaces.count == 10)
  }
}

/// The validation of reminder fields, and its messages.
struct ReminderFieldsTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let fields = ReminderFields(
    context: ReminderContext(zones: ZoneCatalog(localLink: "/nonexistent")), configuration: Configuration(), now: now)

  static func reminder() throws -> Reminder {
    Reminder(
      id: ReminderID(rawValue: "r7k2"), owner: 0, title: "Tea",
      schedule: try Schedule.parse("daily at 8", now: now, zone: .utc), createdAt: now)
  }

  typealias Change = RemindersInterface.Draft

  /// Every text field of a reminder must be settable; otherwise it would be stored, but could not be given.
  @Test func eachTextOfAReminderCanBeSet() {
    let judged = ReminderFields.texts.reduce(into: [String: AnyKeyPath]()) { $0[$1.name] = $1.stored }
    let known = Reminder.texts.reduce(into: ["body": \Reminder.body as AnyKeyPath]) { $0[$1.name] = $1.path }
    #expect(judged == known)
  }

  @Test(arguments: [
    (Change(title: ""), "title", "the title is empty"),
    (Change(title: " \n\t "), "title", "the title is empty"),
    (
      Change(title: String(repeating: "x", count: 100_000)), "title",
      "the title has 100000 bytes; at most 1600 are allowed"
    ),
    (Change(title: "a\u{1B}[31mred"), "title", "the title has a control character (U+1B)"),
    (Change(title: "a\nb"), "title", "the title has a control character (U+A)"),
    (Change(title: "a\u{9B}b"), "title", "the title has a control character (U+9B)"),
    (Change(body: "a\u{0}b"), "body", "the body has a control character (U+0)"),
    (
      Change(timezone: "Europe/Pargue"), "timezone",
      "this machine has no time zone 'Europe/Pargue'; did you mean Europe/Prague"
    ),
    (Change(timezone: "../etc/passwd"), "timezone", "'../etc/passwd' is not a time zone; give an IANA name"),
    (Change(channels: []), "channels", "give one to 32 channels"),
    (Change(channels: ["a/b"]), "channels", "'a/b' is not a channel"),
    (Change(tags: [""]), "tags", "the tags is empty"),
    (Change(grace: "12h"), "grace", "it must be from"),
    (Change(grace: "PT0S"), "grace", "it must be from"),
    (Change(snooze: []), "snooze", "give one to ten lengths"),
    (Change(url: "www.example.org"), "url", "'www.example.org' is not a link: give one such as https://example.org"),
    (Change(url: "https: //example.org"), "url", "is not a link"), (Change(url: "mailto:"), "url", "is not a link"),
    (Change(snooze: ["P400D"]), "snooze", "it must be from"),
    (Change(latitude: 50), "longitude", "give both or none"),
    (Change(longitude: 14), "latitude", "give both or none"),
    (Change(latitude: 90.5, longitude: 14), "latitude", "degrees north, from -90 to 90"),
    (Change(latitude: 50, longitude: -180.5), "longitude", "degrees east, from -180 to 180"),
    (Change(latitude: .nan, longitude: 0), "latitude", "degrees north"),
  ])
  func refusesInvalidFields(change: Change, field: String, sentence: String) throws {
    var reminder = try Self.reminder()
    let before = reminder
    do {
      try Self.fields.apply(change, to: &reminder)
      Issue.record("taken")
    } catch ControlFailure.invalidValue(let actual, let message) {
      #expect(actual == field)
      #expect(message.contains(sentence), "\(message)")
    }
    #expect(reminder == before)
  }

  @Test func titlesInAnyScriptAreAccepted() throws {
    for title in ["Pít vodu 💧", "שתה מים", "اشرب الماء", "喝水", "e\u{301}", "👨‍👩‍👧"] {
      var reminder = try Self.reminder()
      try Self.fields.apply(Change(title: "  \(title) "), to: &reminder)
      #expect(reminder.title == title)
    }
  }

  @Test func emptyStringClearsAField() throws {
    var reminder = try Self.reminder()
    try Self.fields.apply(Change(body: "two\nlines", icon: "bell", url: "https://example.org"), to: &reminder)
    #expect(reminder.body == "two\nlines")
    try Self.fields.apply(Change(body: "", icon: "", url: ""), to: &reminder)
    #expect(reminder.body == nil && reminder.icon == nil && reminder.url == nil)
  }

  @Test func resetFieldHasNoValueOfItsOwn() throws {
    var reminder = try Self.reminder()
    try Self.fields.apply(Change(gap: .skip, fold: .both, latitude: 50, longitude: 14.5), to: &reminder)
    #expect(reminder.gap == .skip && reminder.fold == .both)
    #expect(reminder.place == Place(latitude: 50, longitude: 14.5))
    try Self.fields.apply(Change(title: "Green tea"), to: &reminder)
    #expect(reminder.gap == .skip && reminder.place != nil)
    try Self.fields.apply(Change(reset: [.gap, .place]), to: &reminder)
    #expect(reminder.gap == nil && reminder.fold == .both && reminder.place == nil)
    try Self.fields.apply(Change(reset: [.fold]), to: &reminder)
    #expect(reminder.fold == nil)
  }

  @Test func scheduleWithoutAFutureTimeIsRefused() throws {
    var reminder = try Self.reminder()
    reminder.schedule = try Schedule(canonical: "at 2020-01-01 09:00")
    #expect(throws: ControlFailure.self) { try Self.fields.firstTime(of: reminder) }
    #expect(throws: (any Error).self) { try Self.fields.schedule("at 2020-01-01 09:00", in: .local, at: nil) }
    #expect(throws: (any Error).self) { try Self.fields.schedule("at 12026-01-01 09:00", in: .local, at: nil) }
  }
}
