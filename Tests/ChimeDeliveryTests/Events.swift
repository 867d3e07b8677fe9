import Foundation
import Synchronization

/// Events on other threads, awaited one by one with a timeout.
final class Events<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var waiter: (number: Int, resume: CheckedContinuation<Value?, Never>)?
    var waits = 0
  }

  /// A mutex, because the producer, the waiter and the timeout are on three threads.
  private let state = Mutex(State())

  func append(_ value: Value) {
    let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
      guard let waiter = state.waiter else {
        state.values.append(value)
        return nil
      }
      state.waiter = nil
      return waiter.resume
    }
    waiter?.resume(returning: value)
  }

  /// Returns the next value, in order. Only one caller may wait at a time.
  func next(within span: Duration = .seconds(120)) async throws -> Value {
    let value = await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
      let (value, number) = state.withLock { state -> (Value?, Int) in
        if !state.values.isEmpty { return (state.values.removeFirst(), 0) }
        state.waits += 1
        state.waiter = (state.waits, continuation)
        return (nil, state.waits)
      }
      if let value {
        continuation.resume(returning: value)
        return
      }
      Task {
        try? await Task.sleep(for: span)
        self.giveUp(number)
      }
    }
    guard let value else { throw Failure("nothing happened within \(span)") }
    return value
  }

  /// Returns the next value that matches, and discards earlier ones.
  func first(within span: Duration = .seconds(120), where fits: (Value) -> Bool) async throws -> Value {
    while true {
      let value = try await next(within: span)
      if fits(value) { return value }
    }
  }

  var isEmpty: Bool { state.withLock(\.values.isEmpty) }

  private func giveUp(_ number: Int) {
    let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
      guard let waiter = state.waiter, waiter.number == number else { return nil }
      state.waiter = nil
      return waiter.resume
    }
    waiter?.resume(returning: nil)
  }
}

/// An error that ends a test.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A helper program of the tests that communicates in lines, and ends when its input does.
final class Script: Sendable {
  let lines = Events<[String: JSON]>()
  private let process: ChildProcess

  init(_ program: String, _ arguments: [String]) throws {
    let process = try ChildProcess(program, arguments, input: .written, output: .piped)
    self.process = process
    let lines = lines
    guard let reader = process.outputPipe else { throw Failure("\(program) has no output") }
    Thread.detachNewThread {
      var rest: [UInt8] = []
      while true {
        let data = reader.availableData
        if data.isEmpty { break }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          if let line = try? JSONDecoder().decode([String: JSON].self, from: Data(rest[..<end])) { lines.append(line) }
          rest.removeSubrange(...end)
        }
      }
      try? reader.close()
    }
  }

  func write(_ words: [JSON]) throws {
    process.write(try JSONEncoder().encode(words) + [UInt8(ascii: "\n")])
  }

  var pid: Int { Int(process.pid) }

  func end() {
    process.closeInput()
    process.wait()
  }
}

/// A JSON value.
enum JSON: Hashable, Sendable, Codable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int) { self = .number(Double(value)) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  var string: String? { if case .string(let value) = self { value } else { nil } }
  var number: Int? { if case .number(let value) = self { Int(value) } else { nil } }
  var array: [JSON] { if case .array(let value) = self { value } else { [] } }
  subscript(key: String) -> JSON? { if case .object(let value) = self { value[key] } else { nil } }
}

/// Returns the path of a file in the Support folder.
func support(_ name: String) -> String {
  Package.folder + "/Tests/ChimeDeliveryTests/Support/\(name)"
}
