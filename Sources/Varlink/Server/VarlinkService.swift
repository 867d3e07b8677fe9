/// A VarlinkService is a set of registered interfaces. It also answers the calls of `org.varlink.service`.
///
/// Each call is checked against its definition. Undeclared methods, and parameters that are unknown, missing or of the
/// wrong type, never reach the server's own code.
///
///     var service = VarlinkService(vendor: "Example", product: "Ping", version: "1", url: "https://example.org")
///     try service.register("interface org.example.ping\nmethod Ping(ping: string) -> (pong: string)")
///
/// Source: Varlink, "Service".
public struct VarlinkService: Sendable {
  /// Why a definition cannot be registered.
  public enum RegistrationError: Error, Hashable, CustomStringConvertible {
    /// The text of the definition is invalid.
    case definition(InterfaceError)
    /// An interface of this name is already registered.
    case duplicate(interface: String)
    /// The interface declares no such method.
    case unknownMethod(String)

    public var description: String {
      switch self {
      case .definition(let error): "the interface definition is at fault: \(error)"
      case .duplicate(let interface): "the interface '\(interface)' is registered already"
      case .unknownMethod(let method): "the interface declares no method '\(method)'"
      }
    }
  }

  /// How a call is handled.
  enum Resolution: Sendable {
    /// `org.varlink.service.GetInfo`.
    case info
    /// `org.varlink.service.GetInterfaceDescription`.
    case interfaceDescription
    /// A method of the server: its input type, and whether it returns only streams.
    case method(input: Interface.ValueType, interface: Interface, requiresMore: Bool)
    case failure(ServiceError)
  }

  private struct Entry {
    let interface: Interface
    /// The prepared answer to `GetInterfaceDescription`.
    let description: VarlinkReply
  }

  private struct Info: JSONWritable {
    var vendor, product, version, url: String
    var interfaces: [String]

    func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("interfaces", interfaces)
      writer.field("product", product)
      writer.field("url", url)
      writer.field("vendor", vendor)
      writer.field("version", version)
      writer.endObject()
    }
  }

  /// Whether each reply is checked against its declaration, for tests and debug builds. A reply that differs throws
  /// ``VarlinkEncodingError/nonconforming(_:)``.
  public var checksReplies = false

  /// Error that ends the stream of a slow reader; nil to close its connection without a reply.
  public var slowReaderError: VarlinkReply?

  private var info: Info
  private var entries: [String: Entry] = [:]
  /// Resolutions of all declared methods by fully qualified name.
  private var resolutions: [String: Resolution] = [:]
  /// The prepared answer to `GetInfo`, updated with each registration.
  private(set) var infoReply: VarlinkReply

  /// Creates a service with only `org.varlink.service`.
  public init(vendor: String, product: String, version: String, url: String) {
    info = Info(vendor: vendor, product: product, version: version, url: url, interfaces: [])
    infoReply = Self.reply(info)
    do {
      try register(Self.ownDefinition)
      resolutions["org.varlink.service.GetInfo"] = .info
      resolutions["org.varlink.service.GetInterfaceDescription"] = .interfaceDescription
    } catch {
      preconditionFailure("the library's own interface definition is at fault: \(error)")
    }
  }

  /// Registers an interface.
  ///
  /// - Parameters:
  ///   - definition: The text, which introspection returns unchanged.
  ///   - requiringMore: Methods that return only streams. Without `more` they fail with ``ServiceError/expectedMore``.
  public mutating func register(
    _ definition: String, requiringMore: Set<String> = []
  ) throws(RegistrationError) {
    let interface: Interface
    do { interface = try Interface(parsing: definition) } catch { throw .definition(error) }
    guard entries[interface.name] == nil else { throw .duplicate(interface: interface.name) }
    if let unknown = requiringMore.filter({ interface.method($0) == nil }).min() { throw .unknownMethod(unknown) }
    for member in interface.members {
      guard case .method(let input, _) = member.kind else { continue }
      resolutions["\(interface.name).\(member.name)"] = .method(
        input: .structure(input), interface: interface, requiresMore: requiringMore.contains(member.name))
    }
    entries[interface.name] = Entry(
      interface: interface, description: Self.reply(["description": definition]))
    info.interfaces.append(interface.name)
    infoReply = Self.reply(info)
  }

  /// Names of the interfaces in order of registration.
  public var interfaces: [String] { info.interfaces }

  /// Returns the interface with this name.
  public func interface(_ name: String) -> Interface? { entries[name]?.interface }

  /// Resolves a fully qualified method name.
  func resolve(_ method: String) -> Resolution {
    if let resolution = resolutions[method] { return resolution }
    guard let (interface, _) = Self.split(method), entries[interface] == nil else {
      return .failure(.methodNotFound(method: method))
    }
    return .failure(.interfaceNotFound(interface: interface))
  }

  /// Returns the answer to `GetInterfaceDescription`.
  func descriptionReply(_ interface: String) -> VarlinkReply? { entries[interface]?.description }

  /// Checks a reply against the declaration of its method or error.
  func check(_ reply: VarlinkReply, to method: String) throws(Mismatch) {
    let message = Array(reply.bytes.dropLast())
    guard let (interfaceName, name) = Self.split(method), let entry = entries[interfaceName],
      let envelope = try? Envelope(message, maxNesting: .max)
    else { return }
    if let errorName = reply.errorName {
      guard let (origin, error) = Self.split(errorName), let fields = entries[origin]?.interface.error(error),
        let declaring = entries[origin]?.interface, [interfaceName, "org.varlink.service"].contains(origin)
      else { throw Mismatch(path: "", problem: "'\(errorName)' is no declared error of '\(interfaceName)'") }
      try declaring.validate(message, range: envelope.parameters, as: .structure(fields), maxNesting: .max)
    } else if let output = entry.interface.method(name)?.output {
      try entry.interface.validate(message, range: envelope.parameters, as: .structure(output), maxNesting: .max)
    }
  }

  private static func split(_ name: String) -> (interface: String, member: String)? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }

  /// Encoding strings cannot fail.
  private static func reply(_ parameters: some JSONWritable) -> VarlinkReply {
    do { return try VarlinkReply(parameters) } catch { preconditionFailure("\(error)") }
  }

  private static let ownDefinition = """
    # What every Varlink service offers: its identity and its interfaces.
    interface org.varlink.service

    # Tells who made the service, and which interfaces it has.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # Returns the definition of one interface.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The service has no interface of this name.
    error InterfaceNotFound (interface: string)

    # The interface declares no such method.
    error MethodNotFound (method: string)

    # The method is declared, but this service does not implement it.
    error MethodNotImplemented (method: string)

    # A parameter is missing, unknown or of the wrong type.
    error InvalidParameter (parameter: string)

    # The client may not do this.
    error PermissionDenied ()

    # The method answers with a stream only: call it with 'more'.
    error ExpectedMore ()
    """
}
