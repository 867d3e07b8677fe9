import ChimeControl
import Foundation
import Synchronization
import Varlink

/// A fake that answers the writing methods of io.chime.Trackers too, and the reading ones from a `TrackerYear`.
struct FakeTrackerDaemon: Sendable {
  typealias T = TrackersInterface

  var reading = FakeTrackers()
  /// The bundled packs, one of which is installed.
  var packs = FakeTrackerDaemon.samplePacks
  /// The result of the next entry.
  var change = FakeTrackerDaemon.change()
  /// The title of a reminder fired by hand after the last change.
  var later: String?
  var undoNotes: [String]?

  func daemon() throws -> FakeDaemon { try FakeDaemon { answer($0, $1) } }

  static let backup = Array(repeating: "0123456789", count: 300).joined()

  func answer(_ method: String, _ parameters: JSON) -> FakeDaemon.Answer {
    switch method {
    case T.Log.method, T.EditEntry.method: return .reply(T.Log.Reply(change: change))
    case T.RemoveEntry.method: return .reply(T.RemoveEntry.Reply(removed: parameters["id"] == nil ? 412 : 1))
    case T.Put.method:
      let draft = read(T.Put.self, parameters).tracker
      let old = reading.year.trackers.first { $0.id == draft.id }
      return .reply(T.Put.Reply(tracker: Self.tracker(draft, old), created: old == nil))
    case T.Remove.method: return .reply(T.Remove.Reply(tracker: tracker(parameters["id"])))
    case T.Packs.method: return .reply(T.Packs.Reply(packs: packs))
    case T.InstallPack.method: return install(read(T.InstallPack.self, parameters))
    case T.RemovePack.method: return .reply(T.RemovePack.Reply(pack: packs[0]))
    case T.PutItem.method:
      let asked = read(T.PutItem.self, parameters)
      let item = T.Item(
        id: asked.id ?? "omega-speedmaster", tracker: asked.tracker, title: asked.title ?? "Speedmaster",
        attributes: asked.attributes ?? [:], since: asked.since, until: asked.until, note: asked.note, entries: 0)
      return .reply(T.PutItem.Reply(item: item, unlocked: change.unlocked))
    case T.RemoveItem.method: return .reply(T.RemoveItem.Reply(item: reading.year.items[0]))
    case T.PutMilestone.method:
      let asked = read(T.PutMilestone.self, parameters)
      return .reply(
        T.PutMilestone.Reply(
          milestone: T.Milestone(
            id: asked.id ?? 7, tracker: asked.tracker, day: asked.day ?? "2026-03-27",
            title: asked.title ?? "First draft",
            note: asked.note)))
    case T.RemoveMilestone.method: return .reply(T.RemoveMilestone.Reply(milestone: reading.year.milestones[0]))
    case T.Undo.method:
      return .reply(
        T.Undo.Reply(
          undone: Self.undoable, later: later.map { T.LastAction(at: Self.undoable.at, kind: "fired", subject: $0) },
          notes: undoNotes))
    case T.StartOver.method:
      return .reply(T.StartOver.Reply(reminders: 2, trackers: 1, entries: 412, packs: 1, endpoints: 1))
    case T.Changes.method: return .reply(T.Changes.Reply(changes: [Self.undoable]))
    case T.Upload.method:
      let asked = read(T.Upload.self, parameters)
      return .reply(T.Upload.Reply(received: asked.offset + (Data(base64Encoded: asked.data)?.count ?? 0)))
    case T.Restore.method: return .reply(T.Restore.Reply(contents: Self.contents))
    case T.Import.method:
      return .reply(T.Import.Reply(trackers: ["reading"], added: 3, duplicates: 1, remarks: ["line 9: no date"]))
    case T.Entries.method where parameters["tracker"] == nil:
      return .reply(T.Entries.Reply(entries: reading.year.entries.suffix(3).reversed(), total: 3))
    default: return reading.answer(method, parameters)
    }
  }

  private func tracker(_ id: JSON?) -> T.Tracker {
    reading.year.trackers.first { .string($0.id) == id } ?? reading.year.trackers[0]
  }

  private func read<Parameters: JSONReadable>(_ type: Parameters.Type, _ json: JSON) -> Parameters {
    // The library has already checked the parameters against the interface.
    do { return try JSONReader.read(type, from: json.bytes) } catch { fatalError("\(type): \(error)") }
  }

