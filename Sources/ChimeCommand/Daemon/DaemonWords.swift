import ChimeControl
import ChimeSchedule
import Synchronization

/// What the command has to know of the daemon's configuration to read a schedule; the usual where no daemon answers.
enum DaemonWords {
  /// When `morning`, a day without a time and their like are.
  static func times(at socket: SocketPath?, userID: UInt32) -> @Sendable () -> WordTimes {
    asked(at: socket, userID: userID, else: .usual, told)
  }

  /// The names of the calendars that a schedule may leave out.
  static func calendars(at socket: SocketPath?, userID: UInt32, tenant: String?) -> @Sendable () -> Set<String> {
    asked(at: socket, userID: userID, tenant: tenant, else: ["holidays"]) { daemon in
      Set(try daemon.call(SchedulesInterface.Calendars(count: 1)).calendars.map(\.name))
    }
  }

  /// Asks the daemon at the first call, and remembers.
  ///
  /// A lock guards what it said, because schedules ask through a closure that anyone may call.
  private static func asked<Answer: Sendable>(
    at socket: SocketPath?, userID: UInt32, tenant: String? = nil, else usual: Answer,
    _ ask: @escaping @Sendable (Daemon) throws -> Answer
  ) -> @Sendable () -> Answer {
    let memory = Memory<Answer>()
    return {
      memory.said.withLock { said in
        if let said { return said }
        let answer = try? socket.map {
          try ask(try Daemon(socket: $0, userID: userID, tenant: tenant, patience: .seconds(2)))
        }
        said = answer ?? usual
        return answer ?? usual
      }
    }
  }

  private final class Memory<Answer: Sendable>: Sendable {
    let said = Mutex<Answer?>(nil)
  }

  private static func told(_ daemon: Daemon) throws -> WordTimes {
    let reply: SchedulesInterface.Words.Reply = try daemon.call(SchedulesInterface.Words())
    var words = WordTimes.usual
    for word in WordTimes.all {
      if let time = reply.words[word.name].flatMap(CivilTime.init) { words[keyPath: word.time] = time }
    }
    return words
  }
}
