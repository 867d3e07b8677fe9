import CLinux
import ChimeControl
import ChimeCore
import ChimeWords
import FoundationEssentials
import Glibc
import Varlink

/// The daemon's entry point: reads its configuration, opens its store and starts its loop. Exit codes are those of sysexits(3).
package enum DaemonMain {
  package static func run() -> Never {
    ProcessMeans.openStandardDescriptors()
    Catalogs.begin(systemErrors: false)
    let arguments: Arguments
    do {
      arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    } catch {
      end(EX_USAGE, "\(error.message) (chimed --help)")
    }
    switch arguments.action {
    case .help: print(Arguments.help)
    case .version: print("chimed \(Product.version)")
    case .check: check(arguments.paths(environment: environment(), uid: getuid()))
    case .diagnose: diagnose(arguments.paths(environment: environment(), uid: getuid()))
    case .printConfiguration:
      print(load(arguments.paths(environment: environment(), uid: getuid())).text, terminator: "")
    case .move(let engine):
      move(to: engine, arguments.isDry, arguments.paths(environment: environment(), uid: getuid()))
    case .run: serve(arguments.paths(environment: environment(), uid: getuid()))
    }
    exit(EX_OK)
  }

  private static func check(_ paths: RuntimePaths) {
    let judged = ConfigurationJudgement(paths, ZoneCatalog(folder: paths.zoneFolder, localLink: paths.localLink))
    if let problem = judged.problem { end(EX_CONFIG, problem) }
    let files = judged.loaded?.files ?? []
    let origin = files.isEmpty ? "no file at \(paths.configurationPath): all defaults" : files.joined(separator: ", ")
    print("the configuration can be taken (\(origin))")
  }

  /// Prints the reply of `Diagnose` as one line of JSON, as far as it can be determined without a daemon.
  private static func diagnose(_ paths: RuntimePaths) {
    let collector = DiagnosticsCollector(
      paths: paths, inForce: nil, zones: ZoneCatalog(folder: paths.zoneFolder, localLink: paths.localLink))
    let alarm = WakeAlarm(isSystem: paths.isSystem)
    let diagnostics = collector.run(wakeProblem: alarm.problem, wantsWake: nil, needsDesktop: nil)
    do {
      print(String(decoding: try JSONWriter.bytes(of: diagnostics), as: UTF8.self))
    } catch {
      end(EX_SOFTWARE, "\(error)")
    }
  }

  /// Moves the store, and prints the progress and the result as one JSON object a line.
  private static func move(to engine: Configuration.StoreEngine, _ isDry: Bool, _ paths: RuntimePaths) {
    forbidDumps()
    func tell(_ line: MoveLine) {
      guard let text = try? JSONEncoder().encode(line) else { return }
      // If nobody reads the output any more, SIGPIPE ends the process and the database rolls back.
      print(String(decoding: text, as: UTF8.self))
      fflush(nil)
    }
    let opening = StoreOpening(paths, load(paths).configuration)
    if engine == .sqlite { makeFolders(paths, Log(level: .info), store: opening.path) }
    let moving = StoreMoving(
      opening: opening, configuration: paths.configurationPath, engine: engine, isDry: isDry, tell: tell)
    do {
      tell(MoveLine(result: try moving.run()))
    } catch {
      let failure = error as? StoreFailure ?? .internalError("\(error)")
      let mayPass = failure.exitStatus == EX_TEMPFAIL
      tell(MoveLine(problem: MoveLine.Problem(sentence: failure.sentence, mayPass: mayPass)))
      exit(failure.exitStatus)
    }
  }

  private static func load(_ paths: RuntimePaths) -> LoadedConfiguration {
    do {
      return try paths.loadConfiguration()
    } catch {
      end(EX_CONFIG, error.description)
    }
  }

  private static func serve(_ paths: RuntimePaths) -> Never {
    chime_malloc_keep_small()
    forbidDumps()
    var paths = paths
    let configuration = load(paths).configuration
    let opening = StoreOpening(paths, configuration)
    paths.storePath = opening.path
    let log = Log(level: configuration.logLevel)
    let signals = takeSignals()
    if let problem = ProcessMeans.problem { end(EX_OSERR, problem, log) }
    let given = ServiceManager.listeningSockets()
    makeFolders(paths, log)
    let opened = open(opening, log)
    paths.storePath = opened.name
    // The store's lock is held, so no other daemon writes there.
    paths.secrets.removeLeftovers()
    var sockets = given
    if given.isEmpty {
      if let reason = paths.prepareSocketFolder() {
        end(EX_CANTCREAT, "the control socket cannot be made: \(reason)\(paths.folderRemedy)", log)
      }
      do {
        sockets = [try paths.listen()]
      } catch {
        end(
          EX_CANTCREAT, "the control socket cannot be made: \(error.call): \(error.reason)\(remedy(error, paths))", log)
      }
    } else {
      paths.ownsSocket = false
    }
    let loop = EventLoop(
      paths: paths, configuration: configuration, log: log, store: opened.store.store,
      snapshotManager: opened.store.snapshotManager,
      zones: ZoneCatalog(folder: paths.zoneFolder, localLink: paths.localLink, watch: try? FolderWatch()),
      secrets: paths.secrets, service: controlService())
    // The priority is the default one, for the reason in `DispatchExecutor`.
    Task(executorPreference: loop.executor, priority: .medium) {
      do {
        try await loop.start(listening: sockets, signals: signals)
      } catch let failure as StoreFailure {
        end(failure.exitStatus, "the store cannot be used: \(failure.advice)", log)
      } catch {
        end(EX_OSERR, "chimed cannot start: \(error)", log)
      }
    }
    // dispatchMain() would unblock every signal in this thread on Linux, and SIGTERM would kill the process.
    while true { pause() }
  }

  /// Returns the service of the control socket, with the interface files for introspection.
  static func controlService() -> VarlinkService {
    var service = VarlinkService(
      vendor: "Chime", product: "chimed", version: Product.version, url: "https://chime.example")
    do {
      for text in [
        RemindersInterface.description, OccurrencesInterface.description, ExpectationsInterface.description,
        SchedulesInterface.description,
        DeliveriesInterface.description, EndpointsInterface.description, CommandsInterface.description,
      ] { try service.register(text) }
      try service.register(TrackersInterface.description, requiringMore: ["Backup", "Export"])
      try service.register(DaemonInterface.description, requiringMore: ["Monitor"])
    } catch {
      preconditionFailure("an interface file of ours is at fault: \(error)")
    }
    service.slowReaderError = ControlFailure.limitExceeded("streamQueueBytes").reply(interface: DaemonInterface.name)
    #if DEBUG
      service.checksReplies = true
    #endif
    return service
  }

  /// Blocks the signals before any thread starts, and returns a signalfd for them. SIGCONT still continues a stopped
  /// process (signal(7)); the loop learns that it was stopped.
  private static func takeSignals() -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    // A write beyond the file size limit then fails with an error (setrlimit(2)), like a full disk.
    signal(SIGXFSZ, SIG_IGN)
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP, SIGCONT] { sigaddset(&set, number) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let descriptor = signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
    if descriptor < 0 { end(EX_OSERR, "signalfd: \(SystemError("signalfd").reason)") }
    return descriptor
  }

  /// Disables core dumps here and in child processes, because they would contain secrets.
  ///
  /// PR_SET_DUMPABLE would not protect secrets from the same user, who can read their files anyway. It would only hide
  /// the daemon's descriptors and memory from that user.
  private static func forbidDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }

  private static func makeFolders(_ paths: RuntimePaths, _ log: Log, store: String? = nil) {
    do {
      try SystemFiles.makeFolder(paths.stateFolder, mode: 0o700)
      let path = store ?? paths.storePath
      if let slash = path.lastIndex(of: "/") {
        try SystemFiles.makeFolder(String(path[..<slash]), mode: 0o700)
      }
    } catch {
      end(
        EX_CANTCREAT,
        "cannot create the state folder: \(error.call): \(error.reason); choose one that you may write to with --state-dir",
        log)
    }
    if let reason = SystemFiles.distrust(paths.stateFolder, contents: true) {
      end(EX_CANTCREAT, "the state folder is not safe: \(reason)", log)
    }
  }

  private static func open(_ opening: StoreOpening, _ log: Log) -> (store: StoreOpening.Opened, name: String) {
    do {
      let opened = try opening.open { doing in
        log(.warning, doing)
        ServiceManager.status(doing)
        ServiceManager.extendTimeout(bySeconds: 300)
      }
      let name = try opening.name()
      // A new store on a new machine is normal; elsewhere it is worth a message.
      if opened.isNew { log(.notice, "there was no store; chimed created one: \(name)") }
      return (opened, name)
    } catch {
      let name = (try? opening.name()).map { "\($0): " } ?? ""
      end(error.exitStatus, name + error.advice, log)
    }
  }

  /// Returns advice for a socket that cannot be created, if there is any.
  private static func remedy(_ error: SystemError, _ paths: RuntimePaths) -> String {
    switch error.code {
    case EADDRINUSE:
      "; \(paths.listener ?? "another daemon") listens there: stop it first (systemctl \(paths.isSystem ? "" : "--user ")"
        + "stop chimed.socket chimed.service, where systemd has it), or choose another path with --socket"
    case EEXIST: "; that file is not a socket: move it away, or choose another path with --socket"
    case ENAMETOOLONG: "; the path of a socket has at most 107 bytes: choose another with --socket"
    default: ""
    }
  }

  private static func environment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
      next += 1
    }
    return result
  }

  private static func end(_ code: Int32, _ message: String, _ log: Log? = nil) -> Never {
    let log = log ?? Log(level: .info)
    log(.error, message, id: .cannotStart)
    log.finish()
    // As at a stop, other threads may still be ending.
    _exit(code)
  }
}
