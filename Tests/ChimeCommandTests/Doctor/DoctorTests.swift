import ChimeControl
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// The checks of `chime doctor`: facts in, findings out.
@Suite struct DoctorTests {
  /// Returns the facts of a machine without any problem.
  static func healthy() -> DoctorFacts {
    var facts = DoctorFacts()
    facts.now = Instant(seconds: 1_774_600_000)
    facts.userID = 1_000
    facts.userName = "ann"
    facts.environment = [
      "XDG_RUNTIME_DIR": "/run/user/1000", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
      "LANG": "cs_CZ.UTF-8",
    ]
    facts.socket = SocketFacts(path: "/run/user/1000/chime/io.chime")
    facts.socket.kind = .socket
    facts.socket.mode = 0o600
    facts.socket.owner = 1_000
    facts.socket.connection = .taken
    facts.socket.holder = .init(pid: 7, userID: 1_000, name: "systemd")
    var health = Samples.health()
    health.version = facts.version
    health.attention = []
    health.storeProblem = nil
    health.unrecorded = 0
    facts.daemon = .answered(health, after: 3)
    facts.diagnostics = diagnostics()
    var units = UnitFacts()
    units.service = unit("/usr/lib/systemd/user/chimed.service")
    units.socket = unit("/usr/lib/systemd/user/chimed.socket")
    units.program = "/usr/bin/chimed"
    units.own = "/usr/bin/chimed"
    facts.units = units
    facts.lingers = true
    facts.popupProgram = .ended(status: 0, output: "notify-send 0.8.1\n")
    var endpoint = Samples.endpoint
    (endpoint.disabled, endpoint.problem, endpoint.failingSince, endpoint.backoffUntil) = (nil, nil, nil, nil)
    facts.endpoints = .answer([endpoint])
    facts.commands = .answer([command(problem: nil)])
    facts.givenUp = .answer([])
    facts.trackers = .answer(2)
    facts.packs = .answer(1)
    facts.language = LanguageFacts(wanted: ["cs_CZ", "cs"], there: ["cs"], isKnown: true)
    return facts
  }

  static func unit(_ file: String) -> UnitFacts.Unit {
    UnitFacts.Unit(load: "loaded", fileState: "enabled", active: "active", result: "success", file: file)
  }

  static func command(problem: String?, enabled: Bool = true) -> CommandsInterface.Command {
    CommandsInterface.Command(
      name: "backup", program: "/usr/bin/backup", arguments: [], enabled: enabled, timeLimit: "PT1M", overlap: .queue,
      problem: problem, pending: 0, running: 0)
  }

  static func diagnostics() -> DaemonInterface.Diagnostics {
    DaemonInterface.Diagnostics(
      version: Product.version, isDaemon: true,
      configuration: .init(
        path: "/home/ann/.config/chime/chimed.toml", files: ["/home/ann/.config/chime/chimed.toml"], isLoaded: true),
      desktop: .init(transport: "notify-send", program: "notify-send", path: "/usr/bin/notify-send"),
      bus: .init(
        address: "unix:path=/run/user/1000/bus", server: .running, serverName: "gnome-shell 43.9",
        capabilities: ["actions", "body", "body-markup", "persistence"]),
      store: .init(
        path: "/home/ann/.local/state/chime/chime.db", isComplete: true, bytes: 400_000,
        changedAt: Wire.Time(at: "2026-03-27T08:00:00Z", zone: "UTC"), freeBytes: 50 << 30, quarantinedFiles: [],
        latestSnapshot: .init(
          takenAt: Wire.Time(at: "2026-03-27T03:00:00Z", zone: "UTC"), path: "/s.db", bytes: 400_000),
        maxSnapshots: 3, snapshotEvery: "P1D"),
      exposedFiles: [], zone: .init(local: "Europe/Prague", version: "2026a"),
      clock: .init(isSynchronized: true, maxErrorMicroseconds: 12_000), wakeProblem: "no clock", wantsWake: false)
  }

