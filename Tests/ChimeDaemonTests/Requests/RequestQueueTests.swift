import Testing

@testable import ChimeDaemon

/// The order in which requests are answered.
@Suite struct RequestQueueTests {
  typealias Queue = RequestQueue<Int>

  /// Starts all requests that may start now.
  static func begin(_ queue: inout Queue) -> [Queue.Entry] {
    var begun: [Queue.Entry] = []
    while let entry = queue.next() { begun.append(entry) }
    return begun
  }

  @Test func ownersTakeTurns() {
    var queue = Queue()
    for request in 0..<1_000 { queue.add(request, owner: 1, weight: .light) }
    queue.add(-2, owner: 2, weight: .light)
    queue.add(-3, owner: 3, weight: .light)
    let begun = Self.begin(&queue)
    #expect(begun.prefix(4).map(\.owner) == [1, 2, 3, 1])
    #expect(begun.count == Queue.mostOfOwner + 2)
    // A later owner waits only for running requests, not for queued ones.
    queue.add(-4, owner: 4, weight: .light)
    #expect(queue.next()?.owner == 4)
  }

  /// Requests of one owner stay in order.
  @Test func requestsOfAnOwnerStayInOrder() {
    var queue = Queue()
    for request in 0..<100 { queue.add(request, owner: 1, weight: .light) }
    var order: [Int] = []
    while let entry = queue.next() {
      order.append(entry.request)
      queue.end(entry.number)
    }
    #expect(order == Array(0..<100))
    #expect(queue.runningCount == 0 && queue.waitingCount == 0)
  }

  @Test func slowRequestsAreBoundedPerOwner() {
    var queue = Queue()
    for request in 0..<10 { queue.add(request, owner: 1, weight: .heavy) }
    // A single owner gets the whole capacity.
    let alone = Self.begin(&queue)
    #expect(alone.count == Queue.mostHeavyAlone)
    // Beside others, heavy requests run one at a time; light ones do not wait for that.
    queue.add(100, owner: 2, weight: .light)
    queue.add(101, owner: 2, weight: .heavy)
    #expect(Self.begin(&queue).map(\.request) == [100])
    for entry in alone { queue.end(entry.number) }
    let turns = Self.begin(&queue)
    #expect(Set(turns.map(\.owner)) == [1, 2] && turns.count == 2)
    // A light request passes the owner's heavy ones.
    queue.add(102, owner: 1, weight: .light)
    #expect(queue.next()?.request == 102)
    // An owner without recent requests no longer counts.
    for _ in 0..<Queue.memory {
      queue.add(0, owner: 1, weight: .light)
      if let entry = queue.next() { queue.end(entry.number) }
    }
    #expect(Self.begin(&queue).contains { $0.weight == .heavy && $0.owner == 1 })
  }

  /// However many owners there are, the number of running requests is bounded.
  @Test func runningRequestsAreBoundedOverAllOwners() {
    var queue = Queue()
    for owner in 0..<100 as Range<UInt32> {
      for request in 0..<20 {
        queue.add(request, owner: owner, weight: .light)
        queue.add(request, owner: owner, weight: .heavy)
      }
    }
    let begun = Self.begin(&queue)
    #expect(begun.count <= Queue.most + 100)
    #expect(begun.count { $0.weight == .heavy } <= Queue.mostHeavy)
    // Each has at least one.
    #expect(Set(begun.map(\.owner)).count == 100)
  }

  /// Requests that hang or write for minutes delay only their owner.
  @Test func hangingRequestsDelayOnlyTheirOwner() {
    var queue = Queue()
    for owner in 1...8 as ClosedRange<UInt32> {
      for request in 0..<20 { queue.add(request, owner: owner, weight: .light) }
      for request in 0..<3 { queue.add(request, owner: owner, weight: .long) }
    }
    let begun = Self.begin(&queue)
    #expect(begun.count { $0.weight == .long } == 8)
    queue.add(-1, owner: 9, weight: .light)
    queue.add(-2, owner: 9, weight: .heavy)
    queue.add(-3, owner: 9, weight: .long)
    #expect(Set(Self.begin(&queue).map(\.request)) == [-1, -2, -3])
  }

  @Test func requestsOfDisconnectedClientsAreRemoved() {
    var queue = Queue()
    for request in 0..<50 { queue.add(request, owner: 1, weight: .heavy) }
    queue.add(99, owner: 2, weight: .heavy)
    let first = queue.next()
    queue.remove { $0 < 50 }
    #expect(queue.waitingCount == 1)
    #expect(queue.next()?.request == 99)
    #expect(queue.next().map(\.number) == nil)
    // A request ends once, however often that is reported.
    for _ in 0..<3 { if let first { queue.end(first.number) } }
    #expect(queue.runningCount == 1)
  }
}

extension RequestQueue {
  var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }
  var runningCount: Int { running.count }
}
