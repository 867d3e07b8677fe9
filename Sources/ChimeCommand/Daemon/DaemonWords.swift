import ChimeControl
import ChimeSchedule
import Synchronization

/// When `morning`, a day without a time and their like are: the daemon's configuration says so, and the usual times do
/// where no daemon answers.
enum DaemonWords {
  /// Asks the daemon at the first call, and remembers.
  ///
  /// A lock guards what it said, because schedules ask through a closure that anyone may call.
  static func asked(at socket: SocketPath?, userID: UInt32) -> @Sendable () -> WordTimes {
    let memory = Memory()
    return {
      memory.said.withLock { said in
        if let said { return said }
        let words = socket.flatMap { try? told(at: $0, userID: userID) } ?? WordTimes.usual
        said = words
        return words
      }
    }
  }

  private final class Memory: Sendable {
    let said = Mutex<WordTimes?>(nil)
  }

  private static func told(at socket: SocketPath, userID: UInt32) throws -> WordTimes {
    let daemon = try Daemon(socket: socket, userID: userID, tenant: nil, patience: .seconds(2))
    let reply: SchedulesInterface.Words.Reply = try daemon.call(SchedulesInterface.Words())
    var words = WordTimes.usual
    for word in WordTimes.all {
      if let time = reply.words[word.name].flatMap(CivilTime.init) { words[keyPath: word.time] = time }
    }
    return words
  }
}
