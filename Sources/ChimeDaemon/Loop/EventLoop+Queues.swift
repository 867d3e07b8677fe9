import ChimeCore
import ChimeDelivery
import ChimeSchedule

// How queues are worked off: the endpoints' own settings and the configuration, as the scheduler's policies.
extension EventLoop {
  /// Takes the endpoints as they are in the store. Where there are some, HTTP is made ready at once: a first message does
  /// not wait for its libraries.
  func adopt(_ known: [Endpoint]) {
    let now = SystemClock.now
    let review = endpoints.replace(with: known, now: now)
    context.subscriptions = review.subscriptions
    for problem in review.problems { log(.warning, "\(problem); its messages wait") }
    if let end = review.nextEnd { arm(secretsAt: end) }
    // Where requests change these files too, so that no two do at once.
    if review.hasOldSecrets {
      Task(executorPreference: requestExecutor) { [endpoints] in endpoints.forgetOldSecrets(now) }
    }
    for kind in Set(known.map(\.kind)) { channels.channel(for: kind).prepare() }
    let former = outbox.endpoints
    outbox.endpoints = Dictionary(known.map { ($0.queue, $0) }) { _, last in last }
    let renewed = Set(former.keys).union(outbox.endpoints.keys).filter { queue in
      !Self.isTheSame(former[queue], outbox.endpoints[queue])
    }
    // What was owed to an endpoint that is gone has been cancelled.
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

  /// Reads the endpoints again. A request that has changed one waits for it before the loop hears of what it woke.
  func refreshEndpoints() async {
    do {
      adopt(try await store.read { try $0.endpoints(owner: nil) })
    } catch {
      log(.warning, "the endpoints could not be read again; ignoring: \(error)")
    }
  }

  /// Queues that are not tried before then, because they failed again and again.
  func rests() -> [DeliveryQueue: Instant] { scheduler.rests(at: SystemClock.now) }

  /// After a change of the configuration.
  func renewPolicies() {
    handle(.policies(policies(of: outbox.endpoints.values), renewed: Set(outbox.endpoints.keys)))
  }

  /// Whether what is known of how the one answers holds for the other.
  static func isTheSame(_ one: Endpoint?, _ other: Endpoint?) -> Bool {
    var (one, other) = (one, other)
    one?.failingSince = nil
    other?.failingSince = nil
    return one == other
  }

  /// As the endpoints, the configuration and the tenants have it now.
  func policies(of known: some Sequence<Endpoint>) -> DeliveryQueuePolicies {
    Self.policies(of: known, configuration.channels, commands.book, tenants)
  }

  /// How many attempts of an owner may be under way at once, at all endpoints together: each is a connection, and whoever has
  /// many endpoints that never answer would have all descriptors of the process. Where it is not enough each endpoint has the
  /// same part of what it may have by itself. A configuration that lets one endpoint have more has it for all together.
  static let attemptsOfOwner = 512

  static func policies(
    of known: some Sequence<Endpoint>, _ settings: Configuration.Channels, _ book: CommandRegistry, _ tenants: Tenants
  ) -> DeliveryQueuePolicies {
    // A channel ends its attempts by itself; what it does before and after is a matter of milliseconds.
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

  /// Popups that are being handed over at once for one user: what waited for a screen is to be seen together, so that it
  /// can be shown as a few.
  private static let popupsAtOnce = 64
}
