/// An Interface is a parsed interface definition with its methods, types and errors.
///
///     let ping = try Interface(parsing: """
///       # Answers.
///       interface org.example.ping
///       method Ping(ping: string) -> (pong: string)
///       """)
///     ping.method("Ping")?.output     // [Field(name: "pong", type: .string)]
///
/// Source: Varlink, "Interface Definition".
public struct Interface: Hashable, Sendable {
  /// The comment above the `interface` line, without `#`; empty if there is none.
  public let documentation: String
  /// The name, in reverse-domain notation.
  public let name: String
  /// Types, methods and errors in source order.
  public let members: [Member]

  private let indices: [String: Int]

  init(documentation: String, name: String, members: [Member]) {
    self.documentation = documentation
    self.name = name
    self.members = members
    // The parser refuses duplicate names, so the choice here does not matter.
    indices = Dictionary(members.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// One declaration. Types, methods and errors share one name space.
  public struct Member: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
      /// `type Name (…)`: a structure or an enumeration.
      case type(ValueType)
      /// `method Name(…) -> (…)`.
      case method(input: [Field], output: [Field])
      /// `error Name (…)`.
      case error([Field])
    }

    /// The comment above the declaration, without `#`.
    public let documentation: String
    /// The unqualified name.
    public let name: String
    public let kind: Kind
  }

  /// A named and typed member of a structure.
  public struct Field: Hashable, Sendable {
    /// The comment above the field, without `#`.
    public let documentation: String
    public let name: String
    public let type: ValueType
  }

  /// The type of a value.
  public indirect enum ValueType: Hashable, Sendable {
    case bool
    /// A 64-bit integer.
    case int
    /// A double-precision number.
    case float
    case string
    /// Any JSON object.
    case object
    /// Any JSON value except null. systemd's interfaces use this extension of the language.
    case any
    /// A type declared in this interface.
    case named(String)
    /// `[]element`.
    case array(ValueType)
    /// `[string]element`.
    case map(ValueType)
    /// `?wrapped`: the value may be null or missing.
    case nullable(ValueType)
    /// `(name: type, …)`.
    case structure([Field])
    /// `(one, two, …)`: one of these words.
    case enumeration([String])
  }

  /// Returns the declaration with this name.
  public func member(_ name: String) -> Member? { indices[name].map { members[$0] } }

  /// Returns the input and output fields of a method.
  public func method(_ name: String) -> (input: [Field], output: [Field])? {
    guard case .method(let input, let output)? = member(name)?.kind else { return nil }
    return (input, output)
  }

  /// Returns the parameters of an error of this interface.
  public func error(_ name: String) -> [Field]? {
    guard case .error(let fields)? = member(name)?.kind else { return nil }
    return fields
  }

  /// Returns the definition of a type.
  public func type(_ name: String) -> ValueType? {
    guard case .type(let type)? = member(name)?.kind else { return nil }
    return type
  }
}

/// A syntax error in an interface definition.
public struct InterfaceError: Error, Hashable, CustomStringConvertible {
  /// The line, counted from 1.
  public let line: Int
  /// The column in characters, counted from 1.
  public let column: Int
  /// A part of a sentence that describes the error.
  public let message: String

  /// The error with its position, such as `3:14: expected …`.
  public var description: String { "\(line):\(column): \(message)" }
}
