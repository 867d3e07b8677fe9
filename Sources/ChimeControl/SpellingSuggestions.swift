/// Suggests corrections for mistyped words, in the daemon and in the command alike.
package enum SpellingSuggestions {
  /// Returns up to three similar candidates, best first.
  ///
  ///     SpellingSuggestions.to("lsit", among: ["list", "edit"])   // ["list"]
  package static func to(_ word: String, among candidates: [String]) -> [String] {
    let word = word.lowercased()
    guard !word.isEmpty, word.utf8.count <= 64 else { return [] }
    let scored = candidates.compactMap { candidate -> (Int, String)? in
      let other = candidate.lowercased()
      let distance = distance(word, other)
      let allowance = max(1, min(word.count, other.count) / 3)
      if distance <= allowance { return (distance, candidate) }
      return word.count >= 2 && other.hasPrefix(word) ? (allowance + 1, candidate) : nil
    }
    return scored.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
      .prefix(3).map(\.element.1)
  }

  /// Returns the Damerau–Levenshtein distance in its optimal string alignment form: insertions, deletions,
  /// substitutions and swaps of neighbors each count once.
  package static func distance(_ left: String, _ right: String) -> Int {
    let a = Array(left)
    let b = Array(right)
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in 1...a.count {
      var row = [i] + [Int](repeating: 0, count: b.count)
      for j in 1...b.count {
        let substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        row[j] = min(row[j - 1] + 1, last[j] + 1, substitution)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { row[j] = min(row[j], beforeLast[j - 2] + 1) }
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }

  /// Returns `did you mean list or edit?`; `nil` if no candidate is similar.
  package static func question(_ word: String, among candidates: [String], prefix: String = "") -> String? {
    question(to(word, among: candidates).map { prefix + $0 })
  }

  /// Returns the question for a list of suggestions; `nil` if it is empty.
  package static func question(_ near: [String]) -> String? {
    guard let last = near.last else { return nil }
    let others = near.dropLast().joined(separator: ", ")
    return others.isEmpty ? "did you mean \(last)?" : "did you mean \(others) or \(last)?"
  }
}
