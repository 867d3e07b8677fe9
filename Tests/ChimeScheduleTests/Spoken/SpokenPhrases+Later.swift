// Data for SpokenPhrasesTests.

extension SpokenPhrasesTests {
  /// Phrases collected when the first ones passed.
  static let second = """
    today 18h → at 2026-11-23 18:00
    today by 6pm → at 2026-11-23 18:00
    today after work → refused
    today noon → at 2026-11-23 12:00
    midnight tomorrow → at 2026-11-24 00:00
    tonight 10:30pm → at 2026-11-23 22:30
    10:30 tonight → at 2026-11-23 22:30
    tomorrow, 10:15 → at 2026-11-24 10:15
    tomorrow 10.15 → at 2026-11-24 10:15
    tomorrow at 0815 → at 2026-11-24 08:15
    tomorrow, in the afternoon → at 2026-11-24 15:00
    tomorrow afternoon at 3:30 → at 2026-11-24 15:30
    tomorrow evening 8pm → at 2026-11-24 20:00
    tomorrow night at 10 → at 2026-11-24 22:00
    tomorrow at nine → at 2026-11-24 09:00
    tomorrow at nine thirty am → at 2026-11-24 09:30
    tomorrow at twelve → at 2026-11-24 12:00
    tomorrow quarter past four pm → at 2026-11-24 16:15
    tomorrow at half past 4 pm → at 2026-11-24 16:30
    tomorrow at quarter to seven in the evening → at 2026-11-24 18:45
    the day after tomorrow → at 2026-11-25 09:00
    day after tomorrow at noon → at 2026-11-25 12:00
    day after tomorrow morning → at 2026-11-25 08:00
    overmorrow at 9 → at 2026-11-25 09:00
    in 2 days at 17:00 → at 2026-11-25 17:00
    two days from now at 5pm → at 2026-11-25 17:00
    in 36 hours → at 2026-11-24T19:15:00Z
    in 1 hour → at 2026-11-23T08:15:00Z
    in one hour → at 2026-11-23T08:15:00Z
    in 1.25 hours → at 2026-11-23T08:30:00Z
    in 3h → at 2026-11-23T10:15:00Z
    in 3hours → at 2026-11-23T10:15:00Z
    in 3 hours and 20 minutes → at 2026-11-23T10:35:00Z
    in 3 hours, 20 minutes → at 2026-11-23T10:35:00Z
    in 3h20 → at 2026-11-23T10:35:00Z
    in 3h 20min → at 2026-11-23T10:35:00Z
    in a half hour → at 2026-11-23T07:45:00Z
    in 30 → refused
    in thirty minutes → at 2026-11-23T07:45:00Z
    in fifty-five minutes → at 2026-11-23T08:10:00Z
    in a minute → at 2026-11-23T07:16:00Z
    in one minute → at 2026-11-23T07:16:00Z
    in a second → at 2026-11-23T07:15:01Z
    in 100 days → at 2027-03-03 08:15
    in 90 days at 9 → at 2027-02-21 09:00
    in four months → at 2027-03-23 08:15
    in a month at 10 → at 2026-12-23 10:00
    in 18 months → at 2028-05-23 08:15
    in 2 years → at 2028-11-23 08:15
    in 1 week and 2 days → at 2026-12-02 08:15
    in 1 week 2 days at 9 → at 2026-12-02 09:00
    in two fortnights → at 2026-12-21 08:15
    6 weeks from now → at 2027-01-04 08:15
    3 weeks from friday → at 2026-12-18 09:00
    2 days before christmas → at 2026-12-23 09:00
    a week before dec 24 at 10 → at 2026-12-17 10:00
    2 weeks before christmas eve → at 2026-12-10 09:00
    the day before christmas → at 2026-12-24 09:00
    3 days after dec 24 → at 2026-12-27 09:00
    now → refused
    asap → refused
    someday → refused
    soon → refused
    later → refused
    noon → at 2026-11-23 12:00
    at high noon → refused
    midday tomorrow → at 2026-11-24 12:00
    8:45 → at 2026-11-23 08:45
    08:10 → at 2026-11-24 08:10
    8:45pm → at 2026-11-23 20:45
    8:45 P.M. → at 2026-11-23 20:45
    8.45pm → refused
    8pm tonight → at 2026-11-23 20:00
    20h → at 2026-11-23 20:00
    20h tomorrow → at 2026-11-24 20:00
    20:00 tomorrow → at 2026-11-24 20:00
    at 2000 → at 2026-11-23 20:00
    2000 hours tomorrow → at 2026-11-24 20:00
    eight pm → at 2026-11-23 20:00
    eight thirty pm → at 2026-11-23 20:30
    at eight fifteen tomorrow → at 2026-11-24 08:15
    eight in the evening → at 2026-11-23 20:00
    quarter to eight tonight → at 2026-11-23 19:45
    twenty to eight → at 2026-11-24 07:40
    twenty past eight → at 2026-11-23 08:20
    five past nine → at 2026-11-23 09:05
    25 past 9 → at 2026-11-23 09:25
    10 past 9 → at 2026-11-23 09:10
    noon on saturday → at 2026-11-28 12:00
    saturday midnight → at 2026-11-28 00:00
    sat 9a → at 2026-11-28 09:00
    sat @ 9:30a → at 2026-11-28 09:30
    sat 9:30 a.m. → at 2026-11-28 09:30
    on sat, at 9:30 → at 2026-11-28 09:30
    9:30 sat → at 2026-11-28 09:30
    sat at 1pm → at 2026-11-28 13:00
    Sat, 28 Nov 2026 13:00 → at 2026-11-28 13:00
    sat 28 nov 13:00 → at 2026-11-28 13:00
    sat 28.11. 13:00 → at 2026-11-28 13:00
    sat 11/28 1pm → at 2026-11-28 13:00
    wednesday evening 7pm → at 2026-11-25 19:00
    wednesday night → at 2026-11-25 22:00
    this wednesday afternoon → at 2026-11-25 15:00
    this thursday 9:00 → at 2026-11-26 09:00
    next thursday 9:00 → refused
    thursday, 9 → at 2026-11-26 09:00
    thursday next week 9:00 → at 2026-12-03 09:00
    next week thursday at 9 → at 2026-12-03 09:00
    next week → at 2026-11-30 09:00
    next week at 10 → at 2026-11-30 10:00
    start of next week → at 2026-11-30 09:00
    beginning of january → at 2027-01-01 09:00
    end of january at noon → at 2027-01-31 12:00
    end of november → at 2026-11-30 09:00
    eom at 5pm → at 2026-11-30 17:00
    last day of the year → refused
    last friday of november at 3pm → at 2026-11-27 15:00
    last friday of this month → at 2026-11-27 09:00
    third thursday of january → at 2027-01-21 09:00
    first saturday in december → at 2026-12-05 09:00
    first saturday of next month at 10 → at 2026-12-05 10:00
    2nd of january → at 2027-01-02 09:00
    second of january → at 2027-01-02 09:00
    january second → at 2027-01-02 09:00
    jan 2nd at 9:15 → at 2027-01-02 09:15
    january the 2nd at 9:15 → at 2027-01-02 09:15
    2 jan 2027 → at 2027-01-02 09:00
    2-jan-2027 → at 2027-01-02 09:00
    02 Jan 2027 09:15 → at 2027-01-02 09:15
    2. 1. 2027 → at 2027-01-02 09:00
    2.1.2027 9:15 → at 2027-01-02 09:15
    2.1. 9:15 → at 2027-01-02 09:15
    02.01.2027 → at 2027-01-02 09:00
    2027-01-02 9:15 → at 2027-01-02 09:15
    2027/01/02 09:15 → at 2027-01-02 09:15
    2027-01-02 at 9:15am → at 2027-01-02 09:15
    9:15 2027-01-02 → at 2027-01-02 09:15
    on 2027-01-02 → at 2027-01-02 09:00
    on jan 2 at 9:15 → at 2027-01-02 09:15
    on the 2nd of january 2027 at quarter past nine → at 2027-01-02 09:15
    1/31/2027 → at 2027-01-31 09:00
    31/1/2027 → at 2027-01-31 09:00
    1/31 → at 2027-01-31 09:00
    new year's day at noon → at 2027-01-01 12:00
    on christmas eve at 18:00 → at 2026-12-24 18:00
    christmas day 8am → at 2026-12-25 08:00
    boxing day → at 2026-12-26 09:00
    halloween at 6pm → at 2027-10-31 18:00
    valentine's day → at 2027-02-14 09:00
    every christmas eve at 18:00 → every dec 24 at 18:00
    the 28th → at 2026-11-28 09:00
    28th at noon → at 2026-11-28 12:00
    by the 28th → at 2026-11-28 09:00
    on the 1st → at 2026-12-01 09:00
    every day at 8 a.m. → daily at 08:00
    every day 8:30 → daily at 08:30
    every day @8 → daily at 08:00
    everyday at 8am and 8pm → daily at 08:00,20:00
    daily 8am 8pm → refused
    daily 8am & 8pm → daily at 08:00,20:00
    daily: 8:00 → refused
    at 8:00 each day → daily at 08:00
    each morning at 7 → daily at 07:00
    each evening → daily at 19:00
    every afternoon at 3 → daily at 15:00
    every night at midnight → daily at 00:00
    in the mornings at 7 → daily at 07:00
    mornings → daily at 08:00
    weeknights at 9 → refused
    weekday mornings → weekdays at 08:00
    weekdays in the morning → weekdays at 08:00
    weekday evenings at 6 → weekdays at 18:00
    every workday morning at 8:15 → weekdays at 08:15
    on workdays at 8:15 → weekdays at 08:15
    workdays 8:15 → weekdays at 08:15
    on business days at noon → weekdays at 12:00
    mon-sat 9:00 → mon-sat at 09:00
    mon to thu at 9 → mon-thu at 09:00
    monday - thursday 9am → mon-thu at 09:00
    mon..fri 9:00 → weekdays at 09:00
    tue-thu 10am → tue-thu at 10:00
    tuesdays and fridays 8:30 → tue,fri at 08:30
    every tuesday & friday 8:30 → tue,fri at 08:30
    tuesday and friday mornings → tue,fri at 08:00
    every tue/fri → tue,fri at 09:00
    every monday at 9am and 5pm → every mon at 09:00,17:00
    monday nights 8pm → every mon at 20:00
    saturday mornings at 9 → every sat at 09:00
    saturday afternoons → every sat at 15:00
    each saturday at 9 → every sat at 09:00
    each sat & sun 9:00 → weekends at 09:00
    every weekend morning → weekends at 08:00
    weekly on tue at 10 → every tue at 10:00
    weekly on mondays and thursdays → mon,thu at 09:00
    weekly, tuesday 10:00 → every tue at 10:00
    once weekly on tue → every tue at 09:00
    every week on tue 10:00 → every tue at 10:00
    every week tuesday at 10 → every tue at 10:00
    every 2nd week on tue → every 2 weeks on tue at 09:00 starting 2026-11-23
    every two weeks on tue and thu at 9 → every 2 weeks on tue,thu at 09:00 starting 2026-11-23
    every other wednesday 9:30 → every 2 weeks on wed at 09:30 starting 2026-11-23
    every other wed starting dec 2 → every 2 weeks on wed at 09:00 starting 2026-12-02
    every second sunday → every 2 weeks on sun at 09:00 starting 2026-11-23
    every second sunday of the month → second sun of month at 09:00
    fortnightly on friday → every 2 weeks on fri at 09:00 starting 2026-11-23
    fortnightly on fridays at 10 → every 2 weeks on fri at 10:00 starting 2026-11-23
    every 4 weeks on monday at 8 → every 4 weeks on mon at 08:00 starting 2026-11-23
    every 5 days at 7:30 → every 5 days at 07:30 starting 2026-11-23
    every 5 days starting dec 1 at 7:30 → every 5 days at 07:30 starting 2026-12-01
    every other day at noon → every 2 days at 12:00 starting 2026-11-23
    every second day → every 2 days at 09:00 starting 2026-11-23
    every 2 days until dec 31 → every 2 days at 09:00 starting 2026-11-23 until 2026-12-31
    every month on the 5th at 8 → day 5 of month at 08:00
    5th of every month → day 5 of month at 09:00
    every 5th at 8am → day 5 of month at 08:00
    monthly on the 5th and 20th → day 5,20 of month at 09:00
    on the 5th and 20th of each month at noon → day 5,20 of month at 12:00
    every month on the third friday → third fri of month at 09:00
    third friday of every month at 4pm → third fri of month at 16:00
    the third friday of each month → third fri of month at 09:00
    3rd friday monthly → refused
    last monday of every month → last mon of month at 09:00
    monthly on the last friday at 3pm → last fri of month at 15:00
    every last monday of the month at 9 → last mon of month at 09:00
    last weekday of the month → last weekday of month at 09:00
    first business day of each month at 9 → first weekday of month at 09:00
    every 2 months on the 5th → every 2 months on day 5 at 09:00 starting 2026-11-23
    every 6 months on the 1st at 10 → every 6 months on day 1 at 10:00 starting 2026-11-23
    every quarter on the 1st → refused
    every year on june 5 at 9 → every jun 5 at 09:00
    every june 5 at 9 → every jun 5 at 09:00
    june 5th every year → every jun 5 at 09:00
    annually on 5 june → every jun 5 at 09:00
    yearly june 5 → every jun 5 at 09:00
    every 5th of june → every jun 5 at 09:00
    every june 5 and june 20 → every jun 5,jun 20 at 09:00
    every 10 minutes → every 10m starting 2026-11-23T07:25:00Z
    every 10m from 9:00 to 10:00 → every 10m from 09:00 to 10:00
    every 25 minutes from 9 to noon on weekdays → every 25m from 09:00 to 12:00 on weekdays
    every 3 hours from 6am to 9pm → every 3h from 06:00 to 21:00
    every hour from 8 to 18 on mon and wed → every 1h from 08:00 to 18:00 on mon,wed
    hourly from 9 to 5 on weekdays → every 1h from 09:00 to 17:00 on weekdays
    every hour, 9am to 5pm, weekdays → every 1h from 09:00 to 17:00 on weekdays
    every half hour 9 to 5 → every 30m from 09:00 to 17:00
    every one and a half hours → every 90m starting 2026-11-23T08:45:00Z
    every 1 hour 15 minutes → every 75m starting 2026-11-23T08:30:00Z
    every 12h → every 12h starting 2026-11-23T19:15:00Z
    every 36 hours → every 36h starting 2026-11-24T19:15:00Z
    every 15 minutes between 8:00 and 9:00 on tue → every 15m from 08:00 to 09:00 on tue
    every 30m until noon → every 30m starting 2026-11-23T07:45:00Z until 2026-11-23 12:00
    daily at 7 until further notice → refused
    daily at 7 until tomorrow → daily at 07:00 until 2026-11-24
    daily at 7 for 2 weeks → daily at 07:00 until 2026-12-06
    daily at 7 for the next 2 weeks → daily at 07:00 until 2026-12-06
    daily at 7 through dec 5 → daily at 07:00 until 2026-12-05
    daily at 7 from tomorrow → daily at 07:00 starting 2026-11-24
    daily at 7 from tomorrow until dec 5 → daily at 07:00 starting 2026-11-24 until 2026-12-05
    every day from tomorrow at 7 → daily at 07:00 starting 2026-11-24
    every day from dec 1 at 7 → daily at 07:00 starting 2026-12-01
    every wed at 18 for 10 weeks → every wed at 18:00 until 2027-01-31
    every wed at 18 10 times → every wed at 18:00 starting 2026-11-23T07:15:01Z 10 times
    every wed 18:00 for 10 times → every wed at 18:00 starting 2026-11-23T07:15:01Z 10 times
    every wed until the end of the year → every wed at 09:00 until 2026-12-31
    every wed at 18 until end of january → every wed at 18:00 until 2027-01-31
    weekdays at 7 except dec 24 to jan 1 → weekdays at 07:00 except dec 24..jan 1
    weekdays at 7 except dec 24-26 → weekdays at 07:00 except dec 24..dec 26
    weekdays except fridays → mon-thu at 09:00
    weekdays at 7 but not fridays → mon-thu at 07:00
    daily at 7 but not on weekends → weekdays at 07:00
    daily at 7 apart from sundays → mon-sat at 07:00
    daily at 7 except tuesdays and thursdays → wed,fri-mon at 07:00
    daily at 7 without weekends → weekdays at 07:00
    daily at 7 excluding weekends and holidays → weekdays at 07:00 except on holidays
    every day except on the weekend at 7 → refused
    every day at 7, except holidays → daily at 07:00 except on holidays
    every monday except in august → every mon at 09:00 except aug 1..aug 31
    every monday except from 1 to 31 august → every mon at 09:00 except aug 1..aug 31
    every 3 days when done at 9 → every 3 days after done at 09:00 starting 2026-11-26
    every week after completion → every week after done at 09:00 starting 2026-11-30
    every! week → every week after done at 09:00 starting 2026-11-30
    30 8 * * 1-5 → cron: 30 8 * * 1-5
    0 */2 * * * → cron: 0 */2 * * *
    10 minutes before sunrise → sunrise - 10m
    sunset - 30m on fri → sunset - 30m on fri
    an hour and a half before sunset → sunset - 90m
    every weekday at sunrise → sunrise on weekdays
    fridays at sunset → sunset on fri
    three times per day → refused
    once in a while → refused
    every now and then → refused
    every so often → refused
    9 to 5 → refused
    monday 25:00 → refused
    32 december → refused
    dec 32 → refused
    every 0 days → refused
    every -2 days → refused
    in 0 minutes → refused
    at 8 or 9 → refused
    """

