// Data for SpokenPhrasesTests.

extension SpokenPhrasesTests {
  /// Phrases that still failed when the first four tables passed.
  static let fifth = """
    tom at 20:00 → refused
    daily at 9 except christmas → daily at 09:00 except dec 25
    daily at 9 except xmas and new year's day → daily at 09:00 except jan 1,dec 25
    daily at 9 except christmas to new year's day → daily at 09:00 except 2026-12-25..2027-01-01
    weekdays at 9 except holidays and christmas eve until june 1 → weekdays at 09:00 until 2027-06-01 except on holidays,dec 24
    later today → refused
    next month on the 3rd → at 2026-12-03 09:00
    next month on the 10th at 8 → at 2026-12-10 08:00
    next month on the 31st → at 2026-12-31 09:00
    next month on the 32nd → refused
    next year on march 3 → at 2027-03-03 09:00
    march 3 next year → at 2027-03-03 09:00
    march 3 of next year at noon → at 2027-03-03 12:00
    tuesday in two weeks → at 2026-12-08 09:00
    friday in a week at 10 → at 2026-12-04 10:00
    monday in two weeks → refused
    a week on tuesday at 10 → at 2026-12-01 10:00
    week on tuesday → at 2026-12-01 09:00
    two weeks on friday → at 2026-12-11 09:00
    a fortnight on sunday at noon → at 2026-12-13 12:00
    twice a day → refused
    twice a day at 7 and 19 → daily at 07:00,19:00
    twice daily at 8 and 20 → daily at 08:00,20:00
    3 times a day at 8:00, 13:00 and 19:00 → daily at 08:00,13:00,19:00
    twice a day at 7 → refused
    twice a week on mon and thu at 9 → mon,thu at 09:00
    twice a week on monday → refused
    twice a month on the 1st and 15th → day 1,15 of month at 09:00
    every monday at 9 and tuesday at 10 → refused
    in three days' time at noon → at 2026-11-26 12:00
    in a week's time → at 2026-11-30 08:15
    in two hours' time → at 2026-11-23T09:15:00Z
    the day after christmas → at 2026-12-26 09:00
    day before christmas at 16:00 → at 2026-12-24 16:00
    the day before 24 december → at 2026-12-23 09:00
    last day of the quarter → refused
    first day of the quarter → refused
    end of the quarter → at 2026-12-31 09:00
    24 hours before 2026-12-01 → refused
    1630 tomorrow → at 2026-11-24 16:30
    0930 friday → at 2026-11-27 09:30
    1234 → refused
    @daily → cron: 0 0 * * *
    <2026-11-27 Fri 18:00> → at 2026-11-27 18:00
    [2026-11-27 Fri] → at 2026-11-27 09:00
    <2026-11-27 Thu 18:00> → refused
    <2026-11-24 Tue 10:00 +1w> → refused
    <2026-11-24 Tue ++1d> → refused
    2026-11-24 10:00 + 1 week → at 2026-12-01 10:00
    +3 days → at 2026-11-26 08:15
    +5 days at 10:00 → at 2026-11-28 10:00
    +1d 9:00 → at 2026-11-24 09:00
    +1w → at 2026-11-30 08:15
    +90m → at 2026-11-23T08:45:00Z
    + 3 days → refused
    ++2d → refused
    4pm + 3 days → at 2026-11-26 16:00
    noon + 1 week → at 2026-11-30 12:00
    tomorrow + 2 days → at 2026-11-26 09:00
    4pm tomorrow + 1 week → at 2026-12-01 16:00
    4pm + 2 hours → refused
    this eve at 7 → at 2026-11-23 19:00
    at 25:00 → refused
    on feb 30 → refused
    in december → refused
    in 5 → refused
    tomorrow before 9 → refused
    10 - 22 August → refused
    today at quarter past 5 pm → at 2026-11-23 17:15
    today 6 pm → at 2026-11-23 18:00
    at 18:45 today → at 2026-11-23 18:45
    tonight at half past 9 → at 2026-11-23 21:30
    tonight at 9.30 → at 2026-11-23 21:30
    tomorrow at 9 in the morning → at 2026-11-24 09:00
    tomorrow 0900 → at 2026-11-24 09:00
    tomorrow 9h → at 2026-11-24 09:00
    tomorrow at 9 o'clock → at 2026-11-24 09:00
    tomorrow at 9 sharp → refused
    tomorrow midnight → at 2026-11-24 00:00
    tomorrow, noon → at 2026-11-24 12:00
    tomorrow at 12:30 pm → at 2026-11-24 12:30
    tomorrow after lunch → refused
    late tomorrow → refused
    early tomorrow morning → refused
    the day after tomorrow at 6:15 pm → at 2026-11-25 18:15
    2 days after tomorrow → at 2026-11-26 09:00
    wednesday → at 2026-11-25 09:00
    wednesday 5 pm → at 2026-11-25 17:00
    wed at noon → at 2026-11-25 12:00
    wed eve → refused
    on thursday evening → at 2026-11-26 19:00
    thursday lunchtime → at 2026-11-26 12:00
    thurs 4:45p → at 2026-11-26 16:45
    friday at eight → at 2026-11-27 08:00
    friday the 27th → at 2026-11-27 09:00
    friday 4 dec → at 2026-12-04 09:00
    saturday 28 november at 10 → at 2026-11-28 10:00
    sunday the 29th at 11am → at 2026-11-29 11:00
    this friday at 3 pm → at 2026-11-27 15:00
    this weekend → at 2026-11-28 09:00
    this weekend at 11 → at 2026-11-28 11:00
    next monday → at 2026-11-30 09:00
    on monday next week at 14:00 → at 2026-11-30 14:00
    the following monday → at 2026-11-30 09:00
    monday after next → refused
    monday the 7th of december → at 2026-12-07 09:00
    a week from monday → at 2026-11-30 09:00
    a week from wednesday at 2pm → at 2026-12-02 14:00
    one week from tomorrow → at 2026-12-01 09:00
    thursday in three weeks → at 2026-12-17 09:00
    in 5 days → at 2026-11-28 08:15
    in 5 days at 10:30 → at 2026-11-28 10:30
    in 5 days at noon → at 2026-11-28 12:00
    in five minutes → at 2026-11-23T07:20:00Z
    in 1h → at 2026-11-23T08:15:00Z
    in 1 h 20 min → at 2026-11-23T08:35:00Z
    in an hour and a half → at 2026-11-23T08:45:00Z
    in 3/4 of an hour → refused
    in half a day → at 2026-11-23T19:15:00Z
    in 6 hours → at 2026-11-23T13:15:00Z
    6 hours from now → at 2026-11-23T13:15:00Z
    3 days from now → at 2026-11-26 08:15
    3 days from tomorrow → at 2026-11-27 09:00
    3 weeks from now at 9am → at 2026-12-14 09:00
    in 2 weeks on friday → at 2026-12-11 09:00
    in a month → at 2026-12-23 08:15
    in 3 months at 9 → at 2027-02-23 09:00
    in a year → at 2027-11-23 08:15
    the 1st of next month → at 2026-12-01 09:00
    next month on the 15th at 10 → at 2026-12-15 10:00
    on the 5th → at 2026-12-05 09:00
    on the 25th at 4pm → at 2026-11-25 16:00
    the 23rd at 10 → at 2026-11-23 10:00
    december 1 at 7:30 → at 2026-12-01 07:30
    1 december 7:30 → at 2026-12-01 07:30
    1st december at half past seven → at 2026-12-01 07:30
    dec. 5th, 2026 at 10:00 am → at 2026-12-05 10:00
    5.12. → at 2026-12-05 09:00
    5.12.2026 18:00 → at 2026-12-05 18:00
    5/12 → refused
    12/25 at 9am → at 2026-12-25 09:00
    25/12/2026 → at 2026-12-25 09:00
    2026-12-25 → at 2026-12-25 09:00
    2026-12-25T09:30 → at 2026-12-25 09:30
    2026/12/25 9:30 → at 2026-12-25 09:30
    20261225 → at 2026-12-25 09:00
    20261225T093000 → at 2026-12-25 09:30
    christmas day at noon → at 2026-12-25 12:00
    on christmas eve at 5 pm → at 2026-12-24 17:00
    two days before christmas at 10 → at 2026-12-23 10:00
    a week after christmas → at 2027-01-01 09:00
    new year's eve at 11:55 pm → at 2026-12-31 23:55
    halloween → at 2027-10-31 09:00
    end of month at 16:00 → at 2026-11-30 16:00
    last day of november → at 2026-11-30 09:00
    last day of february → at 2027-02-28 09:00
    first monday of january at 10 → at 2027-01-04 10:00
    2nd tuesday in january → at 2027-01-12 09:00
    every day → daily at 09:00
    every day at 7:15 → daily at 07:15
    every day at 7am and 7pm → daily at 07:00,19:00
    everyday 8pm → daily at 20:00
    daily 06:00 → daily at 06:00
    every evening → daily at 19:00
    every evening at 8 → daily at 20:00
    every night at 10:30 → daily at 22:30
    every other day at 9 → every 2 days at 09:00 starting 2026-11-23
    every 3 days at noon → every 3 days at 12:00 starting 2026-11-23
    every three days → every 3 days at 09:00 starting 2026-11-23
    weekdays at 17:30 → weekdays at 17:30
    on weekdays at 6 pm → weekdays at 18:00
    every workday at 9 → weekdays at 09:00
    weekends 9:30 → weekends at 09:30
    every monday → every mon at 09:00
    mondays at 8 → every mon at 08:00
    every mon, wed, fri at 6 → mon,wed,fri at 06:00
    every mon-thu at 7 → mon-thu at 07:00
    every tuesday and thursday at 6pm → tue,thu at 18:00
    tuesdays & thursdays 18:00 → tue,thu at 18:00
    every sunday night → every sun at 22:00
    every saturday morning at 9:30 → every sat at 09:30
    every other monday → every 2 weeks on mon at 09:00 starting 2026-11-23
    every other friday at 4pm → every 2 weeks on fri at 16:00 starting 2026-11-23
    every 2 weeks on tuesday → every 2 weeks on tue at 09:00 starting 2026-11-23
    every second week on wed at 10 → every 2 weeks on wed at 10:00 starting 2026-11-23
    every three weeks on fri → every 3 weeks on fri at 09:00 starting 2026-11-23
    biweekly on monday → refused
    fortnightly on tuesdays at 7 → every 2 weeks on tue at 07:00 starting 2026-11-23
    weekly on sunday at 18:00 → every sun at 18:00
    weekly → every mon at 09:00
    monthly → day 23 of month at 09:00
    monthly on the 5th at 10 → day 5 of month at 10:00
    every 1st and 15th at 9 → day 1,15 of month at 09:00
    15th of every month → day 15 of month at 09:00
    every last day of the month → last day of month at 09:00
    every first monday → first mon of month at 09:00
    first monday of every month at 9:30 → first mon of month at 09:30
    last friday of every month at 4pm → last fri of month at 16:00
    every third thursday of the month at 19:00 → third thu of month at 19:00
    every 3 months on the 1st → every 3 months on day 1 at 09:00 starting 2026-11-23
    every quarter → every jan 1,apr 1,jul 1,oct 1 at 09:00
    every year on june 1 → every jun 1 at 09:00
    yearly on dec 24 at 18:00 → every dec 24 at 18:00
    every dec 24 at 18:00 → every dec 24 at 18:00
    every 2 hours from 8 to 18 → every 2h from 08:00 to 18:00
    every 30 min between 9 and 17 on weekdays → every 30m from 09:00 to 17:00 on weekdays
    every 15 minutes from 9am to 5pm → every 15m from 09:00 to 17:00
    every 90 minutes → every 90m starting 2026-11-23T08:45:00Z
    every half hour → every 30m starting 2026-11-23T07:45:00Z
    hourly from 9 to 17 → every 1h from 09:00 to 17:00
    every day at 9 until dec 31 → daily at 09:00 until 2026-12-31
    every day for 10 days → daily at 09:00 until 2026-12-02
    every monday starting next week → every mon at 09:00 starting 2026-11-30
    every friday at 5 starting dec 4 → every fri at 05:00 starting 2026-12-04
    every weekday at 9 except dec 24 → weekdays at 09:00 except dec 24
    every day except sunday → refused
    every day except sundays at 8 → mon-sat at 08:00
    every 3 days after done → every 3 days after done at 09:00 starting 2026-11-26
    every day at 9 when done → every day after done at 09:00 starting 2026-11-24
    3 times a week → refused
    once a week → every mon at 09:00
    once a month → day 23 of month at 09:00
    once a day at 9 → daily at 09:00
    after work → refused
    sometime next week → refused
    some day next month → refused
    before 5pm → refused
    by 17:00 friday → at 2026-11-27 17:00
    no later than friday → refused
    from 9 to 5 → refused
    mon-fri → weekdays at 09:00
    tomorrow and friday at 9 → refused
    tomorrow at 9 and 17 → refused
    every day at nine thirty → daily at 09:30
    at a quarter to six → at 2026-11-24 05:45
    half past noon → at 2026-11-23 12:30
    5 minutes to midnight → at 2026-11-23 23:55
    10 minutes before noon → refused
    noon-ish → refused
    in the next hour → refused
    within 3 days → at 2026-11-26 08:15
    one hour → refused
    ten minutes → refused
    3 days → refused
    not tomorrow → refused
    never → refused
    on friday in 2 weeks at 10 → at 2026-12-11 10:00
    in 2 weeks on monday → refused
    in 3 days on friday → refused
    the next friday → refused
    <2026-12-03 Thu 15:00> → at 2026-12-03 15:00
    friday in 2 weeks → at 2026-12-11 09:00
    1730 tomorrow → at 2026-11-24 17:30
    every half year → every 6 months on day 23 at 09:00 starting 2026-11-23
    every 18 months → every 18 months on day 23 at 09:00 starting 2026-11-23
    midnight + 1 week → refused
    4am + 3 days → refused
    a week tomorrow → at 2026-12-01 09:00
    a week today → at 2026-11-30 08:15
    a week tomorrow at noon → at 2026-12-01 12:00
    in the morning at 7 → at 2026-11-24 07:00
    at dinner time → refused
    at breakfast → refused
    at teatime → at 2026-11-23 16:00
    at close of play → refused
    mid afternoon → refused
    midweek → refused
    this coming friday → at 2026-11-27 09:00
    today week → refused
    friday week → refused
    three weeks on thursday → at 2026-12-17 09:00
    a month from friday → at 2026-12-27 09:00
    in a month's time → at 2026-12-23 08:15
    in a couple of hours → at 2026-11-23T09:15:00Z
    in two hours and a half → at 2026-11-23T09:45:00Z
    an hour and a half from now → at 2026-11-23T08:45:00Z
    in 01:30 → refused
    in 90 seconds → at 2026-11-23T07:16:30Z
    30m → refused
    2h30 → refused
    now + 1 day → at 2026-11-24 08:15
    noon tomorrow + 1 day → at 2026-11-25 12:00
    teatime + 3 days → at 2026-11-26 16:00
    10am jul 31 → at 2027-07-31 10:00
    9am 25 december → at 2026-12-25 09:00
    16:00 31.12. → at 2026-12-31 16:00
    1am tomorrow → at 2026-11-24 01:00
    12 noon on friday → at 2026-11-27 12:00
    12:00 → at 2026-11-23 12:00
    0:30 → at 2026-11-24 00:30
    00:00 → at 2026-11-24 00:00
    24:00 → refused
    7pm–9pm → refused
    7.30 → refused
    at 7.30 → at 2026-11-24 07:30
    at 7:3 → refused
    at 7:30:15 → at 2026-11-24 07:30:15
    at 19:30 Europe/London → refused
    at 9 UTC → refused
    at 9am EST → refused
    2026-12-01T09:00Z → at 2026-12-01T09:00:00Z
    2026-12-01 09:00 +01:00 → refused
    2026-11-31 → refused
    31 november → refused
    february 30 → refused
    dec 2027 → refused
    december → refused
    2027 → refused
    q1 → refused
    week 50 → refused
    monday week 50 → refused
    summer → refused
    easter → refused
    thanksgiving → refused
    on christmas morning → at 2026-12-25 08:00
    christmas eve 2027 → at 2027-12-24 09:00
    xmas eve → at 2026-12-24 09:00
    new years eve at 23:59 → at 2026-12-31 23:59
    boxing day at 10am → at 2026-12-26 10:00
    st patrick's day → at 2027-03-17 09:00
    mother's day → refused
    my birthday → refused
    the 1st → at 2026-12-01 09:00
    the first → at 2026-12-01 09:00
    1st → at 2026-12-01 09:00
    on the 1st at noon → at 2026-12-01 12:00
    1st of the month → day 1 of month at 09:00
    1st of december at 5 → at 2026-12-01 05:00
    last day of next month → at 2026-12-31 09:00
    first workday of january → at 2027-01-01 09:00
    penultimate day of the month → refused
    second to last friday of the month → second last fri of month at 09:00
    next to last day of month → refused
    every day at 8, 12 and 18 → daily at 08:00,12:00,18:00
    every day at 8am, noon and 6pm → daily at 08:00,12:00,18:00
    every day at 8 except weekends → weekdays at 08:00
    every day but sunday → refused
    every day but sundays → mon-sat at 09:00
    weekdays except friday → refused
    weekdays except fridays at 7 → mon-thu at 07:00
    every mon and every fri at 9 → mon,fri at 09:00
    every mon at 9 and fri at 10 → refused
    mondays at 9 and fridays at 10 → refused
    mon 9am and 5pm → refused
    every mon 9am and 5pm → every mon at 09:00,17:00
    monday to wednesday at 8 → mon-wed at 08:00
    monday - wednesday → mon-wed at 09:00
    sat & sun at 10 → weekends at 10:00
    mo,we,fr at 9 → refused
    every m/w/f at 9 → mon,wed,fri at 09:00
    tth at 9 → tue,thu at 09:00
    every other week → every 2 weeks on mon at 09:00 starting 2026-11-23
    every 2 weeks starting friday → every 2 weeks on fri at 09:00 starting 2026-11-27
    every other thursday starting dec 3 at 10 → every 2 weeks on thu at 10:00 starting 2026-12-03
    every second tuesday → every 2 weeks on tue at 09:00 starting 2026-11-23
    every 3rd friday → third fri of month at 09:00
    every 10th → day 10 of month at 09:00
    every 10th of december → every dec 10 at 09:00
    every month → day 23 of month at 09:00
    every month on monday → refused
    every month on the first monday → first mon of month at 09:00
    every month on the last day at 5pm → last day of month at 17:00
    every 2 months on the 15th → every 2 months on day 15 at 09:00 starting 2026-11-23
    every 6 months → every 6 months on day 23 at 09:00 starting 2026-11-23
    every year → every nov 23 at 09:00
    every year on may 1 at 10 → every may 1 at 10:00
    every may 1 → every may 1 at 09:00
    every may → refused
    every december 24th at 4pm → every dec 24 at 16:00
    annually on march 3 → every mar 3 at 09:00
    every leap day → refused
    every 5 minutes → every 5m starting 2026-11-23T07:20:00Z
    every 5 minutes for an hour → every 5m starting 2026-11-23T07:20:00Z until 2026-11-23T08:15:00Z
    every minute → every 1m starting 2026-11-23T07:16:00Z
    every other hour → every 2h starting 2026-11-23T09:15:00Z
    every 2 hours on weekdays → every 2h on weekdays starting 2026-11-23T09:15:00Z
    every hour at :30 → refused
    every 1.5 hours → every 90m starting 2026-11-23T08:45:00Z
    every 90 min from 9 to 18 → every 90m from 09:00 to 18:00
    every 20 minutes between 9am and noon → every 20m from 09:00 to 12:00
    every 2h from 22 to 6 → every 2h from 22:00 to 06:00
    every day for the next 5 days → daily at 09:00 until 2026-11-27
    every day in december at 8 → refused
    daily in december → refused
    every monday in january → refused
    every monday until christmas → every mon at 09:00 until 2026-12-25
    every monday until the end of the year → every mon at 09:00 until 2026-12-31
    every monday through march → refused
    every monday 5 times → every mon at 09:00 starting 2026-11-23T07:15:01Z 5 times
    every monday except the 30th → every mon at 09:00 except 2026-11-30
    every friday except dec 25 → every fri at 09:00 except dec 25
    every friday except on dec 25 and jan 1 → every fri at 09:00 except jan 1,dec 25
    every weekday except in july and august → weekdays at 09:00 except jul 1..aug 31
    every weekday from dec 1 → weekdays at 09:00 starting 2026-12-01
    from tomorrow every day at 7 → daily at 07:00 starting 2026-11-24
    starting dec 1 every 3 days at 7 → every 3 days at 07:00 starting 2026-12-01
    every day at 7 starting tomorrow until friday → daily at 07:00 starting 2026-11-24 until 2026-11-27
    once tomorrow at 9 → refused
    just once on friday → refused
    only on fridays → refused
    on fridays only → refused
    never on sunday → refused
    at 9 every day except when raining → refused
    as soon as possible → refused
    when I get home → refused
    until friday → refused
    all day friday → refused
    over the weekend → refused
    by the weekend → refused
    by next friday → refused
    by monday noon → at 2026-11-23 12:00
    around 5 → at 2026-11-24 05:00
    at about 5pm → at 2026-11-23 17:00
    5ish → refused
    between 5 and 6pm → refused
    yesterday → refused
    last friday → refused
    2 hours ago → refused
    tomorrow tomorrow → refused
    today tomorrow → refused
    at 9 at 10 → refused
    friday saturday → fri,sat at 09:00
    friday + 1 week → at 2026-12-04 09:00
    mon+wed at 9 → mon,wed at 09:00
    xmas day at noon → at 2026-12-25 12:00
    """

