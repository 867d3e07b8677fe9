import Foundation

/// A client that sends random requests one after another until the daemon is gone.
struct CrashClient: Sendable {
  let number: Int
  let round: Int
  let seed: UInt64
  let expectations: CrashExpectations
  let receiver: String
  /// Recurring reminders, which all clients pause and resume.
  let recurring: [String]

  /// Connects, settles its open requests, and continues.
  ///
  /// - Parameter most: the number of requests after which it adds no more reminders, to keep the final check short; it
  ///   continues with existing ones, so that a crash at any moment meets a request.
  /// - Throws: if an acknowledged state is lost; a lost connection only ends the client.
  func run(_ path: String, most: Int) throws {
    var random = SeededGenerator(state: seed &+ UInt64(round &* 16 &+ number))
    var isAsking = false
    do {
      let socket = try RawSocket(path: path)
      try settle(socket)
      for _ in 0..<5 { try check(one: &random, socket) }
      isAsking = true
      for step in 0..<most { try act(step, Int.random(in: 0..<20, using: &random), socket, &random) }
      for step in most..<most + 300 { try act(step, Int.random(in: 8..<17, using: &random), socket, &random) }
    } catch is RawSocket.Disconnected {
    } catch is Refused {
      // The daemon was stopping, so this request was not executed. Earlier ones remain open.
      if isAsking { forgetDoubts() }
    } catch let failure as HarnessFailure where failure.description.hasPrefix("cannot connect") {
    }
  }

  private func forgetDoubts() {
    expectations.change { state in
      for (id, wanted) in state.reminders where wanted.client == number && wanted.doubt != nil {
        state.reminders[id]?.doubt = nil
      }
    }
  }

  /// Settles open requests: repeats those with tokens, and checks the others.
  func settle(_ socket: RawSocket) throws {
    let before = expectations.now
    for (token, request) in before.unanswered where token.hasPrefix("\(number)-") {
      try add(token, request, socket)
      expectations.change { $0.doubts += 1 }
    }
    for (id, wanted) in before.reminders where wanted.client == number && wanted.doubt != nil {
      let done = try settle(id, wanted, socket)
      expectations.change {
        $0.doubts += 1
        if done { $0.doubtsDone += 1 }
      }
    }
    if number == 0 { try checkEndpoints(socket) }
  }

  private func settle(_ id: String, _ wanted: CrashExpectations.ExpectedReminder, _ socket: RawSocket) throws -> Bool {
    guard let doubt = wanted.doubt else { return false }
    let found = try reminder(id, socket)
    var new = wanted
    new.doubt = nil
    switch doubt {
    case .removal where found == nil:
      expectations.change {
        $0.reminders[id] = nil
        $0.removed.insert(id)
      }
      return true
    case .change(let title, let body, let urgency):
      if found?["title"].string == title { (new.title, new.body, new.urgency) = (title, body, urgency) }
    case .pause(let paused):
      new.isPaused = (found?["state"].string == "paused") == paused ? paused : wanted.isPaused
    case .removal: break
    }
    try CrashProof.expect(found, is: new, id)
    expectations.change { [new] in $0.reminders[id] = new }
    return new.title != wanted.title || new.isPaused != wanted.isPaused
  }

  /// Checks that one random reminder of this client is as acknowledged.
  private func check(one random: inout SeededGenerator, _ socket: RawSocket) throws {
    let state = expectations.now
    if let (id, wanted) = state.reminders.filter({ $0.value.client == number }).randomElement(using: &random) {
      try CrashProof.expect(try reminder(id, socket), is: wanted, id)
    }
    if let id = state.removed.randomElement(using: &random), try reminder(id, socket) != nil {
      throw HarnessFailure("\(id) was removed, and is back")
    }
  }

  private func act(_ step: Int, _ die: Int, _ socket: RawSocket, _ random: inout SeededGenerator) throws {
    switch die {
    case 0...7: try add(step, socket, &random)
    case 8...10: try edit(step, socket, &random)
    case 11: if step % 8 == 0 { try remove(socket, &random) }
    case 12, 13: try pause(socket, &random)
    case 14...16: try answer(socket, &random)
    case 17: try importSome(step, socket)
    case 18:
      let sent = try call("io.chime.Deliveries.List", ["limit": 5, "filter": ["state": "delivered"]], socket)
      if let id = sent.parameters["deliveries"].elements.randomElement(using: &random)?["id"] {
        _ = try call("io.chime.Deliveries.Redeliver", ["which": ["id": id]], socket)
      }
    default:
      if number == 0 { return try changeEndpoints(step, socket, &random) }
      // Several clients do this; the times must be recorded in any case.
      guard let id = recurring.randomElement(using: &random) else { return }
      _ = try must(
        "io.chime.Reminders.\(Bool.random(using: &random) ? "Pause" : "Resume")", ["id": .string(id)], socket)
    }
  }

