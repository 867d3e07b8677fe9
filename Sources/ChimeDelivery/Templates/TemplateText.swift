/// A TemplateText is a string with placeholders, `{{name}}` or `{{name|filter|filter:argument}}`.
///
/// A placeholder's value is never searched for placeholders.
struct TemplateText: Hashable, Sendable {
  private enum Piece: Hashable, Sendable {
    case literal(String)
    case placeholder(Placeholder, [TemplateFilter])
  }

  private var pieces: [Piece] = []

  /// Maximum filters per placeholder. Some filters lengthen the text, and a long chain would do so without limit.
  private static let mostFilters = 8

  /// - Throws: `DeliveryError` for an unknown or unclosed placeholder.
  init(_ text: String) throws(DeliveryError) {
    var rest = text[...]
    while let opening = rest.firstRange(of: "{{") {
      if opening.lowerBound > rest.startIndex { pieces.append(.literal(String(rest[..<opening.lowerBound]))) }
      let inside = rest[opening.upperBound...]
      guard let closing = inside.firstRange(of: "}}") else {
        throw DeliveryError("\"\(PlainText.sentence(String(rest[opening.lowerBound...].prefix(60))))\" lacks its }}")
      }
      pieces.append(try Self.placeholder(inside[..<closing.lowerBound]))
      rest = inside[closing.upperBound...]
    }
    if !rest.isEmpty { pieces.append(.literal(String(rest))) }
  }

  private static func placeholder(_ text: Substring) throws(DeliveryError) -> Piece {
    var parts = text.split(separator: "|", omittingEmptySubsequences: false)[...]
    let name = String(parts.popFirst() ?? "")
    let bare = name.filter { !$0.isWhitespace }
    guard let placeholder = Placeholder(named: bare) else {
      let known = Placeholder.allCases.map(\.description).joined(separator: ", ")
      throw DeliveryError("{{\(PlainText.sentence(name))}} is not a placeholder; there are: \(known)")
    }
    try need(parts.count <= mostFilters, "{{\(name)|…}} has \(parts.count) filters; at most \(mostFilters) are allowed")
    var filters: [TemplateFilter] = []
    for part in parts { filters.append(try TemplateFilter(part)) }
    return .placeholder(placeholder, filters)
  }

  /// The placeholder, if the text is a single one without filters.
  var whole: Placeholder? {
    guard pieces.count == 1, case .placeholder(let placeholder, let filters) = pieces[0], filters.isEmpty else {
      return nil
    }
    return placeholder
  }

  var isLiteral: Bool { placeholders.isEmpty }

  var placeholders: [Placeholder] {
    pieces.compactMap { if case .placeholder(let placeholder, _) = $0 { placeholder } else { nil } }
  }

  /// The literal parts, concatenated.
  var literal: String {
    pieces.map { if case .literal(let text) = $0 { text } else { "" } }.joined()
  }

  /// Returns an upper bound of the rendered text in bytes, before any encoding, without rendering it.
  ///
  /// - Parameter first: See `render`.
  func bound(_ values: TemplateValues, first: TemplateFilter? = nil) -> Int {
    var sum = 0
    for piece in pieces {
      switch piece {
      case .literal(let text): sum += text.utf8.count
      case .placeholder(let placeholder, let filters):
        // The input of each filter counts as well, because it must be built even if a later filter cuts it.
        var size = values[placeholder].bound
        var largest = size
        for filter in Self.filters(filters, after: first) {
          size = filter.bound(size)
          largest = max(largest, size)
        }
        sum += largest
      }
    }
    return sum
  }

  private static func filters(_ filters: [TemplateFilter], after first: TemplateFilter?) -> [TemplateFilter] {
    guard let first, !filters.contains(first) else { return filters }
    return [first] + filters
  }

  /// - Parameters:
  ///   - first: A filter applied to every placeholder before its own filters, unless it is among them.
  ///   - encoding: Applied to the values of placeholders after their filters.
  func render(
    _ values: TemplateValues, first: TemplateFilter? = nil, encoding: (String) -> String = { $0 }
  ) -> String {
    var result = ""
    for piece in pieces {
      switch piece {
      case .literal(let text): result += text
      case .placeholder(let placeholder, let filters):
        // Filters work on whole characters, so none cuts a character or the escape that an earlier filter made of it.
        var atoms = values[placeholder].text.map { String($0) }
        for filter in Self.filters(filters, after: first) { filter.apply(to: &atoms) }
        result += encoding(atoms.joined())
      }
    }
    return result
  }
}

