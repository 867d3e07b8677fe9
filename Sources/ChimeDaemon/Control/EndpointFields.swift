import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// Judges what a client wants an endpoint to be, field by field, and says what is wrong in a sentence.
enum EndpointFields {
  static let concurrency = 1...64
  static let rateCount = 1...10_000
  static let rateSpan: ClosedRange<Milliseconds> = .seconds(1)...(.days(1))
  static let overlap: ClosedRange<Milliseconds> = .zero...(.days(30))

  static func check(url: String) throws {
    do {
      try EndpointURL.validate(url)
    } catch {
      throw ControlFailure.invalidValue(field: "url", "\(error)")
    }
  }

  /// Lays the settings that are given over `settings`.
  static func apply(_ wire: EndpointsInterface.Settings, to settings: inout EndpointSettings) throws {
    if let headers = wire.headers {
      let headers = headers.map { EndpointSettings.Header(name: $0.name, value: $0.value) }
      do {
        try HeaderRules.check(headers)
      } catch {
        throw ControlFailure.invalidValue(field: "headers", "\(error)")
      }
      settings.headers = headers.isEmpty ? nil : headers
    }
    if let template = wire.template {
      do {
        _ = try Template(setting: template)
      } catch {
        throw ControlFailure.invalidValue(field: "template", "\(error)")
      }
      settings.template = template
    }
    if let certificates = wire.certificates {
      do {
        _ = try Certificates.count(in: certificates)
      } catch {
        throw ControlFailure.invalidValue(field: "certificates", "\(error)")
      }
      settings.certificates = certificates
    }
    if let number = wire.concurrency {
      guard concurrency.contains(number) else {
        throw ControlFailure.invalidValue(field: "concurrency", "give a number from 1 to \(concurrency.upperBound)")
      }
      settings.concurrency = number
    }
    if let rate = wire.rate {
      guard rateCount.contains(rate.count) else {
        throw ControlFailure.invalidValue(field: "rate", "give a number of messages from 1 to \(rateCount.upperBound)")
      }
      settings.rate = EndpointSettings.Rate(
        count: rate.count, span: try ReminderFields.duration(rate.span, "rate", rateSpan))
    }
    if let inOrder = wire.inOrder { settings.inOrder = inOrder }
  }

  static func reset(_ names: [EndpointsInterface.Update.Reset], in settings: inout EndpointSettings) {
    for name in names {
      switch name {
      case .headers: settings.headers = nil
      case .template: settings.template = nil
      case .certificates: settings.certificates = nil
      case .concurrency: settings.concurrency = nil
      case .rate: settings.rate = nil
      case .inOrder: settings.inOrder = nil
      case .token: break
      }
    }
  }

  /// One secret, or one of each kind separated by white space.
  static func secrets(_ text: String) throws -> [SecretSheet.Line] {
    var lines: [SecretSheet.Line] = []
    do {
      for word in text.split(whereSeparator: \.isWhitespace) { lines.append(try SecretSheet.Line(String(word))) }
      if lines.isEmpty { lines = [try SecretSheet.Line("")] }
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

  static func made(_ kind: Secret.Kind) -> SecretSheet.Line {
    do {
      return try SecretSheet.Line(Secret.make(kind))
    } catch {
      preconditionFailure("a secret of our own making cannot be read: \(error)")
    }
  }
}