  private struct Refused: Error {}

  /// Calls a method; counts the reply.
  private func call(_ method: String, _ parameters: JSON, _ socket: RawSocket) throws -> RawSocket.Answer {
    let answer = try socket.call(method, parameters)
    if answer.error?.hasSuffix(".StoreUnavailable") == true { throw Refused() }
    expectations.change { $0.acknowledged += 1 }
    return answer
  }

  private func must(_ method: String, _ parameters: JSON, _ socket: RawSocket) throws -> JSON {
    let answer = try call(method, parameters, socket)
    guard answer.error == nil else { throw HarnessFailure("\(method) \(parameters): \(answer)") }
    return answer.parameters
  }

  /// Returns a reminder; nil if there is none.
  private func reminder(_ id: String, _ socket: RawSocket) throws -> JSON? {
    let answer = try socket.call("io.chime.Reminders.Get", ["id": .string(id)])
    if answer.error == "io.chime.Reminders.NotFound" { return nil }
    if answer.error == "io.chime.Reminders.StoreUnavailable" { throw Refused() }
    guard answer.error == nil else { throw HarnessFailure("\(answer)") }
    return answer.parameters["reminder"]
  }

  private func add(_ step: Int, _ socket: RawSocket, _ random: inout SeededGenerator) throws {
    let token = "\(number)-\(round)-\(step)"
    let isSoon = Int.random(in: 0..<4, using: &random) > 0
    var draft: [String: JSON] = [
      "title": .string("Load \(token)"),
      "when": isSoon ? .string("in \(Int.random(in: 1...2, using: &random))s") : "daily at 09:00",
      "channels": [["team"], ["team"], ["team", "note"], ["note"], ["desktop", "side"]][
        Int.random(in: 0..<5, using: &random)], "grace": "PT12H",
    ]
    if Int.random(in: 0..<8, using: &random) == 0 { draft["nag"] = ["every": "PT10S", "max": 3] }
    try add(token, .object(draft), socket)
  }

  private func add(_ token: String, _ draft: JSON, _ socket: RawSocket) throws {
    expectations.change {
      if $0.unanswered.updateValue(draft, forKey: token) == nil { $0.tokens += 1 }
    }
    let answer: JSON
    if draft["text"] != .null {
      answer = try must("io.chime.Reminders.Import", draft, socket)
    } else {
      answer = try must("io.chime.Reminders.Add", ["reminder": draft, "token": .string(token)], socket)
    }
    let imported = answer["added"].elements
    let reminder = answer["reminder"]
    let isSoon = draft["when"].string?.hasPrefix("in ") ?? false
    expectations.change { state in
      state.unanswered[token] = nil
      for one in imported { state.imported[one["id"].string ?? ""] = one["title"].string }
      guard let id = reminder["id"].string else { return }
      state.reminders[id] = CrashExpectations.ExpectedReminder(
        client: number, title: draft["title"].string ?? "", when: reminder["when"].string ?? "",
        channels: draft["channels"].elements.compactMap(\.string), isSoon: isSoon)
    }
  }

  private func importSome(_ step: Int, _ socket: RawSocket) throws {
    let token = "\(number)-\(round)-\(step)-import"
    let lines = (1...3).map { "\($0) 4 * * * import-\(number)-\(round)-\(step)-\($0)\n" }
    try add(token, ["text": .string(lines.joined()), "format": "crontab", "token": .string(token)], socket)
  }

  /// Returns a random reminder of this client; one-off ones only if `soon`.
  private func mine(soon: Bool, _ random: inout SeededGenerator) -> (
    key: String, value: CrashExpectations.ExpectedReminder
  )? {
    expectations.now.reminders.filter { $0.value.client == number && (soon || !$0.value.isSoon) }.randomElement(
      using: &random)
  }

