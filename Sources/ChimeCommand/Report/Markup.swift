/// A piece of well-formed HTML: names are literals, and every text and attribute value is escaped.
///
///     tag("p", ["title": note]) { text(note) }
///
/// Source: HTML Living Standard, 13.1 (syntax) and 13.3 (escaping).
struct Markup: Sendable {
  private(set) var html: String

  static let nothing = Markup(html: "")

  /// Wraps HTML from the program's source; never from input.
  static func own(_ html: StaticString) -> Markup { Markup(html: html.description) }

  /// Escapes text.
  static func text(_ text: String) -> Markup { Markup(html: escaped(text)) }

  /// Concatenates pieces.
  static func all(_ pieces: [Markup]) -> Markup { Markup(html: pieces.map(\.html).joined()) }

  /// Returns an element. An attribute with nil is left out; an empty one stands without a value.
  static func element(
    _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>, content: Markup
  ) -> Markup {
    var html = "<\(name)"
    for (key, value) in attributes {
      guard let value else { continue }
      html += value.isEmpty ? " \(key)" : " \(key)=\"\(escaped(value))\""
    }
    let isVoid = voids.contains(name.description)
    return Markup(html: isVoid ? html + ">" : html + ">\(content.html)</\(name)>")
  }

  private static let voids: Set<String> = ["meta", "img", "br", "hr", "link"]

  /// Escapes text and drops characters that HTML forbids.
  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x26: result.append(contentsOf: "&amp;".unicodeScalars)
      case 0x3C: result.append(contentsOf: "&lt;".unicodeScalars)
      case 0x3E: result.append(contentsOf: "&gt;".unicodeScalars)
      case 0x22: result.append(contentsOf: "&quot;".unicodeScalars)
      case 0x27: result.append(contentsOf: "&#39;".unicodeScalars)
      case 0x09, 0x0A: result.append(scalar)
      case 0..<0x20, 0x7F..<0xA0, 0xFDD0...0xFDEF: continue
      default: if scalar.value & 0xFFFE != 0xFFFE { result.append(scalar) }
      }
    }
    return String(result)
  }
}

@resultBuilder
enum MarkupBuilder {
  static func buildBlock(_ pieces: Markup...) -> Markup { .all(pieces) }
  static func buildOptional(_ piece: Markup?) -> Markup { piece ?? .nothing }
  static func buildEither(first piece: Markup) -> Markup { piece }
  static func buildEither(second piece: Markup) -> Markup { piece }
  static func buildArray(_ pieces: [Markup]) -> Markup { .all(pieces) }
  static func buildExpression(_ piece: Markup) -> Markup { piece }
  /// Treats a string as text.
  static func buildExpression(_ string: String) -> Markup { .text(string) }
}

/// Returns an element with its content.
func tag(
  _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?> = [:],
  @MarkupBuilder _ content: () -> Markup = { .nothing }
) -> Markup {
  .element(name, attributes, content: content())
}

/// Formats a coordinate for SVG: a decimal point in every locale, and two decimals, finer than any screen.
func coordinate(_ value: Double) -> String {
  guard value.isFinite else { return "0" }
  let hundredths = Int((min(max(value, -1e6), 1e6) * 100).rounded())
  let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
  let sign = hundredths < 0 ? "-" : ""
  if rest == 0 { return "\(sign)\(whole)" }
  return rest % 10 == 0 ? "\(sign)\(whole).\(rest / 10)" : "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
}
