import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// The ways to reach someone, by queue: `desktop`, the configuration's commands, and every other name is an endpoint's.
final class Channels: Sendable {
  let webhook: WebhookChannel
  private let mail: MailChannel
  private let mqtt: MQTTChannel
  private let matrix: MatrixChannel
  private let replies: ReplyReader
  private let endpoints: EndpointCache
  /// One for the daemon's whole life: what runs goes on when the other channels are made anew.
  let commands: CommandChannel
  private let desktop: PopupCoalescingChannel
  private let desktopSettings: DesktopSettings
  private let webhookSettings: WebhookSettings

  /// What of the configuration concerns popups.
  private struct DesktopSettings: Equatable {
    let program: String
    let transport: Configuration.Channels.DesktopTransport
    let timeout: Milliseconds
    let maxWaiting: Int

    init(_ settings: Configuration.Channels) {
      program = settings.desktopProgram
      transport = settings.desktopTransport
      timeout = settings.desktopTimeout
      maxWaiting = settings.desktopMaxWaiting
    }
  }

  /// What of the configuration concerns messages to endpoints.
  private struct WebhookSettings: Equatable {
    let times: [Milliseconds]
    let concurrency: Int
    let network: [[AddressBlock]]
    let proxy: [String]
    let certificateFile: String

    init(_ settings: Configuration.Channels) {
      times = [settings.webhookConnectTimeout, settings.webhookTimeout]
      concurrency = settings.webhookConcurrency
      network = [settings.webhookAllow, settings.webhookDeny]
      proxy = [settings.webhookProxy] + settings.webhookNoProxy
      certificateFile = settings.webhookCertificateFile
    }
  }

  init(
    configuration: Configuration, isSystem: Bool, environment: [String: String], zones: ZoneCatalog,
    endpoints: EndpointCache, commands: CommandChannel, keeping former: Channels? = nil
  ) {
    self.commands = commands
    self.endpoints = endpoints
    let settings = configuration.channels
    let popups = DesktopSettings(settings)
    desktopSettings = popups
    var desktop = DesktopConfiguration(environment: environment)
    desktop.program = settings.desktopProgram
    desktop.showTimeout = settings.desktopTimeout
    desktop.concurrentWaits = settings.desktopMaxWaiting
    let timeOfDay: @Sendable (Instant, ZoneChoice) -> String = { instant, choice in
      let zone = zones.zone(for: choice) ?? zones.local
      return String(zone.civil(at: instant).time.description.prefix(5))
    }
    desktop.timeOfDay = timeOfDay
    let shown = desktop
    func transport() -> any PopupTransport {
      switch settings.desktopTransport {
      case .program: DesktopChannel(configuration: shown)
      case .bus:
        BusDesktopChannel(
          configuration: shown, server: SessionBus(environment: environment, timeout: settings.desktopTimeout))
      }
    }
    // Programs that wait for an answer go on when nothing that concerns them has changed.
    let kept = former.flatMap { $0.desktopSettings == popups ? $0.desktop : nil }
    self.desktop = kept ?? PopupCoalescingChannel(transport: transport())
    webhookSettings = WebhookSettings(settings)
    // Nor are attempts cut that would be made in the same way again.
    if let former, former.webhookSettings == webhookSettings {
      (webhook, mail, replies, mqtt, matrix) = (former.webhook, former.mail, former.replies, former.mqtt, former.matrix)
      return
    }
    var webhooks = EndpointConfiguration(version: Product.version)
    webhooks.timeOfDay = timeOfDay
    webhooks.connectTimeout = settings.webhookConnectTimeout
    webhooks.totalTimeout = settings.webhookTimeout
    webhooks.concurrentPerEndpoint = settings.webhookConcurrency
    webhooks.network = NetworkPolicy(
      isPersonal: !isSystem, allow: settings.webhookAllow, deny: settings.webhookDeny)
    // Both were judged as the configuration was read.
    webhooks.proxy = try? ProxyServer(settings.webhookProxy, except: settings.webhookNoProxy)
    webhooks.certificateFile = settings.webhookCertificateFile.isEmpty ? nil : settings.webhookCertificateFile
    webhook = WebhookChannel(configuration: webhooks) { endpoints.access($0) }
    mail = MailChannel(beside: webhook)
    replies = ReplyReader(configuration: webhooks) { endpoints.access($0) }
    mqtt = MQTTChannel(configuration: webhooks) { endpoints.access($0) }
    matrix = MatrixChannel(beside: webhook, replies, on: DispatchExecutor(label: "io.chime.matrix"))
  }

  /// Tells what happens on the desktop, from any thread. Called once, before messages are sent.
  ///
  /// - Parameter memory: `desktopMemory` of the channels before these.
  func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void) {
    desktop.listen(remembering: memory, handler)
  }

  /// What the next channels have to know of the popups that stand.
  var desktopMemory: String { desktop.memory }

  /// The occurrences whose popups stand and wait for an answer, as far as is known.
  var unanswered: [OccurrenceID] { desktop.unanswered }

  func channel(for queue: DeliveryQueue) -> any Channel {
    if queue.channel == .desktop { return desktop }
    guard commands.book.commands[queue.channel] == nil else { return commands }
    return channel(for: endpoints.kind(of: queue) ?? .webhook)
  }

  /// The channel to endpoints of a kind.
  func channel(for kind: Endpoint.Kind) -> any EndpointChannel {
    switch kind {
    case .webhook: webhook
    case .email: mail
    case .mqtt: mqtt
    case .matrix: matrix
    }
  }

  /// Where the answers to an endpoint's messages come from.
  func answers(of kind: Endpoint.Kind) -> any AnswerReading {
    switch kind {
    case .webhook, .email: replies
    case .mqtt: mqtt
    case .matrix: matrix
    }
  }

  /// Whether endpoints are reached by the same connections as before.
  func hasEndpoints(of other: Channels) -> Bool { webhook === other.webhook }

  func withdraw(_ occurrence: OccurrenceID) {
    desktop.withdraw(occurrence)
    webhook.withdraw(occurrence)
  }

  /// Whether popups go the same way as before.
  func hasDesktop(of other: Channels) -> Bool { desktop === other.desktop }

  /// Stops those that others take over from; what they had under way is cut short and tried again.
  func retire(for successor: Channels? = nil) async {
    if successor?.hasDesktop(of: self) != true { await desktop.stop() }
    guard successor?.hasEndpoints(of: self) != true else { return }
    await matrix.stop()
    await webhook.stop()
    await replies.stop()
    await mqtt.stop()
  }

  /// Stops all, side by side: each may take its time.
  func stop() async {
    async let others: Void = retire()
    await commands.stop()
    await others
  }
}
