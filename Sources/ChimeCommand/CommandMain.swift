package enum CommandMain { package static func run() -> Never { fatalError("not yet") } }
