import ChimeCore

/// All popups of the bus channel, and the way to their server: a value that is told what happens and says what to do.
///
///     unknown → looking → open → shut → looking …
struct BusPopupRegistry: Sendable {
  enum Way: Hashable, Sendable {
    /// Nobody has looked yet. Exits: looking, open.
    case unknown
    /// The server is being looked for, and started where it may be; messages wait. Exits: open, shut.
    case looking(activating: Bool)
    /// Popups can be shown. Exits: shut.
    case open(ServerCapabilities)
    /// There is no server. A message looks again; one that comes by itself is heard of. Exits: looking, open.
    case shut
  }

  enum Order: Sendable {
    case look(activating: Bool)
    case notify(UInt64, PopupRequest, ServerCapabilities, replacing: UInt32)
    case close(UInt32)
    case delivered(PopupRequest)
    case failed(PopupRequest, NotificationFault)
    case tell(DesktopEvent)
  }

  private struct Standing {
    let number: UInt32
    let key: PopupContent.Key
    /// Nil for a summary, and for a popup that is only remembered.
    let occurrence: Occurrence?
    var isAnswered = false
    /// It is to go as soon as its server has been found again.
    var isLeaving = false
  }

  /// Calls under way at once; further popups wait for their turn. As many as the desktop's queue begins at once, so that
  /// none takes longer than a call's time.
  static let calls = 64
  /// Popups whose numbers are remembered. The buttons of older ones still work by their keys.
  static let remembered = 256
  static let stopping = NotificationFault(isBlocked: true, sentence: ShutdownOutcome.sentence)
  static let withdrawn = NotificationFault(isBlocked: false, sentence: "closed before it was shown")
  static let noServer = NotificationFault(isBlocked: true, sentence: "no notification server on the session bus")

  private(set) var way = Way.unknown
  private var queue: [PopupRequest] = []
  private var calls: [UInt64: PopupRequest] = [:]
  /// Calls under way whose popups are not wanted any more.
  private var unwanted: Set<UInt64> = []
  private var lastCall: UInt64 = 0
  /// Oldest first.
  private var standing: [Standing] = []
  /// The server that shows what stands.
  private var identity = ""
  private var isClosed = false

  /// The server, and its numbers of the occurrences' popups, a line each.
  var memory: String {
    let lines = standing.compactMap { popup -> String? in
      if case .occurrence(let id) = popup.key { "\(popup.number) \(id)" } else { nil }
    }
    return lines.isEmpty ? "" : ([identity] + lines).joined(separator: "\n")
  }

  /// The occurrences whose popups stand and wait for an answer; of those from before a restart it is not known.
  var unanswered: [OccurrenceID] {
    standing.compactMap { $0.isAnswered ? nil : $0.occurrence }.filter(\.isOpen).map(\.id)
  }

