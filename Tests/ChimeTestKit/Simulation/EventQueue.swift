/// A queue of timed events, earliest first, and in insertion order within one millisecond. It is a binary heap.
struct EventQueue {
  private var heap: [Entry] = []
  private var count: UInt64 = 0

  private struct Entry {
    var at: Int64
    var number: UInt64
    var body: () -> Void

    func precedes(_ other: Entry) -> Bool { (at, number) < (other.at, other.number) }
  }

  var first: Int64? { heap.first?.at }

  mutating func put(_ at: Int64, _ body: @escaping () -> Void) {
    count += 1
    heap.append(Entry(at: at, number: count, body: body))
    var child = heap.count - 1
    while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func take() -> (() -> Void)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.body }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      if least == parent { return first.body }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
