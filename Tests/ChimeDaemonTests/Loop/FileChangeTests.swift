import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Changes of zone and calendar files on disk.
final class FileChangeTests {
  let folder = RunFolder.url.resolvingSymlinksInPath()
    .appending(path: "chime-files-\(UUID().uuidString)").path()

  init() throws {
    try FileManager.default.createDirectory(atPath: folder + "/zoneinfo/Europe", withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Installs a zone file as dpkg(1) does: written beside the target and renamed.
  private func install(_ rules: String, as name: String) throws {
    let bytes = try SystemFiles.read("/usr/share/zoneinfo/" + rules, atMost: 1 << 20)
    try SystemFiles.replace(folder + "/zoneinfo/" + name, with: bytes, mode: 0o644)
  }

  @Test func replacedZoneFileIsReadAgainUnlessItIsEqual() throws {
    try install("Europe/Prague", as: "Europe/Prague")
    try install("Europe/Lisbon", as: "Europe/Lisbon")
    let watch = try FolderWatch()
    let zones = ZoneCatalog(folder: folder + "/zoneinfo", localLink: folder + "/localtime", watch: watch)
    let winter = Instant(seconds: 1_796_115_600)
    #expect(zones.zone("Europe/Prague")?.offset(at: winter) == 3_600)
    #expect(zones.zone("Europe/Lisbon")?.offset(at: winter) == 0)
    #expect(watch.changes().isEmpty)

    try install("Asia/Tokyo", as: "Europe/Prague")
    #expect(watch.changes().contains(folder + "/zoneinfo/Europe/Prague"))
    #expect(zones.zone("Europe/Prague")?.offset(at: winter) == 3_600, "until it is refreshed, all see the same")
    var refreshed = zones.refresh()
    #expect(refreshed.changed == ["Europe/Prague"])
    #expect(refreshed.unchanged == ["Europe/Lisbon"])
    #expect(!refreshed.localChanged)
    #expect(zones.zone("Europe/Prague")?.offset(at: winter) == 32_400)

    try install("Asia/Tokyo", as: "Europe/Prague")
    refreshed = zones.refresh()
    #expect(refreshed.changed.isEmpty)

    unlink(folder + "/zoneinfo/Europe/Lisbon")
    #expect(zones.refresh().changed == ["Europe/Lisbon"])
    #expect(zones.zone("Europe/Lisbon") == nil)
  }

  @Test func localZoneChangesWithItsFile() throws {
    try install("Europe/Prague", as: "Europe/Prague")
    let link = folder + "/localtime"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: folder + "/zoneinfo/Europe/Prague")
    let zones = ZoneCatalog(folder: "/nonexistent", localLink: link, watch: try FolderWatch())
    #expect(zones.local.identifier == "Europe/Prague")
    let before = zones.fingerprint
    #expect(!zones.reload())
    try install("Asia/Tokyo", as: "Europe/Prague")
    #expect(zones.watch?.changes().contains(folder + "/zoneinfo/Europe/Prague") == true)
    #expect(zones.isInUse(folder + "/zoneinfo/Europe/Prague"))
    #expect(zones.reload())
    #expect(zones.local.identifier == "Europe/Prague")
    #expect(zones.local.offset(at: Instant(seconds: 1_796_115_600)) == 32_400)
    #expect(zones.fingerprint.local != before.local)
  }

  @Test func newZoneDatabaseIsDetectedByItsVersionFile() throws {
    try install("Europe/Prague", as: "tzdata.zi")
    let zones = ZoneCatalog(folder: folder + "/zoneinfo", localLink: folder + "/localtime")
    let before = zones.fingerprint.database
    #expect(zones.fingerprint.database == before)
    try install("Asia/Tokyo", as: "tzdata.zi")
    #expect(zones.fingerprint.database != before)
  }

  @Test func removedFolderIsReported() throws {
    let watch = try FolderWatch()
    watch.add(folder + "/nonexistent")
    watch.add(folder + "/zoneinfo/Europe")
    watch.add(folder + "/zoneinfo/Europe")
    try FileManager.default.removeItem(atPath: folder + "/zoneinfo/Europe")
    #expect(watch.changes() == [folder + "/zoneinfo/Europe"])
    #expect(watch.changes().isEmpty)
  }

  private func write(_ days: [String], to file: String) throws {
    let events = days.map { "BEGIN:VEVENT\r\nUID:\($0)\r\nDTSTART;VALUE=DATE:\($0)\r\nEND:VEVENT\r\n" }
    let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\(events.joined())END:VCALENDAR\r\n"
    try SystemFiles.replace(file, with: Array(text.utf8), mode: 0o600)
  }

  @Test func calendarsFollowTheirFilesAndKeepTheirDaysWhenOneBreaks() throws {
    let zones = ZoneCatalog(localLink: "/nonexistent")
    let file = folder + "/holidays.ics"
    let christmas = try #require(CivilDate("2026-12-24"))
    var calendars = CalendarFiles()
    let lists: [String: CalendarSource] = ["list": .days([christmas...christmas]), "file": .file(file)]
    #expect(calendars.update(lists, zones: zones) == ["list"])
    #expect(calendars.problems["file"]?.contains("\(file) cannot be read: No such file") == true)
    #expect(calendars.days["file"] == nil)
    #expect(calendars.folders == [String(folder)])

    try write(["20261224"], to: file)
    #expect(calendars.update(lists, zones: zones) == ["file"])
    #expect(calendars.problems.isEmpty)
    #expect(calendars.days["file"] == [christmas...christmas])
    let fingerprint = calendars.fingerprint
    #expect(calendars.update(lists, zones: zones).isEmpty)

    try SystemFiles.replace(file, with: Array("nonsense".utf8), mode: 0o600)
    #expect(calendars.update(lists, zones: zones).isEmpty)
    #expect(calendars.problems["file"]?.contains("is not a calendar") == true)
    #expect(calendars.days["file"] == [christmas...christmas])

    try write(["20261224", "20261225"], to: file)
    #expect(calendars.update(lists, zones: zones) == ["file"])
    #expect(calendars.problems.isEmpty)
    #expect(calendars.fingerprint != fingerprint)

    #expect(calendars.update([:], zones: zones) == ["list", "file"])
    #expect(calendars.days.isEmpty && calendars.folders.isEmpty)
  }
}
