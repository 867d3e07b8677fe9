import Synchronization

/// A RequestQueue decides which of the waiting requests begins next.
///
/// Owners take turns, so that nobody waits behind all requests of another. Only a few expensive requests run at once, because
/// the store works off one after the other. An owner who is alone with the daemon may run more of them.
struct RequestQueue<Request: Sendable>: Sendable {
  enum Weight: Sendable {
    /// One step in the store, or no work but waiting.
    case light
    /// Many steps in the store, or much computation.
    case heavy
    /// May hold the store's writer for seconds. At most one of an owner runs at a time.
    case long
  }

  struct Entry: Sendable {
    /// The unique number of the request.
    let number: Int
    let owner: UInt32
    let weight: Weight
    let request: Request
  }

  /// The most light requests that run at once: of one owner, and of all. Each owner may always run one.
  static var mostOfOwner: Int { 16 }
  static var most: Int { 64 }
  /// The most heavy requests that run at once: of an owner who is alone, of one who is not, and of all.
  static var mostHeavyAlone: Int { 4 }
  static var mostHeavyOfOwner: Int { 1 }
  static var mostHeavy: Int { 2 }
  /// An owner counts as present for so many requests of all owners after its own.
  static var memory: Int { 256 }

  struct Kind: Hashable {
    var owner: UInt32
    var weight: Weight
  }

  private(set) var waiting: [UInt32: [Entry]] = [:]
  /// The owners who have waiting requests, in the order of their turns.
  private var turns: [UInt32] = []
  private(set) var running: [Int: Kind] = [:]
  private var counts: [Kind: Int] = [:]
  private var heavyCount = 0
  private var lastNumber = 0
  /// The number of the latest request of each owner who is present.
  private var seen: [UInt32: Int] = [:]

  /// - Returns: the number of the request.
  @discardableResult
  mutating func add(_ request: Request, owner: UInt32, weight: Weight) -> Int {
    lastNumber += 1
    seen[owner] = lastNumber
    if seen.count > 64 { seen = seen.filter { $0.value > lastNumber - Self.memory } }
    if waiting[owner] == nil { turns.append(owner) }
    waiting[owner, default: []].append(Entry(number: lastNumber, owner: owner, weight: weight, request: request))
    return lastNumber
  }

  /// Returns the request to begin next; nil: none waits, or no more may begin.
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
    // Each owner may run one, even while all others wait for a receiver that never answers.
    case .light: return own == 0 || own < Self.mostOfOwner && running.count < Self.most
    case .long: return own == 0
    case .heavy:
      let isAlone = !seen.contains { $0.key != entry.owner && $0.value > lastNumber - Self.memory }
      return isAlone ? own < Self.mostHeavyAlone : own < Self.mostHeavyOfOwner && heavyCount < Self.mostHeavy
    }
  }

  /// Ends a request that is answered, or has become a stream that only waits for its reader. Does nothing if it has ended.
  mutating func end(_ number: Int) {
    guard let ended = running.removeValue(forKey: number) else { return }
    counts[ended] = counts[ended].flatMap { $0 > 1 ? $0 - 1 : nil }
    if ended.weight == .heavy { heavyCount -= 1 }
  }

  /// Removes a request that has not begun.
  ///
  /// - Returns: whether it was there.
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

  /// Removes the requests that have not begun and that nobody waits for any more.
  mutating func remove(where isUnwanted: (Request) -> Bool) {
    for owner in turns {
      waiting[owner]?.removeAll { isUnwanted($0.request) }
      if waiting[owner]?.isEmpty == true { waiting[owner] = nil }
    }
    turns.removeAll { waiting[$0] == nil }
  }
}

/// A RequestLife says whether a client still waits for an answer. The loop ends it, and the threads that answer ask it.
final class RequestLife: Sendable {
  private let ended = Atomic(false)

  var isOver: Bool { ended.load(ordering: .relaxed) }

  func end() { ended.store(true, ordering: .relaxed) }

  /// Throws if nobody waits any more. Long work calls this every now and then.
  func goOn() throws(CancellationError) {
    if isOver { throw CancellationError() }
  }
}
