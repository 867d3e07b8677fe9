import Varlink

/// The server side: knows which call each client must make next.
struct CertificationServer {
  private struct CertificationError: VarlinkError {
    var varlinkName: String { "org.varlink.certification.CertificationError" }
    var wants: JSON
    var got: JSON
    func write(to writer: inout JSONWriter) { ["got": got, "wants": wants].write(to: &writer) }
  }

  private struct ClientIdError: VarlinkError {
    var varlinkName: String { "org.varlink.certification.ClientIdError" }
    func write(to writer: inout JSONWriter) { Empty().write(to: &writer) }
  }

  /// The index of each client's next step.
  private var due: [String: Int] = [:]

  static func service() throws -> VarlinkService {
    var service = VarlinkService(
      vendor: "Varlink for Swift", product: "Certification", version: "1", url: "https://varlink.org")
    try service.register(Certification.definition)
    service.checksReplies = true
    return service
  }

  mutating func answer(_ call: VarlinkCall, on connection: inout ServerConnection) throws {
    let name = String(call.method.dropFirst(Certification.interface.count + 1))
    guard name != "Start" else {
      let id = String(UInt64.random(in: .min ... .max), radix: 16)
      due[id] = 0
      try connection.reply(["client_id": id], to: call.id)
      return
    }
    let parameters = try call.parameters([String: JSON].self)
    guard case .string(let id)? = parameters["client_id"], let index = due[id] else {
      try connection.fail(ClientIdError(), call: call.id)
      return
    }
    let step = Certification.steps[index]
    var wants = step.input
    wants["client_id"] = .string(id)
    let got = JSON.object(parameters).withoutNulls
    guard name == step.name, call.more == step.more, call.oneway == step.oneway, got == .object(wants).withoutNulls
    else {
      due[id] = nil
      try connection.fail(
        CertificationError(
          wants: ["method": .string("\(Certification.interface).\(step.name)"), "parameters": .object(wants)],
          got: ["method": .string(call.method), "parameters": .object(parameters)]),
        call: call.id)
      return
    }
    due[id] = index + 1 < Certification.steps.count ? index + 1 : nil
    for (number, output) in step.outputs.enumerated() {
      try connection.reply(JSON.object(output), to: call.id, continues: number < step.outputs.count - 1)
    }
  }
}
