public import ChimeSchedule
public import ChimeTracking

/// EntryImportSettings are the context of an import of entries.
public struct EntryImportSettings: Sendable {
  public var owner: UInt32
  public var now: Instant
  /// The zone of times without an offset, and of days without a time.
  public var zone: Zone
  /// The trackers of the owner.
  public var trackers: [Tracker]
  /// The items of each tracker.
  public var items: [TrackerID: [Item]]
  /// The tracker for all entries; `nil` to use the trackers that the file names.
  public var into: TrackerID?

  public init(
    owner: UInt32, now: Instant, zone: Zone, trackers: [Tracker], items: [TrackerID: [Item]] = [:],
    into: TrackerID? = nil
  ) {
    self.owner = owner
    self.now = now
    self.zone = zone
    self.trackers = trackers
    self.items = items
    self.into = into
  }
}

/// An EntryPlan is the result of reading a file of entries.
///
///     var plan = try EntryTable.read(bytes, settings)
///     guard plan.faults.isEmpty else { … }
///     for (tracker, days) in plan.days { plan.leaveOut(entries(of: tracker, in: days)) }
///     // put plan.trackers and plan.items, then insert plan.entries
public struct EntryPlan: Sendable, Hashable {
  /// The trackers to create before the entries.
  public var trackers: [Tracker] = []
  /// The items to create before the entries.
  public var items: [Item] = []
  /// The entries to insert. Their `id` is 0 and has no meaning.
  public var entries: [Entry] = []
  /// The number of entries in the file that exist already.
  public var present = 0
  /// What was imported in part or skipped, and why.
  public var remarks: [ImportRemark] = []
  /// The errors by line, at most `mostFaults`. If there are any, nothing of the file should be imported.
  public var faults: [ExchangeError] = []

  public static let mostFaults = 100
  /// The most entries in one file.
  public static let mostEntries = 200_000

  /// The days of each tracker, from its first entry in the file to its last.
  public var days: [TrackerID: ClosedRange<CivilDate>] {
    var days: [TrackerID: ClosedRange<CivilDate>] = [:]
    for entry in entries {
      let known = days[entry.tracker] ?? entry.day...entry.day
      days[entry.tracker] = min(known.lowerBound, entry.day)...max(known.upperBound, entry.day)
    }
    return days
  }

  /// Removes entries that exist already: same tracker, instant, value, item and note.
  ///
  /// Each existing entry removes one of the file, so two glasses at the same time remain two.
  ///
  /// - Parameter existing: The existing entries. Pass each one once, in one call or several.
  public mutating func leaveOut(_ existing: some Sequence<Entry>) {
    var counts: [Likeness: Int] = [:]
    for entry in existing { counts[Likeness(entry), default: 0] += 1 }
    let before = entries.count
    entries.removeAll { entry in
      let likeness = Likeness(entry)
      guard let count = counts[likeness], count > 0 else { return false }
      counts[likeness] = count - 1
      return true
    }
    present += before - entries.count
  }

  /// Adds a remark for each existing tracker that begins earlier because of these entries.
  public mutating func noteBeginnings(of trackers: [Tracker]) {
    for (id, days) in days.sorted(by: { $0.key < $1.key }) {
      guard let tracker = trackers.first(where: { $0.id == id }), days.lowerBound < tracker.startedOn else { continue }
      remark(
        nil, id.rawValue, .note, "its days count from \(days.lowerBound) now, the day of its first entry")
    }
  }

  private struct Likeness: Hashable {
    let tracker: TrackerID
    let at: Instant
    let quantity: Quantity?
    let item: ItemID?
    let note: [UInt8]

    init(_ entry: Entry) {
      tracker = entry.tracker
      at = entry.at
      quantity = entry.quantity
      item = entry.item
      // Compare bytes, because texts that look alike may differ.
      note = Array((entry.note ?? "").utf8)
    }
  }

  mutating func fault(_ line: Int?, _ message: String) {
    if faults.count < Self.mostFaults { faults.append(ExchangeError(line: line, message)) }
  }

  mutating func remark(_ line: Int?, _ title: String?, _ kind: ImportRemark.Kind, _ message: String) {
    remarks.append(ImportRemark(line: line, title: title, kind: kind, message: message))
  }
}

extension TrackerID {
  /// Returns an unused name made from a title: `wake-up-early` for `Wake up early!`, then `wake-up-early-2`.
  static func made(of title: String, besides taken: Set<TrackerID>) -> TrackerID {
    var slug = slug(of: title, atMost: 32)
    while let first = slug.utf8.first, !(97...122).contains(first) { slug.removeFirst() }
    if slug.isEmpty { slug = "habit" }
    var (id, number) = (TrackerID(rawValue: slug), 1)
    while taken.contains(id) {
      number += 1
      id = TrackerID(rawValue: "\(slug.prefix(32 - "-\(number)".count))-\(number)")
    }
    return id
  }
}

/// Returns ASCII lower-case letters and digits, with a hyphen for other characters between them. Latin letters lose
/// their diacritics.
package func slug(of title: String, atMost limit: Int) -> String {
  var slug = ""
  for scalar in title.lowercased().unicodeScalars {
    if let plain = plainLetters[scalar] {
      slug += plain
    } else if (97...122).contains(scalar.value) || (48...57).contains(scalar.value) {
      slug.unicodeScalars.append(scalar)
    } else if !slug.isEmpty, slug.last != "-" {
      slug += "-"
    }
  }
  slug = String(slug.prefix(limit))
  while slug.last == "-" { slug.removeLast() }
  return slug
}

private let plainLetters: [Unicode.Scalar: String] = {
  var letters: [Unicode.Scalar: String] = ["ß": "ss", "æ": "ae", "œ": "oe"]
  for (plain, marked) in [
    ("a", "áàâäãåāăą"), ("c", "çćčċ"), ("d", "ďđð"), ("e", "éèêëēėęě"), ("g", "ğģ"), ("i", "íìîïīįı"), ("l", "łľĺļ"),
    ("n", "ñńňņ"), ("o", "óòôöõøőō"), ("r", "řŕ"), ("s", "śšşș"), ("t", "ťțţ"), ("u", "úùûüūůűų"), ("y", "ýÿ"),
    ("z", "źžż"),
  ] {
    for scalar in marked.unicodeScalars { letters[scalar] = plain }
  }
  return letters
}()