  /// Begins to listen for servers and for buttons, without having a server started.
  ///
  /// - Parameter memory: of an earlier board. It holds for as long as the server is the same.
  mutating func listen(remembering memory: String = "") -> [Order] {
    guard way == .unknown, !isClosed else { return [] }
    let lines = memory.split(separator: "\n")
    identity = lines.first.map(String.init) ?? ""
    standing = lines.dropFirst().suffix(Self.remembered).compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 2, let number = UInt32(words[0]), let id = OccurrenceID(words[1]) else { return nil }
      return Standing(number: number, key: .occurrence(id), occurrence: nil)
    }
    return look(activating: false)
  }

  mutating func admit(_ showing: PopupRequest) -> [Order] {
    guard !isClosed else { return [.failed(showing, Self.stopping)] }
    queue.append(showing)
    switch way {
    case .open: return advance()
    case .looking: return []
    case .unknown, .shut: return look(activating: true)
    }
  }

  private mutating func look(activating: Bool) -> [Order] {
    way = .looking(activating: activating)
    return [.look(activating: activating)]
  }

  mutating func handle(_ event: NotificationServerEvent) -> [Order] {
    guard !isClosed else { return [] }
    switch event {
    case .open(let capabilities, let identity):
      // Another server would give the numbers of this one to other popups.
      if identity != self.identity { standing.removeAll() }
      self.identity = identity
      let wasOpen = if case .open = way { true } else { false }
      way = .open(capabilities)
      let leaving = standing.filter(\.isLeaving).map { Order.close($0.number) }
      standing.removeAll(where: \.isLeaving)
      return (wasOpen ? [] : [.tell(.opened)]) + leaving + advance()
    case .gone:
      standing.removeAll()
      // Who looks will hear what there is now.
      if case .looking = way { return [] }
      return shut(Self.noServer)
    case .unreachable(let fault):
      // Who only listened had no server started; who has something to show may.
      if way == .looking(activating: false), fault.isBlocked, !queue.isEmpty { return look(activating: true) }
      return shut(fault)
    case .shown(let call, let number): return shown(call, number)
    case .refused(let call, let fault):
      let wasUnwanted = unwanted.remove(call) != nil
      guard let showing = calls.removeValue(forKey: call) else { return wasUnwanted ? advance() : [] }
      return [.failed(showing, fault)] + advance()
    case .invoked(let number, let key): return invoked(number, key)
    case .closed(let number, let reason):
      guard let index = standing.firstIndex(where: { $0.number == number }) else { return [] }
      let popup = standing.remove(at: index)
      guard !popup.isAnswered, let occurrence = popup.occurrence else { return [] }
      return [.tell(.closed(occurrence, reason))]
    }
  }

  mutating func withdraw(_ key: PopupContent.Key) -> [Order] {
    var orders = queue.filter { $0.content.key == key }.map { Order.failed($0, Self.withdrawn) }
    queue.removeAll { $0.content.key == key }
    for (call, showing) in calls where showing.content.key == key {
      calls[call] = nil
      unwanted.insert(call)
      orders.append(.failed(showing, Self.withdrawn))
    }
    guard case .open = way else {
      // Which server it is, and so whose popup has the number, is known when it is found.
      for index in standing.indices where standing[index].key == key { standing[index].isLeaving = true }
      return orders
    }
    orders += standing.filter { $0.key == key }.map { .close($0.number) }
    standing.removeAll { $0.key == key }
    return orders
  }

  mutating func close() -> [Order] {
    isClosed = true
    let showings = queue + calls.values
    queue = []
    calls = [:]
    return showings.map { .failed($0, Self.stopping) }
  }

  private mutating func advance() -> [Order] {
    guard case .open(let capabilities) = way else { return [] }
    var orders: [Order] = []
    while calls.count + unwanted.count < Self.calls, let index = queue.firstIndex(where: { !isUnderWay($0) }) {
      let showing = queue.remove(at: index)
      lastCall += 1
      calls[lastCall] = showing
      let earlier = standing.last { $0.key == showing.content.key }?.number ?? 0
      orders.append(.notify(lastCall, showing, capabilities, replacing: earlier))
    }
    return orders
  }

  /// Two rounds of an occurrence are shown one after the other, so that the second can take the first one's place.
  private func isUnderWay(_ showing: PopupRequest) -> Bool {
    calls.values.contains { $0.content.key == showing.content.key }
  }

  private mutating func shut(_ fault: NotificationFault) -> [Order] {
    way = .shut
    defer { queue = [] }
    // What is under way hears of it from the bus.
    return queue.map { .failed($0, fault) }
  }

  private mutating func shown(_ call: UInt64, _ number: UInt32) -> [Order] {
    if unwanted.remove(call) != nil { return [.close(number)] + advance() }
    // Given up before the server showed it: another attempt follows, or has followed.
    guard let showing = calls.removeValue(forKey: call) else { return [.close(number)] }
    guard number != 0 else {
      let fault = NotificationFault(isBlocked: false, sentence: "the notification server gave the popup no number")
      return [.failed(showing, fault)] + advance()
    }
    // A server that gives a number again has forgotten the popup that had it.
    standing.removeAll { $0.number == number || $0.key == showing.content.key }
    standing.append(
      Standing(number: number, key: showing.content.key, occurrence: showing.content.message?.occurrence))
    if standing.count > Self.remembered { standing.removeFirst() }
    return [.delivered(showing)] + advance()
  }

  private mutating func invoked(_ number: UInt32, _ text: String) -> [Order] {
    guard let key = ActionKey(text) else { return [] }
    let index = standing.firstIndex { $0.number == number && $0.key == .occurrence(key.occurrence) }
    // The server closes it now, which is nothing to tell of; where it does not, the withdrawal that follows will.
    if let index { standing[index].isAnswered = true }
    return [.tell(.answered(key.occurrence, key.answer, isOurs: index != nil))]
  }
}