  /// Lines of that kind.
  static let fifthLines = """
    add Call mum +3 days → Call mum | at 2026-11-26 08:15
    add +2h stretch → stretch | at 2026-11-23T09:15:00Z
    add Vitamin B+3 days → refused
    add Call mum <2026-11-24 Tue 10:00 +1w> → refused
    add tom at 20:00 → refused
    add dentist tom at 20:00 → refused
    add call Tom at 20:00 → call Tom | at 2026-11-23 20:00
    add call tom tomorrow at 8 → call tom | at 2026-11-24 08:00
    add new year's day parade at noon → refused
    add Christmas party at 6pm → refused
    add Christmas party on dec 18 at 6pm → Christmas party | at 2026-12-18 18:00
    add later today call → refused
    add 1984 tomorrow → refused
    add Read 1984 tomorrow → Read 1984 | at 2026-11-24 09:00
    add Meeting 1630 tomorrow → refused
    add Room 1630 tomorrow → Room 1630 | at 2026-11-24 09:00
    add 1630 tomorrow call Bob → call Bob | at 2026-11-24 16:30
    add 4pm + 3 days run backup → run backup | at 2026-11-26 16:00
    add every tuesday at 18 starting dec 1 choir → choir | every tue at 18:00 starting 2026-12-01
    add gym every monday at 9 and tuesday at 10 → refused
    add week on tuesday dentist → dentist | at 2026-12-01 09:00
    add Pay $5 a week on tuesday → refused
    add gym twice a week on tuesday → refused
    add gym twice a week on mon and thu at 18:00 → gym | mon,thu at 18:00
    add Plan Mother's day before friday → refused
    add Tidy up the day before christmas → Tidy up | at 2026-12-24 09:00
    add May day walk tomorrow at 9 → May day walk | at 2026-11-24 09:00
    add Read the Sunday Times tomorrow at 9 → Read the Sunday Times | at 2026-11-24 09:00
    add Weigh in tomorrow at 7 → Weigh in | at 2026-11-24 07:00
    add Weigh in every monday at 7 → Weigh in | every mon at 07:00
    add Call June in march → refused
    add Call June every friday → refused
    add remind me to stretch in 20 minutes → stretch | at 2026-11-23T07:35:00Z
    add remind me in 20 minutes to stretch → stretch | at 2026-11-23T07:35:00Z
    add Please remind me about the rent on friday → the rent | at 2026-11-27 09:00
    add Call mum <2026-11-27 Fri 18:00> → Call mum | at 2026-11-27 18:00
    add this eve at 7 movie → movie | at 2026-11-23 19:00
    add Buy milk today at 6pm → Buy milk | at 2026-11-23 18:00
    add buy milk 6pm → buy milk | at 2026-11-23 18:00
    add Buy milk at six → Buy milk | at 2026-11-24 06:00
    add Pick up kids at 15:30 every weekday → Pick up kids | weekdays at 15:30
    add Pick up kids weekdays 3:30pm → Pick up kids | weekdays at 15:30
    add Dentist appointment next month on the 3rd at 10 → Dentist appointment | at 2026-12-03 10:00
    add Dentist thursday 9:45 → Dentist | at 2026-11-26 09:45
    add Dentist on thursday at quarter to ten → Dentist | at 2026-11-26 09:45
    add Lunch with Tom tomorrow at noon → Lunch with Tom | at 2026-11-24 12:00
    add Call dad on sunday evening → Call dad | at 2026-11-29 19:00
    add call the plumber first thing tomorrow → refused
    add Meeting with April at 3pm on wednesday → Meeting with April | at 2026-11-25 15:00
    add Review Q4 numbers friday morning → Review Q4 numbers | at 2026-11-27 08:00
    add Submit Q3 taxes by jan 15 → Submit Q3 taxes | at 2027-01-15 09:00
    add Renew car insurance on 1 feb 2027 → Renew car insurance | at 2027-02-01 09:00
    add Send invoice #442 on friday at 4 → Send invoice #442 | at 2026-11-27 04:00
    add Watch episode 5 tonight at 9 → Watch episode 5 | at 2026-11-23 21:00
    add Watch 60 minutes on sunday at 7pm → refused
    add Bake for 20 minutes tomorrow at 5pm → refused
    add Take 1 pill daily at 8 and 20 → Take 1 pill | daily at 08:00,20:00
    add Take vitamins twice a day at 8 and 20 → Take vitamins | daily at 08:00,20:00
    add Walk the dog 3 times a day → refused
    add Trash out every monday night → Trash out | every mon at 22:00
    add Recycling every other thursday at 19:00 → Recycling | every 2 weeks on thu at 19:00 starting 2026-11-23
    add Mow the lawn every 2 weeks on saturday → Mow the lawn | every 2 weeks on sat at 09:00 starting 2026-11-23
    add Rent due on the 1st of every month → Rent due | day 1 of month at 09:00
    add Pay rent monthly on the 1st at 8am → Pay rent | day 1 of month at 08:00
    add Payday every last weekday of the month → Payday | last weekday of month at 09:00
    add Team retro every second friday of the month at 15:00 → Team retro | second fri of month at 15:00
    add Book club last tuesday of the month at 19:30 → Book club | last tue of month at 19:30
    add Mum's birthday every year on may 9 → Mum's birthday | every may 9 at 09:00
    add Wedding anniversary june 12 → Wedding anniversary | at 2027-06-12 09:00
    add Start oven in 45 minutes → Start oven | at 2026-11-23T08:00:00Z
    add in half an hour check the oven → check the oven | at 2026-11-23T07:45:00Z
    add check laundry in 1h 15m → check laundry | at 2026-11-23T08:30:00Z
    add Stretch every hour from 9 to 17 on weekdays → Stretch | every 1h from 09:00 to 17:00 on weekdays
    add Look away every 20 min → Look away | every 20m starting 2026-11-23T07:35:00Z
    add Drink water every 2h 8-20 → Drink water | every 2h from 08:00 to 20:00
    add Clean filter every 3 months → Clean filter | every 3 months on day 23 at 09:00 starting 2026-11-23
    add Backup laptop every friday at 17:00 starting dec 4 → Backup laptop | every fri at 17:00 starting 2026-12-04
    add Physio every tuesday at 10 for 6 weeks → Physio | every tue at 10:00 until 2027-01-03
    add Physio every tuesday at 10 until jan 31 → Physio | every tue at 10:00 until 2027-01-31
    add Antibiotics 3 times a day for 7 days → refused
    add Advent calendar every day from dec 1 to dec 24 → Advent calendar | daily at 09:00 starting 2026-12-01 until 2026-12-24
    add Party on new year's eve at 8pm → Party | at 2026-12-31 20:00
    add Christmas dinner on dec 25 at 1pm → Christmas dinner | at 2026-12-25 13:00
    add Christmas eve mass at 10pm → refused
    add Order turkey a week before christmas → Order turkey | at 2026-12-18 09:00
    add Valentine's dinner at 7pm → refused
    add Summer tyres off on saturday → Summer tyres off | at 2026-11-28 09:00
    add Log off at 17:30 → Log off | at 2026-11-23 17:30
    add Sign in tomorrow → Sign in | at 2026-11-24 09:00
    add Drop in on friday at 4pm → Drop in | at 2026-11-27 16:00
    add Check in on Bob tomorrow at 10 → Check in on Bob | at 2026-11-24 10:00
    add Turn heating on in 2 hours → Turn heating on | at 2026-11-23T09:15:00Z
    add Move meeting from 3 to 4 tomorrow → refused
    add Meeting 3-4pm tomorrow → refused
    add Meeting 3pm to 4pm tomorrow → refused
    add Gym 6am mon wed fri → Gym | mon,wed,fri at 06:00
    add Gym mon/wed/fri 6am → Gym | mon,wed,fri at 06:00
    add yoga tue+thu 18:00 → yoga | tue,thu at 18:00
    add Standup 9:15 daily → Standup | daily at 09:15
    add 9:15 standup daily → refused
    add Daily standup at 9:15 on weekdays → refused
    add Weekly sync every wednesday at 11 → refused
    add Sunday lunch at 1pm on sunday → refused
    add Buy Saturday paper on saturday at 8 → Buy Saturday paper | at 2026-11-28 08:00
    add Black Friday deals on friday at 6am → Black Friday deals | at 2026-11-27 06:00
    add Cyber Monday on nov 30 at 9 → Cyber | at 2026-11-30 09:00
    add Read Tuesdays with Morrie tonight → refused
    add Watch Saturday Night Live on saturday at 23:30 → Watch Saturday Night Live | at 2026-11-28 23:30
    add Send March report on dec 3 → Send March report | at 2026-12-03 09:00
    add Book flights for May tomorrow → refused
    add Plan for next week on friday at 4pm → refused
    add Prepare for Monday on sunday at 6pm → refused
    add Move 2 meetings to tuesday at 10 → refused
    add Call 911 in 5 minutes → Call 911 | at 2026-11-23T07:20:00Z
    add Flight LH1234 at 6:40 tomorrow → Flight LH1234 | at 2026-11-24 06:40
    add Train at 7:52 → Train | at 2026-11-24 07:52
    add Train 7:52 → Train | at 2026-11-24 07:52
    add Room 9 at 10 → Room 9 | at 2026-11-23 10:00
    add Level 3 boss tonight → Level 3 boss | at 2026-11-23 20:00
    add 3 eggs tomorrow → 3 eggs | at 2026-11-24 09:00
    add 5 tomorrow gym → refused
    add gym tomorrow 5 → gym | at 2026-11-24 05:00
    add gym @ 6pm → gym | at 2026-11-23 18:00
    add tomorrow 18:00: gym → gym | at 2026-11-24 18:00
    add 18:00 gym → gym | at 2026-11-23 18:00
    add 6pm gym tomorrow → refused
    add Gym tomorrow from 18:00 → refused
    add Dinner (tomorrow at 7pm) → Dinner | at 2026-11-24 19:00
    add Dinner - friday 19:00 → Dinner | at 2026-11-27 19:00
    add [2026-12-01 Tue 10:00] Call bank → Call bank | at 2026-12-01 10:00
    add Call bank due 2026-12-01 → Call bank due | at 2026-12-01 09:00
    add Pay bills on the 15th and 30th → refused
    add wake me up at 6:30 → wake me up | at 2026-11-24 06:30
    add remind me at noon to call Eva → call Eva | at 2026-11-23 12:00
    add remind me every monday to water the cactus → water the cactus | every mon at 09:00
    add remind me tomorrow about the parcel → the parcel | at 2026-11-24 09:00
    add don't forget milk tonight → don't forget milk | at 2026-11-23 20:00
    add todo: fix bike on saturday → todo: fix bike | at 2026-11-28 09:00
    add Fix bike this weekend → Fix bike | at 2026-11-28 09:00
    add Fix bike next weekend → refused
    add Anna arrives in Prague tomorrow at 14:20 → Anna arrives in Prague | at 2026-11-24 14:20
    add Half marathon on april 18 at 9 → Half marathon | at 2027-04-18 09:00
    add Second interview tuesday 11:00 → Second interview | at 2026-11-24 11:00
    add One on one with Petra every thursday at 13:30 → One on one with Petra | every thu at 13:30
    add Stand up at 10 past 9 → Stand up | at 2026-11-23 09:10
    add Lunch at half 12 → refused
    add Film 20:15 tonight → Film | at 2026-11-23 20:15
    add Evening walk at 7pm → refused
    add Morning pages every day at 6:30 → refused
    add midnight snack tomorrow → refused
    add Sunset walk at 16:00 → refused
    add quarterly report every quarter → refused
    add Annual checkup every year on march 3 → Annual checkup | every mar 3 at 09:00
    add Monthly budget on the last day of the month → refused
    add Check mail hourly → Check mail | every 1h starting 2026-11-23T08:15:00Z
    add wash car in 2 days in the evening → wash car | at 2026-11-25 19:00
    add Tea in 4 min → Tea | at 2026-11-23T07:19:00Z
    add Egg timer 4 minutes → refused
    add parking until 18:00 → refused
    add vote on tuesday before 20:00 → refused
    add visa expires in 90 days → visa expires | at 2027-02-21 08:15
    add visa expires 3 months from today → visa expires | at 2027-02-23 08:15
    add Party 24.12. at 18:00 → Party | at 2026-12-24 18:00
    add Party 24.12.26 at 18:00 → Party | at 2026-12-24 18:00
    add 5.1. call Bob at 9 → refused
    add Mum's 31st on feb 3 → refused
    add Lunch for 2 tomorrow → refused
    add tomorrow's meeting at 9 → refused
    add Friday's report at 5pm → refused
    add prep for monday's class at 8pm on sunday → prep for monday's class | at 2026-11-29 20:00
    add today's standup notes at 17:00 → today's standup notes | at 2026-11-23 17:00
    add xmas shopping at 10 → refused
    add easter eggs at 9 → easter eggs | at 2026-11-23 09:00
    add meeting mon at 9 → meeting | at 2026-11-23 09:00
    add meeting Mon 30 Nov 9:00 → meeting | at 2026-11-30 09:00
    add meeting 30/11 9:00 → meeting | at 2026-11-30 09:00
    add meeting 11/30 at 9am → meeting | at 2026-11-30 09:00
    add meeting 5/12 at 9 → refused
    add meeting 30.11 at 9 → refused
    add meeting 30.11. at 9 → meeting | at 2026-11-30 09:00
    add call mum tues 7pm → call mum | at 2026-11-24 19:00
    add call mum tuesday evening 7 → call mum | at 2026-11-24 19:00
    add call mum tonight 730pm → call mum | at 2026-11-23 19:30
    add call mum 7:30 tonight → call mum | at 2026-11-23 19:30
    add call mum at half seven → refused
    add take meds 8am 8pm → refused
    add take meds 8am and 8pm every day → take meds | daily at 08:00,20:00
    add take meds every 6h → take meds | every 6h starting 2026-11-23T13:15:00Z
    add take meds every morning and evening → refused
    add take meds in the morning → take meds | at 2026-11-24 08:00
    add pay 20 euros tomorrow → pay 20 euros | at 2026-11-24 09:00
    add pay $20 at noon → pay $20 | at 2026-11-23 12:00
    add run 5k on saturday → run 5k | at 2026-11-28 09:00
    add run 5 km on saturday at 8 → run 5 km | at 2026-11-28 08:00
    add run 10 miles sunday 7am → run 10 miles | at 2026-11-29 07:00
    add 10 pushups every day at 7 → 10 pushups | daily at 07:00
    add do 20 squats every 2 hours → do 20 squats | every 2h starting 2026-11-23T09:15:00Z
    add read 30 pages every night → read 30 pages | daily at 22:00
    add read for 30 min tonight → refused
    add call back in 15 → refused
    add be there in 15 min → be there | at 2026-11-23T07:30:00Z
    add 15 min break at 10 → 15 min break | at 2026-11-23 10:00
    add 2pm 3pm meeting → refused
    add meeting at 2pm on the 25th → meeting | at 2026-11-25 14:00
    add meeting on the 25th 2pm → meeting | at 2026-11-25 14:00
    add order cake 2 days before dec 24 → order cake | at 2026-12-22 09:00
    add order cake two weeks before christmas at 10 → order cake | at 2026-12-11 10:00
    add cancel trial 3 days before the 15th → cancel trial | at 2026-12-12 09:00
    add cancel trial in 29 days → cancel trial | at 2026-12-22 08:15
    add renew in 6 months → renew | at 2027-05-23 08:15
    add renew 6 months from now → renew | at 2027-05-23 08:15
    add check tyres 1st saturday of every month → check tyres | first sat of month at 09:00
    add check tyres every first saturday at 10 → check tyres | first sat of month at 10:00
    add change sheets every other sunday → change sheets | every 2 weeks on sun at 09:00 starting 2026-11-23
    add bins out every 2nd tuesday → bins out | second tue of month at 09:00
    add bins out tuesdays 9pm → bins out | every tue at 21:00
    add bins tue 9pm weekly → bins | every tue at 21:00
    add bins every week on tuesday at 9pm → bins | every tue at 21:00
    add team lunch last friday of the month at noon → team lunch | last fri of month at 12:00
    add team lunch on the last friday of this month at noon → team lunch | at 2026-11-27 12:00
    add board meeting first monday of each quarter → refused
    add tax every jan 15, apr 15 and jul 15 → tax | every jan 15,apr 15,jul 15 at 09:00
    add birthday Eva 14 feb → birthday Eva | at 2027-02-14 09:00
    add Eva birthday feb 14 every year → Eva birthday | every feb 14 at 09:00
    add yearly: Eva's birthday feb 14 → refused
    add standup at 9:15 mon-fri → standup | weekdays at 09:15
    add standup mon to fri 9:15 → standup | weekdays at 09:15
    add standup Monday through Friday at 9:15am → standup | weekdays at 09:15
    add standup every weekday at 9:15 until dec 18 → standup | weekdays at 09:15 until 2026-12-18
    add standup daily at 9:15 except weekends → standup | weekdays at 09:15
    add pomodoro every 25 minutes from 9 to 12 → pomodoro | every 25m from 09:00 to 12:00
    add pomodoro in 25 → refused
    add eggs 8min → refused
    add eggs in 8min → eggs | at 2026-11-23T07:23:00Z
    add pizza 20:00 → pizza | at 2026-11-23 20:00
    add pizza @20:00 → pizza | at 2026-11-23 20:00
    add pizza 8 pm → pizza | at 2026-11-23 20:00
    add pizza at 8 → pizza | at 2026-11-24 08:00
    add pizza by 8pm → pizza | at 2026-11-23 20:00
    add pizza around 8pm → pizza | at 2026-11-23 20:00
    add pizza between 7 and 8pm → refused
    add pizza 7-8pm → refused
    add pizza after 8pm → refused
    add pizza on fri, 8pm → pizza | at 2026-11-27 20:00
    add pizza (fri 8pm) → pizza | at 2026-11-27 20:00
    add pizza: friday at 8pm! → pizza | at 2026-11-27 20:00
    add FRI 8PM PIZZA → PIZZA | at 2026-11-27 20:00
    add Friday, 8 pm - pizza with Jo → pizza with Jo | at 2026-11-27 20:00
    add on friday at 8pm pizza with Jo → pizza with Jo | at 2026-11-27 20:00
    add at 8pm on friday we have pizza → we have pizza | at 2026-11-27 20:00
    add pizza with Jo and 3 friends friday 8pm → pizza with Jo and 3 friends | at 2026-11-27 20:00
    add pizza friday 8pm with Jo → pizza with Jo | at 2026-11-27 20:00
    add pizza friday with Jo at 8pm → refused
    add every friday pizza at 8pm → refused
    add every friday at 8pm pizza → pizza | every fri at 20:00
    add starting friday water plants daily → refused
    add water plants daily starting friday → water plants | daily at 09:00 starting 2026-11-27
    add water plants every 3 days starting friday at 8 → water plants | every 3 days at 08:00 starting 2026-11-27
    add water plants every! 3 days → water plants | every 3 days after done at 09:00 starting 2026-11-26
    add water plants 3 days after done → refused
    add second-hand shop on monday → second-hand shop | at 2026-11-23 09:00
    add 24h race on saturday at noon → 24h race | at 2026-11-28 12:00
    add Ocean's 11 on tv at 20:15 → Ocean's 11 on tv | at 2026-11-23 20:15
    add Today show at 7 → refused
    add Tomorrow never dies at 21:00 → refused
    add buy the March issue on friday → buy the March issue | at 2026-11-27 09:00
    add meet Wednesday Addams on friday at 7 → meet Wednesday Addams | at 2026-11-27 07:00
    add Deploy 3.2 at 10 → Deploy 3.2 | at 2026-11-23 10:00
    add Python 3.11 release at 10 → refused
    add meeting on 30.11 at 9 → meeting | at 2026-11-30 09:00
    add pizza 18.30 → refused
    """

