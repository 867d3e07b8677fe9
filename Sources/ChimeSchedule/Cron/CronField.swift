/// A CronField is a field of a cron expression. The cases are in writing order.
enum CronField: Int {
  case second, minute, hour, dayOfMonth, month, dayOfWeek

  var range: ClosedRange<Int> {
    switch self {
    case .second, .minute: 0...59
    case .hour: 0...23
    case .dayOfMonth: 1...31
    case .month: 1...12
    // Both 0 and 7 are Sunday.
    case .dayOfWeek: 0...7
    }
  }

  /// The name with an article, for sentences.
  var name: String {
    switch self {
    case .second: "the second"
    case .minute: "the minute"
    case .hour: "the hour"
    case .dayOfMonth: "the day of the month"
    case .month: "the month"
    case .dayOfWeek: "the day of the week"
    }
  }

  var noun: String { String(name.dropFirst(4)) }

  /// The allowed values, for people.
  var allowed: String {
    switch self {
    case .dayOfMonth: "1-31, L, L-3 or 15W"
    case .month: "1-12 or jan-dec"
    case .dayOfWeek: "0-7, sun-sat, 5L or 1#2"
    default: "\(range.lowerBound)-\(range.upperBound)"
    }
  }

  var names: [String] {
    switch self {
    case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    case .dayOfWeek: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    default: []
    }
  }

  /// Returns the number of a three-letter name.
  func number(named first: UInt8, _ second: UInt8, _ third: UInt8) -> Int? {
    let packed = UInt32(first | 0x20) << 16 | UInt32(second | 0x20) << 8 | UInt32(third | 0x20)
    switch self {
    case .dayOfWeek:
      switch packed {
      case 0x73_756E: return 0  // sun
      case 0x6D_6F6E: return 1  // mon
      case 0x74_7565: return 2  // tue
      case 0x77_6564: return 3  // wed
      case 0x74_6875: return 4  // thu
      case 0x66_7269: return 5  // fri
      case 0x73_6174: return 6  // sat
      default: return nil
      }
    case .month:
      switch packed {
      case 0x6A_616E: return 1  // jan
      case 0x66_6562: return 2  // feb
      case 0x6D_6172: return 3  // mar
      case 0x61_7072: return 4  // apr
      case 0x6D_6179: return 5  // may
      case 0x6A_756E: return 6  // jun
      case 0x6A_756C: return 7  // jul
      case 0x61_7567: return 8  // aug
      case 0x73_6570: return 9  // sep
      case 0x6F_6374: return 10  // oct
      case 0x6E_6F76: return 11  // nov
      case 0x64_6563: return 12  // dec
      default: return nil
      }
    default: return nil
    }
  }
}
