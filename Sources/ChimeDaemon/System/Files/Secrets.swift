import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Glibc

/// The secrets of endpoints: one file of mode 0600 each, in a folder of mode 0700 within the state folder; and, for what
/// no file has, credentials of the service manager (systemd.exec(5), "LoadCredential=").
///
/// A secret is read from and written to these files and nowhere else: it is in no log, no answer, no store.
struct Secrets: Sendable {
  let folder: String
  /// Where the service manager puts credentials, `$CREDENTIALS_DIRECTORY`; nil when it gives none.
  var credentials: String?
  /// Whose endpoints they are for: a user's own, or, in the system's instance, those that root has added. No other user
  /// can sign with what the machine was given.
  var credentialOwner: UInt32 = 0

  /// What is known for an endpoint.
  struct Kept: Sendable {
    var sheet = EndpointSecretFile()
    /// Whether the secrets come from a credential, which is not ours to change.
    var isCredential = false
    /// Why something of it cannot be read.
    var problem: String?

    func access(_ endpoint: Endpoint) -> EndpointAccess {
      EndpointAccess(
        endpoint: endpoint, secrets: sheet.secrets.map(\.signing), token: sheet.token, problem: problem)
    }
  }

  /// - Parameter isNew: whether there is no such endpoint yet: then its file, if there is one, is what a crash or another
  ///   store has left, and not to be used.
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

  /// Where a file is that the configuration names by its absolute path, or as a credential of the service manager; nil when
  /// that gives none.
  static func path(of file: String, credentials: String?) -> String? {
    file.hasPrefix("/") ? file : credentials.map { "\($0)/\(file)" }
  }

  /// The secrets in a file that the configuration names.
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

  /// Nil when there is no such file.
  private static func sheet(_ path: String) throws -> EndpointSecretFile? {
    do {
      return try EndpointSecretFile(
        parsing: String(decoding: try SystemFiles.read(path, atMost: 65_536), as: UTF8.self))
    } catch let error as SystemError where error.code == ENOENT {
      return nil
    }
  }

  /// Changes what the file of an endpoint has; what is left empty is removed. To be called from one thread at a time.
  ///
  /// A file that is there and cannot be read is left as it is: what it holds would be lost. One that is no such sheet
  /// holds nothing that could be.
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

  /// What the file of an endpoint has; nil when there is none, or none that can be read.
  func text(of queue: DeliveryQueue) -> String? { (try? Self.sheet(path(queue)))?.text }

  func remove(_ queue: DeliveryQueue) { SystemFiles.remove(path(queue)) }

  // A removed endpoint's, for as long as the removal can be taken back.

  /// Keeps the file of an endpoint that was removed, under the change that did it; nil: removes it.
  func layAside(_ queue: DeliveryQueue, change: Int64?) {
    // Written anew, so that its age is counted from now; what cannot be kept is gone, as if there were no undo.
    if let change, let bytes = try? SystemFiles.read(path(queue), atMost: 65_536) {
      try? SystemFiles.replace(asidePath(queue, change), with: bytes, mode: 0o600)
    }
    remove(queue)
  }

  /// Gives an endpoint that `change` has removed its file again.
  ///
  /// - Returns: whether it has one. A crash at the removal may have left it where it was.
  func bringBack(_ queue: DeliveryQueue, from change: Int64) -> Bool {
    guard let bytes = try? SystemFiles.read(asidePath(queue, change), atMost: 65_536) else {
      return SystemFiles.size(path(queue)) != nil
    }
    do { try SystemFiles.replace(path(queue), with: bytes, mode: 0o600) } catch { return false }
    return true
  }

  /// Removes what was kept for a removal that has been taken back.
  func forgetAside(_ queue: DeliveryQueue, _ change: Int64) { SystemFiles.remove(asidePath(queue, change)) }

  /// Removes what was kept for removals of before that time.
  func forgetAside(before: Instant) {
    for name in SystemFiles.names(in: folder) where name.utf8.contains(UInt8(ascii: "~")) {
      let path = "\(folder)/\(name)"
      var status = stat()
      guard stat(path, &status) == 0, Int64(status.st_mtim.tv_sec) * 1_000 < before.milliseconds else { continue }
      SystemFiles.remove(path)
    }
  }

  private func asidePath(_ queue: DeliveryQueue, _ change: Int64) -> String { "\(path(queue))~\(change)" }

  /// Takes away what a daemon that was killed was writing: it has secrets in it. For a start, before anybody asks.
  func removeLeftovers() { SystemFiles.removeLeftovers(in: folder) }

  // Endpoint names are made of letters, digits and `. _ -`, and begin with none of these.
  private func path(_ queue: DeliveryQueue) -> String { "\(folder)/\(queue.owner)-\(queue.channel)" }
}

extension String {
  /// Without white space at either end.
  var trimmed: String {
    var rest = self[...]
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
