extension RecurrenceReader {
  /// Refuses combinations of parts that RFC 5545 section 3.3.10 and RFC 7529 section 4.1 forbid.
  func checkCombinations(_ rule: RecurrencePattern, _ parts: Parts) throws(Fault) {
    func refuse(_ part: Part, _ problem: String, _ expected: String, section: String = "RFC 5545 section 3.3.10")
      throws(Fault)
    {
      guard let range = parts[part] else { return }
      throw Fault(range: range, problem: "\(problem) (\(section))", expected: expected)
    }
    let frequency = rule.frequency
    if parts[.count] != nil {
      try refuse(.until, "a rule ends by COUNT or by UNTIL, not by both", "one of the two")
    }
    if frequency != .yearly {
      try refuse(.weeks, "BYWEEKNO needs FREQ=YEARLY", "FREQ=YEARLY, or no BYWEEKNO")
    }
    if frequency == .daily || frequency == .weekly || frequency == .monthly {
      try refuse(.yearDays, "BYYEARDAY cannot be used with FREQ=\(frequency.name)", "FREQ=YEARLY, or no BYYEARDAY")
    }
    if frequency == .weekly {
      try refuse(.monthDays, "BYMONTHDAY cannot be used with FREQ=WEEKLY", "FREQ=MONTHLY, or no BYMONTHDAY")
    }
    if !rule.ordinals.isEmpty {
      if frequency != .monthly, frequency != .yearly {
        try refuse(
          .days, "days like 2MO are counted within months or years, and cannot be used with FREQ=\(frequency.name)",
          "days without numbers, or FREQ=MONTHLY or YEARLY")
      }
      if rule.hasWeeks {
        try refuse(.days, "days like 2MO cannot be counted within the weeks of BYWEEKNO", "days without numbers")
      }
      let isInMonth = frequency == .monthly || rule.months != 0
      if isInMonth, let far = rule.ordinals.first(where: { abs(Int($0.ordinal)) > 5 }), let range = parts[.days] {
        throw Fault(
          code: .outOfRange, range: range, problem: "no month has a day of the week \(abs(Int(far.ordinal))) times",
          expected: "counts from 1 to 5, or from -5 to -1")
      }
    }
    if parts[.positions] != nil, !rule.namesAnything {
      try refuse(.positions, "BYSETPOS needs another BY part to choose from", "a BY part beside it")
    }
    if parts[.skip] != nil, parts[.scale] == nil, let range = parts[.skip] {
      throw Fault(
        range: range, problem: "SKIP needs RSCALE (RFC 7529 section 4.1)",
        expected: "RSCALE=GREGORIAN",
        repair: .init(
          range.lowerBound..<range.lowerBound, "RSCALE=GREGORIAN;", shown: "RSCALE=GREGORIAN;\(shown(range))"))
    }
  }
}
