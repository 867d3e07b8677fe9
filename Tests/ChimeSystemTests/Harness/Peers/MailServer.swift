import Foundation

/// A mail server by aiosmtpd (PyPI), with its mailboxes.
struct MailServer {
  /// How TLS starts.
  enum Security: String { case none, smtps, starttls, denied }

  let address: String
  let port: Int
  /// The path of its self-signed certificate; nil without TLS.
  let certificate: String?
  let folder: String
  private let security: Security
  private let process: Child

  /// - Parameters:
  ///   - address: 127.0.0.1 counts as the local machine, where TLS is optional; 127.0.0.2 does not.
  ///   - login: the required login, `NAME:PASSWORD`.
  static func start(
    in home: Home, _ security: Security = .none, at address: String = "127.0.0.1", login: String? = nil
  ) async throws -> MailServer {
    let folder = home.path + "/mail-\(security.rawValue)-\(address)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var words = [Machine.support("mail-server"), folder, "--address", address]
    if security != .none { words.append("--\(security.rawValue)") }
    if let login { words += ["--login", login] }
    let process = try await home.spawn(Machine.clients, words)
    let said = try await eventually("the server says its port") { () -> JSON? in
      if let end = process.end { throw HarnessFailure("the server ended with \(end): \(process.errors)") }
      return try process.lines.first.map { try JSON(parsing: $0) }
    }
    return MailServer(
      address: address, port: said["port"].int ?? 0, certificate: said["certificate"].string, folder: folder,
      security: security, process: process)
  }

  var url: String { "\(security == .smtps ? "smtps" : "smtp")://\(address):\(port)" }

  private var said: [JSON] { Array(process.said.dropFirst()) }

  /// The messages it accepted, or is about to.
  var messages: [JSON] { said.filter { $0["sender"].string != nil } }

  /// The number of refused recipients.
  var refusals: Int { said.count { $0["refused"].string != nil } }

  /// Creates a file that controls the server: a refusing mailbox's name makes it accept, `hold` delays replies.
  func make(_ name: String) { _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
}
