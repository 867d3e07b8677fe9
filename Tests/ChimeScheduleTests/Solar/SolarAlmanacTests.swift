import ChimeSchedule
import Testing

/// Published times of sunrise, sunset and twilight, matched within their rounding to a minute.
///
/// Sources, by place:
/// - 80° N 0°, 0° 0°, 42°27′ S 76°30′ E and Ithaca: *Rise and Set for the Sun*, *Civil*, *Nautical* and *Astronomical
///   Twilight*, tables for one year by the Astronomical Applications Department of the U.S. Naval Observatory.
/// - 69°30′ N 19° E (Tromsø): *Sun and Moon Data for One Day*, of the same department.
/// - 50° N 15° E (Bohemia): the twilight table of *Hvězdářská ročenka 2025*, Prague.
/// - Sydney, Moscow, New York, São Paulo: timeanddate.com's tables for December 2019, from the tests of the Elixir
///   library `astro`. The site does not name the exact location in the city, which accounts for half a minute.
/// - South Pole: the events of 2024 at Amundsen–Scott Station from cosmicreflections.skythisweek.info.
@Suite struct SolarAlmanacTests {
  struct Place: Sendable, CustomStringConvertible {
    var name: String
    var latitude, longitude: Double
    /// The table's offset from UTC, in hours.
    var hours: Int64
    /// The events of the columns.
    var events: [String]
    /// The tolerance in seconds; printed times are rounded to a minute.
    var tolerance: Int64 = 60
    /// A date, then a time for each event; `----` without one on that day.
    var rows: String
    var description: String { name }
  }

  static let sun = ["sunrise", "sunset"]

