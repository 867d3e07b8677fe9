import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Glibc

/// The secrets of endpoints: files of mode 0600 in a folder of mode 0700 within the state folder, and credentials of the
/// service manager (systemd.exec(5), "LoadCredential=") for endpoints without a file.
///
/// Secrets exist in these files only. They appear in no log, reply or store.
struct Secrets: Sendable {
  let folder: String
  /// The folder of the service manager's credentials (`$CREDENTIALS_DIRECTORY`); nil if there is none.
  var credentials: String?
  /// The owner whose endpoints may use credentials: the user, or root in the system daemon. No other user can sign with
  /// the machine's secrets.
  var credentialOwner: UInt32 = 0

  /// The secrets of one endpoint.
  struct Kept: Sendable {
    var sheet = EndpointSecretFile()
    /// Whether the secrets come from a credential, which the daemon cannot change.
    var isCredential = false
    /// The reason why a part cannot be read.
    var problem: String?

    func access(_ endpoint: Endpoint) -> EndpointAccess {
      EndpointAccess(
        endpoint: endpoint, secrets: sheet.secrets.map(\.signing), token: sheet.token, problem: problem)
    }
  }

  /// Reads the secrets of an endpoint.
  ///
  /// - Parameter isNew: whether the endpoint is being created. An existing file is then a leftover of a crash or another
  ///   store, and is ignored.
  func read(_ queue: DeliveryQueue, isNew: Bool = false) -> Kept {
    var kept = Kept()
    if !isNew, let sheet = sheet(path(queue), "its file in \(folder)", &kept.problem) { kept.sheet = sheet }
    guard let credentials, queue.owner == credentialOwner,
      let given = sheet(
        "\(credentials)/endpoint.\(queue.channel)", "the credential endpoint.\(queue.channel)", &kept.problem)
    else { return kept }
    if kept.sheet.secrets.isEmpty {
      kept.sheet.secrets = given.secrets
      kept.isCredential = !given.secrets.isEmpty
    }
    kept.sheet.token = kept.sheet.token ?? given.token
    return kept
  }

  /// Returns the path of a file that the configuration names absolutely or as a credential; nil if there are no credentials.
  static func path(of file: String, credentials: String?) -> String? {
    file.hasPrefix("/") ? file : credentials.map { "\($0)/\(file)" }
  }

  /// Returns the secrets in a file that the configuration names.
  func named(_ file: String) -> Result<[SigningSecret], EndpointSecretFileError> {
    guard let path = Self.path(of: file, credentials: credentials) else {
      return .failure(EndpointSecretFileError("there is no credential \(file): the service manager provides none"))
    }
    var problem: String?
    let secrets = sheet(path, "its file \(path)", &problem)?.secrets.map(\.signing) ?? []
    guard secrets.isEmpty else { return .success(secrets) }
    return .failure(EndpointSecretFileError(problem ?? "there is no secret in \(path)"))
  }

  private func sheet(_ path: String, _ name: String, _ problem: inout String?) -> EndpointSecretFile? {
    do {
      return try Self.sheet(path)
    } catch let error as SystemError {
      problem = "\(name) cannot be read: \(error.reason)"
    } catch {
      problem = "\(name): \(error)"
    }
    return nil
  }

  /// Returns nil if the file does not exist.
  private static func sheet(_ path: String) throws -> EndpointSecretFile? {
    do {
      return try EndpointSecretFile(
        parsing: String(decoding: try SystemFiles.read(path, atMost: 65_536), as: UTF8.self))
    } catch let error as SystemError where error.code == ENOENT {
      return nil
    }
  }

  /// Changes the secrets of an endpoint, and removes the file if nothing is left. Call it from one thread at a time.
  ///
  /// An unreadable file is not changed, because its content would be lost. A malformed file is overwritten.
  func change(_ queue: DeliveryQueue, _ body: (inout EndpointSecretFile) -> Void) throws(SystemError) {
    var sheet = EndpointSecretFile()
    do {
      sheet = try Self.sheet(path(queue)) ?? sheet
    } catch let error as SystemError {
      throw error
    } catch {}
    body(&sheet)
    guard !sheet.secrets.isEmpty || sheet.token != nil else {
      remove(queue)
      return
    }
    try SystemFiles.makeFolder(folder, mode: 0o700)
    try SystemFiles.replace(path(queue), with: Array(sheet.text.utf8), mode: 0o600)
  }

  /// Returns the content of an endpoint's file; nil if it does not exist or cannot be read.
  func text(of queue: DeliveryQueue) -> String? { (try? Self.sheet(path(queue)))?.text }

  func remove(_ queue: DeliveryQueue) { SystemFiles.remove(path(queue)) }

  // MARK: Removed endpoints, for as long as the removal can be undone

  /// Sets the file of a removed endpoint aside for an undo of `change`; without a change it is removed.
  func layAside(_ queue: DeliveryQueue, change: Int64?) {
    // The copy's age must count from now. If it cannot be written, the secrets are lost, as without undo.
    if let change, let bytes = try? SystemFiles.read(path(queue), atMost: 65_536) {
      try? SystemFiles.replace(asidePath(queue, change), with: bytes, mode: 0o600)
    }
    remove(queue)
  }

  /// Restores the file of an endpoint that `change` removed. Returns whether the endpoint has one. After a crash during
  /// the removal the file may still be in place.
  func bringBack(_ queue: DeliveryQueue, from change: Int64) -> Bool {
    guard let bytes = try? SystemFiles.read(asidePath(queue, change), atMost: 65_536) else {
      return SystemFiles.size(path(queue)) != nil
    }
    do { try SystemFiles.replace(path(queue), with: bytes, mode: 0o600) } catch { return false }
    return true
  }

  /// Deletes the file that was set aside for a removal that was undone.
  func forgetAside(_ queue: DeliveryQueue, _ change: Int64) { SystemFiles.remove(asidePath(queue, change)) }

  /// Deletes the files that were set aside before a time.
  func forgetAside(before: Instant) {
    for name in SystemFiles.names(in: folder) where name.utf8.contains(UInt8(ascii: "~")) {
      let path = "\(folder)/\(name)"
      var status = stat()
      guard stat(path, &status) == 0, Int64(status.st_mtim.tv_sec) * 1_000 < before.milliseconds else { continue }
      SystemFiles.remove(path)
    }
  }

  private func asidePath(_ queue: DeliveryQueue, _ change: Int64) -> String { "\(path(queue))~\(change)" }

  /// Deletes temporary files with secrets that a killed daemon left. Call it at the start.
  func removeLeftovers() { SystemFiles.removeLeftovers(in: folder) }

  // Endpoint names consist of letters, digits and `. _ -`, and start with a letter or digit.
  private func path(_ queue: DeliveryQueue) -> String { "\(folder)/\(queue.owner)-\(queue.channel)" }
}

extension String {
  /// The text without white space at both ends.
  var trimmed: String {
    var rest = self[...]
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
