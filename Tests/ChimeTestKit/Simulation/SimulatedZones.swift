import ChimeCore
import ChimeSchedule

/// The zones of a simulated machine. Each is made from a POSIX TZ rule by the same reader as real zone files.
struct SimulatedZones: ZoneSource {
  private(set) var zones: [String: Zone]
  /// The rules by name, for the record of what due times were computed with.
  private(set) var rules: [String: String]
  private(set) var localName: String

  var local: Zone { zones[localName] ?? .utc }

  func zone(_ name: String) -> Zone? { zones[name] }

  /// Zones of all kinds: gaps and folds of half an hour to three hours, at midnight and at odd hours, east and west, in
  /// both hemispheres; and zones without any.
  static let known: [(name: String, rule: String)] = [
    ("UTC", "UTC0"), ("Europe/Prague", "CET-1CEST,M3.5.0,M10.5.0/3"), ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"),
    ("Australia/Lord_Howe", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"),
    ("America/Sao_Paulo", "<-03>3<-02>,M11.1.0/0,M2.3.0/0"),
    ("Europe/Dublin", "IST-1GMT0,M10.5.0,M3.5.0/1"), ("Asia/Kathmandu", "<+0545>-5:45"),
    ("Antarctica/Troll", "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3"), ("America/Nuuk", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"),
    ("Asia/Gaza", "EET-2EEST,M3.4.4/50,M10.4.4/50"), ("Antarctica/Casey", "<+08>-8<+11>-11,M10.1.0,M3.1.0"),
  ]

  /// Rules that a new release of the tz database may bring for any zone.
  static let replacements = [
    "CET-1", "CET-1CEST,M4.1.0,M9.5.0/3", "EST5EDT,M4.1.0,M10.5.0", "<+11>-11", "<-03>3", "<+0530>-5:30",
    "EET-2EEST,M3.5.0/3,M10.5.0/4", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
  ]

  init(local: String) {
    zones = [:]
    rules = [:]
    localName = local
    for (name, rule) in Self.known { replace(name, rule: rule) }
  }

  mutating func replace(_ name: String, rule: String) {
    guard let zone = try? Zone(identifier: name, tzif: Self.file(rule)) else { return }
    zones[name] = zone
    rules[name] = rule
  }

  mutating func move(to name: String) { localName = name }

  /// Returns a TZif file of version 3 with the rule in its footer only (RFC 9636, section 3).
  private static func file(_ rule: String) -> [UInt8] {
    func big(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
    // The footer also governs the time before the first transition.
    let block = [UInt32(0), 0, 0, 0, 1, 4].flatMap(big)
    let header = Array("TZif3".utf8) + [UInt8](repeating: 0, count: 15) + block
    let type: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("LMT\0".utf8)
    return header + type + header + type + Array("\n\(rule)\n".utf8)
  }
}