  private func edit(_ step: Int, _ socket: RawSocket, _ random: inout SeededGenerator) throws {
    guard let (id, found) = mine(soon: true, &random) else { return }
    var wanted = found
    let title = "Load \(number)-\(round)-\(step) edited"
    let body = "text \(step)"
    let urgency = ["low", "normal", "critical"][Int.random(in: 0..<3, using: &random)]
    expectations.change { $0.reminders[id]?.doubt = .change(title: title, body: body, urgency: urgency) }
    _ = try must(
      "io.chime.Reminders.Update",
      ["id": .string(id), "change": ["title": .string(title), "body": .string(body), "urgency": .string(urgency)]],
      socket)
    (wanted.title, wanted.body, wanted.urgency, wanted.doubt) = (title, body, urgency, nil)
    expectations.change { [wanted] in $0.reminders[id] = wanted }
  }

  private func remove(_ socket: RawSocket, _ random: inout SeededGenerator) throws {
    guard let (id, _) = mine(soon: true, &random) else { return }
    expectations.change { $0.reminders[id]?.doubt = .removal }
    _ = try must("io.chime.Reminders.Remove", ["id": .string(id)], socket)
    expectations.change {
      $0.reminders[id] = nil
      $0.removed.insert(id)
    }
  }

  private func pause(_ socket: RawSocket, _ random: inout SeededGenerator) throws {
    guard let (id, wanted) = mine(soon: false, &random) else { return }
    expectations.change { $0.reminders[id]?.doubt = .pause(!wanted.isPaused) }
    _ = try must("io.chime.Reminders.\(wanted.isPaused ? "Resume" : "Pause")", ["id": .string(id)], socket)
    expectations.change {
      $0.reminders[id]?.isPaused = !wanted.isPaused
      $0.reminders[id]?.doubt = nil
    }
  }

  private func answer(_ socket: RawSocket, _ random: inout SeededGenerator) throws {
    let open = try must("io.chime.Occurrences.List", ["filter": ["open": true], "limit": 40], socket)["occurrences"]
    // Only this client's, by the title prefix.
    let own = open.elements.filter { $0["title"].string?.hasPrefix("Load \(number)-") ?? false }
    guard let id = own.randomElement(using: &random)?["id"] else { return }
    let text = id.string ?? ""
    let (method, said): (String, CrashExpectations.Answer) =
      [("Done", .done), ("Done", .done), ("Dismiss", .dismissed), ("Snooze", .snoozed)][
        Int.random(in: 0..<4, using: &random)]
    expectations.change { _ = $0.answeredInDoubt.insert(text) }
    // The receiver may have answered first.
    let answer = try call(
      "io.chime.Occurrences.\(method)", said == .snoozed ? ["id": id, "length": "PT1S"] : ["id": id], socket)
    expectations.change {
      $0.answeredInDoubt.remove(text)
      if answer.error == nil { $0.answers[text] = said }
    }
  }

  // The endpoints, which only one client edits.

  private func changeEndpoints(_ step: Int, _ socket: RawSocket, _ random: inout SeededGenerator) throws {
    if Bool.random(using: &random) {
      let value = "\(round)-\(step)"
      expectations.change { $0.header.doubt = value }
      _ = try must(
        "io.chime.Endpoints.Update",
        ["name": "team", "settings": ["headers": [["name": "x-edit", "value": .string(value)]]]], socket)
      expectations.change { $0.header = (value, nil) }
    } else {
      let bytes = Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
      let secret = "whsec_" + bytes.base64EncodedString()
      expectations.change { $0.secret.doubt = secret }
      _ = try must(
        "io.chime.Endpoints.Put",
        ["name": "side", "url": .string(receiver), "secret": .string(secret)], socket)
      expectations.change { $0.secret = (secret, nil) }
    }
  }

  private func checkEndpoints(_ socket: RawSocket) throws {
    let endpoints = try must("io.chime.Endpoints.List", [:], socket)["endpoints"].elements
    let team = endpoints.first { $0["name"].string == "team" }
    let header = team?["settings"]["headers"][0]["value"].string ?? ""
    let known = expectations.now.header
    guard header == known.known || header == known.doubt else {
      throw HarnessFailure("the endpoint's header is \(header), and was acknowledged as \(known.known)")
    }
    expectations.change { $0.header = (header, nil) }
  }
}
