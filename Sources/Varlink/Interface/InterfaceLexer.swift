/// An InterfaceLexer splits an interface definition into tokens and keeps comments as documentation.
struct InterfaceLexer {
  enum Token: Hashable {
    /// A keyword, a name or an interface name.
    case word(String)
    /// One of `(` `)` `:` `,` `?` `->` `[]` `[string]`.
    case sign(String)
    case end

    /// The token as quoted in error messages.
    var text: String {
      switch self {
      case .word(let text), .sign(let text): "'\(text)'"
      case .end: "the end of the text"
      }
    }
  }

  private let scalars: [UnicodeScalar]
  private var index = 0
  private var line = 1
  private var column = 1

  /// The current token.
  private(set) var token = Token.end
  /// The position where it begins.
  private(set) var tokenLine = 1
  private(set) var tokenColumn = 1
  /// The comment lines directly above it.
  private(set) var documentation = ""
  /// Whether it is the first token of its line.
  private(set) var beginsLine = true

  init(_ text: String) throws(InterfaceError) {
    scalars = Array(text.unicodeScalars)
    try advance()
  }

  func fault(_ message: String) -> InterfaceError {
    InterfaceError(line: tokenLine, column: tokenColumn, message: message)
  }

  func expected(_ what: String) -> InterfaceError { fault("expected \(what), found \(token.text)") }

  /// Advances to the next token.
  mutating func advance() throws(InterfaceError) {
    beginsLine = index == 0
    skipSpaceAndComments()
    (tokenLine, tokenColumn) = (line, column)
    guard let scalar = peek() else {
      token = .end
      return
    }
    switch scalar {
    case "(", ")", ":", ",", "?":
      take()
      token = .sign(String(Character(scalar)))
    case "-" where peek(1) == ">":
      take(2)
      token = .sign("->")
    case "[":
      token = try bracket()
    case _ where Self.isWordScalar(scalar):
      var word = ""
      while let next = peek(), Self.isWordScalar(next), !(next == "-" && peek(1) == ">") {
        word.unicodeScalars.append(next)
        take()
      }
      token = .word(word)
    default:
      throw fault("'\(Character(scalar))' does not belong in an interface definition")
    }
  }

  private mutating func bracket() throws(InterfaceError) -> Token {
    for sign in ["[]", "[string]"] where scalars[index...].starts(with: sign.unicodeScalars) {
      take(sign.unicodeScalars.count)
      return .sign(sign)
    }
    throw fault("expected '[]' or '[string]'")
  }

  /// Skips white space and comments. Comment lines document the token directly below them; an empty line separates
  /// them.
  private mutating func skipSpaceAndComments() {
    var lines: [String] = []
    var isLineEmpty = beginsLine
    while let scalar = peek() {
      if scalar == "#" {
        let ownLine = isLineEmpty
        var text = ""
        while let next = peek(), !Self.isLineEnd(next) {
          text.unicodeScalars.append(next)
          take()
        }
        if ownLine { lines.append(Self.comment(text)) }
        isLineEmpty = false
      } else if Self.isLineEnd(scalar) {
        let isPair = scalar == "\r" && peek(1) == "\n"
        if isLineEmpty { lines = [] }
        isLineEmpty = true
        beginsLine = true
        index += isPair ? 2 : 1
        line += 1
        column = 1
      } else if scalar == " " || scalar == "\t" || scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
        take()
      } else {
        break
      }
    }
    documentation = lines.joined(separator: "\n")
  }

  /// Returns a comment's text without `#` and one following space.
  private static func comment(_ text: String) -> String {
    let text = text.dropFirst()
    return String(text.first == " " ? text.dropFirst() : text)
  }

  private func peek(_ offset: Int = 0) -> UnicodeScalar? {
    index + offset < scalars.count ? scalars[index + offset] : nil
  }

  private mutating func take(_ count: Int = 1) {
    index += count
    column += count
  }

  private static func isWordScalar(_ scalar: UnicodeScalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "-": true
    default: false
    }
  }

  private static func isLineEnd(_ scalar: UnicodeScalar) -> Bool {
    scalar == "\n" || scalar == "\r" || scalar == "\u{2028}" || scalar == "\u{2029}"
  }
}
