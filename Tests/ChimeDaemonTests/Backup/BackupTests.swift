import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeTracking
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Backups of trackers and reminders over the control socket: written, validated, restored and undone.
@Suite(.serialized)
struct BackupTests {
  typealias Wired = TrackersInterface

  /// The minimum that is recognized as a JPEG.
  static let photo = photo(of: 450_000)

  static func photo(of bytes: Int) -> [UInt8] {
    [0xFF, 0xD8, 0xFF, 0xE0] + (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
  }

  /// Fills a daemon with objects of every kind.
  static func fill(_ daemon: TestDaemon, photo: [UInt8] = photo) throws {
    let _: Wired.InstallPack.Reply = try daemon.call(Wired.InstallPack(name: "hydration"))
    try daemon.put(.init(id: "weight", kind: .measure, unit: "kg", goal: .init(value: 75), fields: ["bodyFat": "%"]))
    try daemon.put(.init(id: "watches", kind: .check, hasItems: true))
    let _: Wired.PutItem.Reply = try daemon.call(
      Wired.PutItem(tracker: "watches", title: "Speedmaster", attributes: ["brand": "Omega"]))
    try daemon.upload(photo, as: "p")
    for day in 1...20 {
      try daemon.log("water", 2_600, at: TestDaemon.noon(daysAgo: day))
      try daemon.log("weight", 90 - Double(day) / 7, at: TestDaemon.noon(daysAgo: day), fields: ["bodyFat": 20])
    }
    try daemon.log("watches", note: "with ž, \"quotes\" and\na second line", item: "speedmaster", photo: "p")
    // Past days had other goals.
    try daemon.put(.init(id: "water", goal: .init(total: 3_000, period: .day)))
    let _: Wired.PutMilestone.Reply = try daemon.call(
      Wired.PutMilestone(tracker: "weight", title: "Ran again", note: "5 km"))
    let _: RemindersInterface.Add.Reply = try daemon.call(
      RemindersInterface.Add(reminder: .init(title: "Call home", when: "daily at 18:30", tags: ["family"])))
  }

  /// Returns the lines without the time and the checksum.
  static func body(_ backup: [UInt8]) -> [String] {
    String(decoding: backup, as: UTF8.self).split(separator: "\n").dropFirst().dropLast().map(String.init)
  }

  /// Returns the lines without history, which a restore merges.
  private static func definitions(_ backup: [UInt8]) -> [String] {
    body(backup).filter { !$0.hasPrefix("{\"occurrence\"") }
  }

  static func restore(_ daemon: TestDaemon, _ bytes: [UInt8], dryRun: Bool? = nil) throws -> Wired.Contents {
    try daemon.upload(bytes, as: "backup")
    let reply = try daemon.call(Wired.Restore(upload: "backup", dryRun: dryRun))
    return try #require(reply.contents)
  }

  @Test func restoreReproducesTheBackupByteForByte() async throws {
    try await TestDaemon.run { daemon in
      try Self.fill(daemon)
      let first = try daemon.backup()
      #expect(Self.body(first) == Self.body(try daemon.backup()), "the same twice")
      // Continue to change things.
      for _ in 0..<3 { try daemon.log("water", 100) }
      let _: Wired.Remove.Reply = try daemon.call(Wired.Remove(id: "weight"))
      try daemon.put(.init(id: "reading", kind: .check))
      try daemon.log("reading")
      let reminders: RemindersInterface.List.Reply = try daemon.call(RemindersInterface.List())
      let home = try #require(reminders.reminders.first { $0.title == "Call home" })
      let _: RemindersInterface.Remove.Reply = try daemon.call(RemindersInterface.Remove(id: home.id))
      let _: RemindersInterface.Add.Reply = try daemon.call(
        RemindersInterface.Add(reminder: .init(title: "Later", when: "weekly on mon at 9:00")))
      let second = try daemon.backup()
      #expect(Self.body(first) != Self.body(second))

      let dry = try Self.restore(daemon, first, dryRun: true)
      #expect(dry.trackers == 3 && dry.entries == 41 && dry.items == 1 && dry.photos == 1 && dry.packs == 1)
      #expect(dry.unlocks > 0 && dry.madeAt != nil && dry.milestones >= 1)
      #expect(Self.body(try daemon.backup()) == Self.body(second), "judging changes nothing")

      #expect(try Self.restore(daemon, first) == dry)
      Self.same(Self.definitions(try daemon.backup()), Self.definitions(first))
      let undone: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      #expect(undone.undone.kind == "restored" && undone.undone.subject == "41")
      Self.same(Self.definitions(try daemon.backup()), Self.definitions(second))
      // Earlier changes can still be undone.
      for (kind, subject) in [("reminderAdded", "Later"), ("reminderRemoved", "Call home"), ("logged", nil)] {
        let before: Wired.Undo.Reply = try daemon.call(Wired.Undo())
        #expect(before.undone.kind == kind && before.notes == nil, "\(before)")
        #expect(subject == nil ? before.undone.tracker == "reading" : before.undone.subject == subject)
      }
    }
  }

  static func same(_ left: [String], _ right: [String], _ source: SourceLocation = #_sourceLocation) {
    let differences = differences(left, right)
    #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))", sourceLocation: source)
  }

  private static func differences(_ left: [String], _ right: [String]) -> [String] {
    let (a, b) = (Set(left), Set(right))
    return
      (left.filter { !b.contains($0) }.map { "- \($0.prefix(400))" }
      + right.filter { !a.contains($0) }.map { "+ \($0.prefix(400))" })
      + (a == b && left != right ? ["the order differs"] : [])
  }

  @Test func newMachineRestoresTheWholeBackup() async throws {
    var backup: [UInt8] = []
    try await TestDaemon.run { daemon in
      try Self.fill(daemon)
      backup = try daemon.backup()
    }
    try await TestDaemon.run { [backup] daemon in
      _ = try Self.restore(daemon, backup)
      Self.same(Self.body(try daemon.backup()), Self.body(backup))
      let entries: Wired.Entries.Reply = try daemon.call(Wired.Entries(tracker: "watches"))
      let photo = try #require(entries.entries.first?.photo)
      #expect(try Self.read(photo, daemon) == Self.photo)
      let packs: Wired.Packs.Reply = try daemon.call(Wired.Packs())
      let hydration = try #require(packs.packs.first { $0.id == "hydration" })
      let id = try #require(hydration.reminders.first?.id)
      let reminder: RemindersInterface.Get.Reply = try daemon.call(RemindersInterface.Get(id: id))
      #expect(reminder.reminder.next != nil)
      let _: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      #expect(Self.definitions(try daemon.backup()).isEmpty)
    }
  }

  /// An unlock is permanent, even if its pack is removed.
  @Test func unlocksOfARemovedPackAreRestored() async throws {
    var backup: [UInt8] = []
    try await TestDaemon.run { daemon in
      try Self.fill(daemon)
      let _: Wired.RemovePack.Reply = try daemon.call(Wired.RemovePack(id: "hydration"))
      backup = try daemon.backup()
    }
    let kept = Self.body(backup).filter { $0.contains("unlockedAt") }
    #expect(kept.contains { $0.contains("first_sip") }, "\(kept)")
    try await TestDaemon.run { [backup] daemon in
      let contents = try Self.restore(daemon, backup)
      #expect(contents.packs == 0 && contents.unlocks == kept.count, "\(contents)")
      Self.same(Self.body(try daemon.backup()), Self.body(backup))
    }
  }

  static func read(_ name: String, _ daemon: TestDaemon) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let part: Wired.Photo.Reply = try daemon.call(Wired.Photo(name: name, offset: bytes.count))
      let data = Data(base64Encoded: part.data) ?? Data()
      bytes += data
      if bytes.count >= part.total || data.isEmpty { return bytes }
    }
  }

  /// Returns a backup with other lines and a matching checksum.
  static func sealed(_ lines: [String]) -> [UInt8] {
    let text = lines.map { $0 + "\n" }.joined()
    return Array((text + "{\"sum\":{\"sha256\":\"\(SHA256.digest(of: Array(text.utf8)))\"}}\n").utf8)
  }

  @Test func damagedOrForgedBackupIsRefusedAndChangesNothing() async throws {
    try await TestDaemon.run { daemon in
      try Self.fill(daemon, photo: Self.photo(of: 20_000))
      let good = try daemon.backup()
      let body = Self.body(good)
      let lines = String(decoding: good, as: UTF8.self).split(separator: "\n").dropLast().map(String.init)
      func refused(_ bytes: [UInt8], _ part: String, line: Int? = nil, _ source: SourceLocation = #_sourceLocation)
        throws
      {
        try daemon.upload(bytes, as: "bad")
        let refusal = daemon.refusal(Wired.Restore(upload: "bad"))
        #expect(refusal?.name == "InvalidFile", "\(part): \(String(describing: refusal))", sourceLocation: source)
        #expect(
          refusal?.text("message").contains(part) == true, "\(String(describing: refusal))", sourceLocation: source)
        if let line {
          #expect(
            refusal?.parameters["line"] == .int(Int64(line)), "\(String(describing: refusal))", sourceLocation: source)
        }
      }
      try refused(Array("{}\n".utf8), "not a backup", line: 1)
      try refused(Array("PK\u{3}\u{4}".utf8), "cut off")
      try refused(Array(good.dropLast(200)), "cut off")
      let text = String(decoding: good, as: UTF8.self)
      try refused(
        Array(text.split(separator: "\n").dropLast().joined(separator: "\n").utf8) + [10], "the checksum is missing")
      try refused(good + Array("{}\n".utf8), "data follows")
      // Flip single bits.
      for place in stride(from: 40, to: good.count, by: good.count / 9) {
        var bytes = good
        bytes[place] ^= 1
        try daemon.upload(bytes, as: "flipped")
        #expect(
          daemon.refusal(Wired.Restore(upload: "flipped"))?.name == "InvalidFile",
          "byte \(place)")
      }
      func with(_ line: String) -> [UInt8] { Self.sealed(lines + [line]) }
      try refused(with(lines[1]), "occurs twice", line: lines.count + 1)
      try refused(
        with(
          "{\"entry\":{\"tracker\":\"nobody\",\"at\":\"2026-01-01T00:00:00Z\",\"day\":\"2026-01-01\",\"minute\":0}}"),
        "no tracker nobody")
      try refused(
        with(
          "{\"entry\":{\"tracker\":\"watches\",\"at\":\"2026-01-09T00:00:00Z\",\"day\":\"2026-01-01\",\"minute\":0}}"),
        "does not match its time")
      try refused(
        with(
          "{\"entry\":{\"tracker\":\"watches\",\"at\":\"2026-01-01T00:00:00Z\",\"day\":\"2026-01-01\",\"minute\":0,\"photo\":\"../../etc/passwd\"}}"
        ), "the name of a photo is invalid")
      try refused(
        with(
          "{\"entry\":{\"tracker\":\"water\",\"at\":\"2026-01-01T00:00:00Z\",\"day\":\"2026-01-01\",\"minute\":0,\"quantity\":9223372036854775807}}"
        ), "too large to record")
      try refused(with("{\"secret\":{}}"), "this kind of line is unknown")
      try refused(with(String(repeating: "[", count: 5_000)), "nests deeper")
      try refused(with("{\"entry\":"), "not a JSON object")
      try refused(
        with("{\"photo\":{\"name\":\"\(String(repeating: "a", count: 64)).jpg\",\"bytes\":5}}"), "a photo is incomplete"
      )
      try refused(
        with("{\"photo\":{\"name\":\"\(String(repeating: "a", count: 64)).jpg\",\"bytes\":99999999999}}"),
        "at most 20 MiB")
      try refused(
        Self.sealed(lines.filter { !$0.hasPrefix("{\"milestone") }), "the counts in the header do not match", line: 1)
      try refused(
        Self.sealed([lines[0].replacing("\"version\":1", with: "\"version\":2")] + body), "a later version of Chime")
      try refused(
        Self.sealed([lines[0].replacing("\"entries\":41", with: "\"entries\":4000000000")] + body),
        "the counts in the header do not match")
      try refused(Array(String(repeating: "x", count: 5_000_000).utf8), "longer than a line")
      #expect(Self.body(try daemon.backup()) == body, "and nothing has changed")
      #expect(daemon.refusal(Wired.Restore(upload: "none"))?.name == "NotFound")
    }
  }

  /// Returns a backup of one tracker with so many entries.
  private static func large(_ count: Int) -> [UInt8] {
    let counts =
      "{\"configuration\":0,\"endpoints\":0,\"entries\":\(count),\"items\":0,\"milestones\":0,\"occurrences\":0,\"packs\":0,\"photos\":0,\"pings\":0,\"reminders\":0,\"secrets\":0,"
      + "\"trackers\":1,\"unlocks\":0}"
    let header =
      "{\"header\":{\"by\":\"\",\"counts\":\(counts),\"format\":\"chime-backup\","
      + "\"madeAt\":\"2026-01-01T00:00:00Z\",\"version\":1}}"
    return sealed(
      [header, tracker]
        + (0..<count).map { number in
          let day = CivilDate(dayNumber: 20_000 + number / 100)?.description ?? ""
          return "{\"entry\":{\"at\":\"\(day)T12:00:00Z\",\"day\":\"\(day)\",\"minute\":720,\"tracker\":\"reading\"}}"
        })
  }

  private static let tracker =
    "{\"tracker\":{\"counting\":{\"weekdays\":{\"_0\":127}},\"createdAt\":0,\"dayStartsAt\":0,\"decimals\":0,\"experience\":0,"
    + "\"fields\":{},\"formerWeekdays\":[],\"generation\":0,\"hasItems\":false,\"id\":\"reading\",\"kind\":\"check\",\"owner\":0,\"pauses\":[],"
    + "\"presets\":[],\"skips\":[],\"timeOfDay\":\"anytime\",\"startedOn\":\"2020-01-01\",\"title\":{\"en\":\"Reading\"}}}"

  /// Returns the number of entries of staging owners, from interrupted or completed restores.
  private static func stagingOwners(_ daemon: TestDaemon) async throws -> [Int] {
    try await daemon.store.read { store in
      try (0..<4).map { try store.entryCount(EntryFilter(owner: StagingOwners.first + $0)) }
    }
  }

  @Test func restoreReportsItsProgressAndLeavesNothingWhenAborted() async throws {
    try await TestDaemon.run { daemon in
      try daemon.put(.init(id: "tea", kind: .check))
      try daemon.log("tea")
      let before = Self.body(try daemon.backup())
      let good = Self.large(9_000)
      func begin(_ client: VarlinkClient, _ bytes: [UInt8]) throws -> VarlinkClient.Replies<Wired.Restore.Reply> {
        try daemon.upload(bytes, as: "backup")
        return try client.callMore(Wired.Restore(upload: "backup"))
      }
      // The last line is wrong, after all others have been staged.
      var damaged = good
      damaged[damaged.count - 10] ^= 1
      let refused = try begin(daemon.client, damaged)
      let first = try #require(try refused.next())
      #expect(first.contents == nil && (1..<damaged.count).contains(first.read ?? 0) && first.size == damaged.count)
      #expect(throws: VarlinkClientError.self) { while try refused.next() != nil {} }
      #expect(try await Self.stagingOwners(daemon) == [0, 0, 0, 0])
      // The client disconnects. The next restore begins when the first has ended.
      let gone = try VarlinkClient("unix:\(daemon.folder)/io.chime", timeout: .seconds(60))
      _ = try begin(gone, good).next()
      gone.close()
      #expect(try Self.restore(daemon, good, dryRun: true).entries == 9_000)
      Self.same(Self.body(try daemon.backup()), before)
      let replies = try begin(daemon.client, good)
      var (told, contents) = ([Int](), Wired.Contents?.none)
      while let reply = try replies.next() {
        told += reply.read.map { [$0] } ?? []
        contents = reply.contents
      }
      #expect(told == told.sorted() && told.count >= 1 && contents?.entries == 9_000, "\(told)")
      #expect(try await Self.stagingOwners(daemon).reduce(0, +) == 1, "what was there before is laid aside")
      let days: Wired.Days.Reply = try daemon.call(
        Wired.Days(tracker: "reading", range: .init(from: "2024-10-04", to: "2024-12-31")))
      #expect(days.days.filter { $0.entries == 100 }.count == 89, "\(days.days.count)")
      let undone: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      #expect(undone.undone.subject == "9000")
      Self.same(Self.body(try daemon.backup()), before)
    }
  }

  /// Nothing of it is written, however many reminders it has.
  @Test func restoreOverATenantsLimitWritesNothing() async throws {
    var backup: [UInt8] = []
    try await TestDaemon.run { daemon in
      try Self.fill(daemon)
      backup = try daemon.backup()
    }
    var acme = TenantDefinition(name: "acme")
    acme.reminders = 1
    try await TestDaemon.run({ [acme] in $0.tenants = ["acme": acme] }) { [backup] daemon in
      func parameters(_ more: [String: JSON]) -> [String: JSON] { more.merging(["tenant": "acme"]) { $1 } }
      for offset in stride(from: 0, to: backup.count, by: 300_000) {
        let part = Data(backup[offset..<min(offset + 300_000, backup.count)]).base64EncodedString()
        let _: JSON = try daemon.call(
          Wired.Upload.method, parameters(["upload": "backup", "offset": .int(Int64(offset)), "data": .string(part)]))
      }
      let refusal = daemon.refusal(Wired.Restore.method, parameters(["upload": "backup"]))
      #expect(refusal?.name == "LimitExceeded", "\(String(describing: refusal))")
      #expect(try await Self.stagingOwners(daemon) == [0, 0, 0, 0])
    }
  }

  @Test func uploadsAreBoundedAndPhotosValidated() async throws {
    try await TestDaemon.run { daemon in
      try daemon.put(.init(id: "tea", kind: .check))
      func upload(_ name: String, _ offset: Int, _ data: String) -> TestDaemon.Refusal? {
        daemon.refusal(Wired.Upload(upload: name, offset: offset, data: data))
      }
      #expect(upload("a", 5, "AAAA")?.text("field") == "offset")
      #expect(upload("a", 0, "A!")?.text("field") == "data")
      #expect(upload("", 0, "AAAA")?.text("field") == "upload")
      #expect(upload("a", 0, Data(repeating: 0, count: (512 << 10) + 1).base64EncodedString())?.name == "LimitExceeded")
      for number in 0..<Uploads.maxPerOwner { try daemon.upload([1, 2, 3], as: "\(number)") }
      #expect(upload("one more", 0, "AAAA")?.name == "LimitExceeded")
      #expect(upload("0", 2, "AAAA")?.text("message").contains("3 bytes") == true)
      #expect(
        daemon.refusal(Wired.Log(tracker: "tea", photo: "0"))?.text("message").contains(
          "JPEG") == true)
      try daemon.upload(Self.photo, as: "0")
      let photo = try #require(try daemon.log("tea", photo: "0").entry?.photo)
      #expect(photo == SHA256.digest(of: Self.photo) + ".jpg")
      for name in ["../\(photo)", "/etc/passwd", "x.jpg", String(repeating: "0", count: 64) + ".jpg"] {
        #expect(daemon.refusal(Wired.Photo(name: name))?.name == "NotFound")
      }
      #expect(
        daemon.refusal(Wired.Photo(name: photo, offset: 1 << 40))?.text("field")
          == "offset")
      let path = "\(daemon.folder)/photos/\(getuid())/\(photo)"
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      for name in try FileManager.default.contentsOfDirectory(atPath: daemon.folder + "/uploads") {
        let file = daemon.folder + "/uploads" + "/" + name
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
      }
    }
  }

  @Test func uploadsExpireAfterTenMinutes() throws {
    let folder = RunFolder.url.appending(path: "chime-uploads-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let uploads = Uploads(folder: folder)
    let start = ContinuousClock.now
    #expect(try uploads.append([1, 2], to: "a", of: 1, at: 0, now: start) == 2)
    #expect(try uploads.append([3], to: "a", of: 1, at: 2, now: start + .seconds(500)) == 3)
    #expect(throws: ControlFailure.self) { try uploads.path(of: "a", of: 2, now: start) }
    let path = try uploads.path(of: "a", of: 1, now: start + .seconds(1_000))
    #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
    #expect(uploads.sweep(now: start + .seconds(1_601)) == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
    _ = try uploads.append([1], to: "b", of: 1, at: 0)
    Uploads(folder: folder).removeLeftovers()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }

  @Test func unreferencedPhotosAreDeletedAfterAMonth() throws {
    let folder = RunFolder.url.appending(path: "chime-photos-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let photos = Photos(folder: folder)
    let now = Instant(seconds: 1_790_000_000)
    let kept = try photos.keep(Self.photo, of: 7)
    let other = try photos.keep(Self.photo + [1], of: 7)
    #expect(photos.clean(7, keeping: [kept], now: now) == 0)
    #expect(photos.clean(7, keeping: [kept], now: now + .days(30)) == 0)
    // It is used again, and then unused: the month starts anew.
    #expect(photos.clean(7, keeping: [kept, other], now: now + .days(40)) == 0)
    #expect(photos.clean(7, keeping: [kept], now: now + .days(41)) == 0)
    #expect(photos.clean(7, keeping: [kept], now: now + .days(71)) == 0)
    #expect(photos.clean(7, keeping: [kept], now: now + .days(73)) == 1)
    #expect(photos.size(other, of: 7) == nil && photos.size(kept, of: 7) == Self.photo.count)
    #expect(photos.owners == [7])
  }

  /// The single CSV file from Loop's archive: an upload has no file name to recognize it by.
  @Test func loopsCheckmarksFileIsImportedWithoutItsArchive() async throws {
    try await TestDaemon.run { daemon in
      try daemon.upload(Array("Date,Reading,Run,\n2026-02-02,2,0,\n2026-02-01,2,2,\n".utf8), as: "file")
      let reply: Wired.Import.Reply = try daemon.call(Wired.Import(upload: "file", format: .loop))
      #expect(reply.added == 3 && Set(reply.trackers) == ["reading", "run"], "\(reply)")
    }
  }

  /// Imported entries from before the tracker's start move its start back, as in an import from Loop; undoing the
  /// import undoes that too.
  @Test func importOfEarlierEntriesMovesATrackersStartBack() async throws {
    try await TestDaemon.run { daemon in
      try daemon.put(.init(id: "reading", title: ["en": "Reading"], kind: .check, startedOn: "2026-03-11"))
      func startedOn() throws -> String? {
        try daemon.call(Wired.List()).trackers.first?.startedOn
      }
      let days = (1...10).map { "reading,2026-03-\($0 < 10 ? "0" : "")\($0)\n" }.joined()
      try daemon.upload(Array("tracker,day\n\(days)".utf8), as: "file")
      let dry: Wired.Import.Reply = try daemon.call(
        Wired.Import(upload: "file", format: .csv, dryRun: true))
      let sentence = "reading: its days count from 2026-03-01 now, the day of its first entry"
      #expect(dry.remarks == [sentence])
      #expect(try startedOn() == "2026-03-11")
      let reply: Wired.Import.Reply = try daemon.call(
        Wired.Import(upload: "file", format: .csv))
      #expect(reply.added == 10 && reply.remarks == [sentence], "\(reply)")
      #expect(try startedOn() == "2026-03-01")
      let totals: Wired.Days.Reply = try daemon.call(
        Wired.Days(tracker: "reading", range: .init(from: "2026-03-01", to: "2026-03-10"))
      )
      #expect(totals.days.compactMap(\.number) == Array(1...10))
      let _: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      #expect(try startedOn() == "2026-03-11")
    }
  }

  @Test func exportedEntriesAreImportedAgain() async throws {
    try await TestDaemon.run { daemon in
      try Self.fill(daemon)
      let body = Self.body(try daemon.backup())
      for format in [Wired.Export.Format.csv, .json] {
        let replies = try daemon.client.callMore(Wired.Export(format: format))
        var text = ""
        while let part = try replies.next() { text += part.text }
        try daemon.upload(Array(text.utf8), as: "file")
        let again: Wired.Import.Reply = try daemon.call(
          Wired.Import(upload: "file", format: format == .csv ? .csv : .json, dryRun: true))
        #expect(again.added == 0 && again.duplicates == 41, "\(format): \(again.remarks)")
        let _: Wired.RemoveEntry.Reply = try daemon.call(Wired.RemoveEntry(tracker: "weight"))
        let back: Wired.Import.Reply = try daemon.call(
          Wired.Import(upload: "file", format: format == .csv ? .csv : .json))
        #expect(back.added == 20 && back.duplicates == 21 && back.trackers.contains("weight"))
        for _ in 0..<2 { let _: Wired.Undo.Reply = try daemon.call(Wired.Undo()) }
      }
      Self.same(Self.body(try daemon.backup()), body)
      try daemon.upload(Array("{\"entries\":[{\"tracker\":\"water\",\"value\":\"much\"}]}".utf8), as: "file")
      let refusal = daemon.refusal(Wired.Import(upload: "file", format: .json))
      #expect(refusal?.name == "InvalidFile" && refusal?.parameters["line"] == .int(1))
      #expect(
        daemon.refusal(Wired.Export(format: .csv))?.description.contains("ExpectedMore")
          == true)
    }
  }
}
