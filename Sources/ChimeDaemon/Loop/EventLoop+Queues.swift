import ChimeCore
import ChimeDelivery
import ChimeSchedule

// Policies of the delivery queues, from the endpoints' settings and the configuration.
extension EventLoop {
  /// Adopts the endpoints from the store. If there are any, HTTP is prepared now, so that the first message does not
  /// wait for its libraries.
  func adopt(_ known: [Endpoint]) {
    let now = SystemClock.now
    let review = endpoints.replace(with: known, now: now)
    context.subscriptions = review.subscriptions
    for problem in review.problems { log(.warning, "\(problem); its messages wait") }
    if let end = review.nextEnd { arm(secretsAt: end) }
    // Requests change these files on the same executor, so that no two changes run at once.
    if review.hasOldSecrets {
      Task(executorPreference: requestExecutor) { [endpoints] in endpoints.forgetOldSecrets(now) }
    }
    for kind in Set(known.map(\.kind)) { channels.channel(for: kind).prepare() }
    let former = outbox.endpoints
    outbox.endpoints = Dictionary(known.map { ($0.queue, $0) }) { _, last in last }
    let renewed = Set(former.keys).union(outbox.endpoints.keys).filter { queue in
      !Self.isTheSame(former[queue], outbox.endpoints[queue])
    }
    // Deliveries to a removed endpoint have been cancelled.
    drop { message in
      let queue = message.delivery.queue
      return former[queue] != nil && outbox.endpoints[queue] == nil
    }
    let policies = policies(of: known)
    handle(.policies(policies, renewed: renewed))
    if !review.mended.isEmpty {
      for queue in review.mended { handle(.opened(queue)) }
      let mended = Set(review.mended)
      wakeQueues { mended.contains($0) }
    }
    considerReplies()
    if fleet.store != nil, !policies.owners.isEmpty {
      Task { await withTaskExecutorPreference(executor) { await renewShares() } }
    }
  }

  func reloadEndpoints() {
    Task { await withTaskExecutorPreference(executor) { await refreshEndpoints() } }
  }

  /// Reads the endpoints again. A request that changed one awaits this before the loop learns what the change woke.
  func refreshEndpoints() async {
    do {
      adopt(try await store.read { try $0.endpoints(owner: nil) })
    } catch {
      log(.warning, "the endpoints could not be read again; ignoring: \(error)")
    }
  }

  /// Returns the queues that rest after repeated failures, with the end of the rest.
  func rests() -> [DeliveryQueue: Instant] { scheduler.rests(at: SystemClock.now) }

  /// Renews the policies after a change of the configuration.
  func renewPolicies() {
    handle(.policies(policies(of: outbox.endpoints.values), renewed: Set(outbox.endpoints.keys)))
  }

  /// Returns whether two endpoints are equal except for their failure history.
  static func isTheSame(_ one: Endpoint?, _ other: Endpoint?) -> Bool {
    var (one, other) = (one, other)
    one?.failingSince = nil
    other?.failingSince = nil
    return one == other
  }

  /// Returns the policies for these endpoints under the present configuration and tenants.
  func policies(of known: some Sequence<Endpoint>) -> DeliveryQueuePolicies {
    Self.policies(of: known, configuration.channels, commands.book, tenants)
  }

  /// The number of attempts of one owner that may run at once, over all endpoints. Each attempt is a connection, so
  /// many unresponsive endpoints would use up the process's descriptors. If the sum of the limits exceeds this number,
  /// each endpoint gets the same fraction of its own limit. A higher configured limit for one endpoint raises this number.
  static let attemptsOfOwner = 512

  static func policies(
    of known: some Sequence<Endpoint>, _ settings: Configuration.Channels, _ book: CommandRegistry, _ tenants: Tenants
  ) -> DeliveryQueuePolicies {
    // A channel ends its attempts itself; the work around an attempt takes milliseconds.
    let margin = Milliseconds.seconds(5)
    let webhookLimit = settings.webhookTimeout + margin
    let all = known.map {
      ($0.queue, DeliveryQueuePolicy($0, concurrency: settings.webhookConcurrency, attemptLimit: webhookLimit))
    }
    var queues = Dictionary(all) { _, last in last }
    let sums = queues.reduce(into: [:]) { $0[$1.key.owner, default: 0] += $1.value.concurrency }
    let most = max(Self.attemptsOfOwner, settings.webhookConcurrency)
    for (queue, policy) in queues {
      guard let sum = sums[queue.owner], sum > most else { continue }
      queues[queue]?.concurrency = max(1, policy.concurrency * most / sum)
    }
    return DeliveryQueuePolicies(
      queues: queues,
      channels: book.commands.mapValues {
        DeliveryQueuePolicy(concurrency: $0.concurrency, attemptLimit: $0.longestAttempt + margin)
      },
      desktop: DeliveryQueuePolicy(concurrency: Self.popupsAtOnce, attemptLimit: settings.desktopTimeout + margin),
      usual: DeliveryQueuePolicy(concurrency: settings.webhookConcurrency, attemptLimit: webhookLimit),
      owners: tenants.rates)
  }

  /// The number of popups that are handed over at once for one user. Popups that waited for a screen must arrive
  /// together to be combined.
  private static let popupsAtOnce = 64
}
