import ChimeControl
import Synchronization

/// Decides who of those that have asked is answered next.
///
/// Owners take turns, so that nobody waits behind all that another has asked; and what takes long (a listing, a file) is
/// begun a few at a time, since the store answers one after the other what has been handed to it. An owner who is alone
/// with the daemon may have more of it under way than one beside others.
struct RequestQueue<Request: Sendable>: Sendable {
  enum Weight: Sendable {
    /// One step in the store, or nothing but waiting.
    case light
    /// Many steps in the store, or much to compute.
    case heavy
    /// What may take the store's writer for seconds; it waits for nobody but its owner's like.
    case long
  }

  struct Entry: Sendable {
    /// Names it; never given twice.
    let number: Int
    let owner: UInt32
    let weight: Weight
    let request: Request
  }

  /// How many of an owner's light requests are under way at a time; and of all owners', beside one for each.
  static var mostOfOwner: Int { 16 }
  static var most: Int { 64 }
  /// The same of heavy ones, of an owner who is alone and of one who is not.
  static var mostHeavyAlone: Int { 4 }
  static var mostHeavyOfOwner: Int { 1 }
  static var mostHeavy: Int { 2 }
  /// Who has not asked for so many requests of others is not there any more.
  static var memory: Int { 256 }

  struct Kind: Hashable {
    var owner: UInt32
    var weight: Weight
  }

  private(set) var waiting: [UInt32: [Entry]] = [:]
  /// The owners who wait for something, in the order of their turns.
  private var turns: [UInt32] = []
  private(set) var running: [Int: Kind] = [:]
  private var counts: [Kind: Int] = [:]
  private var heavyCount = 0
  private var lastNumber = 0
  /// The number of the latest request of each owner who was there lately.
  private var seen: [UInt32: Int] = [:]

  /// - Returns: its number.
  @discardableResult
  mutating func add(_ request: Request, owner: UInt32, weight: Weight) -> Int {
    lastNumber += 1
    seen[owner] = lastNumber
    if seen.count > 64 { seen = seen.filter { $0.value > lastNumber - Self.memory } }
    if waiting[owner] == nil { turns.append(owner) }
    waiting[owner, default: []].append(Entry(number: lastNumber, owner: owner, weight: weight, request: request))
    return lastNumber
  }

  /// The next to be begun; nil while there is none, or no room for any.
  mutating func next() -> Entry? {
    for place in turns.indices {
      let owner = turns[place]
      guard let index = waiting[owner]?.firstIndex(where: { mayBegin($0) }),
        let entry = waiting[owner]?.remove(at: index)
      else { continue }
      turns.remove(at: place)
      if waiting[owner]?.isEmpty == true { waiting[owner] = nil } else { turns.append(owner) }
      let kind = Kind(owner: owner, weight: entry.weight)
      running[entry.number] = kind
      counts[kind, default: 0] += 1
      if entry.weight == .heavy { heavyCount += 1 }
      return entry
    }
    return nil
  }

  private func mayBegin(_ entry: Entry) -> Bool {
    let own = counts[Kind(owner: entry.owner, weight: entry.weight), default: 0]
    switch entry.weight {
    // One for each, whoever has all others wait for a receiver that never answers.
    case .light: return own == 0 || own < Self.mostOfOwner && running.count < Self.most
    case .long: return own == 0
    case .heavy:
      let isAlone = !seen.contains { $0.key != entry.owner && $0.value > lastNumber - Self.memory }
      return isAlone ? own < Self.mostHeavyAlone : own < Self.mostHeavyOfOwner && heavyCount < Self.mostHeavy
    }
  }

  /// One is answered, or has become a stream, which waits for its reader and for nobody else. Nothing when it has ended before.
  mutating func end(_ number: Int) {
    guard let ended = running.removeValue(forKey: number) else { return }
    counts[ended] = counts[ended].flatMap { $0 > 1 ? $0 - 1 : nil }
    if ended.weight == .heavy { heavyCount -= 1 }
  }

  /// Takes one out that has not been begun.
  ///
  /// - Returns: whether there was one.
  mutating func remove(_ number: Int) -> Bool {
    for (owner, entries) in waiting {
      guard let index = entries.firstIndex(where: { $0.number == number }) else { continue }
      waiting[owner]?.remove(at: index)
      if waiting[owner]?.isEmpty == true {
        waiting[owner] = nil
        turns.removeAll { $0 == owner }
      }
      return true
    }
    return false
  }

  /// Takes out what has not been begun and nobody waits for any more.
  mutating func remove(where isUnwanted: (Request) -> Bool) {
    for owner in turns {
      waiting[owner]?.removeAll { isUnwanted($0.request) }
      if waiting[owner]?.isEmpty == true { waiting[owner] = nil }
    }
    turns.removeAll { waiting[$0] == nil }
  }
}

/// Whether somebody still waits for the answer to a call. Between the loop, which sees a client go, and the threads that work
/// on the answer.
final class RequestLife: Sendable {
  private let ended = Atomic(false)

  var isOver: Bool { ended.load(ordering: .relaxed) }

  func end() { ended.store(true, ordering: .relaxed) }

  /// To be asked now and then by what takes long.
  func goOn() throws(CancellationError) {
    if isOver { throw CancellationError() }
  }
}

extension RequestHandler {
  /// What answering a method takes.
  static func weight(of method: String) -> RequestQueue<EventLoop.QueuedRequest>.Weight {
    heavyMethods.contains(method) ? .heavy : longMethods.contains(method) ? .long : .light
  }

  private static let heavyMethods: Set<String> = [
    RemindersInterface.AddMany.method, RemindersInterface.List.method, RemindersInterface.Import.method,
    RemindersInterface.Apply.method, RemindersInterface.Export.method, OccurrencesInterface.List.method,
    OccurrencesInterface.Upcoming.method, OccurrencesInterface.Audit.method, ExpectationsInterface.List.method,
    SchedulesInterface.Explain.method, SchedulesInterface.Convert.method, SchedulesInterface.Calendars.method,
    DeliveriesInterface.List.method, EndpointsInterface.List.method, Tracking.Entries.method, Tracking.Days.method,
    Tracking.Stats.method, Tracking.Achievements.method, Tracking.Items.method, Tracking.Milestones.method,
    Tracking.Changes.method, Tracking.Backup.method, Tracking.Export.method,
  ]

  private static let longMethods: Set<String> = [
    DeliveriesInterface.Redeliver.method, DeliveriesInterface.Cancel.method, Tracking.InstallPack.method,
    Tracking.RemovePack.method, Tracking.Remove.method, Tracking.Import.method, Tracking.Restore.method,
    Tracking.Undo.method, Tracking.StartOver.method,
  ]
}
