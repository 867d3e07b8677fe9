/// How evenly the items of a collection are used.
public enum Rotation {
  /// 100 when all items occur alike, as far as whole numbers let them; else less by the share of entries, in percent, that
  /// would have to go to another item until they do. Rounded down. Nil when there are none.
  ///
  ///     Rotation.evenness(of: [4, 3, 4])    // 100
  ///     Rotation.evenness(of: [8, 1, 1])    // 60: 4 of 10 would have to go elsewhere
  ///
  /// - Parameter counts: how often each item occurs, those with none left out or not, as they are to be judged.
  public static func evenness(of counts: some Sequence<Int>) -> Int? {
    let counts = counts.map { max($0, 0) }.sorted(by: >)
    let total = counts.reduce(0, +)
    guard total > 0 else { return nil }
    let (share, more) = total.quotientAndRemainder(dividingBy: counts.count)
    // The most frequent keep what does not divide.
    let moves = counts.enumerated().reduce(0) { sum, count in
      sum + max(0, count.element - share - (count.offset < more ? 1 : 0))
    }
    return (total - moves) * 100 / total
  }
}
