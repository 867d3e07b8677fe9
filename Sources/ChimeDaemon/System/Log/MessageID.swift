/// The kinds of journal entries. An entry has the id as `MESSAGE_ID`: `journalctl --catalog` shows its text in
/// `systemd/chime.catalog`, and `journalctl MESSAGE_ID=...` all entries of the kind.
///
/// An id never changes and is never reused.
package enum MessageID: String, CaseIterable, Sendable {
  // The daemon itself.
  case ready = "bd98ca733b024f5cb3c847e66b026300"
  case stopping = "c7059c17508e4259ab86e8b2ed619f71"
  case cannotStart = "338a03ffc12645df85b279353fa7781b"
  case configurationReloaded = "f1f6061e06a645608b9bf891a473586d"
  case configurationRefused = "9efe2bf8ae894b23b834bbe085212dcf"

  // Reminders.
  case reminderAdded = "5525715b654946ee971172f9cc910866"
  case reminderChanged = "050e1809b9fa43e6bd0a861576fd4442"
  case reminderRemoved = "cf42fb5174dc46c9b7d24c4b2fa7ad15"
  case reminderUnreadable = "c20e033d47da473b887fb5cb87470a18"
  case reminderZoneMissing = "76d2ce4c45e8421fbdd456ac74be0b2a"
  case reminderTooCostly = "3d0f6b7a51c94c0e8a5be0c2b9d7f164"

  // Firing.
  case fired = "13b0501020e54ba7842ac4fa0a86843f"
  case firedLate = "93676fc673d74568875a6c4ea1b57c48"
  case firedAgain = "37989f7ea3b3479d9f7e311fffec0a55"
  case missed = "780b8f495e4a420c9b68c36278d84f88"
  case answered = "fa81c54caa624b3e8471bbc14f3f1bd1"
  case popupClosed = "751d66385a78475b8af43558f7335740"
  case pinged = "2e0c9a6d1f7b4c64a8f35d90b17ce84a"

  // Trackers.
  case logged = "9312d27be9f748fda567f9653539e35c"
  case goalMet = "69408ad90a3148a3b8634578d40e645b"
  case limitNear = "5cf273fd856e404689e75e34887052e0"
  case stockLow = "e2daae92313a460fad3eb7c82dee502b"
  case unlocked = "8f802442a76040a3981b7fbedf6db4a3"
  case levelReached = "fe3cac14e1414bffaaaf002a83c115a5"
  case milestoneReached = "e264045aeba6480581ac92eb744cb42f"

  // Deliveries and replies.
  case delivered = "06a3e5b0232f4d2794f36892652aa5c1"
  case attemptFailed = "094f60c8add24bf6b1ffd7ab703536a5"
  case givenUp = "d4e338f043034d7688ac6b412ed35d0a"
  case messageCancelled = "96cba098e111412f9623fa10100fca50"
  case endpointDisabled = "9fb4f8a793224b29bc08559bd13bdbe8"
  case repliesLost = "3b1f0c7a94d24c0b8a6d53a1e2f7c918"
  case repliesRead = "a0c92d4e75b14f36b1d8e6f40c3a9b57"
  case replyRefused = "7d58e3b2c1f64a0f9b27d4c8506e1fa3"
  case takenOver = "9aff9cb6a177407384f7f8852fd3d321"
  case leaseExpired = "4014f91ed8d14badb921bc17921bc2f6"
  case sessionsEnded = "6f1c84b4a6034ceb9f46579e3361de8c"

  // The store.
  case storeFailed = "c4f666c021fc4281951de36863b69cd3"
  case storeRecovered = "de44f660c2044f30ae7bda4d86c95c42"
  case storeQuarantined = "b1d9ec437e1c412291b6d30d403c899f"
  case storeRestored = "0c36b97668e448a5856b2ee5bfe10d61"
  case snapshotTaken = "0b4e6a3090b549dfa81f7a29c17fdf81"
  case snapshotFailed = "ebe84d9d69c14c2780b4e2123237e250"

  // Time.
  case clockSet = "d00adfd18b3341ed8361bda18be92f92"
  case resumed = "928a614437024531b3b8c90ce31950d9"
  case zoneChanged = "45644ac3148d42069df2d4f4fcafd728"
  case calendarChanged = "6f5078b87f8a4b4ebe581bffe3ef83bb"
  case dueTimesRecomputed = "7ed6ea9f06244f8fbfa503a2210edefe"

  // Clients.
  case clientRefused = "d48ee5937e914145865fa92751e70a63"
  case connectionRejected = "abd0fbb3d5ea4fd6a989fedbdb9478bd"
  case clientDisconnected = "c83444e5003844a4a63160a43988bff8"
  case tenantRefused = "c5d7d0f2e31e4a7c9b6f4be1a08d3f56"
  case tenantLimited = "5b0f6a4e7c6d4f0e8c1d92a7b3e45f18"
}
