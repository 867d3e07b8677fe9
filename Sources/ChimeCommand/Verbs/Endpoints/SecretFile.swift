import ChimeWords
import Glibc

/// Files that contain an endpoint's secret or token, readable only by their owner.
enum SecretFile {
  /// Returns the secret in a file, or one of each kind; rejects a file that others can read.
  static func read(_ path: String, userID: UInt32) throws -> String {
    let secret = try text(path, what: localized("the secret file"), userID: userID)
    let words = secret.split(whereSeparator: \.isWhitespace)
    guard !words.isEmpty, words.allSatisfy({ $0.hasPrefix("whsec_") || $0.hasPrefix("whsk_") }) else {
      throw Failure.failed(
        localized(
          """
          the secret file %1 holds no secret: write whsec_ and base64 of 24 to 64 bytes, or whsk_ and an Ed25519 key
          """, path),
        hint: localized("--new-secret FILE creates one"))
    }
    return secret
  }

  /// Returns the token in a file; rejects a file that others can read.
  static func token(_ path: String, userID: UInt32) throws -> String {
    let token = try text(path, what: localized("the token file"), userID: userID)
    try need(!token.isEmpty, failed: localized("the token file %1 is empty", path))
    return token
  }

  /// Returns the passphrase in a file; rejects a file that others can read.
  static func passphrase(_ path: String, userID: UInt32) throws -> String {
    let passphrase = try text(path, what: localized("the passphrase file"), userID: userID)
    try need(!passphrase.isEmpty, failed: localized("the passphrase file %1 is empty", path))
    return passphrase
  }

  /// Returns the content of a file that the daemon will check; rejects a file that others can read.
  static func any(_ path: String, userID: UInt32) throws -> String {
    try text(path, what: localized("the file"), userID: userID)
  }

  private static func text(_ path: String, what: String, userID: UInt32) throws -> String {
    let shown = "\(what) \(path)"
    // O_NONBLOCK: a named pipe must not block the command.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure.system(localized("cannot open %1", shown), errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw Failure.system(localized("cannot access %1", shown), errno: errno)
    }
    try need(status.st_mode & S_IFMT == S_IFREG, failed: localized("%1 is not a regular file", shown))
    guard status.st_mode & 0o077 == 0 else {
      throw Failure(
        status: .notPermitted, message: localized("other users can access %1 (mode %2)", shown, octal(status.st_mode)),
        hints: ["chmod 600 \(path)"])
    }
    guard status.st_uid == userID || status.st_uid == 0 else {
      throw Failure(status: .notPermitted, message: localized("%1 belongs to another user", shown))
    }
    guard let bytes = Files.read(descriptor, limit: 8_192) else {
      throw Failure.system(localized("cannot read %1", shown), errno: errno)
    }
    return trimmed(String(decoding: bytes, as: UTF8.self))
  }

  /// Generates a secret of 32 random bytes and writes it to a new file.
  static func make(_ path: String) throws -> String {
    // The standard library's generator uses getrandom(2).
    let secret = "whsec_" + base64((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST {
        throw Failure.failed(
          localized("the file %1 exists already", path),
          hint: localized("to use the secret in it: --secret-file %1", path))
      }
      throw Failure.system(localized("cannot create the file %1", path), errno: errno)
    }
    defer { close(descriptor) }
    guard Files.write(Array((secret + "\n").utf8), to: descriptor), fsync(descriptor) == 0 else {
      let code = errno
      unlink(path)
      throw Failure.system(localized("cannot write the file %1", path), errno: code)
    }
    Files.synchronizeFolder(of: path)
    return secret
  }

  static func remove(_ path: String) { unlink(path) }

  private static func octal(_ mode: mode_t) -> String {
    let digits = String(mode & 0o777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// Encodes base64 (RFC 4648) with padding.
  static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for position in 0..<4 {
        text.append(position <= group.count ? alphabet[bits >> (18 - 6 * position) & 63] : "=")
      }
    }
    return text
  }
}
