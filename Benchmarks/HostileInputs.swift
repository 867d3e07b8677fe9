import FuzzTargets
import Glibc

/// Measures the longest parse time over the fuzzer's seeds and repetitions of their pieces up to 64 KiB.
func measureHostileInputs(_ bench: Bench) throws {
  for target in FuzzTarget.allCases where target.takesText {
    var worst: (time: Double, what: String) = (0, "")
    for (name, text) in hostileTexts(target) {
      // The best of three, to exclude other load.
      let time =
        (0..<3).map { _ in
          let begin = monotonicNanoseconds()
          target.parse(text)
          return Double(monotonicNanoseconds() - begin) / 1_000_000
        }.min() ?? 0
      if time > worst.time { worst = (time, name) }
    }
    bench.report("\(target.rawValue): slowest of 64 KiB", worst.time, "ms", beside: .limit(1))
    complain("\(target.rawValue) is slowest with \(worst.what)")
  }
}

/// Returns each piece of the target's vocabulary, repeated after each beginning up to 64 KiB.
private func hostileTexts(_ target: FuzzTarget) -> [(name: String, text: String)] {
  var texts: [(String, String)] = []
  for beginning in target.beginnings {
    for piece in target.pieces {
      let count = (65_536 - beginning.utf8.count) / max(1, piece.utf8.count)
      texts.append(
        (
          "\(beginning.debugDescription) + \(piece.debugDescription)",
          beginning + String(repeating: piece, count: count)
        ))
    }
  }
  return texts
}
