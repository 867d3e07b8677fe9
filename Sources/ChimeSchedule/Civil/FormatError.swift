/// A FormatError says why a duration or a time stamp was refused.
public struct FormatError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, Codable { case invalid, outOfRange }

  public let code: Code
  /// The refused text: its first 60 characters at most, with control characters escaped.
  public let text: String
  /// The column where the fault begins, in characters from 1; `nil` if the whole text is at fault.
  public let column: Int?
  public let expected: String
  /// A whole text that would be accepted.
  public let suggestion: String?
  /// The error as one sentence.
  public let message: String

  public var description: String { message }

  init(_ fault: Fault, in bytes: [UInt8]) {
    let source = String(decoding: bytes.prefix(1_024), as: UTF8.self)
    code = fault.code == .outOfRange ? .outOfRange : .invalid
    text = excerpt(source)
    column = ChimeSchedule.column(of: fault.range.lowerBound, in: bytes)
    expected = fault.expected
    var mended: String?
    if let repair = fault.repair, bytes.count <= 60 {
      mended =
        String(decoding: bytes[..<repair.range.lowerBound], as: UTF8.self) + repair.replacement
        + String(decoding: bytes[repair.range.upperBound...], as: UTF8.self)
    }
    suggestion = mended
    message = fault.sentence(text: text, column: column)
  }
}

extension Fault {
  /// Returns the fault as a sentence: `every 90n: "n" is no unit of time (column 9); did you mean 90m?`
  func sentence(text: String, column: Int?) -> String {
    var sentence = text.isEmpty ? problem : "\(text): \(problem)"
    if let column { sentence += " (column \(column))" }
    if !choices.isEmpty, !expected.isEmpty {
      sentence += "; did you mean \(expected)?"
    } else if let repair {
      sentence += "; did you mean \(excerpt(repair.shown, limit: 120))?"
    } else if !expected.isEmpty {
      sentence += "; expected \(expected)"
    }
    return sentence
  }
}