  /// Czech phrases and lines.
  static let czech = """
    zítra v 9 → at 2026-11-24 09:00
    zítra ráno v 7:30 → at 2026-11-24 07:30
    zítra večer → at 2026-11-24 19:00
    dnes v 17:30 → at 2026-11-23 17:30
    dnes večer v 8 → at 2026-11-23 20:00
    pozítří v poledne → at 2026-11-25 12:00
    ve středu v 15 → at 2026-11-25 15:00
    v pátek odpoledne → at 2026-11-27 15:00
    v sobotu dopoledne v 10 → at 2026-11-28 10:00
    příští pondělí v 9 → at 2026-11-30 09:00
    příští středu → refused
    tento pátek v 16 → at 2026-11-27 16:00
    za dva týdny → at 2026-12-07 08:15
    za 3 dny v 9 → at 2026-11-26 09:00
    za měsíc → at 2026-12-23 08:15
    za půl hodiny → at 2026-11-23T07:45:00Z
    za hodinu a čtvrt → refused
    za 45 minut → at 2026-11-23T08:00:00Z
    za chvíli → refused
    24. prosince v 17 → at 2026-12-24 17:00
    24.12. v 17:00 → at 2026-12-24 17:00
    1. ledna 2027 → at 2027-01-01 09:00
    15. v 10 → refused
    každý den v 7 → daily at 07:00
    každé ráno v 6:30 → daily at 06:30
    každý večer v 9 → daily at 21:00
    každý pracovní den v 8 → weekdays at 08:00
    ve všední dny v 8:30 → weekdays at 08:30
    každý pátek v 17 → every fri at 17:00
    každé pondělí a čtvrtek v 18 → mon,thu at 18:00
    v úterý a ve čtvrtek v 18 → tue,thu at 18:00
    každý druhý pátek v 19 → every 2 weeks on fri at 19:00 starting 2026-11-23
    každé dva týdny v pondělí → every 2 weeks on mon at 09:00 starting 2026-11-23
    každý měsíc 15. v 9 → day 15 of month at 09:00
    každého 1. v měsíci → day 1 of month at 09:00
    první pondělí v měsíci v 9 → first mon of month at 09:00
    poslední den v měsíci → last day of month at 09:00
    poslední pátek v měsíci v 16 → last fri of month at 16:00
    každou hodinu od 8 do 18 → every 1h from 08:00 to 18:00
    každých 30 minut → every 30m starting 2026-11-23T07:45:00Z
    každých 90 minut od 8 do 22 → every 90m from 08:00 to 22:00
    každé 3 dny → every 3 days at 09:00 starting 2026-11-23
    každý rok 1. června → every jun 1 at 09:00
    denně v 8 a ve 20 → daily at 08:00,20:00
    dvakrát denně → refused
    dvakrát denně v 8 a ve 20 → daily at 08:00,20:00
    na Štědrý den v 17 → at 2026-12-24 17:00
    na Silvestra ve 23:30 → at 2026-12-31 23:30
    na Vánoce v 17 → refused
    na Velikonoce → refused
    do pátku → refused
    o víkendu v 10 → at 2026-11-28 10:00
    v noci → at 2026-11-23 22:00
    o půlnoci → at 2026-11-24 00:00
    v půl deváté → at 2026-11-23 08:30
    ve čtvrt na devět → at 2026-11-24 08:15
    za týden v úterý → at 2026-12-01 09:00
    v úterý za týden → at 2026-12-01 09:00
    za dva týdny v pátek v 10 → at 2026-12-11 10:00
    týden před Štědrým dnem → refused
    den před Štědrým dnem v 16 → refused
    den po Novém roce → refused
    konec měsíce v 16 → at 2026-11-30 16:00
    každý všední den kromě pátku → refused
    každý den kromě nedělí v 7 → mon-sat at 07:00
    """
  static let czechLines = """
    add Zavolat mámě zítra v 17 → Zavolat mámě | at 2026-11-24 17:00
    add zaplatit nájem každého 1. v měsíci → zaplatit nájem | day 1 of month at 09:00
    add vynést koše každý čtvrtek v 19 → vynést koše | every thu at 19:00
    add napít se vody každou hodinu od 9 do 17 → napít se vody | every 1h from 09:00 to 17:00
    add zubař 3. prosince v 10:30 → zubař | at 2026-12-03 10:30
    add koupit 3 rohlíky zítra ráno → koupit 3 rohlíky | at 2026-11-24 08:00
    add porada v 9 každé pondělí → porada | every mon at 09:00
    add připomeň mi za 20 minut čaj → čaj | at 2026-11-23T07:35:00Z
    add připomeň mi zítra v 9 zavolat Janě → zavolat Janě | at 2026-11-24 09:00
    add večeře na Vánoce v 17 → refused
    add štědrý den večeře v 17 → refused
    add dárky na Štědrý den → dárky | at 2026-12-24 09:00
    add oslava na Silvestra ve 20 → oslava | at 2026-12-31 20:00
    add zasedání výboru každé druhé úterý v 19 → zasedání výboru | every 2 weeks on tue at 19:00 starting 2026-11-23
    add trénink v úterý a ve čtvrtek v 18 → trénink | tue,thu at 18:00
    add umýt auto o víkendu → umýt auto | at 2026-11-28 09:00
    add číst kapitolu 7 dnes večer → číst kapitolu 7 | at 2026-11-23 19:00
    add autobus v 7:52 → autobus | at 2026-11-24 07:52
    add zkontrolovat troubu za 40 minut → zkontrolovat troubu | at 2026-11-23T07:55:00Z
    add platit daně každý rok 1. dubna → platit daně | every apr 1 at 09:00
    add sobotní nákup v 9 → refused
    add pondělní porada zítra v 9 → pondělní porada | at 2026-11-24 09:00
    add zítřejší porada v 9 → refused
    add odevzdat práci do pátku → refused
    """
}
