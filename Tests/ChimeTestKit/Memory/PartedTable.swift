/// A dictionary in parts. A copy shares the parts that neither side changes.
///
/// The simulator keeps the store's contents before each of many small changes, and copying a whole dictionary each time
/// would be slow.
struct PartedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable, Sequence, ExpressibleByDictionaryLiteral {
  private static var width: Int { 128 }

  private var parts: [[Key: Value]] = Array(repeating: [:], count: width)

  init(dictionaryLiteral elements: (Key, Value)...) {
    for (key, value) in elements { self[key] = value }
  }

  var isEmpty: Bool { parts.allSatisfy(\.isEmpty) }
  var count: Int { parts.reduce(0) { $0 + $1.count } }
  var keys: some Sequence<Key> { parts.lazy.flatMap(\.keys) }
  var values: some Sequence<Value> { parts.lazy.flatMap(\.values) }

  subscript(key: Key) -> Value? {
    get { parts[part(key)][key] }
    _modify { yield &parts[part(key)][key] }
  }

  subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
    get { parts[part(key)][key] ?? value() }
    _modify { yield &parts[part(key)][key, default: value()] }
  }

  @discardableResult
  mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
    parts[part(key)].updateValue(value, forKey: key)
  }

  @discardableResult
  mutating func removeValue(forKey key: Key) -> Value? { parts[part(key)].removeValue(forKey: key) }

  func makeIterator() -> some IteratorProtocol<(key: Key, value: Value)> { parts.lazy.joined().makeIterator() }

  private func part(_ key: Key) -> Int { key.hashValue & (Self.width - 1) }
}
