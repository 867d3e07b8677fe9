import Varlink

/// A stream cut in pieces gives the messages that lie between its NUL bytes, up to the first that is too long.
func checkFramer(_ bytes: [UInt8]) throws(BrokenProperty) {
  guard let first = bytes.first else { return }
  let limit = Int(first) + 1
  let stream = bytes.dropFirst()
  var expected: [[UInt8]] = []
  for message in stream.split(separator: 0, omittingEmptySubsequences: false).dropLast() {
    if message.count > limit { break }
    expected.append(Array(message))
  }
  for piece in [1, 3, limit, bytes.count] {
    var framer = MessageFramer(maxMessageBytes: limit)
    var found: [[UInt8]] = []
    var rest = stream
    feeding: while !rest.isEmpty {
      let part = Array(rest.prefix(piece))
      rest = rest.dropFirst(piece)
      framer.append(part.span)
      while true {
        do {
          guard let message = try framer.next() else { break }
          found.append(message)
        } catch { break feeding }
      }
    }
    try require(found == expected, "\(found.count) messages instead of \(expected.count), in pieces of \(piece)")
    // Of an unfinished message no more than the limit and one read are held.
    try require(framer.bufferedBytes <= limit + piece, "\(framer.bufferedBytes) bytes are held")
  }
}

/// A value is refused, or written as text that is read as the same value.
func checkJSON(_ bytes: [UInt8]) throws(BrokenProperty) {
  guard let value = try? JSON(parsing: String(decoding: bytes, as: UTF8.self)) else { return }
  let written = value.bytes
  guard let again = try? JSON(parsing: String(decoding: written, as: UTF8.self)) else {
    throw BrokenProperty("what was written is refused: \(value)")
  }
  try require(again == value, "\(value) became \(again)")
}

/// An interface definition is refused with a place, or written as text that is read as the same definition.
func checkInterface(_ text: String) throws(BrokenProperty) {
  let interface: Interface
  do {
    interface = try Interface(parsing: text)
  } catch {
    try require(error.line >= 1 && error.column >= 1, "a refusal at \(error.line):\(error.column)")
    try require(!error.message.isEmpty, "a refusal without a sentence")
    return
  }
  do {
    try require(
      Interface(parsing: interface.description).description == interface.description,
      "\(interface.name) is written differently the second time")
  } catch let error as BrokenProperty {
    throw error
  } catch {
    throw BrokenProperty("what was written of \(interface.name) is refused: \(error)")
  }
}

private let service: VarlinkService = {
  var service = VarlinkService(vendor: "chime", product: "fuzz", version: "1", url: "https://example.org")
  do {
    try service.register(
      """
      interface a.b
      type T (n: ?int, l: []string, m: [string]T, e: (one, two), o: ?object, f: float)
      method F(t: ?T, b: ?bool) -> ()
      method G() -> (n: int)
      """, requiringMore: ["G"])
  } catch {
    fatalError("the service: \(error)")
  }
  return service
}()

/// Whatever a peer sends, each call is performed once and answered in JSON, and its end ends the connection.
func checkConnection(_ bytes: [UInt8]) throws(BrokenProperty) {
  guard let first = bytes.first else { return }
  var connection = ServerConnection(
    service: service, limits: VarlinkLimits(maxMessageBytes: 4_096, maxNesting: 16, maxQueuedBytes: 8_192))
  var output: [UInt8] = []
  var isClosed = false
  func perform() {
    while let action = connection.next() {
      switch action {
      case .perform(let call):
        _ = try? connection.fail(ServiceError.methodNotImplemented(method: call.method), call: call.id)
      case .upgrade, .close: isClosed = true
      }
      connection.flush {
        output.append(contentsOf: $0)
        return $0.count
      }
    }
    connection.flush {
      output.append(contentsOf: $0)
      return $0.count
    }
  }
  var rest = bytes.dropFirst()
  while !rest.isEmpty, !isClosed {
    let piece = Array(rest.prefix(Int(first) + 1))
    rest = rest.dropFirst(piece.count)
    connection.receive(piece.span)
    perform()
    perform()
  }
  connection.receiveEnd()
  perform()
  perform()
  try require(isClosed, "it does not end")
  for message in output.split(separator: 0, omittingEmptySubsequences: false).dropLast() {
    try require(
      (try? JSON(parsing: String(decoding: message, as: UTF8.self))) != nil,
      "an answer that is no JSON: \(String(decoding: message, as: UTF8.self))")
  }
}
