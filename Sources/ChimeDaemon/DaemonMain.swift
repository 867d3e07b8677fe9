package enum DaemonMain { package static func run() -> Never { fatalError("not yet") } }
