// Data for SpokenPhrasesTests.

extension SpokenPhrasesTests {
  /// Phrases of the first collection.
  static let first = """
    today 5pm → at 2026-11-23 17:00
    Today at 17:00 → at 2026-11-23 17:00
    TODAY 9:30 PM → at 2026-11-23 21:30
    tod 5pm → refused
    2day at 6pm → refused
    tonite → at 2026-11-23 20:00
    tonight 7:30 → at 2026-11-23 19:30
    tonight at 11:15pm → at 2026-11-23 23:15
    later today → refused
    tomorrow 8 → at 2026-11-24 08:00
    tomorrow, 8 am → at 2026-11-24 08:00
    Tomorrow @ 8am → at 2026-11-24 08:00
    tomorrow@8am → at 2026-11-24 08:00
    tomorrow at 08:15 am → at 2026-11-24 08:15
    tomorrow at 8:15AM → at 2026-11-24 08:15
    tmrw at noon → at 2026-11-24 12:00
    tmrw morning 9 → at 2026-11-24 09:00
    tommorow at 9 → refused
    tomorrow morning at half past seven → at 2026-11-24 07:30
    tomorrow around noon → at 2026-11-24 12:00
    tomorrow at around 3pm → at 2026-11-24 15:00
    tomorrow about 3pm → at 2026-11-24 15:00
    tomorrow first thing → refused
    first thing tomorrow → refused
    tomorrow at lunch → at 2026-11-24 12:00
    at lunch tomorrow → at 2026-11-24 12:00
    tomorrow lunchtime → at 2026-11-24 12:00
    tomorrow at midday → at 2026-11-24 12:00
    tomorrow in the morning → at 2026-11-24 08:00
    tomorrow in the evening → at 2026-11-24 19:00
    in the morning → at 2026-11-24 08:00
    in the evening → at 2026-11-23 19:00
    in the afternoon → at 2026-11-23 15:00
    this evening → at 2026-11-23 19:00
    this morning → refused
    this morning at 9 → at 2026-11-23 09:00
    this afternoon at 4 → at 2026-11-23 16:00
    this afternoon at 2:30 → at 2026-11-23 14:30
    4 this afternoon → at 2026-11-23 16:00
    at 4 this afternoon → at 2026-11-23 16:00
    8 tomorrow morning → refused
    at 8 tomorrow morning → at 2026-11-24 08:00
    9am tomorrow → at 2026-11-24 09:00
    9 am on tuesday → at 2026-11-24 09:00
    9:00 on 1 dec → at 2026-12-01 09:00
    tues at 9 → at 2026-11-24 09:00
    Tue 9am → at 2026-11-24 09:00
    tue. 9am → at 2026-11-24 09:00
    Wed, 14:00 → at 2026-11-25 14:00
    on wed at 14.00 → at 2026-11-25 14:00
    weds at 2pm → at 2026-11-25 14:00
    thu 1500 → at 2026-11-26 15:00
    thurs at 15h → at 2026-11-26 15:00
    fri 17:00 → at 2026-11-27 17:00
    friday by 5pm → at 2026-11-27 17:00
    by friday → at 2026-11-27 09:00
    by end of day friday → at 2026-11-27 17:00
    before noon → refused
    before friday → refused
    friday at close of business → at 2026-11-27 17:00
    cob friday → at 2026-11-27 17:00
    friday eod → at 2026-11-27 17:00
    EOD → at 2026-11-23 17:00
    EOM → at 2026-11-30 09:00
    eow → refused
    end of week → refused
    end of the week → refused
    by eod → at 2026-11-23 17:00
    by the end of the day → at 2026-11-23 17:00
    by tomorrow night → at 2026-11-24 22:00
    friday night → at 2026-11-27 22:00
    friday night at 9 → at 2026-11-27 21:00
    sat morning → at 2026-11-28 08:00
    saturday at 10 in the morning → at 2026-11-28 10:00
    sunday 6am → at 2026-11-29 06:00
    sunday at noon → at 2026-11-29 12:00
    sunday noon → at 2026-11-29 12:00
    this sunday → at 2026-11-29 09:00
    this sat at 10 → at 2026-11-28 10:00
    coming saturday at 10 → at 2026-11-28 10:00
    this coming thursday at noon → at 2026-11-26 12:00
    next sunday → refused
    next tuesday at 10 → refused
    next wed → refused
    next mon 9am → at 2026-11-30 09:00
    monday next week → at 2026-11-30 09:00
    next week tuesday → at 2026-12-01 09:00
    tuesday of next week → at 2026-12-01 09:00
    tuesday next week at noon → at 2026-12-01 12:00
    next week on thursday at 4pm → at 2026-12-03 16:00
    a week from tomorrow → at 2026-12-01 09:00
    a week from friday → at 2026-12-04 09:00
    two weeks from today → at 2026-12-07 08:15
    a week from today → at 2026-11-30 08:15
    two weeks from tomorrow at 9 → at 2026-12-08 09:00
    3 days from now at noon → at 2026-11-26 12:00
    10 days from today → at 2026-12-03 08:15
    tuesday week → refused
    a month from now → at 2026-12-23 08:15
    in one week → at 2026-11-30 08:15
    in one week at 9am → at 2026-11-30 09:00
    in six weeks → at 2027-01-04 08:15
    in 2 wks → at 2026-12-07 08:15
    in 1 wk → at 2026-11-30 08:15
    in 3 mos → at 2027-02-23 08:15
    in 6 months → at 2027-05-23 08:15
    in half a year → at 2027-05-23 08:15
    in a year and a half → at 2028-05-23 08:15
    in a couple of days → at 2026-11-25 08:15
    in a couple days → at 2026-11-25 08:15
    in a few days → refused
    in a few minutes → refused
    in a bit → refused
    in ten → refused
    in 10 → refused
    in 10min → at 2026-11-23T07:25:00Z
    in 10 min. → at 2026-11-23T07:25:00Z
    in 10 minutes time → at 2026-11-23T07:25:00Z
    in 5 mins' time → at 2026-11-23T07:20:00Z
    in 15m → at 2026-11-23T07:30:00Z
    15m → refused
    15 minutes → refused
    in 1 hr → at 2026-11-23T08:15:00Z
    in 1hr 15min → at 2026-11-23T08:30:00Z
    in 2hrs → at 2026-11-23T09:15:00Z
    in 2h15m → at 2026-11-23T09:30:00Z
    in 2h 15m → at 2026-11-23T09:30:00Z
    in 2 h → at 2026-11-23T09:15:00Z
    in 1:30 → refused
    in 1:30 hours → refused
    in 1.5h → at 2026-11-23T08:45:00Z
    in 0.5 hours → at 2026-11-23T07:45:00Z
    in .5 hours → refused
    in 1½ hours → at 2026-11-23T08:45:00Z
    in 45 seconds → at 2026-11-23T07:15:45Z
    in 30 secs → at 2026-11-23T07:15:30Z
    in 90s → at 2026-11-23T07:16:30Z
    in an hour → at 2026-11-23T08:15:00Z
    an hour from now → at 2026-11-23T08:15:00Z
    half an hour from now → at 2026-11-23T07:45:00Z
    in half hour → at 2026-11-23T07:45:00Z
    in a half-hour → at 2026-11-23T07:45:00Z
    in three quarters of an hour → at 2026-11-23T08:00:00Z
    in quarter of an hour → at 2026-11-23T07:30:00Z
    in a quarter hour → at 2026-11-23T07:30:00Z
    in an hour and fifteen minutes → at 2026-11-23T08:30:00Z
    in 1 hour 30 minutes → at 2026-11-23T08:45:00Z
    in 1 hour, 30 minutes → at 2026-11-23T08:45:00Z
    in 1 hour and 30 minutes → at 2026-11-23T08:45:00Z
    in 1 day and 2 hours → at 2026-11-24T09:15:00Z
    in one day → at 2026-11-24 08:15
    in 2 and a half hours → at 2026-11-23T09:45:00Z
    in two and a half hours → at 2026-11-23T09:45:00Z
    in three days time → at 2026-11-26 08:15
    in 3 days' time → at 2026-11-26 08:15
    in 3 days at noon → at 2026-11-26 12:00
    in 3 days in the evening → at 2026-11-26 19:00
    in 3 business days → refused
    in 24 hours → at 2026-11-24T07:15:00Z
    in 48 hrs → at 2026-11-25T07:15:00Z
    in twenty minutes → at 2026-11-23T07:35:00Z
    in thirty-five minutes → at 2026-11-23T07:50:00Z
    in forty five minutes → at 2026-11-23T08:00:00Z
    within the hour → refused
    within an hour → at 2026-11-23T08:15:00Z
    after 20 minutes → at 2026-11-23T07:35:00Z
    20 min from now → at 2026-11-23T07:35:00Z
    2h from now → at 2026-11-23T09:15:00Z
    +2h → at 2026-11-23T09:15:00Z
    +30m → at 2026-11-23T07:45:00Z
    now + 30 minutes → at 2026-11-23T07:45:00Z
    now+1day → at 2026-11-24 08:15
    now + 1 week → at 2026-11-30 08:15
    +3 days → at 2026-11-26 08:15
    at 7 → at 2026-11-24 07:00
    at 7pm → at 2026-11-23 19:00
    @7pm → at 2026-11-23 19:00
    at 7:05 → at 2026-11-24 07:05
    at 19 → at 2026-11-23 19:00
    19:00 → at 2026-11-23 19:00
    19.00 → refused
    7pm → at 2026-11-23 19:00
    7 pm → at 2026-11-23 19:00
    7 p.m. → at 2026-11-23 19:00
    7 PM → at 2026-11-23 19:00
    7 P.M. → at 2026-11-23 19:00
    7:00p → at 2026-11-23 19:00
    7:00 p → refused
    seven pm → at 2026-11-23 19:00
    at seven → at 2026-11-24 07:00
    at seven thirty → at 2026-11-24 07:30
    at seven thirty pm → at 2026-11-23 19:30
    at ten fifteen → at 2026-11-23 10:15
    seven o'clock → at 2026-11-24 07:00
    at seven o'clock in the evening → at 2026-11-23 19:00
    at 12 → at 2026-11-23 12:00
    at 12 noon → at 2026-11-23 12:00
    12 noon → at 2026-11-23 12:00
    12 midnight → at 2026-11-24 00:00
    12pm → at 2026-11-23 12:00
    12am → at 2026-11-24 00:00
    12:30pm tomorrow → at 2026-11-24 12:30
    at 0:30 → at 2026-11-24 00:30
    at 00:00 → at 2026-11-24 00:00
    at 24:00 → refused
    at 25:00 → refused
    at 9:60 → refused
    13pm → refused
    half past ten → at 2026-11-23 10:30
    half past 10 tomorrow → at 2026-11-24 10:30
    at half nine → refused
    quarter past 9 → at 2026-11-23 09:15
    a quarter past nine → at 2026-11-23 09:15
    quarter to ten → at 2026-11-23 09:45
    at a quarter to 10 → at 2026-11-23 09:45
    ten to nine → at 2026-11-23 08:50
    at ten to nine → at 2026-11-23 08:50
    ten past nine → at 2026-11-23 09:10
    five minutes to nine → at 2026-11-23 08:55
    5 to 9 tomorrow → refused
    at 20 to 5 pm → at 2026-11-23 16:40
    at 0900 → at 2026-11-23 09:00
    0900 → refused
    at 1700 hours → at 2026-11-23 17:00
    1700 hours → at 2026-11-23 17:00
    17h → at 2026-11-23 17:00
    17h15 → at 2026-11-23 17:15
    at 17.15 → at 2026-11-23 17:15
    17:15h → at 2026-11-23 17:15
    at 17:15:30 → at 2026-11-23 17:15:30
    at dinner → refused
    at tea time → at 2026-11-23 16:00
    dec 1 → at 2026-12-01 09:00
    Dec 1st → at 2026-12-01 09:00
    1 Dec → at 2026-12-01 09:00
    1st dec → at 2026-12-01 09:00
    1st of dec → at 2026-12-01 09:00
    the 1st of December → at 2026-12-01 09:00
    December the 1st → at 2026-12-01 09:00
    december first → at 2026-12-01 09:00
    december twenty-fourth → at 2026-12-24 09:00
    the twenty fourth of december at noon → at 2026-12-24 12:00
    the first of december → at 2026-12-01 09:00
    Dec. 24 → at 2026-12-24 09:00
    Dec. 24, 2026 → at 2026-12-24 09:00
    Dec. 24, 2026 at 5 p.m. → at 2026-12-24 17:00
    24-dec-2026 → at 2026-12-24 09:00
    24-Dec → at 2026-12-24 09:00
    24dec → at 2026-12-24 09:00
    dec24 → at 2026-12-24 09:00
    dec 24 '26 → refused
    24.12 → refused
    24.12. 18:00 → at 2026-12-24 18:00
    24. 12. 2026 18:00 → at 2026-12-24 18:00
    24/12 → at 2026-12-24 09:00
    24/12/26 → at 2026-12-24 09:00
    24/12/2026 18:00 → at 2026-12-24 18:00
    12/24 → at 2026-12-24 09:00
    12/24 at 6pm → at 2026-12-24 18:00
    12/24/26 → at 2026-12-24 09:00
    12-24-2026 → at 2026-12-24 09:00
    24-12-2026 → at 2026-12-24 09:00
    2026-12-24 → at 2026-12-24 09:00
    2026-12-24 18:00 → at 2026-12-24 18:00
    2026-12-24T18:00 → at 2026-12-24 18:00
    2026-12-24T18:00:00 → at 2026-12-24 18:00
    2026-12-24T18:00Z → at 2026-12-24T18:00:00Z
    2026-12-24T18:00:00+01:00 → at 2026-12-24T17:00:00Z
    2026-12-24 6pm → at 2026-12-24 18:00
    2026.12.24 → at 2026-12-24 09:00
    20261224 → at 2026-12-24 09:00
    20261224T180000 → at 2026-12-24 18:00
    20261224T170000Z → refused
    2026-358 → refused
    2026-W52 → refused
    1/2 → refused
    01/02/2027 → refused
    1/13 → at 2027-01-13 09:00
    13.1. → at 2027-01-13 09:00
    jan 5 → at 2027-01-05 09:00
    jan 5 9am → at 2027-01-05 09:00
    5 january 2027 at 14:30 → at 2027-01-05 14:30
    jan 5, 2027 → at 2027-01-05 09:00
    january 5, 2027 2:30 PM → at 2027-01-05 14:30
    tue jan 5 → at 2027-01-05 09:00
    tuesday, january 5th at 2pm → at 2027-01-05 14:00
    tue, 5 jan 2027 14:00 → at 2027-01-05 14:00
    mon jan 5 → refused
    feb 30 → refused
    feb 29 → at 2028-02-29 09:00
    nov 31 → refused
    nov 22 → at 2027-11-22 09:00
    nov 23 → at 2026-11-23 09:00
    nov 23 at 7 → at 2027-11-23 07:00
    the 30th → at 2026-11-30 09:00
    on the 30th at 6pm → at 2026-11-30 18:00
    30th at 6pm → at 2026-11-30 18:00
    30th of november → at 2026-11-30 09:00
    the 5th → at 2026-12-05 09:00
    on the 23rd at noon → at 2026-11-23 12:00
    the 31st → at 2026-12-31 09:00
    10th of next month → at 2026-12-10 09:00
    the 10th of next month at 8 → at 2026-12-10 08:00
    the last day of the month → last day of month at 09:00
    last day of this month → at 2026-11-30 09:00
    end of december → at 2026-12-31 09:00
    end of the year → at 2026-12-31 09:00
    end of next month → at 2026-12-31 09:00
    beginning of next month → at 2026-12-01 09:00
    start of next month → at 2026-12-01 09:00
    next year → refused
    next month → refused
    next weekend → refused
    this weekend at 10 → at 2026-11-28 10:00
    last friday of december → at 2026-12-25 09:00
    second tuesday of january → at 2027-01-12 09:00
    2nd tuesday in january at 9 → at 2027-01-12 09:00
    first of january → at 2027-01-01 09:00
    christmas → at 2026-12-25 09:00
    christmas eve at 5pm → at 2026-12-24 17:00
    new year's eve → at 2026-12-31 09:00
    new years day → at 2027-01-01 09:00
    yesterday at 5 → refused
    last monday → refused
    2 days ago → refused
    2020-01-01 → refused
    today at 7 → refused
    every day at 7am → daily at 07:00
    Every Day at 7:30 AM → daily at 07:30
    everyday 7am → daily at 07:00
    daily 7am → daily at 07:00
    daily @ 7 → daily at 07:00
    daily at 7 and 19 → daily at 07:00,19:00
    daily at 7:00, 12:00 and 19:00 → daily at 07:00,12:00,19:00
    daily at 7am, 12pm, 7pm → daily at 07:00,12:00,19:00
    each day at 6:45 → daily at 06:45
    every single day at 9 → daily at 09:00
    7am every day → daily at 07:00
    at 7am every day → daily at 07:00
    at 7 daily → daily at 07:00
    every morning at 6 → daily at 06:00
    every morning at 6:30 → daily at 06:30
    6am every morning → daily at 06:00
    mornings at 6 → daily at 06:00
    every evening at 9:30 → daily at 21:30
    evenings at 8 → daily at 20:00
    every night at 11 → daily at 23:00
    every night at 11:30 pm → daily at 23:30
    nightly at 10pm → daily at 22:00
    nightly → daily at 22:00
    every day at midnight → daily at 00:00
    every day at noon → daily at 12:00
    daily noon → daily at 12:00
    every day in the morning → daily at 08:00
    every lunchtime → daily at 12:00
    every day after lunch → refused
    every weekday at 8 → weekdays at 08:00
    every week day at 8 → weekdays at 08:00
    week days at 8 → weekdays at 08:00
    weekdays @ 8:15am → weekdays at 08:15
    on weekdays at 6pm → weekdays at 18:00
    8am on weekdays → weekdays at 08:00
    8am weekdays → weekdays at 08:00
    every working day at 9 → weekdays at 09:00
    every work day at 9 → weekdays at 09:00
    each weekday morning → weekdays at 08:00
    weekday mornings at 7:15 → weekdays at 07:15
    business days at 9am → weekdays at 09:00
    mon-fri 9am → weekdays at 09:00
    mon - fri 9am → weekdays at 09:00
    Mon–Fri at 9 → weekdays at 09:00
    M-F 9am → refused
    MWF at 10 → mon,wed,fri at 10:00
    monday thru friday at 9 → weekdays at 09:00
    monday through thursday at 9am → mon-thu at 09:00
    from monday to friday at 9 → weekdays at 09:00
    mon/wed/fri at 7 → mon,wed,fri at 07:00
    mon, wed & fri at 7 → mon,wed,fri at 07:00
    mon,wed,fri 07:00 → mon,wed,fri at 07:00
    monday, wednesday, friday at 7 → mon,wed,fri at 07:00
    mondays, wednesdays and fridays 7am → mon,wed,fri at 07:00
    every mon & thu at 18 → mon,thu at 18:00
    every monday and every thursday at 18:00 → mon,thu at 18:00
    tuesdays & thursdays at 8pm → tue,thu at 20:00
    tue and thu 20:00 → tue,thu at 20:00
    tue thu 8pm → tue,thu at 20:00
    every tue, thu 8pm → tue,thu at 20:00
    weekends at 10 → weekends at 10:00
    on weekends at 10am → weekends at 10:00
    every weekend at 10 → weekends at 10:00
    every sat and sun at 10 → weekends at 10:00
    saturdays at 10 → every sat at 10:00
    every sat 10am → every sat at 10:00
    on saturdays → every sat at 09:00
    every Sunday evening → every sun at 19:00
    sunday evenings → every sun at 19:00
    sunday nights at 9 → every sun at 21:00
    every friday afternoon → every fri at 15:00
    every friday at 4 in the afternoon → every fri at 16:00
    every monday morning at 9:30 → every mon at 09:30
    monday mornings → every mon at 08:00
    weekly on friday → every fri at 09:00
    weekly on fridays at 3pm → every fri at 15:00
    weekly friday 3pm → every fri at 15:00
    once a week on friday → every fri at 09:00
    every week on friday at 3 → every fri at 03:00
    every week on monday and thursday → mon,thu at 09:00
    every week at 9 → every mon at 09:00
    every two weeks → every 2 weeks on mon at 09:00 starting 2026-11-23
    every 2 weeks on friday at 3pm → every 2 weeks on fri at 15:00 starting 2026-11-23
    every second week → every 2 weeks on mon at 09:00 starting 2026-11-23
    every second friday → every 2 weeks on fri at 09:00 starting 2026-11-23
    every other tuesday at 7pm → every 2 weeks on tue at 19:00 starting 2026-11-23
    every other tue 7pm → every 2 weeks on tue at 19:00 starting 2026-11-23
    alternate fridays → every 2 weeks on fri at 09:00 starting 2026-11-23
    every alternate friday at 9 → every 2 weeks on fri at 09:00 starting 2026-11-23
    every other week on tuesday and thursday → every 2 weeks on tue,thu at 09:00 starting 2026-11-23
    every 3 weeks on wed at 8 → every 3 weeks on wed at 08:00 starting 2026-11-23
    every 3rd week → every 3 weeks on mon at 09:00 starting 2026-11-23
    every third day → every 3 days at 09:00 starting 2026-11-23
    every 3rd day at 8 → every 3 days at 08:00 starting 2026-11-23
    every 2nd day → every 2 days at 09:00 starting 2026-11-23
    every three days at noon → every 3 days at 12:00 starting 2026-11-23
    every 3d → every 3 days at 09:00 starting 2026-11-23
    every 2w → every 2 weeks on mon at 09:00 starting 2026-11-23
    every 6 mo → every 6 months on day 23 at 09:00 starting 2026-11-23
    every 14 days → every 14 days at 09:00 starting 2026-11-23
    every month on the 1st → day 1 of month at 09:00
    every 1st of the month → day 1 of month at 09:00
    every month on the 1st at 8am → day 1 of month at 08:00
    1st of every month at 8am → day 1 of month at 08:00
    1st of the month at 8am → day 1 of month at 08:00
    the first of every month → day 1 of month at 09:00
    the first of each month at 9 → day 1 of month at 09:00
    on the first of the month → day 1 of month at 09:00
    first day of the month at 7 → day 1 of month at 07:00
    first of the month → day 1 of month at 09:00
    first day of every month → day 1 of month at 09:00
    every first day of the month → day 1 of month at 09:00
    monthly on the 10th → day 10 of month at 09:00
    monthly on the 10th at 10am → day 10 of month at 10:00
    monthly on day 10 → day 10 of month at 09:00
    monthly on the last day → last day of month at 09:00
    every month on the last day at 17:00 → last day of month at 17:00
    the last day of every month → last day of month at 09:00
    last day of each month at 5pm → last day of month at 17:00
    at the end of every month → last day of month at 09:00
    every end of month → refused
    monthly on the first monday → first mon of month at 09:00
    first monday of every month → first mon of month at 09:00
    first monday of the month at 10 → first mon of month at 10:00
    first monday of each month 10am → first mon of month at 10:00
    1st monday of the month → first mon of month at 09:00
    every 1st monday → first mon of month at 09:00
    every first and third monday → first mon,third mon of month at 09:00
    first and third monday of the month at 7pm → first mon,third mon of month at 19:00
    1st & 3rd monday of the month at 7pm → first mon,third mon of month at 19:00
    every 2nd wednesday of the month → second wed of month at 09:00
    second wednesday of each month at 6pm → second wed of month at 18:00
    every last friday of the month → last fri of month at 09:00
    last friday of the month at 4pm → last fri of month at 16:00
    every last friday at 16:00 → last fri of month at 16:00
    last workday of the month at noon → last weekday of month at 12:00
    last business day of the month → last weekday of month at 09:00
    last business day of every month at 4pm → last weekday of month at 16:00
    first working day of the month → first weekday of month at 09:00
    first weekday of each month at 9 → first weekday of month at 09:00
    every 15th → day 15 of month at 09:00
    every 15th at 9 → day 15 of month at 09:00
    every 15th of the month at 9 → day 15 of month at 09:00
    on the 15th of every month → day 15 of month at 09:00
    15th of each month → day 15 of month at 09:00
    every 1st and 15th → day 1,15 of month at 09:00
    every 1st and 15th of the month at 8 → day 1,15 of month at 08:00
    1st and 15th of the month → day 1,15 of month at 09:00
    the 1st & 15th of each month → day 1,15 of month at 09:00
    on the 1st and the 15th of every month → day 1,15 of month at 09:00
    every month on the 1st and 15th → day 1,15 of month at 09:00
    every two months → every 2 months on day 23 at 09:00 starting 2026-11-23
    every other month on the 1st → every 2 months on day 1 at 09:00 starting 2026-11-23
    every 3 months on the 1st at 9 → every 3 months on day 1 at 09:00 starting 2026-11-23
    every three months on the first monday → every 3 months on first mon at 09:00 starting 2026-11-23
    quarterly → every jan 1,apr 1,jul 1,oct 1 at 09:00
    quarterly at 10 → every jan 1,apr 1,jul 1,oct 1 at 10:00
    once a quarter → every jan 1,apr 1,jul 1,oct 1 at 09:00
    once a year → every nov 23 at 09:00
    every year on march 8 → every mar 8 at 09:00
    every year on 8 march at 7 → every mar 8 at 07:00
    every march 8 → every mar 8 at 09:00
    every march 8th at noon → every mar 8 at 12:00
    every 8 march → every mar 8 at 09:00
    every 8th of march → every mar 8 at 09:00
    march 8 every year → every mar 8 at 09:00
    yearly on march 8 → every mar 8 at 09:00
    annually on march 8th at 9 → every mar 8 at 09:00
    each year on the 8th of march → every mar 8 at 09:00
    every dec 24 and dec 31 → every dec 24,dec 31 at 09:00
    every 2 years → every 2 years on nov 23 at 09:00 starting 2026-11-23
    every 4 years on feb 29 → refused
    every january → refused
    every june 1 and december 1 → every jun 1,dec 1 at 09:00
    last sunday of march → at 2027-03-28 09:00
    every last sunday of march → every last sun of mar at 09:00
    every last sunday in march and october at 3 → last sun of mar,oct at 03:00
    hourly → every 1h starting 2026-11-23T08:15:00Z
    every hour → every 1h starting 2026-11-23T08:15:00Z
    every hour on the hour → refused
    every 2 hours → every 2h starting 2026-11-23T09:15:00Z
    every two hours → every 2h starting 2026-11-23T09:15:00Z
    every 2h → every 2h starting 2026-11-23T09:15:00Z
    every 2hrs → every 2h starting 2026-11-23T09:15:00Z
    every 20 min → every 20m starting 2026-11-23T07:35:00Z
    every 20 mins → every 20m starting 2026-11-23T07:35:00Z
    every 20min → every 20m starting 2026-11-23T07:35:00Z
    every 20 → refused
    every 1h30m → every 90m starting 2026-11-23T08:45:00Z
    every hour and a half → every 90m starting 2026-11-23T08:45:00Z
    every ninety minutes → every 90m starting 2026-11-23T08:45:00Z
    every 30 seconds → every 30s starting 2026-11-23T07:15:30Z
    every half-hour → every 30m starting 2026-11-23T07:45:00Z
    every quarter of an hour → every 15m starting 2026-11-23T07:30:00Z
    every quarter hour → every 15m starting 2026-11-23T07:30:00Z
    every couple of hours → every 2h starting 2026-11-23T09:15:00Z
    every few hours → refused
    every hour from 9 to 17 → every 1h from 09:00 to 17:00
    every hour from 9am to 5pm → every 1h from 09:00 to 17:00
    every hour from 9am-5pm on weekdays → every 1h from 09:00 to 17:00 on weekdays
    every hour between 9 and 17 on weekdays → every 1h from 09:00 to 17:00 on weekdays
    every hour between 9:00 and 17:00 mon-fri → every 1h from 09:00 to 17:00 on weekdays
    every 30 minutes from 8:30 to 11 on mondays → every 30m from 08:30 to 11:00 on mon
    every 30 min 9-5 weekdays → every 30m from 09:00 to 17:00 on weekdays
    weekdays every hour from 9 to 5 → every 1h from 09:00 to 17:00 on weekdays
    on weekdays every 90 minutes from 9 to 5 → every 90m from 09:00 to 17:00 on weekdays
    from 8 to 20 every 2 hours → every 2h from 08:00 to 20:00
    between 8 and 20 every 2 hours → every 2h from 08:00 to 20:00
    hourly between 9am and 6pm → every 1h from 09:00 to 18:00
    hourly on weekdays → every 1h on weekdays starting 2026-11-23T08:15:00Z
    every 3 hours on weekends → every 3h on weekends starting 2026-11-23T10:15:00Z
    every 2 hours starting at 8 → refused
    every 2 hours until 6pm → every 2h starting 2026-11-23T09:15:00Z until 2026-11-23 18:00
    every 15 minutes for 2 hours → every 15m starting 2026-11-23T07:30:00Z until 2026-11-23T09:15:00Z
    every 10 minutes for an hour → every 10m starting 2026-11-23T07:25:00Z until 2026-11-23T08:15:00Z
    every hour 5 times → every 1h starting 2026-11-23T08:15:00Z 5 times
    every 5 minutes 3 times → every 5m starting 2026-11-23T07:20:00Z 3 times
    every day until friday → daily at 09:00 until 2026-11-27
    every day at 9 until dec 24 → daily at 09:00 until 2026-12-24
    daily at 9 till christmas → daily at 09:00 until 2026-12-25
    every day at 8 for a week → daily at 08:00 until 2026-11-29
    every day at 8 for 10 days → daily at 08:00 until 2026-12-02
    every day for a month → daily at 09:00 until 2026-12-22
    every monday for 6 weeks → every mon at 09:00 until 2027-01-03
    for 10 days every day at 8 → daily at 08:00 until 2026-12-02
    for the next 5 days at 8 → refused
    every day at 8 10 times → daily at 08:00 starting 2026-11-23T07:15:01Z 10 times
    10 times every day at 8 → refused
    every friday at 9 x5 → refused
    every friday starting dec 4 → every fri at 09:00 starting 2026-12-04
    every friday from dec 4 → every fri at 09:00 starting 2026-12-04
    starting dec 4 every friday → every fri at 09:00 starting 2026-12-04
    every friday beginning next month → every fri at 09:00 starting 2026-12-01
    every day starting tomorrow → daily at 09:00 starting 2026-11-24
    every day starting next monday at 9 → daily at 09:00 starting 2026-11-30
    every other day starting tomorrow at 8 → every 2 days at 08:00 starting 2026-11-24
    every 2 weeks starting dec 7 → every 2 weeks on mon at 09:00 starting 2026-12-07
    every 2 weeks from next friday → refused
    every day from dec 1 to dec 24 at 7 → daily at 07:00 starting 2026-12-01 until 2026-12-24
    daily from dec 1 until dec 24 → daily at 09:00 starting 2026-12-01 until 2026-12-24
    daily at 7 dec 1 - dec 24 → daily at 07:00 starting 2026-12-01 until 2026-12-24
    every monday between jan 1 and mar 31 → every mon at 09:00 starting 2027-01-01 until 2027-03-31
    every weekday at 9 except fridays → mon-thu at 09:00
    every weekday except wednesdays at 9 → mon,tue,thu,fri at 09:00
    weekdays at 9 excluding fridays → mon-thu at 09:00
    daily except sundays at 8 → mon-sat at 08:00
    daily except sunday at 8 → refused
    every day but sunday at 8 → refused
    every day but sundays at 8 → mon-sat at 08:00
    every day but not weekends → weekdays at 09:00
    every day other than sundays → mon-sat at 09:00
    daily at 9, not on weekends → weekdays at 09:00
    every monday except dec 28 → every mon at 09:00 except dec 28
    every monday except 2026-12-28 → every mon at 09:00 except 2026-12-28
    every monday except december → every mon at 09:00 except dec 1..dec 31
    weekdays at 9 except holidays and dec 24 → weekdays at 09:00 except on holidays,dec 24
    weekdays at 8 except on holidays until june 30 → weekdays at 08:00 until 2027-06-30 except on holidays
    weekdays at 9 except during vacation → weekdays at 09:00 except on vacation
    every day at 9 skipping weekends → weekdays at 09:00
    every weekday unless holidays → refused
    every 3 days after completion → every 3 days after done at 09:00 starting 2026-11-26
    every! 2 weeks → every 2 weeks after done at 09:00 starting 2026-12-07
    every 2 weeks when done → every 2 weeks after done at 09:00 starting 2026-12-07
    after 3 days → at 2026-11-26 08:15
    after 3 days when done → refused
    every 4 hours after done → every 4h after done starting 2026-11-23T11:15:00Z
    twice a week → refused
    three times a day → refused
    bimonthly → refused
    biweekly on friday → refused
    every 3rd → day 3 of month at 09:00
    every 31st → day 31 of month at 09:00
    every 32nd → refused
    monday or tuesday → refused
    9 or 10 am → refused
    morning → at 2026-11-24 08:00
    friday the 13th → refused
    0 9 * * 1-5 → cron: 0 9 * * 1-5
    */15 * * * * → cron: */15 * * * *
    @daily → cron: 0 0 * * *
    @weekly → cron: 0 0 * * 0
    FREQ=DAILY → DTSTART:20261123T081500 RRULE:FREQ=DAILY
    sunset → sunset
    at sunset → sunset
    30 minutes before sunset → sunset - 30m
    an hour after sunrise on weekends → sunrise + 1h on weekends
    sunrise every saturday → sunrise on sat
    half an hour before sunset → sunset - 30m
    dawn → dawn
    at dusk every day → dusk
    sunset tomorrow → refused
    every day at sunset → sunset
    """

