public import ChimeSchedule
public import ChimeTracking

/// What an import of entries reads its text against.
public struct EntryImportSettings: Sendable {
  public var owner: UInt32
  public var now: Instant
  /// For times that name no offset, and days without a time.
  public var zone: Zone
  /// Those that the owner has.
  public var trackers: [Tracker]
  /// The items that they have.
  public var items: [TrackerID: [Item]]
  /// What all of the file is for, instead of what it names; nil: what it names.
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

/// What a file of entries comes to.
///
///     var plan = try EntryTable.read(bytes, settings)
///     guard plan.faults.isEmpty else { … }
///     for (tracker, days) in plan.days { plan.leaveOut(entries(of: tracker, in: days)) }
///     // plan.trackers and plan.items are to be put, plan.entries to be inserted
public struct EntryPlan: Sendable, Hashable {
  /// To be made, before the entries.
  public var trackers: [Tracker] = []
  /// To be made, before the entries.
  public var items: [Item] = []
  /// Their `id` is 0 and means nothing.
  public var entries: [Entry] = []
  /// How many entries of the file there are already.
  public var present = 0
  /// What was taken in part, or passed over, and why.
  public var remarks: [ImportRemark] = []
  /// What is wrong, by line; while there are any, nothing of the file should be taken. No more than `mostFaults`.
  public var faults: [ExchangeError] = []

  public static let mostFaults = 100
  /// The most entries that one file may have.
  public static let mostEntries = 200_000

  /// Of each tracker the days from its first entry in the file to its last.
  public var days: [TrackerID: ClosedRange<CivilDate>] {
    var days: [TrackerID: ClosedRange<CivilDate>] = [:]
    for entry in entries {
      let known = days[entry.tracker] ?? entry.day...entry.day
      days[entry.tracker] = min(known.lowerBound, entry.day)...max(known.upperBound, entry.day)
    }
    return days
  }

  /// Leaves out what there is already: an entry of the same tracker, at the same instant, with the same value, item and
  /// note. Each that exists stands for one of the file, so that two glasses drunk at the same time stay two.
  ///
  /// - Parameter existing: each entry that exists is to be passed once, in one call or in several.
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

  /// Notes which of the trackers that there are begin earlier by these entries.
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
      // By bytes: texts that look alike need not be.
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
  /// A name made of a title, that is not among those taken: `Wake up early!` becomes `wake-up-early`, then `wake-up-early-2`.
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

/// Lower-case letters and digits of ASCII, with a hyphen for what else there is between; letters with marks without them as
/// far as Latin scripts go.
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