  /// Lines of that collection.
  static let secondLines = """
    add Walk the dog at 7 every morning → Walk the dog | daily at 07:00
    add walk dog 7am & 6pm daily → walk dog | daily at 07:00,18:00
    add Feed the fish every 2 days at 8am → Feed the fish | every 2 days at 08:00 starting 2026-11-23
    add bins out every other thurs 7pm → bins out | every 2 weeks on thu at 19:00 starting 2026-11-23
    add Recycling, every second tuesday, 6:30 → Recycling | every 2 weeks on tue at 06:30 starting 2026-11-23
    add Submit timesheet fridays 4pm → Submit timesheet | every fri at 16:00
    add Submit timesheet every friday at 4 pm until dec 18 → Submit timesheet | every fri at 16:00 until 2026-12-18
    add Timesheet last workday of the month → Timesheet | last weekday of month at 09:00
    add Car insurance on jan 15, 2027 → Car insurance | at 2027-01-15 09:00
    add Renew car insurance every january 15 → Renew car insurance | every jan 15 at 09:00
    add Bob's birthday every 3rd of july → Bob's birthday | every jul 3 at 09:00
    add Bob's birthday july 3rd every year at 8 → Bob's birthday | every jul 3 at 08:00
    add call Bob in 2h → call Bob | at 2026-11-23T09:15:00Z
    add Call Bob back in 15 min → Call Bob back | at 2026-11-23T07:30:00Z
    add Call back Bob within an hour → Call back Bob | at 2026-11-23T08:15:00Z
    add Ring Bob at noon → Ring Bob | at 2026-11-23 12:00
    add Ring Bob around noon → Ring Bob | at 2026-11-23 12:00
    add Ring Bob at lunch → Ring Bob | at 2026-11-23 12:00
    add Ring Bob tonight! → Ring Bob | at 2026-11-23 20:00
    add Ring Bob (friday 3pm) → Ring Bob | at 2026-11-27 15:00
    add ring bob fri 3p → ring bob | at 2026-11-27 15:00
    add RING BOB FRI 3PM → RING BOB | at 2026-11-27 15:00
    add fri 3pm ring bob → ring bob | at 2026-11-27 15:00
    add friday at 3 pm: ring Bob → ring Bob | at 2026-11-27 15:00
    add on friday at 3 pm ring Bob about the contract → ring Bob about the contract | at 2026-11-27 15:00
    add on the 28th at noon pick up Anna → pick up Anna | at 2026-11-28 12:00
    add pick up Anna from school at 15:30 → pick up Anna from school | at 2026-11-23 15:30
    add pick up Anna from school every weekday at 15:30 → pick up Anna from school | weekdays at 15:30
    add Pick up parcel tomorrow between 3 and 5 → refused
    add Meeting with Tom and Jerry tomorrow at 11 → Meeting with Tom and Jerry | at 2026-11-24 11:00
    add Meeting tomorrow at 11 with Tom and Jerry → Meeting with Tom and Jerry | at 2026-11-24 11:00
    add Meeting about Q3 numbers tomorrow at 11 → Meeting about Q3 numbers | at 2026-11-24 11:00
    add Prepare Q3 report by dec 4 5pm → Prepare Q3 report | at 2026-12-04 17:00
    add Prepare report by end of month → Prepare report | at 2026-11-30 09:00
    add Prepare 2027 budget by dec 15 → Prepare 2027 budget | at 2026-12-15 09:00
    add Exam on 28 november at 8:30 → Exam | at 2026-11-28 08:30
    add Exam in 5 days at 8:30 → Exam | at 2026-11-28 08:30
    add Exam: 28.11.2026 8:30 → Exam | at 2026-11-28 08:30
    add Train to Brno 28.11. 8:30 → Train to Brno | at 2026-11-28 08:30
    add Train 577 to Brno on saturday at 8:30 → Train 577 to Brno | at 2026-11-28 08:30
    add Take 1 tablet every 6 hours → Take 1 tablet | every 6h starting 2026-11-23T13:15:00Z
    add Take 1 tablet twice daily → refused
    add Take ibuprofen every 6 hours for 3 days → Take ibuprofen | every 6h starting 2026-11-23T13:15:00Z until 2026-11-25
    add Take vitamins every morning → Take vitamins | daily at 08:00
    add Take vitamins each morning at 7:30 → Take vitamins | daily at 07:30
    add Blink every 20 minutes from 9 to 17 on weekdays → Blink | every 20m from 09:00 to 17:00 on weekdays
    add Posture check every half hour between 9 and 5 → Posture check | every 30m from 09:00 to 17:00
    add Meditate at 6:45 daily except sundays → Meditate | mon-sat at 06:45
    add Meditate for 10 minutes every day at 7 → refused
    add Practice piano 30 minutes every day at 17:00 → refused
    add Practise piano every day except weekends at 17:00 → Practise piano | weekdays at 17:00
    add Swim tuesdays and thursdays at 6:30am → Swim | tue,thu at 06:30
    add swim tue+thu 6:30 → swim | tue,thu at 06:30
    add Choir practice monday nights 7:30pm → Choir practice | every mon at 19:30
    add Poker night first friday of the month at 8pm → Poker | first fri of month at 20:00
    add Board meeting third wednesday of every month 10:00 → Board meeting | third wed of month at 10:00
    add Newsletter on the 1st and 15th of each month → Newsletter | day 1,15 of month at 09:00
    add Check smoke alarms every 6 months → Check smoke alarms | every 6 months on day 23 at 09:00 starting 2026-11-23
    add Service the boiler once a year → Service the boiler | every nov 23 at 09:00
    add Descale kettle monthly → Descale kettle | day 23 of month at 09:00
    add Water cactus every 3 weeks → Water cactus | every 3 weeks on mon at 09:00 starting 2026-11-23
    add Water ferns every! 3 days → Water ferns | every 3 days after done at 09:00 starting 2026-11-26
    add Clean filter every 2 weeks when done → Clean filter | every 2 weeks after done at 09:00 starting 2026-12-07
    add Look at the moon at midnight → Look at the moon | at 2026-11-24 00:00
    add Go home at end of day → Go home | at 2026-11-23 17:00
    add Leave for the airport tomorrow at quarter to six → Leave for the airport | at 2026-11-24 05:45
    add Leave at half past four pm → Leave | at 2026-11-23 16:30
    add Leave in an hour and 10 minutes → Leave | at 2026-11-23T08:25:00Z
    add Leave in 1h10 → Leave | at 2026-11-23T08:25:00Z
    add Pasta in 9 minutes → Pasta | at 2026-11-23T07:24:00Z
    add pasta in 9m → pasta | at 2026-11-23T07:24:00Z
    add Eggs in 6 min 30 sec → Eggs | at 2026-11-23T07:21:30Z
    add Laundry in 45 → refused
    add Laundry 45 min → refused
    add Wash 30 degrees in 45 minutes → Wash 30 degrees | at 2026-11-23T08:00:00Z
    add Bake at 180 degrees in 45 minutes → refused
    add Return library books on or before friday → refused
    add Return library books by friday noon → Return library books | at 2026-11-27 12:00
    add Vote on sunday → Vote | at 2026-11-29 09:00
    add Vote this sunday at 10am → Vote | at 2026-11-29 10:00
    add Brunch this weekend → Brunch | at 2026-11-28 09:00
    add Fireworks on new year's eve at 23:45 → Fireworks | at 2026-12-31 23:45
    add Presents on christmas eve at 6pm → Presents | at 2026-12-24 18:00
    add Book flights 6 weeks from now → Book flights | at 2027-01-04 08:15
    add Book flights in early january → refused
    add Prune roses in march → refused
    add Prune roses every march 10 → Prune roses | every mar 10 at 09:00
    add Change clocks last sunday of march 2027 at 2 → Change clocks | at 2027-03-28 02:00
    add Report to Mr. Day on friday at 9 → Report to Mr. Day | at 2026-11-27 09:00
    add Read "The Hour" on friday at 9 → Read The Hour | at 2026-11-27 09:00
    add Second coffee at 10 → Second coffee | at 2026-11-23 10:00
    add First quarter review on jan 8 → First quarter review | at 2027-01-08 09:00
    add Half time show sunday at 8pm → Half time show | at 2026-11-29 20:00
    add Last train at 23:10 → Last train | at 2026-11-23 23:10
    add Last train home tonight at 23:10 → Last train home | at 2026-11-23 23:10
    add Once upon a time story at 19:30 → refused
    add End of lease on jan 31 → End of lease | at 2027-01-31 09:00
    add In-laws arrive saturday 14:00 → In-laws arrive | at 2026-11-28 14:00
    add On-call handover monday 9:00 → On-call handover | at 2026-11-23 09:00
    add 1:1 with Eva tomorrow at 10 → 1:1 with Eva | at 2026-11-24 10:00
    add 1-on-1 with Eva tomorrow at 10 → 1-on-1 with Eva | at 2026-11-24 10:00
    add 2 eggs in 6 minutes → 2 eggs | at 2026-11-23T07:21:00Z
    add 10k run on saturday at 9 → 10k run | at 2026-11-28 09:00
    add 5 minute plank every day at 7 → 5 minute plank | daily at 07:00
    add #5 review tomorrow at 10 → #5 review | at 2026-11-24 10:00
    add C++ course tuesday 18:00 → C++ course | at 2026-11-24 18:00
    add Mail a@b.cz at 10:30 → Mail a@b.cz | at 2026-11-23 10:30
    add Check build 4.2.1 at 10:30 → Check build 4.2.1 | at 2026-11-23 10:30
    add Deploy v2.0 tomorrow 14:00 → Deploy v2.0 | at 2026-11-24 14:00
    add Sync w/ Ops @ 14:30 → Sync w/ Ops | at 2026-11-23 14:30
    add Sync w/ Ops @14:30 → Sync w/ Ops | at 2026-11-23 14:30
    add Tea?? at 4pm → Tea?? | at 2026-11-23 16:00
    add čaj za 5 minut → refused
    at 6am Run → Run | at 2026-11-24 06:00
    at 6:15 tomorrow Run → Run | at 2026-11-24 06:15
    at 6 tomorrow morning Run → Run | at 2026-11-24 06:00
    at 7 every morning Stretch → Stretch | daily at 07:00
    at 8 every monday Plan the week → Plan the week | every mon at 08:00
    at 8 on mondays Plan → Plan | every mon at 08:00
    at 21:00 weekdays Read a book → Read a book | weekdays at 21:00
    at 10 on the 1st of every month Pay rent → Pay rent | day 1 of month at 10:00
    at 3pm on saturday Football with the kids → Football with the kids | at 2026-11-28 15:00
    at 3 in the afternoon Nap → Nap | at 2026-11-23 15:00
    at 11:59 pm Submit → Submit | at 2026-11-23 23:59
    at 5pm friday, drinks → drinks | at 2026-11-27 17:00
    at 17:30 - leave for the train → leave for the train | at 2026-11-23 17:30
    at 12 noon Lunch → Lunch | at 2026-11-23 12:00
    in 20 min pizza → pizza | at 2026-11-23T07:35:00Z
    in 20 minutes, call Bob → call Bob | at 2026-11-23T07:35:00Z
    in 1.5 hours Leave → Leave | at 2026-11-23T08:45:00Z
    in 3 days pay Bob → pay Bob | at 2026-11-26 08:15
    in 3 days at 5 pm pay Bob → pay Bob | at 2026-11-26 17:00
    in a fortnight Check results → Check results | at 2026-12-07 08:15
    in one month at noon Renew → Renew | at 2026-12-23 12:00
    in the evening call mum → call mum | at 2026-11-23 19:00
    in 2 minutes 30 seconds Tea → Tea | at 2026-11-23T07:17:30Z
    """
}
