import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// The ways to reach someone, by lane: `desktop`, the configuration's commands, and every other name is an endpoint's.
final class Channels: Sendable {
  let webhook: WebhookChannel
  /// One for the daemon's whole life: what runs goes on when the other channels are made anew.
  let commands: CommandChannel
  private let desktop: GatheringChannel

  init(
    configuration: Configuration, isSystem: Bool, environment: [String: String], zones: ZoneCatalog,
    endpoints: EndpointDirectory, commands: CommandChannel
  ) {
    self.commands = commands
    let settings = configuration.channels
    var desktop = DesktopConfiguration(environment: environment)
    desktop.program = settings.desktopProgram
    desktop.showTimeout = settings.desktopTimeout
    desktop.concurrentWaits = settings.desktopMaxWaiting
    let timeOfDay: @Sendable (Instant, ZoneChoice) -> String = { instant, choice in
      let zone = zones.zone(for: choice) ?? zones.local
      return String(zone.civil(at: instant).time.description.prefix(5))
    }
    desktop.timeOfDay = timeOfDay
    let transport: any PopupTransport =
      switch settings.desktopTransport {
      case .program: DesktopChannel(configuration: desktop)
      case .bus:
        BusDesktopChannel(
          configuration: desktop, server: SessionBus(environment: environment, timeout: settings.desktopTimeout))
      }
    self.desktop = GatheringChannel(transport: transport)
    var webhooks = WebhookConfiguration(version: Product.version)
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
  }

  /// Tells what happens on the desktop, from any thread. Called once, before messages are sent.
  ///
  /// - Parameter memory: `desktopMemory` of the channels before these.
  func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void) {
    desktop.listen(remembering: memory, handler)
  }

  /// What the next channels have to know of the popups that stand.
  var desktopMemory: String { desktop.memory }

  func channel(for lane: Lane) -> any Channel {
    if lane.channel == .desktop { return desktop }
    return commands.book.commands[lane.channel] == nil ? webhook : commands
  }

  func withdraw(_ occurrence: OccurrenceID) {
    desktop.withdraw(occurrence)
    webhook.withdraw(occurrence)
  }

  /// Stops those that others take over from; what they had under way ends as failed and is tried again.
  func retire() async {
    await desktop.stop()
    await webhook.stop()
  }

  /// Stops all, side by side: each may take its time.
  func stop() async {
    async let others: Void = retire()
    await commands.stop()
    await others
  }
}
