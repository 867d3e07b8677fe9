import ChimeTracking

// `[[tracker]]`, and overrides in `[pack.tracker.ID]`.
extension ManifestReader {
  /// The keys of any tracker.
  static let trackerKeys = TrackerSetting.all.compactMap(\.key)
  static let ownTrackerKeys = ["id", "kind", "items", "fields", "xp"]
  private static let kindSentence = "is missing: \"check\", \"amount\" or \"measure\""

  mutating func tracker(_ table: Table) -> Manifest.Counted? {
    faults.allow(Self.ownTrackerKeys + Self.trackerKeys, in: table, called: "a tracker")
    let id = faults.name("id", in: table).map(TrackerID.init(rawValue:))
    let kind = faults.choice("kind", in: table, Tracker.Kind.self)
    if table["kind"] == nil { faults.fault(table.node, table.key("kind"), Self.kindSentence) }
    var tracker = Tracker(
      id: id ?? TrackerID(rawValue: ""), owner: 0, title: LocalizedText(id?.rawValue ?? ""), kind: kind ?? .check,
      decimals: kind == .measure ? 1 : 0, startedOn: Pack.unbegun, createdAt: fields.now)
    faults.laySettings(table, kind, over: &tracker)
    tracker.hasItems = faults.flag("items", in: table) ?? false
    if let experience = faults.number("xp", in: table, 0...1_000) { tracker.experience = experience }
    faults.further(table, into: &tracker, takesBounds: false)
    judgeWhole(tracker, table)
    guard id != nil, kind != nil else { return nil }
    return .init(place: .init(file: file, table: table), tracker: tracker, saysStart: table["start"] != nil)
  }

  /// Reports settings that contradict each other.
  private mutating func judgeWhole(_ tracker: Tracker, _ table: Table) {
    do {
      try TrackerFields.check(tracker)
    } catch ControlFailure.invalidValue(let field, _) {
      let key = TrackerSetting.all.first { $0.name == field }?.key ?? field
      judge(key, in: table) { try TrackerFields.check(tracker) }
    } catch {}
  }
}
