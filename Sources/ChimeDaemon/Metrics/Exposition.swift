/// Writes Prometheus' text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats, "Text-based format").
///
///     var text = Exposition()
///     text.family("chime_fired_total", .counter, "Times that have fired.") { $0.add(3, ["timing": "late"]) }
struct Exposition {
  enum Kind: String { case counter, gauge, histogram }

  private(set) var text = ""

  /// The samples of one family.
  struct Samples {
    fileprivate let name: String
    fileprivate var lines = ""

    /// Adds a sample. `suffix` names the part of a histogram.
    mutating func add(_ value: Double, _ labels: KeyValuePairs<String, String> = [:], suffix: String = "") {
      lines += name + suffix
      if !labels.isEmpty {
        lines += "{" + labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
      }
      lines += " \(Exposition.number(value))\n"
    }

    mutating func add(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) { add(Double(value), labels) }

    private static func escaped(_ text: String) -> String {
      var result = ""
      for character in text.unicodeScalars {
        switch character {
        case "\\": result += "\\\\"
        case "\"": result += "\\\""
        case "\n": result += "\\n"
        default: result.unicodeScalars.append(character)
        }
      }
      return result
    }
  }

  /// Adds a family unless it has no samples.
  ///
  /// - Parameter help: a sentence without backslashes and line breaks.
  mutating func family(_ name: String, _ kind: Kind, _ help: String, _ body: (inout Samples) -> Void) {
    var samples = Samples(name: name)
    body(&samples)
    guard !samples.lines.isEmpty else { return }
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n" + samples.lines
  }

  /// Formats a number so that Go parses it.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : "\(value)"
  }
}
