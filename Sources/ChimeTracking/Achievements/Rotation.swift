/// Rotation measures how evenly the items of a collection are used.
public enum Rotation {
  /// Returns the evenness in percent, rounded down; nil if nothing was used.
  ///
  /// It is 100 if all items are used equally, as far as whole numbers permit; otherwise less by the percentage of
  /// entries that would have to move to another item.
  ///
  ///     Rotation.evenness(of: [4, 3, 4])    // 100
  ///     Rotation.evenness(of: [8, 1, 1])    // 60: 4 of 10 would have to go elsewhere
  ///
  /// - Parameter counts: the count of each item; include a 0 for each unused item that should matter.
  public static func evenness(of counts: some Sequence<Int>) -> Int? {
    let counts = counts.map { max($0, 0) }.sorted(by: >)
    let total = counts.reduce(0, +)
    guard total > 0 else { return nil }
    let (share, more) = total.quotientAndRemainder(dividingBy: counts.count)
    // The most frequent items keep the remainder.
    let moves = counts.enumerated().reduce(0) { sum, count in
      sum + max(0, count.element - share - (count.offset < more ? 1 : 0))
    }
    return (total - moves) * 100 / total
  }
}
