import ChimeControl
import ChimeWords
import Varlink

extension Failure {
  /// Converts an error that only io.chime.Trackers returns.
  init?(tracking error: RemoteError, named name: String) {
    if name == "InvalidPack", let it = error.parameters(TrackersInterface.InvalidPack.self) {
      self.init(
        status: .failed,
        message: localized(
          count: it.faults.count, "the pack has %n fault; nothing was changed",
          "the pack has %n faults; nothing was changed"),
        detail: it.faults.map { Failure.line(of: $0) }, faults: it.faults)
    } else if name == "InvalidSet", let it = error.parameters(RemindersInterface.InvalidSet.self) {
      let faults = it.faults.map {
        Wire.Fault(file: $0.file, line: $0.line, column: $0.column, key: $0.key, message: $0.message)
      }
      self.init(
        status: .failed,
        message: localized(
          count: faults.count, "the set has %n fault; nothing was changed",
          "the set has %n faults; nothing was changed"),
        detail: faults.map { Failure.line(of: $0) }, faults: faults)
    } else if name == "InvalidDrafts", let it = error.parameters(RemindersInterface.InvalidDrafts.self) {
      self.init(
        status: .failed,
        message: localized(
          count: it.faults.count, "%n reminder was rejected; nothing was added",
          "%n reminders were rejected; nothing was added"), drafts: it.faults)
    } else if name == "InvalidFile", let it = error.parameters(TrackersInterface.InvalidFile.self) {
      let message =
        it.line > 0
        ? localized("line %1: %2", String(it.line), localizedServerMessage(it.message))
        : localizedServerMessage(it.message)
      self.init(
        status: .failed, message: message, hints: [localized("nothing was changed")], isInvalidText: true, line: it.line
      )
    } else if name == "NothingToUndo", let it = error.parameters(TrackersInterface.NothingToUndo.self) {
      self.init(
        status: .failed, message: localizedServerMessage(it.message),
        hints: [localized("changes of the last 30 days can be undone")])
    } else if name == "Unlikely", let it = error.parameters(TrackersInterface.Unlikely.self) {
      self.init(
        status: .failed, message: localizedServerMessage(it.message),
        hints: [localized("nothing was recorded; if it is right: chime log … --force")])
      isUnlikely = true
    } else if name == "ReadOnly", let it = error.parameters(TrackersInterface.ReadOnly.self) {
      self.init(
        status: .tryAgain, message: localized("nothing can be changed now: %1", localizedServerMessage(it.reason)),
        hints: [localized("see `chime status`")])
    } else {
      return nil
    }
  }

  /// Formats a pack's fault: `weight.toml:12:3: trackers.weight.unit: "kgs" is no unit`.
  static func line(of fault: Wire.Fault) -> String {
    let place = fault.line > 0 ? "\(fault.file):\(fault.line):\(fault.column)" : fault.file
    return TerminalSanitizer.line(
      [place, fault.key, localizedServerMessage(fault.message)].filter { !$0.isEmpty }.joined(separator: ": "))
  }
}