  @Test func healthyMachineHasGoodFindingsOnly() {
    let findings = HealthChecks(Self.healthy()).findings
    #expect(findings.filter { $0.state != .ok } == [])
    #expect(Set(findings.map(\.check)) == Set(Check.allCases).subtracting([.tenants, .heartbeat]), "there are none")
    #expect(findings.flatMap(\.remedies).isEmpty)
  }

  @Test func tenantsNearTheirLimitsAreReported() throws {
    func findings(_ tenants: DaemonInterface.Tenant...) -> [String] {
      var facts = Self.healthy()
      var health = Samples.health()
      health.tenants = tenants
      facts.daemon = .answered(health, after: 1)
      return HealthChecks(facts).findings(of: .tenants).map { "\($0.state) \($0.message.english)" }
    }
    #expect(
      findings(Samples.tenant("a", reminders: 89, of: 100), Samples.tenant("b", reminders: 5))
        == ["ok tenants: 2, none near a limit"])
    #expect(
      findings(Samples.tenant("a", reminders: 90, of: 100), Samples.tenant("b", reminders: 5, refused: 3)) == [
        "warning tenant a has 90 of 100 reminders",
        "warning tenant b has exceeded its requests per second; refused since the start: 3",
      ])
  }

  @Test func heartbeatIsCheckedIfConfigured() {
    func findings(_ problem: String?, takenAt: Wire.Time? = nil) -> [String] {
      var facts = Self.healthy()
      var health = Samples.health()
      health.heartbeat = .init(acceptedAt: takenAt, problem: problem)
      facts.daemon = .answered(health, after: 1)
      return HealthChecks(facts).findings(of: .heartbeat).map { "\($0.state) \($0.message.english)" }
    }
    #expect(findings(nil) == ["ok the daemon has sent none yet"])
    let taken = Wire.Time(at: "2026-03-27T08:00:00Z", zone: "UTC")
    #expect(findings(nil, takenAt: taken).first?.hasPrefix("ok the receiver accepted the last one") == true)
    #expect(
      findings("the receiver does not accept the heartbeat: answered 404") == [
        "error the receiver does not accept the heartbeat: answered 404"
      ])
    var facts = Self.healthy()
    facts.daemon = .answered(Samples.health(), after: 1)
    #expect(HealthChecks(facts).findings(of: .heartbeat).isEmpty)
  }

  struct Break: Sendable {
    var name: String
    var check: Check
    var state: Output.Finding.State
    /// A part of the English message.
    var says: String
    /// The text of the first remedy.
    var helps: String
    var change: @Sendable (inout DoctorFacts) -> Void

    init(
      _ check: Check, _ state: Output.Finding.State, _ says: String, _ helps: String,
      _ change: @escaping @Sendable (inout DoctorFacts) -> Void
    ) {
      (name, self.check, self.state, self.says, self.helps, self.change) = (says, check, state, says, helps, change)
    }
  }

  static let breaks: [Break] = [
    Break(.daemon, .error, "no daemon answers", "systemctl --user start chimed") { $0.daemon = .absent },
    Break(.daemon, .error, "no daemon answers", "systemctl --user enable --now chimed.socket chimed.service") {
      $0.daemon = .absent
      $0.units?.service.fileState = "disabled"
    },
    Break(.daemon, .error, "no daemon answers", "chimed") {
      $0.daemon = .absent
      $0.units = nil
    },
    Break(.daemon, .error, "no daemon answers", "sudo systemctl start chimed") {
      $0.daemon = .absent
      $0.isSystem = true
    },
    Break(.daemon, .error, "does not run", "systemctl --user enable --now chimed.service") { $0.daemon = .asleep },
    Break(.daemon, .error, "not answered within 1500 ms", "systemctl --user restart chimed") {
      $0.daemon = .silent(within: 1_500)
    },
    Break(.daemon, .error, "another user (1001)", "export XDG_RUNTIME_DIR=/run/user/1000") {
      $0.daemon = .foreign(1_001)
    },
    Break(.daemon, .error, "is not a compatible chimed", "systemctl --user restart chimed") {
      $0.daemon = .stranger("org.varlink.service.MethodNotFound")
    },
    Break(.daemon, .warning, "chimed is version 0.0.9", "systemctl --user restart chimed") { facts in
      guard var health = facts.health else { return }
      health.version = "0.0.9"
      facts.daemon = .answered(health, after: 3)
    },
    Break(.daemon, .warning, "slowly: in 900 ms", "chime status") { facts in
      if let health = facts.health { facts.daemon = .answered(health, after: 900) }
    },
    Break(.daemon, .warning, "needs attention: see to it", "") { facts in
      guard var health = facts.health else { return }
      health.attention = ["see to it"]
      facts.daemon = .answered(health, after: 3)
    },
    Break(.socket, .warning, "there is no socket at", "systemctl --user start chimed") { $0.socket.kind = .missing },
    Break(.socket, .error, "is not a socket", "mv /run/user/1000/chime/io.chime /run/user/1000/chime/io.chime.old") {
      $0.socket.kind = .other
    },
    Break(.socket, .error, "remains from a daemon that has ended", "systemctl --user start chimed") {
      $0.socket.connection = .refused
    },
    Break(.socket, .error, "other users may connect", "chmod 600 /run/user/1000/chime/io.chime") {
      $0.socket.mode = 0o666
    },
    Break(.socket, .error, "may not connect", "sudo usermod --append --groups chime ann") {
      $0.isSystem = true
      $0.socket.connection = .notPermitted
    },
    Break(.socket, .error, "belongs to another user (1001)", "") { $0.socket.owner = 1_001 },
    Break(.socket, .warning, "XDG_RUNTIME_DIR is not set", "export XDG_RUNTIME_DIR=/run/user/1000") {
      $0.environment["XDG_RUNTIME_DIR"] = nil
    },
    Break(.units, .warning, "does not manage it here: no bus", "") { $0.units?.problem = "no bus" },
    Break(.units, .warning, "does not know chimed.socket", "sudo make install") { $0.units?.socket.load = "not-found" },
    Break(.units, .warning, "chimed.service has changed on disk", "systemctl --user daemon-reload") {
      $0.units?.service.needsReload = true
    },
    Break(.units, .warning, "chimed.service does not start by itself", "systemctl --user enable --now chimed.service") {
      $0.units?.service.fileState = "disabled"
    },
    Break(.units, .error, "chimed.service has failed (exit-code)", "journalctl --user -u chimed -e") {
      $0.units?.service.active = "failed"
      $0.units?.service.result = "exit-code"
    },
    Break(.units, .error, "calls it masked", "systemctl --user unmask chimed.service") {
      $0.units?.service.load = "masked"
    },
    Break(.units, .error, "which does not exist", "systemctl --user cat chimed.service") {
      $0.units?.programIsThere = false
    },
    Break(.units, .warning, "belongs to /opt/chimed", "systemctl --user cat chimed.service") {
      $0.units?.own = "/opt/chimed"
    },
    Break(
      .units, .warning, "/home/ann/.config/systemd/user/chimed.service overrides",
      "diff /usr/lib/systemd/user/chimed.service /home/ann/.config/systemd/user/chimed.service"
    ) {
      $0.units?.service.file = "/home/ann/.config/systemd/user/chimed.service"
      $0.units?.service.replaces = "/usr/lib/systemd/user/chimed.service"
    },
    Break(.units, .warning, "runs outside systemd", "") { $0.units?.service.active = "inactive" },
    Break(.lingering, .warning, "ends when you log out", "loginctl enable-linger") { $0.lingers = false },
    Break(.lingering, .ok, "not needed", "") {
      $0.lingers = false
      $0.endpoints = .answer([])
      $0.commands = .answer([])
    },
    // Without a daemon its reminders are unknown.
    Break(.lingering, .skipped, "no daemon answers", "") {
      $0.lingers = false
      $0.daemon = .absent
      $0.endpoints = .notAsked
      $0.commands = .notAsked
    },
    Break(.configuration, .error, "/c.toml:3: \"lgo\" is no key", "") {
      $0.diagnostics?.configuration.problem = "/c.toml:3: \"lgo\" is no key of Chime's"
    },
    Break(.configuration, .warning, "not loaded yet", "systemctl --user reload chimed") {
      $0.diagnostics?.configuration.isLoaded = false
    },
    Break(.store, .error, "is damaged", "systemctl --user restart chimed") {
      $0.diagnostics?.store.problem = "/x/chime.db is damaged (malformed)"
    },
    Break(.store, .error, "the disk is full", "chime status") { facts in
      guard var health = facts.health else { return }
      health.storeProblem = "the disk is full"
      facts.daemon = .answered(health, after: 3)
    },
    Break(.store, .warning, "set a damaged file aside: /x y.corrupt-1", "") {
      $0.diagnostics?.store.quarantinedFiles = ["/x y.corrupt-1"]
    },
    Break(.store, .ok, "too large to check", "") { $0.diagnostics?.store.isComplete = false },
    Break(.diskSpace, .error, "the disk is full: 10 MiB", "") { $0.diagnostics?.store.freeBytes = 10 << 20 },
    Break(.diskSpace, .warning, "little space is left: 100 MiB", "") { $0.diagnostics?.store.freeBytes = 100 << 20 },
    Break(.snapshots, .warning, "much has changed since", "chime snapshot") {
      $0.diagnostics?.store.latestSnapshot?.takenAt = Wire.Time(at: "2026-03-01T03:00:00Z", zone: "UTC")
    },
    Break(.snapshots, .warning, "snapshots are off", "snapshots = 3") { $0.diagnostics?.store.maxSnapshots = 0 },
    Break(.secrets, .error, "mode 0644", "chmod 600 /s/1000-team") {
      $0.diagnostics?.exposedFiles = [
        .init(
          path: "/s/1000-team", problem: "other users may read or change it (mode 0644)",
          remedy: "chmod 600 /s/1000-team")
      ]
    },
    Break(.bus, .error, "names no session bus", "systemctl --user import-environment") {
      $0.diagnostics?.bus = .init(server: .unknown)
    },
    Break(.bus, .error, "it cannot be reached", "") {
      $0.diagnostics?.bus.problem = "it cannot be reached: Connection refused"
    },
    Break(.bus, .warning, "and this terminal uses", "systemctl --user import-environment") {
      $0.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/tmp/other"
    },
    Break(.bus, .warning, "names no session bus", "not needed: no reminder") {
      $0.diagnostics?.bus = .init(server: .unknown)
      $0.diagnostics?.desktop.isNeeded = false
    },
    Break(.bus, .error, "names no session bus", "systemctl --user import-environment") {
      $0.diagnostics?.bus = .init(server: .unknown)
      $0.diagnostics?.desktop.isNeeded = true
    },
    Break(.bus, .error, "names no session bus", "systemctl --user import-environment") {
      $0.diagnostics?.bus = .init(server: .unknown)
      $0.diagnostics?.desktop.isNeeded = false
      $0.environment["WAYLAND_DISPLAY"] = "wayland-0"
    },
    Break(.bus, .error, "names no session bus", "systemctl --user import-environment") {
      $0.diagnostics?.bus = .init(server: .unknown)
      $0.diagnostics?.desktop.isNeeded = false
      $0.environment["XDG_SESSION_TYPE"] = "x11"
    },
    Break(.bus, .warning, "names no session bus", "not needed: no reminder") {
      $0.diagnostics?.bus = .init(server: .unknown)
      $0.diagnostics?.desktop.isNeeded = false
      $0.environment["XDG_SESSION_TYPE"] = "tty"
    },
    Break(.notifications, .warning, "popups wait", "not needed: no reminder") {
      $0.diagnostics?.bus.server = .missing
      $0.diagnostics?.desktop.isNeeded = false
    },
    Break(.desktop, .warning, "notify-send does not exist", "not needed: no reminder") {
      $0.diagnostics?.desktop.path = nil
      $0.diagnostics?.desktop.isNeeded = false
    },
    Break(.notifications, .error, "popups wait", "") { $0.diagnostics?.bus.server = .missing },
    Break(.notifications, .error, "does not answer", "") { $0.diagnostics?.bus.serverProblem = "it does not answer" },
    Break(.notifications, .warning, "shows no buttons", "sudo apt install dunst") {
      $0.diagnostics?.bus.capabilities = ["body"]
    },
    Break(.notifications, .ok, "the bus starts", "") { $0.diagnostics?.bus.server = .activatable },
    Break(.desktop, .error, "notify-send does not exist", "sudo apt install libnotify-bin") {
      $0.diagnostics?.desktop.path = nil
    },
    Break(.desktop, .error, "hangs: no answer within 1000 ms", "/usr/bin/notify-send --version") {
      $0.popupProgram = .tookTooLong(1_000)
    },
    Break(.desktop, .error, "crashes (signal 11)", "/usr/bin/notify-send --version") {
      $0.popupProgram = .killed(signal: 11)
    },
    Break(.desktop, .error, "ends with status 3", "/usr/bin/notify-send --version") {
      $0.popupProgram = .ended(status: 3, output: "")
    },
    Break(.desktop, .ok, "popups use D-Bus", "") { $0.diagnostics?.desktop.transport = "dbus" },
    Break(.endpoints, .error, "is disabled: gone", "chime endpoint test team") { $0.change { $0.disabled = "gone" } },
    Break(
      .endpoints, .error, "Chime cannot send to team: it has no secret", "chime endpoint rotate team --secret-file FILE"
    ) {
      $0.change { $0.problem = "it has no secret" }
    },
    Break(.endpoints, .warning, "is paused until 2026-03-27T10:20", "chime endpoint test team") {
      $0.change { $0.backoffUntil = Wire.Time(at: "2026-03-27T10:20:30Z", zone: "UTC") }
    },
    Break(.endpoints, .warning, "has failed since", "chime endpoint test team") {
      $0.change { $0.failingSince = Wire.Time(at: "2026-03-27T10:20:30Z", zone: "UTC") }
      $0.endpointResults["team"] = "status 500"
    },
    Break(.endpoints, .error, "an untrusted certificate", "chime endpoint test team") {
      $0.change { $0.failingSince = Wire.Time(at: "2026-03-27T10:20:30Z", zone: "UTC") }
      $0.endpointResults["team"] = "SSL certificate problem: self-signed certificate"
    },
    Break(.endpoints, .error, "did not accept a test message: no answer", "chime endpoint test team") {
      $0.endpointTests["team"] = .failed("no answer in time")
    },
    Break(.endpoints, .error, "the daemon cannot report it: timedOut", "journalctl --user -u chimed -e") {
      $0.endpoints = .failed("timedOut")
    },
    Break(
      .commands, .error, "backup cannot be run: there is no program",
      "[commands.backup] program = \"/path/of/the/program\""
    ) {
      $0.commands = .answer([command(problem: "there is no program /usr/bin/backup")])
    },
    Break(.commands, .warning, "does not run: commands are switched off", "[commands] enabled = true") {
      $0.commands = .answer([command(problem: "commands are switched off", enabled: false)])
    },
    Break(.deliveries, .warning, "given up in the last seven days: 1", "chime deliveries --state dead") {
      $0.givenUp = .answer([Samples.delivery])
    },
    Break(.clock, .warning, "nothing synchronizes the clock", "sudo apt install systemd-timesyncd") {
      $0.diagnostics?.clock?.isSynchronized = false
    },
    Break(.clock, .warning, "although chronyd runs", "chronyc tracking") {
      $0.diagnostics?.clock?.isSynchronized = false
      $0.clockKeepers = ["chronyd"]
    },
    Break(.clock, .skipped, "cannot check it here", "") { $0.diagnostics?.clock = nil },
    Break(.zone, .error, "is not a valid time zone", "sudo timedatectl set-timezone Europe/Prague") {
      $0.diagnostics?.zone.problem =
        "/etc/localtime is not a valid time zone, so chimed uses UTC: timedatectl set-timezone sets one"
    },
    Break(.zone, .error, "there are no time zones in /z", "sudo apt install --reinstall tzdata") {
      $0.diagnostics?.zone.databaseProblem = "there are no time zones in /z"
    },
    Break(.zone, .warning, "this terminal has TZ=Asia/Tokyo", "unset TZ") { $0.environment["TZ"] = "Asia/Tokyo" },
    Break(.wake, .warning, "asks to wake the machine, but cannot: no clock", "it comes when") {
      $0.diagnostics?.wantsWake = true
    },
    Break(.wake, .warning, "lacks the capability", "[Service] AmbientCapabilities=CAP_WAKE_ALARM") {
      $0.diagnostics?.wantsWake = true
      $0.diagnostics?.wakeProblem = "chimed lacks the capability CAP_WAKE_ALARM"
    },
    Break(.language, .warning, "has no locale cs_CZ.UTF-8", "sudo dpkg-reconfigure locales") {
      $0.language.isKnown = false
      $0.language.there = []
    },
    Break(.language, .ok, "cs_CZ.UTF-8", "") { $0.language.isKnown = false },
    Break(.language, .warning, "no translations are installed", "sudo make install") { $0.language.there = [] },
    Break(.language, .ok, "has no translation", "") { $0.language.wanted = ["fr_FR", "fr"] },
  ]

  @Test(arguments: breaks.indices) func eachFaultIsFoundWithItsRemedy(_ index: Int) throws {
    let broken = Self.breaks[index]
    var facts = Self.healthy()
    broken.change(&facts)
    let findings = HealthChecks(facts).findings
    let found = try #require(
      findings.first { $0.check == broken.check && $0.message.english.contains(broken.says) },
      "\(findings.filter { $0.check == broken.check }.map(\.message.english))")
    #expect(found.state == broken.state)
    if !broken.helps.isEmpty {
      let texts = found.remedies.map { Self.text($0) }
      #expect(texts.first?.hasPrefix(broken.helps) == true, "\(texts)")
    } else if [.error].contains(broken.state), broken.check != .socket {
      #expect(!found.remedies.isEmpty)
    }
  }

  static func text(_ remedy: Remedy) -> String {
    switch remedy {
    case .run(let text): text
    case .write(let text, _): text
    case .advice(let sentence): sentence.english
    }
  }

  /// Without diagnostics nothing is claimed.
  @Test func checkWithoutFactsIsSkipped() {
    var facts = Self.healthy()
    facts.diagnostics = nil
    facts.diagnosticsProblem = "there is no chimed"
    facts.daemon = .absent
    (facts.endpoints, facts.commands, facts.givenUp) = (.notAsked, .notAsked, .notAsked)
    (facts.trackers, facts.packs) = (.notAsked, .notAsked)
    let states = Dictionary(grouping: HealthChecks(facts).findings, by: \.check).mapValues { $0.map(\.state) }
    for check: Check in [
      .configuration, .store, .diskSpace, .snapshots, .secrets, .bus, .notifications, .desktop, .endpoints, .commands,
      .deliveries, .trackers, .clock, .zone, .wake,
    ] { #expect(states[check] == [.skipped], "\(check)") }
  }

  @Test func systemDaemonHasNoDesktopChecks() {
    var facts = Self.healthy()
    facts.isSystem = true
    facts.socket.group = "chime"
    facts.socket.mode = 0o660
    let findings = HealthChecks(facts).findings
    #expect(findings.filter { $0.state == .error }.isEmpty)
    #expect(Set(findings.map(\.check)).isDisjoint(with: [.bus, .notifications, .desktop, .lingering]))
  }

  /// The output of `systemctl show` on Debian 12.
  @Test func outputOfSystemctlIsParsed() {
    let facts = UnitProbe.parse(
      """
      ExecStart={ path=/usr/bin/chimed ; argv[]=/usr/bin/chimed ; ignore_errors=no ; start_time=[n/a] }
      Id=chimed.service
      LoadState=loaded
      ActiveState=failed
      FragmentPath=/usr/lib/systemd/user/chimed.service
      DropInPaths=/a.conf /b.conf
      UnitFileState=enabled
      NeedDaemonReload=yes
      Result=exit-code
      NRestarts=7

      Id=chimed.socket
      LoadState=not-found
      ActiveState=inactive
      NeedDaemonReload=no
      """)
    #expect(facts.program == "/usr/bin/chimed")
    #expect(facts.service.isInstalled && facts.service.needsReload && facts.service.restarts == 7)
    #expect(facts.service.active == "failed" && facts.service.dropIns == ["/a.conf", "/b.conf"])
    #expect(!facts.socket.isInstalled && facts.socket.active == "inactive")
  }

  @Test func wordsAreQuotedForTheShellWhereNeeded() {
    #expect(ShellText.quoted("/run/user/1000/chime") == "/run/user/1000/chime")
    #expect(ShellText.quoted("čaj") == "čaj")
    #expect(ShellText.quoted("/a b") == "'/a b'")
    #expect(ShellText.quoted("it's") == "'it'\\''s'")
    #expect(ShellText.quoted("") == "''")
  }

  @Test func sizesArePrintedInReadableUnits() {
    func size(_ bytes: Int) -> String { Sentence.Value.bytes(bytes).description }
    #expect(size(812) == "812 B")
    #expect(size(400_000) == "390 KiB")
    #expect(size(5 << 20) == "5.0 MiB")
    #expect(size(68 << 30) == "68 GiB")
  }

  /// docs/doctor.md has a row for each check, in the same order, with the printed name.
  @Test func manualListsEachCheck() throws {
    let root = URL(filePath: Package.folder)
    let text = try String(contentsOf: root.appending(path: "docs/doctor.md"), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
      row.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
    }
    #expect(
      rows
        == Check.allCases.map { check in
          let (printed, name) = (Doctor.title(check), check.rawValue)
          return printed == name ? "`\(name)`" : "`\(printed)` (`\(name)`)"
        })
  }

  /// Probe programs: every way to end, and none runs beyond its time limit.
  @Test(.timeLimit(.minutes(5))) func probeProgramsEndWithinTheirTimeLimit() {
    #expect(
      RunningProgram.run("/bin/sh", ["-c", "echo hello"], within: 60_000) == .ended(status: 0, output: "hello\n"))
    #expect(RunningProgram.run("/bin/sh", ["-c", "exit 3"], within: 60_000) == .ended(status: 3, output: ""))
    #expect(RunningProgram.run("/bin/sh", ["-c", "kill -SEGV $$"], within: 60_000) == .killed(signal: 11))
    #expect(RunningProgram.run("no-such-program-here", [], within: 60_000) == .missing)
    #expect(
      RunningProgram.run("/bin/sh", ["-c", "perl -e 'sleep 100000' & perl -e 'sleep 100000'"], within: 150)
        == .tookTooLong(150)
    )
    // A program that closes its output and keeps running.
    #expect(
      RunningProgram.run("/bin/sh", ["-c", "exec >&-; perl -e 'sleep 100000'"], within: 150) == .tookTooLong(150))
    #expect(
      RunningProgram.run("/bin/sh", ["-c", "echo no >&2; exit 1"], within: 60_000, withErrors: true)
        == .ended(status: 1, output: "no\n"))
  }
}

extension DoctorFacts {
  /// Changes the only endpoint.
  mutating func change(_ body: (inout EndpointsInterface.Endpoint) -> Void) {
    guard var endpoint = endpoints.value?.first else { return }
    body(&endpoint)
    endpoints = .answer([endpoint])
  }
}
