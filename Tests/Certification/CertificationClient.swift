import Varlink

/// The client side: takes a server through the sequence and checks each reply, including its types.
struct CertificationClient {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private let client: VarlinkClient

  init(_ client: VarlinkClient) { self.client = client }

  func run() throws {
    let info: JSON = try client.call("org.varlink.service.GetInfo")
    guard case .array(let interfaces)? = info["interfaces"], interfaces.contains(.string(Certification.interface))
    else {
      throw Failure(description: "the server does not offer \(Certification.interface)")
    }
    let description: [String: String] = try client.call(
      "org.varlink.service.GetInterfaceDescription", ["interface": Certification.interface])
    let interface = try Interface(parsing: description["description"] ?? "")

    let started: [String: String] = try client.call("\(Certification.interface).Start")
    guard let id = started["client_id"] else { throw Failure(description: "Start returned no client_id") }
    say("Start: \(id)")
    var carried: [String: JSON] = [:]
    for step in Certification.steps {
      var input = carried
      input["client_id"] = .string(id)
      let declared = Set(interface.method(step.name)?.output.map(\.name) ?? [])
      let outputs = try perform(step, input).map { $0.keeping(declared) }
      say("\(step.name): \(outputs.map(\.description).joined(separator: " "))")
      if step.oneway {
        carried = [:]
        continue
      }
      guard let type = interface.method(step.name)?.output else {
        throw Failure(description: "the server's definition has no method \(step.name)")
      }
      for output in outputs { try interface.validate(output, as: .structure(type)) }
      let wanted = step.outputs.map { JSON.object($0) }
      guard outputs.map(\.withoutNulls) == wanted else {
        throw Failure(description: "\(step.name) returned \(outputs), expected \(wanted)")
      }
      carried = Self.inputForNext(after: step, outputs)
    }
  }

  private func perform(_ step: Certification.Step, _ input: [String: JSON]) throws -> [JSON] {
    let method = "\(Certification.interface).\(step.name)"
    if step.oneway {
      try client.callOneway(method, input)
      return []
    }
    guard step.more else { return [try client.call(method, input)] }
    let replies = try client.callMore(method, input, returning: JSON.self, idleTimeout: .seconds(10))
    var outputs: [JSON] = []
    while let output = try replies.next() { outputs.append(output) }
    return outputs
  }

  /// The output of a call is the input of the next; a stream's strings are collected for Test11.
  private static func inputForNext(after step: Certification.Step, _ outputs: [JSON]) -> [String: JSON] {
    if step.more { return ["last_more_replies": .array(outputs.compactMap { $0["string"] })] }
    guard step.name != "Test11", case .object(let output)? = outputs.first else { return [:] }
    return output
  }
}

extension JSON {
  /// Returns the object without undeclared members, which a client ignores: one implementation returns one in Test09.
  fileprivate func keeping(_ names: Set<String>) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { names.contains($0.key) })
  }
}