/// A TemplateFilter transforms a placeholder's text. Filters apply from left to right: `|slack|max:100` counts the
/// escaped text and cuts no escape.
enum TemplateFilter: Hashable, Sendable {
  /// Replaces line ends and tabs by spaces and removes other control characters.
  case line
  /// Escapes `&`, `<` and `>` for Slack's mrkdwn.
  case slack
  /// Escapes HTML text and attributes; line ends become `<br>`.
  case html
  /// Puts a backslash before Markdown markup.
  case markdown
  /// Encodes every byte except letters, digits and `- . _ ~` as `%XX` (RFC 3986, section 2.1).
  case percent
  /// Limits the length in UTF-16 code units, as most receivers count; `…` replaces the rest.
  case max(Int)
  /// Limits the length in bytes of UTF-8; `…` replaces the rest.
  case bytes(Int)
  /// Text before or after a non-empty value, or in place of an empty one.
  case prefix(String), suffix(String), standIn(String)

  static let known = "line, slack, html, markdown, percent, max:N, bytes:N, prefix:TEXT, suffix:TEXT, default:TEXT"

  init(_ text: Substring) throws(DeliveryError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts[0].filter { !$0.isWhitespace }
    let argument = parts.count > 1 ? String(parts[1]) : nil
    func count() throws(DeliveryError) -> Int {
      guard let number = argument.flatMap({ Int($0) }), (1...65_536).contains(number) else {
        throw DeliveryError("the filter \(name) needs a number from 1 to 65536, as in {{title|\(name):100}}")
      }
      return number
    }
    func words() throws(DeliveryError) -> String {
      guard let argument else { throw DeliveryError("the filter \(name) needs a text, as in {{body|\(name): - }}") }
      return argument
    }
    switch (name, argument) {
    case ("line", nil): self = .line
    case ("slack", nil): self = .slack
    case ("html", nil): self = .html
    case ("markdown", nil): self = .markdown
    case ("percent", nil): self = .percent
    case ("max", _): self = .max(try count())
    case ("bytes", _): self = .bytes(try count())
    case ("prefix", _): self = .prefix(try words())
    case ("suffix", _): self = .suffix(try words())
    case ("default", _): self = .standIn(try words())
    default:
      throw DeliveryError("\"\(PlainText.sentence(String(text)))\" is not a filter; there are: \(Self.known)")
    }
  }

  /// Returns an upper bound of the output for an input of `size` bytes.
  func bound(_ size: Int) -> Int {
    switch self {
    // A line separator of three bytes becomes one space.
    case .line: size
    case .slack: size * 5
    case .html: size * 6
    case .markdown: size * 2
    case .percent: size * 3
    // A UTF-16 unit takes at most three bytes of UTF-8.
    case .max(let limit): Swift.min(size, limit * 3)
    case .bytes(let limit): Swift.min(size, limit)
    case .prefix(let text), .suffix(let text): size + text.utf8.count
    case .standIn(let text): Swift.max(size, text.utf8.count)
    }
  }

  func apply(to atoms: inout [String]) {
    switch self {
    case .line: atoms = PlainText.withoutControls(atoms.joined(), lines: false).map { String($0) }
    case .slack: atoms = atoms.map { Self.escape($0, Self.slackEntities) }
    case .html: atoms = atoms.map { Self.escape($0, Self.htmlEntities) }
    case .markdown: atoms = atoms.map { Self.escape($0, Self.markdownMarks) }
    case .percent: atoms = atoms.map { Self.percentEncoded($0) }
    case .max(let limit): Self.cut(&atoms, to: limit) { $0.utf16.count }
    case .bytes(let limit): Self.cut(&atoms, to: limit) { $0.utf8.count }
    case .prefix(let text): if !atoms.isEmpty { atoms.insert(text, at: 0) }
    case .suffix(let text): if !atoms.isEmpty { atoms.append(text) }
    case .standIn(let text): if atoms.isEmpty { atoms = text.map { String($0) } }
    }
  }

  private static let slackEntities: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;"]
  private static let htmlEntities: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;", "\n": "<br>", "\r": "",
  ]
  private static let markdownMarks = Dictionary(
    uniqueKeysWithValues: "\\`*_~|>#-+[]()<@:".unicodeScalars.map { ($0, "\\\($0)") })

  /// Escapes by scalar, because receivers recognize `<` even before a combining mark.
  private static func escape(_ atom: String, _ entities: [Unicode.Scalar: String]) -> String {
    guard atom.unicodeScalars.contains(where: { entities[$0] != nil }) else { return atom }
    return atom.unicodeScalars.map { entities[$0] ?? String($0) }.joined()
  }

  static func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return result
  }

  private static func cut(_ atoms: inout [String], to limit: Int, by length: (String) -> Int) {
    guard atoms.reduce(0, { $0 + length($1) }) > limit else { return }
    let mark = "…"
    var room = limit - length(mark)
    let kept = atoms.prefix { atom in
      room -= length(atom)
      return room >= 0
    }
    atoms = kept + (length(mark) <= limit ? [mark] : [])
  }
}
