import ChimeWords

/// The passphrase of a backup's secrets: the first line of a file, or typed without echo.
enum Passphrase {
  static let option: Verb.Option = .value(
    "passphrase-file", nil, "FILE", "Read the passphrase of the secrets from a file of mode 0600")
  private static let shortest = 8
  private static let longest = 1_024

  /// Returns the passphrase for a backup, which the user types twice, since a typing error would lose the secrets.
  ///
  /// Returns nil for a backup without secrets.
  static func forBackup(_ context: Context) throws -> String? {
    guard context.line.has("with-secrets") else {
      try need(!context.line.has("passphrase-file"), localized("--passphrase-file goes with --with-secrets"))
      return nil
    }
    if let given = try inFile(context) { return try checked(given) }
    try need(
      context.process.isInteractive,
      localized("the secrets are encrypted with a passphrase, and there is no terminal to ask for one"),
      hint: localized("--passphrase-file FILE reads it from a file of mode 0600"))
    let passphrase = try checked(ask(context, localized("Passphrase for the secrets: ")) ?? "")
    try need(
      ask(context, localized("Once more: ")) == passphrase,
      failed: localized("the two passphrases differ: nothing was written"))
    return passphrase
  }

  /// Returns the passphrase for a restore; nil leaves the secrets encrypted.
  static func forRestore(_ context: Context, secrets: Int) throws -> String? {
    if let given = try inFile(context) { return given }
    guard secrets > 0, context.process.isInteractive, !context.line.has("yes"), !context.line.has("dry-run") else {
      return nil
    }
    context.note(
      localized(
        count: secrets, "The backup has the secrets of %n endpoint. Without the passphrase they stay encrypted.",
        "The backup has the secrets of %n endpoints. Without the passphrase they stay encrypted."))
    let typed = ask(context, localized("Passphrase (empty: leave them encrypted): ")) ?? ""
    return typed.isEmpty ? nil : typed
  }

  private static func inFile(_ context: Context) throws -> String? {
    try context.line.value("passphrase-file").map { try SecretFile.passphrase($0, userID: context.process.userID) }
  }

  private static func checked(_ passphrase: String) throws -> String {
    try need(
      (shortest...longest).contains(passphrase.utf8.count),
      failed: localized("a passphrase has %1 to %2 bytes: nothing was written", String(shortest), String(longest)))
    return passphrase
  }

  private static func ask(_ context: Context, _ question: String) -> String? {
    context.process.output.flush()
    context.process.errors.write(question)
    context.process.errors.flush()
    defer {
      context.process.errors.write("\n")
      context.process.errors.flush()
    }
    return context.process.input.hiddenLine(limit: longest + 1).map { trimmed(String(decoding: $0, as: UTF8.self)) }
  }
}
