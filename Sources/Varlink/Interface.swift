/// An interface definition: the methods, types and errors that share a name.
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
  /// The comment above the `interface` line, without its `#`; empty if there is none.
  public let documentation: String
  /// The name, in reverse-domain notation.
  public let name: String
  /// Types, methods and errors in the order of the text.
  public let members: [Member]

  private let indices: [String: Int]

  init(documentation: String, name: String, members: [Member]) {
    self.documentation = documentation
    self.name = name
    self.members = members
    // The parser has refused a second member of the same name; the first would be kept.
    indices = Dictionary(members.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// One declaration. Types, methods and errors share one name space.
  public struct Member: Hashable, Sendable {
    /// What is declared.
    public enum Kind: Hashable, Sendable {
      /// `type Name (…)`: a structure or an enumeration.
      case type(ValueType)
      /// `method Name(…) -> (…)`.
      case method(input: [Field], output: [Field])
      /// `error Name (…)`.
      case error([Field])
    }

    /// The comment above the declaration, without its `#`.
    public let documentation: String
    /// The name within the interface.
    public let name: String
    /// What the name stands for.
    public let kind: Kind
  }

  /// A named and typed member of a structure.
  public struct Field: Hashable, Sendable {
    /// The comment above the field, without its `#`.
    public let documentation: String
    /// The name.
    public let name: String
    /// The type of the value.
    public let type: ValueType

    init(documentation: String = "", name: String, type: ValueType) {
      self.documentation = documentation
      self.name = name
      self.type = type
    }
  }

  /// The type of a value.
  public indirect enum ValueType: Hashable, Sendable {
    /// `true` or `false`.
    case bool
    /// A whole number of 64 bits.
    case int
    /// A double-precision number.
    case float
    /// Text.
    case string
    /// Any JSON object.
    case object
    /// Any JSON value, null aside; an extension of the language that systemd's interfaces use.
    case any
    /// A type of this interface.
    case named(String)
    /// `[]element`.
    case array(ValueType)
    /// `[string]element`.
    case map(ValueType)
    /// `?wrapped`: the value may be null, or missing from its object.
    case nullable(ValueType)
    /// `(name: type, …)`.
    case structure([Field])
    /// `(one, two, …)`: one of these words.
    case enumeration([String])
  }

  /// The declaration of this name.
  public func member(_ name: String) -> Member? { indices[name].map { members[$0] } }

  /// The input and output of the method of this name.
  public func method(_ name: String) -> (input: [Field], output: [Field])? {
    guard case .method(let input, let output)? = member(name)?.kind else { return nil }
    return (input, output)
  }

  /// The parameters of the error of this name, within the interface.
  public func error(_ name: String) -> [Field]? {
    guard case .error(let fields)? = member(name)?.kind else { return nil }
    return fields
  }

  /// What the type of this name stands for.
  public func type(_ name: String) -> ValueType? {
    guard case .type(let type)? = member(name)?.kind else { return nil }
    return type
  }
}

/// A fault in the text of an interface definition.
public struct InterfaceError: Error, Hashable, CustomStringConvertible {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in characters.
  public let column: Int
  /// What is wrong there, as a part of a sentence.
  public let message: String

  /// The fault with its place: `3:14: expected …`.
  public var description: String { "\(line):\(column): \(message)" }
}
