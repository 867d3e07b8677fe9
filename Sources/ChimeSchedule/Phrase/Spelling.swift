/// Spelling finds the word that was meant.
enum Spelling {
  /// Returns the most similar of some words. It allows one change for words of up to six letters, else two; exchanging two
  /// neighbors is one change (as two, `night` would match `ninth`). Ties go to the same first letter, then to the alphabet.
  static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let word = Array(word.lowercased().utf8)
    guard (2...20).contains(word.count) else { return nil }
    let bits = letters(of: word)
    var best: (rank: Int, word: String)?
    for candidate in words {
      let length = candidate.utf8.count
      let allowed = min(word.count, length) <= 6 ? 1 : 2
      // A change replaces one letter, so it affects two bits.
      guard length >= 2, abs(length - word.count) <= allowed,
        (letters(of: candidate.utf8) ^ bits).nonzeroBitCount <= 2 * allowed
      else { continue }
      let letters = Array(candidate.utf8)
      let distance = distance(word, letters)
      guard distance <= allowed else { continue }
      let rank = distance * 2 + (letters[0] == word[0] ? 0 : 1)
      if let best, (best.rank, best.word) < (rank, candidate) { continue }
      best = (rank, candidate)
    }
    return best?.word
  }

  /// Returns the unit for a wrong word after a number: the most similar name, or for one letter the unit whose key is
  /// beside it on a keyboard.
  static func unit(for word: String) -> String? {
    let word = word.lowercased()
    switch word {
    case "n", "k", "j": return "m"
    case "g", "b", "y", "u": return "h"
    case "a", "x", "z": return "s"
    case "e", "f", "c", "r", "t": return "d"
    case "q": return "w"
    default:
      return nearest(to: word, among: Keyword.units.keys.filter { $0.utf8.count >= 3 })
    }
  }

  /// Returns the set of letters of a word as bits. Words with few common letters are not similar.
  static func letters(of word: some Sequence<UInt8>) -> UInt32 { word.reduce(0) { $0 | 1 << UInt32($1 & 0x1F) } }

  /// Returns the optimal string alignment distance: changes, insertions, deletions and exchanges of neighbors.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforePrevious = [Int](repeating: 0, count: right.count + 1)
    var previous = Array(0...right.count)
    for row in 1...left.count {
      var current = [row]
      for column in 1...right.count {
        let isSame = left[row - 1] == right[column - 1]
        var cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          cost = min(cost, beforePrevious[column - 2] + 1)
        }
        current.append(cost)
      }
      (beforePrevious, previous) = (previous, current)
    }
    return previous[right.count]
  }
}