  /// Lines of the first collection.
  static let firstLines = """
    add Pay bills tomorrow at 9am → Pay bills | at 2026-11-24 09:00
    add Buy milk today at 5pm → Buy milk | at 2026-11-23 17:00
    add buy milk 5pm → buy milk | at 2026-11-23 17:00
    add milk tonight → milk | at 2026-11-23 20:00
    add Call dentist monday 10:00 → Call dentist | at 2026-11-23 10:00
    add Call the dentist on tuesday at 10 → Call the dentist | at 2026-11-24 10:00
    add Team meeting every tuesday at 14:00 → Team meeting | every tue at 14:00
    add Team meeting tuesdays 2pm → Team meeting | every tue at 14:00
    add Water the plants every other day at 7 → Water the plants | every 2 days at 07:00 starting 2026-11-23
    add Take out the trash every wednesday evening → Take out the trash | every wed at 19:00
    add take out trash wed night → take out trash | at 2026-11-25 22:00
    add Take pills daily at 8 and 20 → Take pills | daily at 08:00,20:00
    add Take 2 pills daily at 8 → Take 2 pills | daily at 08:00
    add Take 2 pills every 8 hours → Take 2 pills | every 8h starting 2026-11-23T15:15:00Z
    add Mum's birthday march 8 every year → Mum's birthday | every mar 8 at 09:00
    add Mom's birthday every 8 march at 10 → Mom's birthday | every mar 8 at 10:00
    add Anniversary yearly on june 12 → Anniversary | every jun 12 at 09:00
    add Rent on the 1st of every month at 8 → Rent | day 1 of month at 08:00
    add pay rent monthly on the 1st → pay rent | day 1 of month at 09:00
    add Pay the rent every month on the last day → Pay the rent | last day of month at 09:00
    add Invoice last workday of the month at 16:00 → Invoice | last weekday of month at 16:00
    add Standup every weekday at 9:15 → Standup | weekdays at 09:15
    add daily standup weekdays at 9:15 → refused
    add 'daily standup' weekdays at 9:15 → 'daily standup' | weekdays at 09:15
    add "daily standup" weekdays at 9:15 → daily standup | weekdays at 09:15
    add Stand up every 45 minutes from 9 to 5 on weekdays → Stand up | every 45m from 09:00 to 17:00 on weekdays
    add Stretch every hour between 9 and 17 → Stretch | every 1h from 09:00 to 17:00
    add Drink water every 2 hours → Drink water | every 2h starting 2026-11-23T09:15:00Z
    add Coffee in 10 minutes → Coffee | at 2026-11-23T07:25:00Z
    add in 10 minutes coffee → coffee | at 2026-11-23T07:25:00Z
    add in 10 min take the cake out of the oven → take the cake out of the oven | at 2026-11-23T07:25:00Z
    add Check the oven in half an hour → Check the oven | at 2026-11-23T07:45:00Z
    add check on the laundry in an hour and a half → check on the laundry | at 2026-11-23T08:45:00Z
    add Move the car in 2 hours and 30 minutes → Move the car | at 2026-11-23T09:45:00Z
    add Renew passport in 6 months → Renew passport | at 2027-05-23 08:15
    add Dentist dec 3 at 14:30 → Dentist | at 2026-12-03 14:30
    add Dentist 3 dec 14:30 → Dentist | at 2026-12-03 14:30
    add Dentist on 3.12. at 14:30 → Dentist | at 2026-12-03 14:30
    add Dentist 3.12.2026 14:30 → Dentist | at 2026-12-03 14:30
    add Dentist 2026-12-03 14:30 → Dentist | at 2026-12-03 14:30
    add Dentist 12/13/2026 2:30pm → Dentist | at 2026-12-13 14:30
    add Dentist: thursday 2:30 pm → Dentist | at 2026-11-26 14:30
    add Dentist - thursday 2:30 pm → Dentist | at 2026-11-26 14:30
    add Dentist, thursday, 2:30 pm → Dentist | at 2026-11-26 14:30
    add Thursday 2:30 pm: dentist → dentist | at 2026-11-26 14:30
    add thursday at 2:30pm - dentist → dentist | at 2026-11-26 14:30
    add DENTIST TOMORROW AT 9 → DENTIST | at 2026-11-24 09:00
    add Dentist tomorrow at 9. → Dentist | at 2026-11-24 09:00
    add Dentist tomorrow at 9! → Dentist | at 2026-11-24 09:00
    add Dentist (tomorrow at 9) → Dentist | at 2026-11-24 09:00
    add Dentist @ 9 tomorrow → Dentist | at 2026-11-24 09:00
    add Dentist 9 tomorrow → refused
    add Dentist tomorrow 9 → Dentist | at 2026-11-24 09:00
    add Dentist 9am → Dentist | at 2026-11-23 09:00
    add Lunch with Anna friday noon → Lunch with Anna | at 2026-11-27 12:00
    add Lunch with Anna at noon on friday → Lunch with Anna | at 2026-11-27 12:00
    add lunch with Anna and Bob on friday at 12:30 → lunch with Anna and Bob | at 2026-11-27 12:30
    add Dinner at 7 at Luigi's → Dinner at Luigi's | at 2026-11-24 07:00
    add Dinner at Luigi's at 7pm → Dinner at Luigi's | at 2026-11-23 19:00
    add Dinner at Luigi's tonight at 7 → Dinner at Luigi's | at 2026-11-23 19:00
    add Meet Eva in the park tomorrow at 5pm → Meet Eva in the park | at 2026-11-24 17:00
    add Meet Eva at the station on friday evening → Meet Eva at the station | at 2026-11-27 19:00
    add tomorrow call Bob → call Bob | at 2026-11-24 09:00
    add tomorrow morning call Bob → call Bob | at 2026-11-24 08:00
    add tomorrow at 5 pm call Bob about the car → call Bob about the car | at 2026-11-24 17:00
    add every day at 8 feed the cat → feed the cat | daily at 08:00
    add every friday: weekly report → refused
    add every friday at 16:00 send the report → send the report | every fri at 16:00
    add Send the report every friday at 4pm until june 30 → Send the report | every fri at 16:00 until 2027-06-30
    add Send weekly report every friday at 4pm → Send weekly report | every fri at 16:00
    add weekly review every friday at 4pm → refused
    add Review goals quarterly → Review goals | every jan 1,apr 1,jul 1,oct 1 at 09:00
    add Backup every sunday at 3am → Backup | every sun at 03:00
    add Backup server every night at 2am → Backup server | daily at 02:00
    add Change filter every 3 months → Change filter | every 3 months on day 23 at 09:00 starting 2026-11-23
    add Haircut every 6 weeks on saturday at 10 → Haircut | every 6 weeks on sat at 10:00 starting 2026-11-23
    add Book club first thursday of the month at 19:00 → Book club | first thu of month at 19:00
    add Choir every monday at 19:30 except holidays → Choir | every mon at 19:30 except on holidays
    add Choir mondays 19:30 until june 2027 → refused
    add Antibiotics every 8 hours for 7 days → Antibiotics | every 8h starting 2026-11-23T15:15:00Z until 2026-11-29
    add Antibiotics daily at 8 for 10 days → Antibiotics | daily at 08:00 until 2026-12-02
    add Antibiotics at 8 and 20 for 10 days → refused
    add Antibiotics every day at 8 and 20 for 10 days → Antibiotics | daily at 08:00,20:00 until 2026-12-02
    add Physio every tuesday at 17:00 10 times → Physio | every tue at 17:00 starting 2026-11-23T07:15:01Z 10 times
    add Submit taxes by april 15 → Submit taxes | at 2027-04-15 09:00
    add Submit taxes by april 15th, 2027 → Submit taxes | at 2027-04-15 09:00
    add Finish report by end of day → Finish report | at 2026-11-23 17:00
    add Finish report by friday eod → Finish report | at 2026-11-27 17:00
    add Finish slides before friday → refused
    add Watch the Blade Runner 2049 trailer tonight at 8 → Watch the Blade Runner 2049 trailer | at 2026-11-23 20:00
    add Read chapter 7 tomorrow → Read chapter 7 | at 2026-11-24 09:00
    add Read 20 pages every evening at 9 → Read 20 pages | daily at 21:00
    add Run 5k every saturday at 8 → Run 5k | every sat at 08:00
    add Buy 3 apples tomorrow → Buy 3 apples | at 2026-11-24 09:00
    add Order 12 eggs on friday → Order 12 eggs | at 2026-11-27 09:00
    add Call 555-1234 tomorrow at 9 → Call 555-1234 | at 2026-11-24 09:00
    add Flight OK123 departs friday 6:25 → Flight OK123 departs | at 2026-11-27 06:25
    add Gate 14 at 17:30 → Gate 14 | at 2026-11-23 17:30
    add Bus 22 at 17:30 → Bus 22 | at 2026-11-23 17:30
    add Version 2.5 release on dec 15 → Version 2.5 release | at 2026-12-15 09:00
    add Meeting room 3 at 15:00 tomorrow → Meeting room 3 | at 2026-11-24 15:00
    add Meeting from 3pm to 4pm tomorrow → refused
    add Meeting tomorrow 3-4pm → refused
    add Movie tonight 8pm → Movie | at 2026-11-23 20:00
    add Movie 8 tonight → refused
    add movie at 8 tonight with Eva → movie with Eva | at 2026-11-23 20:00
    add Second opinion tomorrow at 9 → Second opinion | at 2026-11-24 09:00
    add May party on friday at 8pm → May party | at 2026-11-27 20:00
    add Call May on friday at 8pm → Call May | at 2026-11-27 20:00
    add March with Anna on friday → March with Anna | at 2026-11-27 09:00
    add Sun cream on saturday → refused
    add Monday meeting prep friday at 15:00 → refused
    add Sunday lunch on sunday at 12 → refused
    add Night shift tomorrow at 22:00 → refused
    add Morning run daily at 6 → refused
    add Christmas shopping on dec 12 → Christmas shopping | at 2026-12-12 09:00
    add Christmas dinner dec 25 at 18:00 → Christmas dinner | at 2026-12-25 18:00
    add New year's eve party dec 31 at 8pm → New year's eve party | at 2026-12-31 20:00
    add Turn the lights off at 23:00 → Turn the lights off | at 2026-11-23 23:00
    add Turn the heating on every weekday at 6 → Turn the heating on | weekdays at 06:00
    add Check in for flight in 24 hours → Check in for flight | at 2026-11-24T07:15:00Z
    add Log in at 9 → Log in | at 2026-11-23 09:00
    add Follow up with client in two weeks → Follow up with client | at 2026-12-07 08:15
    add Follow up with the client next week → Follow up with the client | at 2026-11-30 09:00
    add Follow up next friday → refused
    add Review PR #42 tomorrow at 10 → Review PR #42 | at 2026-11-24 10:00
    add Ping https://example.com/2026/12/24 tomorrow → Ping https://example.com/2026/12/24 | at 2026-11-24 09:00
    add Email bob@example.com at 14:00 → Email bob@example.com | at 2026-11-23 14:00
    add Buy €50 voucher tomorrow → Buy €50 voucher | at 2026-11-24 09:00
    add Pay 1,200 to landlord on the 1st → Pay 1,200 to landlord | at 2026-12-01 09:00
    add Pay 20% deposit on dec 1 → Pay 20% deposit | at 2026-12-01 09:00
    add Push-ups x20 every morning → Push-ups x20 | daily at 08:00
    add Garbage day every tuesday at 7 → Garbage day | every tue at 07:00
    add Feed fish twice a day → refused
    add Feed fish 2 times a day → refused
    add Sync every 15 min → Sync | every 15m starting 2026-11-23T07:30:00Z
    add tea 5m → refused
    add Tea in 5 → refused
    add Tea in five minutes → Tea | at 2026-11-23T07:20:00Z
    add Tea in 5 minutes please → Tea please | at 2026-11-23T07:20:00Z
    add please call mum tomorrow at 5 → please call mum | at 2026-11-24 05:00
    add wake up at 6:30 every weekday → wake up | weekdays at 06:30
    add wake me up at 6:30am on weekdays → wake me up | weekdays at 06:30
    add wake me up tomorrow at 6 → wake me up | at 2026-11-24 06:00
    add Feierabend at 17:00 → Feierabend | at 2026-11-23 17:00
    add 🎂 Anna every may 4 at 9 → 🎂 Anna | every may 4 at 09:00
    add Anna 🎂 may 4 → Anna 🎂 | at 2027-05-04 09:00
    add Tea at sunset → Tea | sunset
    add Close the coop at sunset → Close the coop | sunset
    add Open the coop 30 minutes after sunrise → Open the coop | sunrise + 30m
    add Close the coop 20 minutes after sunset every day → Close the coop | sunset + 20m
    add Photo walk an hour before sunset on saturdays → Photo walk | sunset - 1h on sat
    add Buy milk → refused
    add tomorrow at 9 → refused
    add Tea tomorow at 9 → Tea | at 2026-11-24 09:00
    add Tea tommorrow at 9 → refused
    add Tea on wendesday at 9 → refused
    add Tea every moday at 9 → refused
    add Tea at 9 o'clock tomorrow → Tea | at 2026-11-24 09:00
    add Tea at nine in the evening → Tea | at 2026-11-23 21:00
    add Tea quarter past nine → Tea | at 2026-11-23 09:15
    add Half marathon on april 18 at 10 → Half marathon | at 2027-04-18 10:00
    add Second dose in 3 weeks at 10 → Second dose | at 2026-12-14 10:00
    add Last call for tickets on friday at noon → Last call for tickets | at 2026-11-27 12:00
    add First aid course on dec 5 at 9 → First aid course | at 2026-12-05 09:00
    add Weekend plans with Jo on thursday 18:00 → refused
    add This is a test tomorrow at 8 → This is a test | at 2026-11-24 08:00
    add Go to the gym on mondays, wednesdays and fridays at 6am → Go to the gym | mon,wed,fri at 06:00
    add Gym mon wed fri 6am → Gym | mon,wed,fri at 06:00
    add Gym every mon, wed, fri @ 6am → Gym | mon,wed,fri at 06:00
    add gym 3 times a week → refused
    add Yoga tue & thu 18:30 → Yoga | tue,thu at 18:30
    add Pizza every friday night → Pizza | every fri at 22:00
    add Vacuum every saturday morning at 10 → Vacuum | every sat at 10:00
    add Call grandma every other sunday at 15:00 → Call grandma | every 2 weeks on sun at 15:00 starting 2026-11-23
    add Check tyres every month on the first saturday → Check tyres | first sat of month at 09:00
    add Payday on the 25th of every month → Payday | day 25 of month at 09:00
    add Payday party on the 25th at 7pm → Payday party | at 2026-11-25 19:00
    add Bring 2 bottles on the 25th at 7pm → Bring 2 bottles | at 2026-11-25 19:00
    at 5pm Tea → Tea | at 2026-11-23 17:00
    at 17:00 Tea → Tea | at 2026-11-23 17:00
    at 17 Tea → Tea | at 2026-11-23 17:00
    at 5 pm today Tea → Tea | at 2026-11-23 17:00
    at 5:30 pm tomorrow Tea with Bob → Tea with Bob | at 2026-11-24 17:30
    at noon Lunch → Lunch | at 2026-11-23 12:00
    at noon tomorrow Lunch with Bob → Lunch with Bob | at 2026-11-24 12:00
    at midnight Happy new year → Happy new year | at 2026-11-24 00:00
    at teatime Tea → Tea | at 2026-11-23 16:00
    at 10am Jul 31 Pack → Pack | at 2027-07-31 10:00
    at 16:00 + 3 days Check → Check | at 2026-11-26 16:00
    at 4pm + 3 days Check → Check | at 2026-11-26 16:00
    at now + 1 hour Check → Check | at 2026-11-23T08:15:00Z
    at tomorrow 5 apples → refused
    at 7 every weekday Get up → Get up | weekdays at 07:00
    at every weekday 7 Get up → Get up | weekdays at 07:00
    at 9 on dec 24 Wrap gifts → Wrap gifts | at 2026-12-24 09:00
    at 9 dec 24 Wrap gifts → Wrap gifts | at 2026-12-24 09:00
    at 2026-12-24 18:00 Dinner → Dinner | at 2026-12-24 18:00
    at 18:00 2026-12-24 Dinner → Dinner | at 2026-12-24 18:00
    at friday 9 Dentist → Dentist | at 2026-11-27 09:00
    at friday Dentist → Dentist | at 2026-11-27 09:00
    at 9 on friday Dentist → Dentist | at 2026-11-27 09:00
    at 9 friday Dentist → Dentist | at 2026-11-27 09:00
    at 9 fridays Dentist → Dentist | every fri at 09:00
    at half past 8 Bus → Bus | at 2026-11-23 08:30
    at quarter to nine Bus → Bus | at 2026-11-23 08:45
    at 9 sharp Bus → sharp Bus | at 2026-11-23 09:00
    at sunset Close the coop → Close the coop | sunset
    at 5 to 9 Leave → refused
    at 8 and 20 daily Pills → Pills | daily at 08:00,20:00
    at 8 for breakfast → for breakfast | at 2026-11-24 08:00
    at 8 with Bob → with Bob | at 2026-11-24 08:00
    at 12:30 lunch at Joe's → lunch at Joe's | at 2026-11-23 12:30
    in 5 minutes Tea → Tea | at 2026-11-23T07:20:00Z
    in 5m Tea → Tea | at 2026-11-23T07:20:00Z
    in 5 min Tea is ready → Tea is ready | at 2026-11-23T07:20:00Z
    in an hour Call Bob → Call Bob | at 2026-11-23T08:15:00Z
    in 1h Call Bob → Call Bob | at 2026-11-23T08:15:00Z
    in half an hour Call Bob → Call Bob | at 2026-11-23T07:45:00Z
    in two hours and a half Call Bob → Call Bob | at 2026-11-23T09:45:00Z
    in 2 hours 15 minutes Call Bob → Call Bob | at 2026-11-23T09:30:00Z
    in 2 days Call Bob → Call Bob | at 2026-11-25 08:15
    in 2 days at noon Call Bob → Call Bob | at 2026-11-25 12:00
    in 2 days in the evening Call Bob → Call Bob | at 2026-11-25 19:00
    in a week Call Bob → Call Bob | at 2026-11-30 08:15
    in 3 weeks at 9 Second dose → Second dose | at 2026-12-14 09:00
    in the morning Take pills → Take pills | at 2026-11-24 08:00
    in 20 Tea → refused
    in 1 apple day 3 pm → refused
    in 10 minutes 2 eggs → 2 eggs | at 2026-11-23T07:25:00Z
    in 90 seconds Egg → Egg | at 2026-11-23T07:16:30Z
    """
}
