import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// The delivery channels by queue: `desktop`, the configured commands, and endpoints under all other names.
final class Channels: Sendable {
  let webhook: WebhookChannel
  private let mail: MailChannel
  private let mqtt: MQTTChannel
  private let matrix: MatrixChannel
  private let replies: ReplyReader
  private let endpoints: EndpointCache
  /// The command channel, which lives as long as the daemon: running commands survive a replacement of the other channels.
  let commands: CommandChannel
  private let desktop: PopupCoalescingChannel
  private let desktopSettings: DesktopSettings
  private let webhookSettings: WebhookSettings

  /// The settings that affect popups.
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

  /// The settings that affect messages to endpoints.
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
    // Programs that wait for an answer continue if none of their settings changed.
    let kept = former.flatMap { $0.desktopSettings == popups ? $0.desktop : nil }
    self.desktop = kept ?? PopupCoalescingChannel(transport: transport())
    webhookSettings = WebhookSettings(settings)
    // Attempts continue if none of their settings changed.
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
    // Both were validated when the configuration was read.
    webhooks.proxy = try? ProxyServer(settings.webhookProxy, except: settings.webhookNoProxy)
    webhooks.certificateFile = settings.webhookCertificateFile.isEmpty ? nil : settings.webhookCertificateFile
    webhook = WebhookChannel(configuration: webhooks) { endpoints.access($0) }
    mail = MailChannel(beside: webhook)
    replies = ReplyReader(configuration: webhooks) { endpoints.access($0) }
    mqtt = MQTTChannel(configuration: webhooks) { endpoints.access($0) }
    matrix = MatrixChannel(beside: webhook, replies, on: DispatchExecutor(label: "io.chime.matrix"))
  }

  /// Subscribes to desktop events, which arrive on any thread. Call it once, before the first message.
  ///
  /// - Parameter memory: `desktopMemory` of the previous channels.
  func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void) {
    desktop.listen(remembering: memory, handler)
  }

  /// The record of visible popups for the next channels.
  var desktopMemory: String { desktop.memory }

  /// The occurrences with a visible popup that waits for an answer, as far as known.
  var unanswered: [OccurrenceID] { desktop.unanswered }

  func channel(for queue: DeliveryQueue) -> any Channel {
    if queue.channel == .desktop { return desktop }
    guard commands.book.commands[queue.channel] == nil else { return commands }
    return channel(for: endpoints.kind(of: queue) ?? .webhook)
  }

  /// Returns the channel for endpoints of a kind.
  func channel(for kind: Endpoint.Kind) -> any EndpointChannel {
    switch kind {
    case .webhook: webhook
    case .email: mail
    case .mqtt: mqtt
    case .matrix: matrix
    }
  }

  /// Returns the reader of answers to endpoints of a kind.
  func answers(of kind: Endpoint.Kind) -> any AnswerReading {
    switch kind {
    case .webhook, .email: replies
    case .mqtt: mqtt
    case .matrix: matrix
    }
  }

  /// Returns whether both reach endpoints by the same connections.
  func hasEndpoints(of other: Channels) -> Bool { webhook === other.webhook }

  func withdraw(_ occurrence: OccurrenceID) {
    desktop.withdraw(occurrence)
    webhook.withdraw(occurrence)
  }

  /// Returns whether both show popups by the same channel.
  func hasDesktop(of other: Channels) -> Bool { desktop === other.desktop }

  /// Stops the channels that a successor replaces. Their attempts are aborted and retried.
  func retire(for successor: Channels? = nil) async {
    if successor?.hasDesktop(of: self) != true { await desktop.stop() }
    guard successor?.hasEndpoints(of: self) != true else { return }
    await matrix.stop()
    await webhook.stop()
    await replies.stop()
    await mqtt.stop()
  }

  /// Stops all channels in parallel, because each may take a while.
  func stop() async {
    async let others: Void = retire()
    await commands.stop()
    await others
  }
}
