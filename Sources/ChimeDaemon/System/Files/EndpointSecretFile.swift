package import ChimeDelivery
import ChimeSchedule

/// What is kept for one endpoint that nobody else may read: the secrets that sign, and a token.
///
/// As a text it has a line for each; empty lines and lines that begin with `#` are passed over:
///
///     whsec_…
///     whsk_…
///     whsec_… until 2026-03-30T08:30:00Z
///     token tk_…
///
/// A second token in that line is the one that messages are taken back with.
package struct EndpointSecretFile: Sendable {
  package struct Line: Sendable {
    package let text: String
    package var signing: SigningSecret

    init(_ text: String, until: Instant? = nil) throws(SecretError) {
      self.text = text.trimmed
      signing = SigningSecret(try Secret(text), until: until)
    }
  }

  /// The newest first.
  package var secrets: [Line] = []
  package var token: Token?

  init() {}

  /// - Throws: `EndpointSecretFileError`, which repeats nothing of the text.
  package init(parsing text: String) throws(EndpointSecretFileError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      do {
        switch (words.count, first) {
        case (2...3, "token"): token = try Token(words.dropFirst().joined(separator: "\n"))
        case (1, _): secrets.append(try Line(first))
        case (3, _) where words[1] == "until":
          guard let until = try? RFC3339.parse(words[2]) else {
            throw EndpointSecretFileError(
              "line \(index + 1): until needs a time, such as 2026-12-01T09:00:00Z")
          }
          secrets.append(try Line(first, until: until))
        default:
          throw EndpointSecretFileError("line \(index + 1) must be a secret, or SECRET until TIME, or token TEXT")
        }
      } catch let error as EndpointSecretFileError {
        throw error
      } catch {
        throw EndpointSecretFileError("line \(index + 1): \(error)")
      }
    }
  }

  package var text: String {
    var lines = secrets.map { line in
      line.text + (line.signing.until.map { " until \(RFC3339.format($0, in: .utc))" } ?? "")
    }
    if let token { lines.append("token \(token.stored)") }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The secrets that have not been replaced.
  var current: [Line] { secrets.filter { $0.signing.until == nil } }

  /// When the last of those that have been replaced stops signing.
  var rotationEnds: Instant? { secrets.compactMap(\.signing.until).max() }

  /// Forgets the secrets whose time is over. Returns whether there were any.
  mutating func forget(before now: Instant) -> Bool {
    let count = secrets.count
    secrets.removeAll { line in line.signing.until.map { $0 <= now } ?? false }
    return secrets.count != count
  }
}

/// What is wrong with a file of secrets, without any of it.
package struct EndpointSecretFileError: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
