/// A Redaction removes secrets from a receiver's answer. An answer may echo the request, and it is stored and shown.
///
/// It removes the endpoint's token in plain form, with JSON, HTML, URL or C escapes, reversed, in hexadecimal and in
/// Base64. It also removes any text that looks like a signing secret or an action token. It covers what receivers do to
/// texts; it cannot stop a receiver that hides a token on purpose.
///
///     Redaction(token: "tk_1").clean("no such key: tk_1")   // no such key: <redacted>
package struct Redaction: Sendable {
  package static let mark = "<redacted>"

  private struct Pattern: Hashable, Sendable {
    var bytes: [UInt8]
    /// Minimum bytes of the pattern that count as a match at the end of truncated text.
    var least = 4
    /// Whether adjoining characters belong to the match, as in Base64.
    var spreads = false
  }

  private let patterns: [Pattern]
  /// Bytes that can begin a match. Most positions are skipped by this test.
  private let beginnings: Set<UInt8>

  /// Prefixes of all secrets and action tokens.
  private static let prefixes = (Secret.Kind.allCases.map(\.prefix) + [ActionToken.prefix]).map { Array($0.utf8) }

  /// Minimum token length for encoded patterns. Those of shorter tokens would match unrelated text.
  private static let leastRecoded = 8

  /// - Parameter token: The token that was sent; nil for none.
  package init(token: String? = nil) { self.init(tokens: [token].compactMap { $0 }) }

  /// - Parameter tokens: All tokens that were sent.
  init(tokens: [String]) {
    var all: Set<Pattern> = []
    for bytes in tokens.map({ Array($0.utf8) }) where !bytes.isEmpty {
      all.insert(Pattern(bytes: bytes, least: 1))
      guard bytes.count >= Self.leastRecoded else { continue }
      all.insert(Pattern(bytes: bytes.reversed()))
      for form in Self.hexadecimal(bytes) { all.insert(Pattern(bytes: form)) }
      for form in Self.base64(bytes) { all.insert(Pattern(bytes: form, spreads: true)) }
    }
    guard !all.isEmpty else {
      (patterns, beginnings) = ([], [])
      return
    }
    patterns = all.sorted { $0.bytes.count > $1.bytes.count }
    // An escape may stand for any byte of a pattern.
    beginnings = Set(patterns.map { $0.bytes[0] }).union("\\%&".utf8)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> [[UInt8]] {
    ["0123456789abcdef", "0123456789ABCDEF"].map { digits in
      let digits = Array(digits.utf8)
      return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
  }

  /// Returns the Base64 forms in both alphabets, for each offset within a group of three bytes. Characters that also
  /// encode neighboring bytes are left out.
  private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
    (0..<3).flatMap { before -> [[UInt8]] in
      let text = Array(Base64.encode(([UInt8](repeating: 0, count: before) + bytes)[...]).utf8)
      let whole = (before + bytes.count) * 8 / 6
      let core = Array(text[..<whole].dropFirst((before * 8 + 5) / 6))
      let other = core.map {
        $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
      }
      return [core, other]
    }
  }

  /// Replaces every secret by the mark, and removes control characters, as each record of an answer does: a token with
  /// some of them inside would come together there.
  ///
  /// - Parameter isWhole: Whether the text is complete. In truncated text, a token at the end may be cut.
  package func clean(_ bytes: [UInt8], isWhole: Bool = true) -> [UInt8] {
    let bytes = Array(PlainText.withoutControls(String(decoding: bytes, as: UTF8.self), lines: true).utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var place = 0
    while place < bytes.count {
      if let found = secret(in: bytes[place...], isWhole: isWhole) {
        var length = found.length
        if found.spreads {
          // Up to three preceding Base64 characters also encode bits of the token.
          for _ in 0..<3 { if let last = result.last, Self.isOfBase64(last) { result.removeLast() } }
          length += bytes[(place + length)...].prefix(while: Self.isOfBase64).count
        }
        result += Self.mark.utf8
        place += length
      } else {
        result.append(bytes[place])
        place += 1
      }
    }
    return result
  }

  package func clean(_ text: String) -> String { String(decoding: clean(Array(text.utf8)), as: UTF8.self) }

  /// Returns the length of a secret at the start of the text; nil for none.
  private func secret(in rest: ArraySlice<UInt8>, isWhole: Bool) -> (length: Int, spreads: Bool)? {
    if let first = rest.first, beginnings.contains(first) {
      for pattern in patterns {
        if let length = Self.length(of: pattern, in: rest, isWhole: isWhole) { return (length, pattern.spreads) }
      }
    }
    for prefix in Self.prefixes where rest.starts(with: prefix) {
      let length = rest.dropFirst(prefix.count).prefix(while: Self.isOfSecret).count
      if length > 0 { return (prefix.count + length, false) }
    }
    return nil
  }

  /// Returns the length of a pattern at the start of the text; nil if it is not there. Each byte may be plain or
  /// escaped.
  ///
  /// A character may be the byte itself or begin an escape of it, so the search tracks several positions at once.
  private static func length(of pattern: Pattern, in rest: ArraySlice<UInt8>, isWhole: Bool) -> Int? {
    let bytes = pattern.bytes
    var (index, place) = (0, rest.startIndex)
    // Fast path: the pattern is nearly always plain or absent.
    while index < bytes.count, place < rest.endIndex, rest[place] == bytes[index], !Escape.begins(with: rest[place]) {
      (index, place) = (index + 1, place + 1)
    }
    if !isWhole, place == rest.endIndex, index >= pattern.least { return rest.count }
    var places = [place]
    while index < bytes.count {
      var next: [Int] = []
      for place in places where place < rest.endIndex {
        if rest[place] == bytes[index] { next.append(place + 1) }
        guard Escape.begins(with: rest[place]) else { continue }
        next += Escape.lengths(of: bytes[index], in: rest[place...]).map { place + $0 }
        // A truncated escape may stand for this byte.
        if !isWhole, index >= pattern.least, Escape.isCut(rest[place...]) { return rest.count }
      }
      guard !next.isEmpty else { return nil }
      index += 1
      if !isWhole, index >= pattern.least, next.contains(rest.endIndex) { return rest.count }
      places = next.count < 2 ? next : Array(Set(next))
    }
    return places.max().map { $0 - rest.startIndex }
  }

  /// Matches Base64 and its JSON and URL escapes.
  private static func isOfSecret(_ byte: UInt8) -> Bool { isUnreserved(byte) || "+/=%\\".utf8.contains(byte) }

  private static func isOfBase64(_ byte: UInt8) -> Bool {
    isUnreserved(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "~") || "+/=".utf8.contains(byte)
  }

  /// Matches unreserved URL characters (RFC 3986, section 2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }
}

/// Escapes of a single byte: `\"` `\u0022` `\x22` `\42` `%22` `&quot;` `&#34;` `&#x22;`.
private enum Escape {
  private static let names: [(name: [UInt8], byte: UInt8)] = [
    ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
  ].map { (Array($0.0.utf8), UInt8(ascii: $0.1 as Unicode.Scalar)) }

  /// Length of the longest escape in bytes.
  private static let longest = 10

  static func begins(with byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "&")
  }

  /// Returns the lengths of all escapes of the byte at the start of the text.
  static func lengths(of byte: UInt8, in rest: ArraySlice<UInt8>) -> [Int] {
    let start = rest.startIndex
    func number(_ from: Int, _ digits: ClosedRange<Int>, _ radix: UInt32) -> (value: UInt32, end: Int)? {
      var (value, place): (UInt32, Int) = (0, from)
      while place < rest.endIndex, place - from < digits.upperBound, let digit = Self.digit(rest[place]), digit < radix
      {
        (value, place) = (value * radix + digit, place + 1)
      }
      return place - from >= digits.lowerBound ? (value, place) : nil
    }
    func second(_ sign: StaticString) -> Bool {
      rest.dropFirst().starts(with: UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount))
    }
    var lengths: [Int] = []
    func take(_ number: (value: UInt32, end: Int)?, ending: UInt8? = nil) {
      guard let number, number.value == UInt32(byte) else { return }
      guard let ending else { return lengths.append(number.end - start) }
      if number.end < rest.endIndex, rest[number.end] == ending { lengths.append(number.end + 1 - start) }
    }
    switch rest.first {
    case UInt8(ascii: "%"): take(number(start + 1, 2...2, 16))
    case UInt8(ascii: "\\"):
      if rest.count > 1, rest[start + 1] == byte { lengths.append(2) }
      if second("u") || second("U") { take(number(start + 2, 4...8, 16)) }
      if second("x") { take(number(start + 2, 2...2, 16)) }
      take(number(start + 1, 2...3, 8))
    case UInt8(ascii: "&"):
      for (name, meant) in names where meant == byte && rest.starts(with: name) { lengths.append(name.count) }
      if second("#x") || second("#X") {
        take(number(start + 3, 1...6, 16), ending: UInt8(ascii: ";"))
      } else if second("#") {
        take(number(start + 2, 1...7, 10), ending: UInt8(ascii: ";"))
      }
    default: break
    }
    return lengths
  }

  /// Returns whether the text may be an escape that is cut off at its end.
  static func isCut(_ rest: ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first, begins(with: first), rest.count < longest else { return false }
    return rest.dropFirst().allSatisfy { digit($0) != nil || "#xXuU".utf8.contains($0) || (97...122).contains($0) }
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte) - 87
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte) - 55
    default: nil
    }
  }
}
