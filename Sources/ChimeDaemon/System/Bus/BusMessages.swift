import CSystemd
import ChimeDelivery

/// A BusWriter writes the arguments of a call. It keeps the first failure and writes nothing after it.
struct BusWriter {
  private let message: OpaquePointer
  private(set) var failure: Int32 = 0

  init(_ message: OpaquePointer) { self.message = message }

  /// Writes the arguments of `Notify`: `susssasa{sv}i`.
  mutating func add(_ notification: DesktopNotification) {
    add(notification.appName)
    add(notification.replaces)
    add(notification.icon)
    add(notification.title)
    add(notification.body)
    within("a", "s") { writer in
      for action in notification.actions {
        writer.add(action.key)
        writer.add(action.label)
      }
    }
    within("a", "{sv}") { writer in
      writer.entry("urgency", "y") { $0.basic("y", notification.urgency) }
      for (name, value) in notification.hints.sorted(by: { $0.key < $1.key }) {
        writer.entry(name, "s") { $0.add(value) }
      }
    }
    // 0: the popup never expires; -1: the server's default.
    basic("i", Int32(notification.stays ? 0 : -1))
  }

  private mutating func entry(_ name: String, _ signature: String, _ body: (inout BusWriter) -> Void) {
    within("e", "sv") { writer in
      writer.add(name)
      writer.within("v", signature, body)
    }
  }

  private mutating func add(_ text: String) {
    // D-Bus strings cannot contain NUL.
    let text = text.utf8.contains(0) ? text.filter { $0 != "\0" } : text
    step { message in text.withCString { sd_bus_message_append_basic(message, Self.code("s"), $0) } }
  }

  private mutating func add(_ number: UInt32) { basic("u", number) }

  private mutating func basic<Value>(_ type: Unicode.Scalar, _ value: Value) {
    step { message in withUnsafePointer(to: value) { sd_bus_message_append_basic(message, Self.code(type), $0) } }
  }

  private mutating func within(_ type: Unicode.Scalar, _ contents: String, _ body: (inout BusWriter) -> Void) {
    step { sd_bus_message_open_container($0, Self.code(type), contents) }
    body(&self)
    step { sd_bus_message_close_container($0) }
  }

  private mutating func step(_ body: (OpaquePointer) -> Int32) {
    guard failure >= 0 else { return }
    failure = min(0, body(message))
  }

  private static func code(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }
}

/// Reads values at the current position of a message.
enum BusReader {
  private static let string = CChar(UInt8(ascii: "s"))

  static func text(in message: OpaquePointer) -> String? {
    var text: UnsafePointer<CChar>?
    guard sd_bus_message_read_basic(message, string, &text) > 0, let text else { return nil }
    return String(cString: text)
  }

  /// Reads the three strings of `NameOwnerChanged`.
  static func three(in message: OpaquePointer) -> [String]? {
    guard sd_bus_message_has_signature(message, "sss") > 0 else { return nil }
    let texts = [text(in: message), text(in: message), text(in: message)].compactMap { $0 }
    return texts.count == 3 ? texts : nil
  }

  /// Reads an array of strings, at most 1,000.
  static func texts(in message: OpaquePointer) -> [String]? {
    guard sd_bus_message_has_signature(message, "as") > 0,
      sd_bus_message_enter_container(message, CChar(UInt8(ascii: "a")), "s") >= 0
    else { return nil }
    var texts: [String] = []
    while texts.count < 1_000, let text = text(in: message) { texts.append(text) }
    return texts
  }
}