  static let places: [Place] = [
    Place(
      name: "80° N", latitude: 80, longitude: 0, hours: 0, events: sun,
      rows: """
        2015-01-01 ---- ----
        2015-02-20 ---- ----
        2015-02-21 1121 1309
        2015-02-22 1052 1337
        2015-02-23 1031 1359
        2015-03-01 0903 1525
        2015-03-20 0555 1825
        2015-04-01 0359 2016
        2015-04-10 0205 2213
        2015-04-11 0147 2233
        2015-04-12 0126 2301
        2015-04-13 0058 ----
        2015-04-14 ---- ----
        2015-06-21 ---- ----
        2015-08-29 ---- ----
        2015-08-30 ---- 2301
        2015-08-31 0102 2235
        2015-09-01 0129 2214
        2015-09-23 0532 1808
        2015-10-10 0806 1525
        2015-10-19 1006 1321
        2015-10-20 1029 1258
        2015-10-21 1102 1224
        2015-10-22 ---- ----
        2015-12-21 ---- ----
        """),
    Place(
      name: "the equator", latitude: 0, longitude: 0, hours: 0, events: sun,
      rows: """
        2000-01-01 0600 1807
        2000-02-11 0611 1818
        2000-03-20 0604 1811
        2000-05-14 0553 1800
        2000-06-21 0558 1805
        2000-07-26 0603 1810
        2000-09-22 0549 1756
        2000-11-03 0540 1747
        2000-12-31 0559 1807
        """),
    Place(
      name: "42°27′ S 76°30′ E", latitude: -42.45, longitude: 76.5, hours: 4, events: sun,
      rows: """
        2015-01-01 0320 1834
        2015-02-14 0414 1802
        2015-03-21 0457 1705
        2015-05-10 0553 1548
        2015-06-21 0624 1528
        2015-08-01 0605 1556
        2015-09-23 0443 1651
        2015-10-31 0340 1736
        2015-12-10 0310 1823
        2015-12-31 0319 1834
        """),
    Place(
      name: "Ithaca, New York", latitude: 42.45, longitude: -76.5, hours: -4,
      events: [
        "astronomical dawn", "nautical dawn", "civil dawn", "sunrise", "sunset", "civil dusk", "nautical dusk",
        "astronomical dusk",
      ],
      rows: """
        2015-01-01 0654 0728 0804 0836 1744 1816 1851 1925
        2015-02-14 0630 0702 0735 0804 1837 1906 1939 2011
        2015-03-20 0535 0609 0642 0710 1918 1946 2019 2053
        2015-04-15 0444 0521 0556 0625 1947 2017 2052 2129
        2015-05-20 0339 0426 0507 0540 2026 2059 2140 2228
        2015-06-21 0314 0409 0454 0529 2047 2122 2207 2302
        2015-07-20 0342 0431 0513 0546 2038 2111 2153 2241
        2015-08-31 0449 0526 0601 0630 1942 2011 2046 2122
        2015-09-23 0520 0553 0626 0654 1902 1930 2003 2036
        2015-10-31 0603 0636 0709 0738 1801 1830 1903 1936
        2015-11-20 0624 0658 0732 0803 1740 1811 1845 1918
        2015-12-21 0650 0724 0800 0832 1736 1808 1844 1918
        """),
    Place(
      name: "Tromsø", latitude: 69.5, longitude: 19, hours: 1,
      events: ["civil dawn", "sunrise", "solar noon", "sunset", "civil dusk"],
      rows: "2014-04-01 0346 0450 1148 1849 1953"),
    Place(
      name: "Tromsø in May", latitude: 69.5, longitude: 19, hours: 1,
      events: ["dawn", "sunrise", "solar noon", "sunset", "dusk"],
      rows: """
        2014-04-30 ---- 0229 1141 2058 ----
        2014-05-17 ---- 0029 1140 2306 ----
        """),
    Place(
      name: "Bohemia", latitude: 50, longitude: 15, hours: 1,
      events: [
        "astronomical dawn", "nautical dawn", "civil dawn", "civil dusk", "nautical dusk", "astronomical dusk",
      ],
      rows: """
        2025-01-01 0600 0639 0720 1647 1729 1808
        2025-02-20 0513 0550 0628 1800 1838 1915
        2025-03-22 0408 0448 0526 1849 1927 2007
        2025-04-21 0247 0336 0420 1939 2022 2112
        2025-05-21 0109 0230 0326 2029 2124 2248
        2025-06-10 ---- 0203 0307 2052 2157 ----
        2025-06-20 ---- 0200 0306 2057 2203 ----
        2025-07-10 ---- 0218 0319 2051 2151 ----
        2025-07-20 0109 0236 0332 2039 2135 2300
        2025-08-19 0245 0336 0420 1946 2030 2120
        2025-09-18 0349 0430 0508 1839 1917 1957
        2025-10-28 0454 0532 0610 1717 1755 1832
        2025-11-27 0535 0614 0654 1641 1721 1800
        """),
    Place(
      name: "Sydney", latitude: -33.8559799094, longitude: 151.20666584, hours: 11, events: sun, tolerance: 90,
      rows: """
        2019-12-01 0537 1950
        2019-12-08 0537 1956
        2019-12-15 0538 2001
        2019-12-22 0540 2005
        2019-12-31 0546 2009
        """),
    Place(
      name: "Moscow", latitude: 55.7558, longitude: 37.6173, hours: 3, events: sun, tolerance: 90,
      rows: """
        2019-12-01 0834 1602
        2019-12-10 0847 1556
        2019-12-21 0857 1557
        2019-12-31 0859 1605
        """),
    Place(
      name: "New York", latitude: 40.7128, longitude: -74.006, hours: -5, events: sun, tolerance: 90,
      rows: """
        2019-12-01 0700 1629
        2019-12-08 0707 1628
        2019-12-21 0716 1631
        2019-12-31 0719 1638
        """),
    Place(
      name: "São Paulo", latitude: -23.5505, longitude: -46.6333, hours: -3, events: sun, tolerance: 90,
      rows: """
        2019-12-01 0511 1839
        2019-12-11 0512 1846
        2019-12-21 0516 1852
        2019-12-31 0522 1856
        """),
  ]

