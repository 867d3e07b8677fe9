import ChimeControl
import ChimeSchedule
import Synchronization

/// The parts of the daemon's configuration that parsing a schedule needs; the defaults if no daemon answers.
enum DaemonWords {
  /// Returns the times of words such as `morning`, and of a day without a time.
  static func times(at socket: SocketPath?, userID: UInt32) -> @Sendable () -> WordTimes {
    asked(at: socket, userID: userID, else: .usual, words)
  }

  /// Returns the names of the calendars whose days a schedule may leave out.
  static func calendars(at socket: SocketPath?, userID: UInt32, tenant: String?) -> @Sendable () -> Set<String> {
    asked(at: socket, userID: userID, tenant: tenant, else: ["holidays"]) { daemon in
      Set(try daemon.call(SchedulesInterface.Calendars(count: 1)).calendars.map(\.name))
    }
  }

  /// Returns a closure that asks the daemon at its first call and caches the answer.
  ///
  /// A lock guards the cache, because schedules may call the closure from any thread.
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

  private static func words(_ daemon: Daemon) throws -> WordTimes {
    let reply: SchedulesInterface.Words.Reply = try daemon.call(SchedulesInterface.Words())
    var words = WordTimes.usual
    for word in WordTimes.all {
      if let time = reply.words[word.name].flatMap(CivilTime.init) { words[keyPath: word.time] = time }
    }
    return words
  }
}
