/// Why a whole text cannot be taken: it is not of the format, or beyond a limit.
///
/// What concerns one event or one job alone is no error; it is reported beside the rest (``ImportRemark``).
public struct ExchangeError: Error, Hashable, Sendable {
  /// Where, counted from 1; `nil` when it is no one place.
  public let line: Int?
  /// A sentence without a full stop that names what was expected.
  public let message: String

  init(line: Int?, _ message: String) {
    self.line = line
    self.message = message
  }
}

extension ExchangeError: CustomStringConvertible {
  /// `line 7: END:VEVENT was expected`.
  public var description: String { line.map { "line \($0): \(message)" } ?? message }
}