  @Test(arguments: places) func timesMatchTheAlmanac(_ place: Place) throws {
    let scheduleContext = ScheduleContext(
      zone: .utc, place: ChimeSchedule.Place(latitude: place.latitude, longitude: place.longitude))
    let timetables = try place.events.map { try Schedule(canonical: $0).timetable(in: scheduleContext) }
    for row in place.rows.split(separator: "\n") {
      let cells = row.split(separator: " ").map(String.init)
      let date = try #require(CivilDate(cells[0]))
      let midnight = Int64(date.dayNumber) * 86_400 - place.hours * 3_600
      for (cell, (event, timetable)) in zip(cells.dropFirst(), zip(place.events, timetables)) {
        let found = timetable.occurrences(after: Instant(seconds: midnight - 1))
          .prefix { $0.seconds < midnight + 86_400 }.map { $0.seconds - midnight }
        guard cell != "----" else {
          #expect(found == [], "\(event) on \(date)")
          continue
        }
        let minute = try #require(Int64(cell))
        let wanted = (minute / 100 * 60 + minute % 100) * 60
        #expect(
          found.count == 1 && abs(found[0] - wanted) <= place.tolerance, "\(event) on \(date): \(found), not \(cell)")
      }
    }
  }

  /// The four turning points of the year at McMurdo and the two at the poles, as reported by residents.
  @Test func turningPointsOfThePolarYearMatch() throws {
    func dates(_ event: String, _ latitude: Double, _ longitude: Double, _ zoneName: String, _ after: String) throws
      -> [String]
    {
      let zone = try zone(zoneName)
      let scheduleContext = ScheduleContext(
        zone: zone, place: ChimeSchedule.Place(latitude: latitude, longitude: longitude))
      return try Schedule(canonical: event).timetable(in: scheduleContext).occurrences(after: instant(after)).prefix(2)
        .map { RFC3339.format($0, in: zone) }.map { String($0.prefix(10)) }
    }
    let mcmurdo = (-77.85, 166.67)
    // Sunset on 24 April 2015 was the last before winter; the sun returned on 19 August 2016 …
    #expect(
      try dates("sunset", mcmurdo.0, mcmurdo.1, "Antarctica/McMurdo", "2015-04-24T00:00:00Z").first == "2015-04-24")
    #expect(
      try dates("sunrise", mcmurdo.0, mcmurdo.1, "Antarctica/McMurdo", "2016-05-01T00:00:00Z").first == "2016-08-19")
    // … and next set on 20 February, after the summer.
    #expect(
      try dates("sunset", mcmurdo.0, mcmurdo.1, "Antarctica/McMurdo", "2016-11-01T00:00:00Z").first == "2017-02-20")
    // At the pole the sun's edge rises on 18 March and sets in September, once a year.
    #expect(try dates("sunrise", 90, 0, "UTC", "2019-01-01T00:00:00Z") == ["2019-03-18", "2020-03-18"])
    // Utqiagvik, Alaska: polar night until 23 January 2019.
    #expect(
      try dates("sunrise", 71.29, -156.79, "America/Anchorage", "2018-11-20T00:00:00Z").first == "2019-01-23")
  }

  /// Where only the seasons move the sun, a hundredth of a degree (a kilometer on the ground) takes up to an hour.
  @Test func southPoleMatchesWithinAnHour() throws {
    let scheduleContext = ScheduleContext(zone: .utc, place: ChimeSchedule.Place(latitude: -90, longitude: 0))
    for (event, wanted) in [
      ("sunset", "2024-03-22T06:15:00Z"), ("dusk", "2024-04-04T11:53:00Z"), ("nautical dusk", "2024-04-21T04:09:00Z"),
      ("astronomical dusk", "2024-05-11T05:21:00Z"), ("astronomical dawn", "2024-07-31T19:16:00Z"),
      ("nautical dawn", "2024-08-21T00:24:00Z"), ("dawn", "2024-09-06T21:21:00Z"), ("sunrise", "2024-09-20T09:45:00Z"),
    ] {
      let timetable = try Schedule(canonical: event).timetable(in: scheduleContext)
      let found = timetable.occurrences(after: instant("2024-01-01T00:00:00Z")).prefix(2).map(\.seconds)
      #expect(abs(found[0] - instant(wanted).seconds) <= 4_000, "\(event): \(found[0] - instant(wanted).seconds)")
      #expect((364 * 86_400...367 * 86_400).contains(found[1] - found[0]))
    }
  }
}
