import ChimeCore

/// A BusPopupRegistry is the state machine of all popups on the bus and of the connection to their server.
///
///     unknown → looking → open → shut → looking …
struct BusPopupRegistry: Sendable {
  enum Way: Hashable, Sendable {
    /// No server has been looked up. Exits: looking, open.
    case unknown
    /// The server is being looked up, and started if that is allowed. Messages wait. Exits: open, shut.
    case looking(activating: Bool)
    /// Popups can be shown. Exits: shut.
    case open(ServerCapabilities)
    /// There is no server. The next message looks one up; a new server reports itself. Exits: looking, open.
    case unavailable
  }

  enum Order: Sendable {
    case look(activating: Bool)
    case notify(UInt64, PopupRequest, ServerCapabilities, replacing: UInt32)
    case close(UInt32)
    case delivered(PopupRequest)
    case failed(PopupRequest, NotificationFault)
    case tell(DesktopEvent)
  }

  private struct OpenPopup {
    let number: UInt32
    let key: PopupContent.Key
    /// Nil for a summary and for a popup restored from `memory`.
    let occurrence: Occurrence?
    var isAnswered = false
    /// The popup is closed as soon as its server is found again.
    var isLeaving = false
  }

  /// Maximum calls in flight; further popups wait. It equals the desktop queue's prefetch, so that no popup waits
  /// longer than one call takes.
  static let calls = 64
  /// Maximum popup numbers kept. Buttons of older popups still work by their keys.
  static let remembered = 256
  static let stopping = NotificationFault(isBlocked: true, sentence: ShutdownOutcome.sentence)
  static let withdrawn = NotificationFault(isBlocked: false, sentence: "closed before it was shown")
  static let noServer = NotificationFault(isBlocked: true, sentence: "no notification server on the session bus")

  private(set) var way = Way.unknown
  private var queue: [PopupRequest] = []
  private var calls: [UInt64: PopupRequest] = [:]
  /// Calls in flight whose popups were withdrawn.
  private var unwanted: Set<UInt64> = []
  private var lastCall: UInt64 = 0
  /// Popups on screen, oldest first.
  private var openPopups: [OpenPopup] = []
  /// Identity of the server that shows the popups on screen.
  private var identity = ""
  private var isClosed = false

  /// The server's identity and the numbers of the occurrences' popups, one per line.
  var memory: String {
    let lines = openPopups.compactMap { popup -> String? in
      if case .occurrence(let id) = popup.key { "\(popup.number) \(id)" } else { nil }
    }
    return lines.isEmpty ? "" : ([identity] + lines).joined(separator: "\n")
  }

  /// Occurrences whose popups wait for an answer. Popups restored from `memory` are not included.
  var unanswered: [OccurrenceID] {
    openPopups.compactMap { $0.isAnswered ? nil : $0.occurrence }.filter(\.isOpen).map(\.id)
  }

  /// Starts to listen for servers and button presses, without starting a server.
  ///
  /// - Parameter memory: The memory of an earlier registry. It applies only if the server is the same.
  mutating func listen(remembering memory: String = "") -> [Order] {
    guard way == .unknown, !isClosed else { return [] }
    let memory = PopupMemory(memory)
    identity = memory.identity
    openPopups = memory.popups.suffix(Self.remembered).map {
      OpenPopup(number: $0.number, key: .occurrence($0.occurrence), occurrence: nil)
    }
    return look(activating: false)
  }

  mutating func admit(_ showing: PopupRequest) -> [Order] {
    guard !isClosed else { return [.failed(showing, Self.stopping)] }
    queue.append(showing)
    switch way {
    case .open: return advance()
    case .looking: return []
    case .unknown, .unavailable: return look(activating: true)
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
      // A new server would assign the same numbers to other popups.
      if identity != self.identity { openPopups.removeAll() }
      self.identity = identity
      let wasOpen = if case .open = way { true } else { false }
      way = .open(capabilities)
      let leaving = openPopups.filter(\.isLeaving).map { Order.close($0.number) }
      openPopups.removeAll(where: \.isLeaving)
      return (wasOpen ? [] : [.tell(.opened)]) + leaving + advance()
    case .gone:
      openPopups.removeAll()
      // The pending look-up will report the current state.
      if case .looking = way { return [] }
      return unavailable(Self.noServer)
    case .unreachable(let fault):
      // The first look-up was not allowed to start a server. A waiting message allows it.
      if way == .looking(activating: false), fault.isBlocked, !queue.isEmpty { return look(activating: true) }
      return unavailable(fault)
    case .shown(let call, let number): return shown(call, number)
    case .refused(let call, let fault):
      let wasUnwanted = unwanted.remove(call) != nil
      guard let showing = calls.removeValue(forKey: call) else { return wasUnwanted ? advance() : [] }
      return [.failed(showing, fault)] + advance()
    case .invoked(let number, let key): return invoked(number, key)
    case .closed(let number, let reason):
      guard let index = openPopups.firstIndex(where: { $0.number == number }) else { return [] }
      let popup = openPopups.remove(at: index)
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
      // Only the server's identity tells whose popup has the number, and it is known once the server is found.
      for index in openPopups.indices where openPopups[index].key == key { openPopups[index].isLeaving = true }
      return orders
    }
    orders += openPopups.filter { $0.key == key }.map { .close($0.number) }
    openPopups.removeAll { $0.key == key }
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
      let earlier = openPopups.last { $0.key == showing.content.key }?.number ?? 0
      orders.append(.notify(lastCall, showing, capabilities, replacing: earlier))
    }
    return orders
  }

  /// Two rounds of an occurrence are shown in sequence, so that the second can replace the first.
  private func isUnderWay(_ showing: PopupRequest) -> Bool {
    calls.values.contains { $0.content.key == showing.content.key }
  }

  private mutating func unavailable(_ fault: NotificationFault) -> [Order] {
    way = .unavailable
    defer { queue = [] }
    // The bus reports the failure of calls in flight.
    return queue.map { .failed($0, fault) }
  }

  private mutating func shown(_ call: UInt64, _ number: UInt32) -> [Order] {
    if unwanted.remove(call) != nil { return [.close(number)] + advance() }
    // The call had already failed, for example by its time limit. A retry shows the message.
    guard let showing = calls.removeValue(forKey: call) else { return [.close(number)] }
    guard number != 0 else {
      let fault = NotificationFault(isBlocked: false, sentence: "the notification server gave the popup no number")
      return [.failed(showing, fault)] + advance()
    }
    // A server reuses a number only after it has dropped the earlier popup.
    openPopups.removeAll { $0.number == number || $0.key == showing.content.key }
    openPopups.append(
      OpenPopup(number: number, key: showing.content.key, occurrence: showing.content.message?.occurrence))
    if openPopups.count > Self.remembered { openPopups.removeFirst() }
    return [.delivered(showing)] + advance()
  }

  private mutating func invoked(_ number: UInt32, _ text: String) -> [Order] {
    guard let key = ActionKey(text) else { return [] }
    let index = openPopups.firstIndex { $0.number == number && $0.key == .occurrence(key.occurrence) }
    // Most servers close the popup now, which is not an event. On others, the withdrawal that follows closes it.
    if let index { openPopups[index].isAnswered = true }
    return [.tell(.answered(key.occurrence, key.answer, isOurs: index != nil))]
  }
}
