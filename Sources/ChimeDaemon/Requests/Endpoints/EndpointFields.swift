import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// EndpointFields checks what a client wants an endpoint to be, field by field. Errors say what to do.
enum EndpointFields {
  /// The most endpoints of an owner. Each may have several transfers, and each transfer has a file descriptor, of which all
  /// owners share some thousands.
  static let maxEndpoints = 100
  static let overlap: ClosedRange<Milliseconds> = .zero...(.days(30))

  static func check(url: String) throws {
    do {
      try EndpointRules.check(url: url)
    } catch {
      throw ControlFailure.invalidValue(field: "url", "\(error)")
    }
  }

  /// Checks an address together with its settings.
  static func check(url: String, _ settings: EndpointSettings) throws {
    do throws(EndpointRules.Fault) {
      try EndpointRules.check(url: url, settings)
    } catch {
      throw ControlFailure.invalidValue(field: error.field, error.description)
    }
  }

  static func check(_ url: String, _ settings: EndpointSettings, token: Token?) throws {
    try check(url: url, settings)
    if Endpoint.Kind(of: url).logsIn {
      if token?.isPair == true {
        throw ControlFailure.invalidValue(field: "token", "a password has one line: leave out the second")
      }
      if token == nil, settings.user != nil {
        throw ControlFailure.invalidValue(
          field: "token", "a log-in needs a password: give it in a file of mode 0600 (--token-file)")
      }
      if token != nil, settings.user == nil {
        throw ControlFailure.invalidValue(
          field: "user",
          "a password needs a name for the log-in: give it with --user, or remove the password with --reset token")
      }
    }
    guard token == nil else { return }
    if Endpoint.Kind(of: url).needsToken {
      throw ControlFailure.invalidValue(
        field: "token",
        "sending into a room needs the access token of an account: give it in a file of mode 0600 (--token-file)")
    }
    let headers = settings.headers ?? []
    let template = try settings.template.map { text in try Template(setting: text) }
    let needed = headers.contains { $0.value.contains("{{token}}") } || template?.needsToken(besides: headers) == true
    if needed {
      throw ControlFailure.invalidValue(field: "token", "the template or a header uses a token: give the token too")
    }
  }

  /// Applies the given settings.
  static func apply(_ wire: EndpointsInterface.Settings, to settings: inout EndpointSettings) throws {
    for setting in EndpointSetting.all { try setting.take(wire, &settings) }
  }

  static func reset(_ names: [EndpointsInterface.Update.Reset], in settings: inout EndpointSettings) {
    for setting in EndpointSetting.all where names.contains(where: { $0.rawValue == setting.name }) {
      setting.reset(&settings)
    }
  }

  /// Parses one secret, or one of each kind separated by white space.
  static func secrets(_ text: String) throws -> [EndpointSecretFile.Line] {
    var lines: [EndpointSecretFile.Line] = []
    do {
      for word in text.split(whereSeparator: \.isWhitespace) { lines.append(try EndpointSecretFile.Line(String(word))) }
      if lines.isEmpty { lines = [try EndpointSecretFile.Line("")] }
    } catch {
      throw ControlFailure.invalidValue(field: "secret", "\(error)")
    }
    try need(
      Set(lines.map(\.signing.secret.kind)).count == lines.count, "secret", "give one secret, or one of each kind")
    return lines
  }

  static func token(_ text: String) throws -> Token {
    do {
      return try Token(text)
    } catch {
      throw ControlFailure.invalidValue(field: "token", "\(error)")
    }
  }

  static func made(_ kind: Secret.Kind) -> EndpointSecretFile.Line {
    do {
      return try EndpointSecretFile.Line(Secret.make(kind))
    } catch {
      preconditionFailure("a secret of our own making cannot be read: \(error)")
    }
  }
}