  /// Returns the tracker made from a draft, as far as the tests need it.
  private static func tracker(_ draft: T.TrackerDraft, _ old: T.Tracker?) -> T.Tracker {
    T.Tracker(
      id: draft.id, title: draft.title ?? old?.title ?? [:], kind: draft.kind ?? old?.kind ?? .check,
      unit: draft.unit ?? old?.unit, decimals: draft.decimals ?? old?.decimals ?? 0, goal: draft.goal ?? old?.goal,
      presets: draft.presets ?? old?.presets ?? [], usual: draft.usual ?? old?.usual,
      counting: draft.counting ?? old?.counting
        ?? T.Counting(weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]),
      formerWeekdays: old?.formerWeekdays ?? [], dayStartsAt: draft.dayStartsAt ?? old?.dayStartsAt ?? "00:00",
      timeOfDay: draft.timeOfDay ?? old?.timeOfDay ?? .anytime,
      pauses: draft.pauses ?? old?.pauses ?? [], skips: draft.skips ?? old?.skips ?? [],
      skipsEachMonth: draft.skipsEachMonth, hasItems: draft.hasItems ?? old?.hasItems ?? false,
      fields: draft.fields ?? old?.fields ?? [:], milestoneStep: draft.milestoneStep ?? old?.milestoneStep,
      experience: 10,
      startedOn: draft.startedOn ?? old?.startedOn ?? "2026-03-27", createdAt: Samples.time(1_774_600_000))
  }

  private func install(_ asked: T.InstallPack) -> FakeDaemon.Answer {
    if asked.text?.contains("faulty") == true {
      return .error(
        "InvalidPack",
        T.InvalidPack(faults: [
          Wire.Fault(
            file: asked.file ?? "", line: 3, column: 8, key: "trackers.tea.unit", message: "\"kgs\" is no unit"),
          Wire.Fault(file: asked.file ?? "", line: 9, column: 1, key: "reminders", message: "a key is missing: when"),
        ]))
    }
    guard var pack = packs.first(where: { $0.id == asked.name ?? "hydration" }) else {
      return .error("NotFound", Wire.NotFound(what: "pack", id: asked.name ?? "", similar: []))
    }
    let created = pack.installedAt == nil
    pack.installedAt = Samples.time(1_774_600_000)
    for index in pack.reminders.indices where asked.choices?.reminders?[pack.reminders[index].key] ?? true {
      pack.reminders[index].id = "r\(index)"
    }
    return .reply(T.InstallPack.Reply(pack: pack, created: created, unlocked: []))
  }

  // MARK: Samples

  static let undoable = T.Undoable(
    id: 12, at: Samples.time(1_774_599_000), kind: "logged", tracker: "water", subject: "250 ml of water")

  static let contents = T.Contents(
    trackers: 7, entries: 3_210, items: 12, milestones: 6, packs: 5, unlocks: 41, photos: 2, reminders: 9, endpoints: 2,
    occurrences: 12, pings: 3, secrets: 0, configuration: 0, madeAt: Samples.time(1_774_500_000))

  static func change(goalMet: Bool = false) -> T.Change {
    let year = TrackerYear.full
    let water = year.trackers[0]
    let progress = T.GoalProgress(
      tracker: water, day: "2026-03-27", entries: 7, total: goalMet ? 2_500 : 1_750, reached: goalMet ? 2_500 : 1_750,
      remaining: goalMet ? 0 : 750, percent: goalMet ? 100 : 70, met: goalMet, counts: true,
      streak: T.Streak(length: 4, unit: .days), longest: T.Streak(length: goalMet ? 4 : 9, unit: .days), strength: 0.61,
      number: 40, numberThisMonth: 12, countedThisMonth: 27)
    let entry = T.Entry(
      id: 4_711, tracker: "water", at: Samples.time(1_774_599_900), day: "2026-03-27", value: 250, unit: "ml",
      fields: [:])
    guard goalMet else {
      return T.Change(entry: entry, progress: progress, goalMet: false, unlocked: [], milestones: [])
    }
    return T.Change(
      entry: entry, progress: progress, goalMet: true, unlocked: [year.achievements[1]], milestones: [],
      levelUp: T.Level(pack: "hydration", level: 4, experience: 310, from: 300, next: 500))
  }

  static let samplePacks: [T.Pack] = {
    let year = TrackerYear.full
    func pack(_ id: String, _ title: String, _ text: String, _ reminders: [T.PackReminder]) -> T.Pack {
      let trackers = year.trackers.filter { $0.pack == id }
      return T.Pack(
        id: id, title: ["en": title], text: ["en": text], version: 1,
        installedAt: nil, shipped: true, trackers: trackers, reminders: reminders, achievements: 10, choices: [:])
    }
    var water = pack(
      "hydration", "Hydration", "Drink enough water, cup by cup.",
      [
        T.PackReminder(
          key: "drink", title: ["en": "Drink water"], when: "every 90m from 08:00 to 22:00", tracker: "water",
          optional: false)
      ])
    water.choices = ["water": T.Choice(least: 500, most: 5_000, step: 250)]
    var weight = pack(
      "weight", "Weight", "Weigh yourself, and see where it goes.",
      [
        T.PackReminder(
          key: "weigh", title: ["en": "Step on the scales"], when: "daily at 07:00", tracker: "weight", optional: true)
      ])
    weight.milestoneSteps = [
      T.StepChoice(tracker: "weight", unit: "kg", steps: [2, 5, 7]),
      T.StepChoice(tracker: "weight", unit: "lb", steps: [5, 10, 15]),
    ]
    let goal = pack(
      "goal", "Goal", "One goal, on the days that you choose.",
      [
        T.PackReminder(
          key: "goal", title: ["en": "Work on your goal"], when: "daily at 18:00", tracker: "goal", optional: false)
      ])
    return [water, weight, goal]
  }()
}
