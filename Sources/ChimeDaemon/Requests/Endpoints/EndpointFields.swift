import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// Judges what a client wants an endpoint to be, field by field, and says what is wrong in a sentence.
enum EndpointFields {
  static let overlap: ClosedRange<Milliseconds> = .zero...(.days(30))

  static func check(url: String) throws {
    do {
      try EndpointRules.check(url: url)
    } catch {
      throw ControlFailure.invalidValue(field: "url", "\(error)")
    }
  }

  /// Judges an address and its settings beside each other.
  static func check(url: String, _ settings: EndpointSettings) throws {
    do throws(EndpointRules.Fault) {
      try EndpointRules.check(url: url, settings)
    } catch {
      throw ControlFailure.invalidValue(field: error.field, error.description)
    }
  }

  /// Lays the settings that are given over `settings`.
  static func apply(_ wire: EndpointsInterface.Settings, to settings: inout EndpointSettings) throws {
    for setting in EndpointSetting.all { try setting.take(wire, &settings) }
  }

  static func reset(_ names: [EndpointsInterface.Update.Reset], in settings: inout EndpointSettings) {
    for setting in EndpointSetting.all where names.contains(where: { $0.rawValue == setting.name }) {
      setting.reset(&settings)
    }
  }

  /// One secret, or one of each kind separated by white space.
  static func secrets(_ text: String) throws -> [EndpointSecretFile.Line] {
    var lines: [EndpointSecretFile.Line] = []
    do {
      for word in text.split(whereSeparator: \.isWhitespace) { lines.append(try EndpointSecretFile.Line(String(word))) }
      if lines.isEmpty { lines = [try EndpointSecretFile.Line("")] }
    } catch {
      throw ControlFailure.invalidValue(field: "secret", "\(error)")
    }
    guard Set(lines.map(\.signing.secret.kind)).count == lines.count else {
      throw ControlFailure.invalidValue(field: "secret", "give one secret, or one of each kind")
    }
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
