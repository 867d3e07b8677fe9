// Data for SpokenPhrasesTests.

extension SpokenPhrasesTests {
  /// Phrases like those in the tests of duckling, chronic, chrono, tickle, later and recurrent, collected when the
  /// first two tables passed.
  static let third = """
    day after tomorrow 5pm → at 2026-11-25 17:00
    mon. → at 2026-11-23 09:00
    Monday, Nov 30 → at 2026-11-30 09:00
    Tuesday the 24th → at 2026-11-24 09:00
    Tuesday 24th → at 2026-11-24 09:00
    Tuesday the 25th → refused
    thu. → at 2026-11-26 09:00
    first of march → at 2027-03-01 09:00
    march first → at 2027-03-01 09:00
    march 3rd 2027 → at 2027-03-03 09:00
    march third 2027 → at 2027-03-03 09:00
    2027-3-3 → at 2027-03-03 09:00
    3/3/2027 → at 2027-03-03 09:00
    the 15th of february → at 2027-02-15 09:00
    15 of february → at 2027-02-15 09:00
    february the 15th → at 2027-02-15 09:00
    Fri, Dec 18 → at 2026-12-18 09:00
    Dec 18, Fri → at 2026-12-18 09:00
    14april 2027 → at 2027-04-14 09:00
    friday after next → refused
    wednesday of next week → at 2026-12-02 09:00
    wednesday after next → refused
    tuesday of this week → at 2026-11-24 09:00
    last Sunday of March 2027 → at 2027-03-28 09:00
    third day of january → at 2027-01-03 09:00
    the week of january 6th → refused
    last day in january 2027 → at 2027-01-31 09:00
    second wednesday of january 2027 → at 2027-01-13 09:00
    third tuesday after christmas → refused
    at 3am → at 2026-11-24 03:00
    3 in the AM → refused
    3 oclock am → at 2026-11-24 03:00
    3:18a → at 2026-11-24 03:18
    3 o'clock in the afternoon → at 2026-11-23 15:00
    3ish pm → refused
    at about 3pm → at 2026-11-23 15:00
    3pm approximately → refused
    at 15 past 3pm → at 2026-11-23 15:15
    a quarter past 3pm → at 2026-11-23 15:15
    3:15 in the afternoon → at 2026-11-23 15:15
    3:20 in afternoon → refused
    twenty after 3pm → at 2026-11-23 15:20
    at half past three pm → at 2026-11-23 15:30
    330 p.m. → at 2026-11-23 15:30
    3:30 p m → refused
    half three → refused
    nine fifty nine am → at 2026-11-23 09:59
    15:23:24 → at 2026-11-23 15:23:24
    a quarter to noon → at 2026-11-23 11:45
    15 to noon → at 2026-11-23 11:45
    8 this evening → at 2026-11-23 20:00
    eight tonight → at 2026-11-23 20:00
    in the evening at eight → at 2026-11-23 20:00
    at 7:30 PM on Fri, Nov 27 → at 2026-11-27 19:30
    on Saturday for 9am → refused
    Fri, Jul 16, 2027 07:00 PM → at 2027-07-16 19:00
    in a sec → at 2026-11-23T07:15:01Z
    one second from now → at 2026-11-23T07:15:01Z
    in 2 more minutes → refused
    in a couple of minutes → at 2026-11-23T07:17:00Z
    in a few minutes → refused
    in a quarter of an hour → at 2026-11-23T07:30:00Z
    in three-quarters of an hour → at 2026-11-23T08:00:00Z
    in 3/4 hour → refused
    in 2 and a half hours → at 2026-11-23T09:45:00Z
    in 24 hours → at 2026-11-24T07:15:00Z
    a day from now → at 2026-11-24 08:15
    3 years from today → at 2029-11-23 08:15
    7 days ago → refused
    three weeks hence → at 2026-12-14 08:15
    14 days hence → at 2026-12-07 08:15
    a year from Christmas → at 2027-12-25 09:00
    for 10 days from 18th Dec → refused
    this Summer → refused
    xmas → at 2026-12-25 09:00
    tomorrow at lunch → at 2026-11-24 12:00
    tomorrow lunch → refused
    monday mOrnIng → at 2026-11-30 08:00
    tuesday early morning → refused
    february the 15th in the morning → at 2027-02-15 08:00
    morning of the 15th of february → refused
    next 3 days → refused
    July 13-15 → refused
    9:30 - 11:00 → refused
    between 9:30 and 11:00 on thursday → refused
    3-4pm → refused
    by 2:00pm → at 2026-11-23 14:00
    by EOD → at 2026-11-23 17:00
    4pm today → at 2026-11-23 16:00
    at 1:30pm tomorrow → at 2026-11-24 13:30
    13:30 tomorrow → at 2026-11-24 13:30
    8:00 → at 2026-11-24 08:00
    01:00:00 PM → at 2026-11-23 13:00
    03/18/2027 09:26 pm → at 2027-03-18 21:26
    05:00 pm may 27th → at 2027-05-27 17:00
    09.08.2027 → at 2027-08-09 09:00
    1 day hence → at 2026-11-24 08:15
    1 monday ago → refused
    1 week from now → at 2026-11-30 08:15
    10 after 2 → refused
    10 to 2 → refused
    11 december 8am → at 2026-12-11 08:00
    11th december 8am → at 2026-12-11 08:00
    12 am → at 2026-11-24 00:00
    12 pm → at 2026-11-23 12:00
    12:01 am → at 2026-11-24 00:01
    2 days from this second → refused
    20 minutes hence → at 2026-11-23T07:35:00Z
    2027-08-20 7pm → at 2027-08-20 19:00
    2027-08-20 15:30:30 → at 2027-08-20 15:30:30
    2027 May 22nd → refused
    22-feb → at 2027-02-22 09:00
    22 feb → at 2027-02-22 09:00
    24 hours and 20 minutes from now → at 2026-11-24T07:35:00Z
    25 minutes and 20 seconds from now → at 2026-11-23T07:40:20Z
    27 Oct 2027 7:30pm → at 2027-10-27 19:30
    27/5/2027 @ 0700 → at 2027-05-27 07:00
    2nd monday in january → at 2027-01-11 09:00
    3 fortnights hence → at 2027-01-04 08:15
    3 jan 2027 4pm → at 2027-01-03 16:00
    3 weeks ago → refused
    30/2/2027 → refused
    31st of may at 6:30pm → at 2027-05-31 18:30
    31 of may at 6:30pm → at 2027-05-31 18:30
    33 days from now → at 2026-12-26 08:15
    3rd thursday this december → refused
    3rd wednesday in january → at 2027-01-20 09:00
    4:00 in the morning → at 2026-11-24 04:00
    5 mornings hence → refused
    5 on may 27th → refused
    5pm on may 27th → at 2027-05-27 17:00
    5th tuesday in february → at 2028-02-29 09:00
    5th tuesday in january 2027 → refused
    6 months hence → at 2027-05-23 08:15
    7 hours before tomorrow at midnight → refused
    7 tonight → at 2026-11-23 19:00
    8/16/2027 at 12:15a → at 2027-08-16 00:15
    8/16/2027 at 12pm → at 2027-08-16 12:00
    8/16/2027 at 6:30p → at 2027-08-16 18:30
    February 14, 2027 → at 2027-02-14 09:00
    Ham Sandwich → refused
    Jan 1,2027 → at 2027-01-01 09:00
    March 30th, 2027 → at 2027-03-30 09:00
    March 30th 2027 4:30 → at 2027-03-30 04:30
    November 28th 2026 at midnight → at 2026-11-28 00:00
    Thu 26th at 4pm → at 2026-11-26 16:00
    Thu Nov 26 4pm → at 2026-11-26 16:00
    Thursday December 31st → at 2026-12-31 09:00
    Thursday December 30 → refused
    aug. 3 → at 2027-08-03 09:00
    aug-20 → at 2027-08-20 09:00
    fifteenth of this month → refused
    friday 11 at night → at 2026-11-27 23:00
    friday evening at 7 → at 2026-11-27 19:00
    friday 13:00 → at 2026-11-27 13:00
    half past 2 → at 2026-11-24 02:30
    may tenth → at 2027-05-10 09:00
    may 32 → refused
    may 28 at 5:32:19pm → at 2027-05-28 17:32:19
    monday 4:00 → at 2026-11-30 04:00
    next monday at 12:01 am → at 2026-11-30 00:01
    quarter to 4 → at 2026-11-24 03:45
    second monday in january → at 2027-01-11 09:00
    september 3 years ago → refused
    sunday at 8:15pm → at 2026-11-29 20:15
    sunday 6am → at 2026-11-29 06:00
    this day at 0900 → refused
    today at 2100 → at 2026-11-23 21:00
    today at 6:00pm → at 2026-11-23 18:00
    tomorrow at 4a.m. → at 2026-11-24 04:00
    tonight at 7 → at 2026-11-23 19:00
    yesterday at 4:00pm → refused
    november → refused
    oct 5 2027 1045pm → at 2027-10-05 22:45
    10am to 12pm → refused
    05/31/2027 14:15 → at 2027-05-31 14:15
    09-JAN-2027 → at 2027-01-09 09:00
    09/JAN/2027 → at 2027-01-09 09:00
    1 at night → refused
    1 in the afternoon → at 2026-11-23 13:00
    10 August 2027 → at 2027-08-10 09:00
    10 - 22 August 2027 → refused
    11 tonight → at 2026-11-23 23:00
    12th of July at 19:00 → at 2027-07-12 19:00
    15 minute from now → at 2026-11-23T07:30:00Z
    15m from now → at 2026-11-23T07:30:00Z
    15s later → at 2026-11-23T07:15:15Z
    2 days later → at 2026-11-25 08:15
    2 day after tomorrow → at 2026-11-26 09:00
    20:32:13 → at 2026-11-23 20:32:13
    24 October 10 o clock → at 2027-10-24 10:00
    24 October, 9 p.m. → at 2027-10-24 21:00
    24th October, 9 am → at 2027-10-24 09:00
    29 February → at 2028-02-29 09:00
    29 February 2027 → refused
    5 May 12:00 → at 2027-05-05 12:00
    8:23 AM, Jul 9 → at 2027-07-09 08:23
    Friday of next week at 9am → at 2026-12-04 09:00
    In about 5 hours → at 2026-11-23T12:15:00Z
    Jan 1 2027, 9:30 → at 2027-01-01 09:30
    Sunday, December 6, 2026 → at 2026-12-06 09:00
    SUN 6DEC → at 2026-12-06 09:00
    Twenty-fourth of May → at 2027-05-24 09:00
    a week after tomorrow → at 2026-12-01 09:00
    at 12.30 → at 2026-11-23 12:30
    in 1d 2hr 5min → at 2026-11-24T09:20:00Z
    in 2hour → at 2026-11-23T09:15:00Z
    in a few years → refused
    next hour → refused
    next weekday → refused
    next two weeks → refused
    now + 40minutes → at 2026-11-23T07:55:00Z
    now + 3 days → at 2026-11-26 08:15
    teatime tomorrow → at 2026-11-24 16:00
    noon tomorrow → at 2026-11-24 12:00
    4pm + 2 days → at 2026-11-25 16:00
    within two weeks → at 2026-12-07 08:15
    within 5hr → at 2026-11-23T12:15:00Z
    within half an hour → at 2026-11-23T07:45:00Z
    timeoff → refused
    every day twice → refused
    every day for 3x → refused
    every day for 4 times → daily at 09:00 starting 2026-11-23T07:15:01Z 4 times
    every 4th day → every 4 days at 09:00 starting 2026-11-23
    daily except for tomorrow → daily at 09:00 except 2026-11-24
    daily except on weekends → weekdays at 09:00
    daily except in may → daily at 09:00 except may 1..may 31
    every other weekend → every 2 weeks on weekends at 09:00 starting 2026-11-23
    every other week on weekend → every 2 weeks on weekends at 09:00 starting 2026-11-23
    every sunday and saturday → weekends at 09:00
    every wed. → every wed at 09:00
    every week on tues → every tue at 09:00
    once a week on sunday → every sun at 09:00
    every week on the 4th day → refused
    every 3 weeks on mon and fri → every 3 weeks on mon,fri at 09:00 starting 2026-11-23
    every 2nd of the month → day 2 of month at 09:00
    every month on the 4th day → day 4 of month at 09:00
    the 4th of every other month → every 2 months on day 4 at 09:00 starting 2026-11-23
    the 4th of every 3 months → every 3 months on day 4 at 09:00 starting 2026-11-23
    every other month on the 4th → every 2 months on day 4 at 09:00 starting 2026-11-23
    every 4th and 10th of the month → day 4,10 of month at 09:00
    every first friday of the month → first fri of month at 09:00
    monthly on fri → refused
    2nd to the last friday of each month → refused
    2nd and last fri of each month → second fri,last fri of month at 09:00
    first day of each month → day 1 of month at 09:00
    beginning of each month → refused
    start of each month at 8 → refused
    first of each month → day 1 of month at 09:00
    end of each month → last day of month at 09:00
    last of each month → last day of month at 09:00
    last day of each month at 5pm → last day of month at 17:00
    second friday of each month → second fri of month at 09:00
    first friday of every 3 months → every 3 months on first fri at 09:00 starting 2026-11-23
    first and third friday of each month → first fri,third fri of month at 09:00
    first, second, and third friday of each month → first fri,second fri,third fri of month at 09:00
    every year on the fourth thursday in november → every fourth thu of nov at 09:00
    every fourth thursday in november → every fourth thu of nov at 09:00
    once a year on december 25th → every dec 25 at 09:00
    every year on december 21st and 31st → every dec 21,dec 31 at 09:00
    every year on the 31st → refused
    every july 4th → every jul 4 at 09:00
    every aug 20 and 30 → every aug 20,aug 30 at 09:00
    every 20th and 30th of aug → every aug 20,aug 30 at 09:00
    every Fri in week 12 → refused
    daily starting march 3rd → daily at 09:00 starting 2027-03-03
    starting tomorrow on weekends → weekends at 09:00 starting 2026-11-24
    daily starting march 3rd until april 5th → daily at 09:00 starting 2027-03-03 until 2027-04-05
    daily starting march 3rd for 8 times → daily at 09:00 starting 2027-03-03 8 times
    every wed until november → refused
    every 45 mins → every 45m starting 2026-11-23T08:00:00Z
    daily at 12am → daily at 00:00
    daily at 12a → daily at 00:00
    daily at 3am 10 times → daily at 03:00 starting 2026-11-23T07:15:01Z 10 times
    at 10 am on 15th of every month → day 15 of month at 10:00
    each week on saturday thru tuesday → sat-tue at 09:00
    saturdays through tuesdays → sat-tue at 09:00
    every thursday for the next three weeks → every thu at 09:00 until 2026-12-13
    every sat for 2 months → every sat at 09:00 until 2027-01-22
    every 5th fri → fifth fri of month at 09:00
    3rd Thu in Apr at 10 o'clock → at 2027-04-15 10:00
    tuesdays and thursdays at 3:15 → tue,thu at 03:15
    wednesdays at 9 o'clock → every wed at 09:00
    fridays 3x → refused
    every other friday for 5 times → every 2 weeks on fri at 09:00 starting 2026-11-23 08:15:01 5 times
    every Mon thru Wed for the next year → refused
    every month on the last weekday at 4pm → last weekday of month at 16:00
    every 15 s → every 15s starting 2026-11-23T07:15:15Z
    on tues → at 2026-11-24 09:00
    tues,wed → tue,wed at 09:00
    on tues,thur-sat at 7 → tue,thu-sat at 07:00
    at 5:00 also at 10:00 → refused
    at 05:00 and 10:00 → refused
    every 2nd day of the week → refused
    every 5 days of the month → refused
    on the 5th day of the month → day 5 of month at 09:00
    every weekend at noon → weekends at 12:00
    on the last day of the week → refused
    3rd Monday → refused
    daily at 08:00, 12:00 and 18:00 → daily at 08:00,12:00,18:00
    mon,wed,fri 06:30 → mon,wed,fri at 06:30
    Mon..Fri *-*-* 08:00 → refused
    hourly → every 1h starting 2026-11-23T08:15:00Z
    quarterly → every jan 1,apr 1,jul 1,oct 1 at 09:00
    bimonthly → refused
    due:tomorrow → refused
    eoww → refused
    sow → refused
    eoq → refused
    tomorrow+2h → refused
    +3d → at 2026-11-26 08:15
    fri 10:00-11:30 → refused
    eight in the evening → at 2026-11-23 20:00
    nine in the morning → at 2026-11-23 09:00
    seven thirty in the evening → at 2026-11-23 19:30
    ten at night → at 2026-11-23 22:00
    three in the afternoon on friday → at 2026-11-27 15:00
    january second → at 2027-01-02 09:00
    january second at noon → at 2027-01-02 12:00
    every christmas eve → every dec 24 at 09:00
    every new year's day at 10 → every jan 1 at 10:00
    every halloween at 6pm → every oct 31 at 18:00
    every second sunday of the month → second sun of month at 09:00
    every second and fourth sunday of the month at 10 → second sun,fourth sun of month at 10:00
    daily at 7 dec 1 - dec 24 → daily at 07:00 starting 2026-12-01 until 2026-12-24
    daily at 7 from dec 1 to dec 24 → daily at 07:00 starting 2026-12-01 until 2026-12-24
    every weekday from dec 1 to dec 18 at 6 → weekdays at 06:00 starting 2026-12-01 until 2026-12-18
    every day dec 1 to dec 24 at 7 → daily at 07:00 starting 2026-12-01 until 2026-12-24
    every tuesday this month → refused
    every day this week → refused
    every day next week at 8 → refused
    mondays and wednesdays in december → refused
    every friday in december at 4 → refused
    all day tomorrow → refused
    first thing tomorrow → refused
    late tonight → refused
    """

  /// Lines of that collection.
  static let thirdLines = """
    add Water plants every 3rd day at 7 → Water plants | every 3 days at 07:00 starting 2026-11-23
    add Email Sarah today at 4pm → Email Sarah | at 2026-11-23 16:00
    add Lunch with Sam fri at 12:30 → Lunch with Sam | at 2026-11-27 12:30
    add Lunch with Sam friday noon → Lunch with Sam | at 2026-11-27 12:00
    add Take out trash every tuesday night → Take out trash | every tue at 22:00
    add take out the trash every tue and fri at 7pm → take out the trash | tue,fri at 19:00
    add Homework due tomorrow 8am → Homework due | at 2026-11-24 08:00
    add Meet Ann next monday 10am → Meet Ann | at 2026-11-30 10:00
    add Dinner at Luigi's on thursday at 19:30 → Dinner at Luigi's | at 2026-11-26 19:30
    add Party at Joe's house saturday 8pm → Party at Joe's house | at 2026-11-28 20:00
    add Dentist appointment on Dec 3rd at 2:15 pm → Dentist appointment | at 2026-12-03 14:15
    add I plan on taking the day off on Tuesday → I plan on taking the day off | at 2026-11-24 09:00
    add eat pasty buns today at 2pm → eat pasty buns | at 2026-11-23 14:00
    add meeting today at 2pm → meeting | at 2026-11-23 14:00
    add We meet in 5 minutes → We meet | at 2026-11-23T07:20:00Z
    add In 5 minutes I will go home → I will go home | at 2026-11-23T07:20:00Z
    add Let's sync on Tuesday of next week → Let's sync | at 2026-12-01 09:00
    add set a timer for 1 hour → refused
    add set a timer for 5 minutes 30 seconds → refused
    add vacation monday - friday → vacation | weekdays at 09:00
    add timeoff monday 7 to 9am → refused
    add Homework 5 due next monday at 3pm → Homework 5 due | at 2026-11-30 15:00
    add Buy 3 apples tomorrow → Buy 3 apples | at 2026-11-24 09:00
    add Buy 2 tickets for friday's show tomorrow at 9 → Buy 2 tickets for friday's show | at 2026-11-24 09:00
    add Call 555-1234 tomorrow at 9 → Call 555-1234 | at 2026-11-24 09:00
    add Call mom at 555-1234 at noon → refused
    add Read chapter 7 tonight → Read chapter 7 | at 2026-11-23 20:00
    add Read pages 10-20 tonight at 9 → Read pages 10-20 | at 2026-11-23 21:00
    add check in at 9 → check in | at 2026-11-23 09:00
    add check out by 11 tomorrow → check out | at 2026-11-24 11:00
    add Check-in flight on dec 3 at 6:00 → Check-in flight | at 2026-12-03 06:00
    add Log in at 10 → Log in | at 2026-11-23 10:00
    add Turn in essay by friday 5pm → Turn in essay | at 2026-11-27 17:00
    add Turn in essay friday → Turn in essay | at 2026-11-27 09:00
    add hand in report on monday at 9 → hand in report | at 2026-11-23 09:00
    add bring the car in on tuesday at 8 → bring the car in | at 2026-11-24 08:00
    add Put the kettle on in 10 minutes → Put the kettle on | at 2026-11-23T07:25:00Z
    add Turn the oven on at 18:00 → Turn the oven on | at 2026-11-23 18:00
    add turn off oven in twenty minutes → turn off oven | at 2026-11-23T07:35:00Z
    add turn the oven off in 1/2 hour → refused
    add Move car before 9 tomorrow → refused
    add Park until 6 → refused
    add Free parking ends at 6pm → Free parking ends | at 2026-11-23 18:00
    add Show starts at 8pm on saturday → Show starts | at 2026-11-28 20:00
    add Class begins tomorrow at 8:30 → Class begins | at 2026-11-24 08:30
    add Gym every mon, wed and fri at 6:30am → Gym | mon,wed,fri at 06:30
    add gym mwf 6:30am → gym | mon,wed,fri at 06:30
    add gym m/w/f at 6 → gym | mon,wed,fri at 06:00
    add Yoga tues/thurs 18:00 → Yoga | tue,thu at 18:00
    add Yoga on tuesdays and thursdays from 18:00 to 19:00 → refused
    add Standup weekdays 9:15 → Standup | weekdays at 09:15
    add daily standup at 9:15 → refused
    add Daily standup every weekday at 9:15 → refused
    add weekly review fridays at 3 → refused
    add Weekly report every friday → refused
    add Monthly report on the last friday at 4pm → refused
    add monthly report every month on the 28th → refused
    add Monday meeting prep on sunday at 8pm → refused
    add Sunday roast at 1pm on sunday → refused
    add Friday drinks at 5pm → refused
    add Christmas shopping on dec 12 at 10 → Christmas shopping | at 2026-12-12 10:00
    add Order Christmas tree by december 10 → Order Christmas tree | at 2026-12-10 09:00
    add New Year party dec 31 9pm → New Year party | at 2026-12-31 21:00
    add Wrap presents on christmas eve morning → Wrap presents | at 2026-12-24 08:00
    add Buy flowers for valentine's day → refused
    add Pay rent on the first of every month → Pay rent | day 1 of month at 09:00
    add Pay rent every 1st → Pay rent | day 1 of month at 09:00
    add pay rent 1st of each month 8am → pay rent | day 1 of month at 08:00
    add Pay credit card every 15th at noon → Pay credit card | day 15 of month at 12:00
    add Pay taxes april 15 → Pay taxes | at 2027-04-15 09:00
    add Pay taxes every year on april 15 → Pay taxes | every apr 15 at 09:00
    add File taxes every quarter → File taxes | every jan 1,apr 1,jul 1,oct 1 at 09:00
    add Invoice clients on the last day of the month → Invoice clients | last day of month at 09:00
    add backup every night at 2 → backup | daily at 02:00
    add Backup every night at 2am → Backup | daily at 02:00
    add Backup disk every sunday at 3:00 → Backup disk | every sun at 03:00
    add Backup every 6 hours → Backup | every 6h starting 2026-11-23T13:15:00Z
    add rotate keys every 90 days → rotate keys | every 90 days at 09:00 starting 2026-11-23
    add Change filter every 3 months → Change filter | every 3 months on day 23 at 09:00 starting 2026-11-23
    add Haircut every 6 weeks on saturday at 10 → Haircut | every 6 weeks on sat at 10:00 starting 2026-11-23
    add Flea treatment every 4 weeks → Flea treatment | every 4 weeks on mon at 09:00 starting 2026-11-23
    add feed cat 7:30 and 18:00 every day → feed cat | daily at 07:30,18:00
    add Feed cat at 7:30am and 6pm every day → Feed cat | daily at 07:30,18:00
    add Walk Rex every morning at 6 and every evening at 8 → refused
    add Insulin at 8:00, 13:00 and 19:00 daily → Insulin | daily at 08:00,13:00,19:00
    add Antibiotics every 8 hours for 7 days → Antibiotics | every 8h starting 2026-11-23T15:15:00Z until 2026-11-29
    add Antibiotics every 8 hours until friday → Antibiotics | every 8h starting 2026-11-23T15:15:00Z until 2026-11-27
    add Vitamin D every day at breakfast → Vitamin D at breakfast | daily at 09:00
    add vitamin d daily 8am → vitamin d | daily at 08:00
    add vitamin B12 every monday → vitamin B12 | every mon at 09:00
    add drink water every hour from 9 to 5 → drink water | every 1h from 09:00 to 17:00
    add Drink water every 2 hours between 8am and 8pm → Drink water | every 2h from 08:00 to 20:00
    add stand up every 45 minutes on weekdays 9-17 → stand up | every 45m from 09:00 to 17:00 on weekdays
    add Eye drops every 4 hours → Eye drops | every 4h starting 2026-11-23T11:15:00Z
    add 20-20-20 every 20 minutes → 20-20-20 | every 20m starting 2026-11-23T07:35:00Z
    add Anna's birthday march 3 → Anna's birthday | at 2027-03-03 09:00
    add Anna's birthday every year on march 3 → Anna's birthday | every mar 3 at 09:00
    add Anna turns 40 on march 3 2027 → Anna turns 40 | at 2027-03-03 09:00
    add Mum's 70th birthday on 5 june 2027 → Mum's 70th birthday | at 2027-06-05 09:00
    add 25th anniversary dinner on saturday 7pm → 25th anniversary dinner | at 2026-11-28 19:00
    add Wedding anniversary every june 12 at 8 → Wedding anniversary | every jun 12 at 08:00
    add Passport expires 2029-04-01 → Passport expires | at 2029-04-01 09:00
    add Renew passport 6 months before 2029-04-01 → Renew passport | at 2028-10-01 09:00
    add Flight OK 617 on 12/24/2026 at 6:40 → Flight OK 617 | at 2026-12-24 06:40
    add Flight BA855 24.12.2026 6:40 → Flight BA855 | at 2026-12-24 06:40
    add Bus 22 at 7:52 → Bus 22 | at 2026-11-24 07:52
    add Room 101 tomorrow 9:00 → Room 101 | at 2026-11-24 09:00
    add Meet at gate 5 at 9:30 → Meet at gate 5 | at 2026-11-23 09:30
    add Order 66 now → refused
    add Windows 11 update tonight at 11 → Windows 11 update | at 2026-11-23 23:00
    add iPhone 17 release on friday → iPhone 17 release | at 2026-11-27 09:00
    add Formula 1 race sunday 15:00 → Formula 1 race | at 2026-11-29 15:00
    add Watch 24 at 9pm → Watch 24 | at 2026-11-23 21:00
    add Area 51 documentary at 20:15 → Area 51 documentary | at 2026-11-23 20:15
    add Read 1984 tonight → Read 1984 | at 2026-11-23 20:00
    add Review PR 1234 tomorrow morning → Review PR 1234 | at 2026-11-24 08:00
    add review PR #1234 at 14:00 → review PR #1234 | at 2026-11-23 14:00
    add Deploy 3.2 on tuesday at 10 → Deploy 3.2 | at 2026-11-24 10:00
    add Version 2.1.3 out on friday → Version 2.1.3 out | at 2026-11-27 09:00
    add Score 3:2 watch replay at 21:00 → Score 3:2 watch replay | at 2026-11-23 21:00
    add May I call you tomorrow at 9 → May I call you | at 2026-11-24 09:00
    add Call May tomorrow at 9 → Call May | at 2026-11-24 09:00
    add call April on friday at 9 → call April | at 2026-11-27 09:00
    add March for peace on saturday at 11 → March for peace | at 2026-11-28 11:00
    add Sun cream at 10 → refused
    add Sat nav update tomorrow → refused
    add Wed Anna and Tom → Anna and Tom | at 2026-11-25 09:00
    add One more thing at 5pm → One more thing | at 2026-11-23 17:00
    add Two men and a truck on friday at 8 → Two men and a truck | at 2026-11-27 08:00
    add Second dose in 3 weeks → Second dose | at 2026-12-14 08:15
    add second dose on dec 14 → second dose | at 2026-12-14 09:00
    add Third reading tomorrow at 3pm → Third reading | at 2026-11-24 15:00
    add The morning after pill at 8 → refused
    add Good morning message every day at 7 → Good morning message | daily at 07:00
    add good night kiss every evening at 8 → good night kiss | daily at 20:00
    add Midnight snack at midnight → refused
    add noon prayer daily at noon → refused
    add tea time → refused
    add Time to go at 5 → Time to go | at 2026-11-24 05:00
    add Minutes of the meeting by friday → refused
    add Week plan every sunday evening → Week plan | every sun at 19:00
    add Days gone by, read tonight → refused
    add Do the dishes tonight @home → Do the dishes @home | at 2026-11-23 20:00
    add Ask Bob re: budget tomorrow at 9 → Ask Bob re: budget | at 2026-11-24 09:00
    add Bob: call at 15:00 → Bob: call | at 2026-11-23 15:00
    add tomorrow: call Bob → call Bob | at 2026-11-24 09:00
    add tomorrow at 9 - call Bob → call Bob | at 2026-11-24 09:00
    add tomorrow, call Bob → call Bob | at 2026-11-24 09:00
    add in 20 minutes, call Bob → call Bob | at 2026-11-23T07:35:00Z
    add in 3 days, at 9, call Bob → call Bob | at 2026-11-26 09:00
    add every friday, water plants → water plants | every fri at 09:00
    add at 9, call Bob → call Bob | at 2026-11-23 09:00
    in 20 minutes, call Bob → call Bob | at 2026-11-23T07:35:00Z
    at 5pm friday, drinks → drinks | at 2026-11-27 17:00
    at 9 tomorrow, Call Bob → Call Bob | at 2026-11-24 09:00
    at noon on sunday feed the ducks → feed the ducks | at 2026-11-29 12:00
    at 8 in the evening Call Bob → Call Bob | at 2026-11-23 20:00
    in two weeks at noon check lease → check lease | at 2026-12-07 12:00
    in 10 days return the shoes → return the shoes | at 2026-12-03 08:15
    at 7:15 daily meds → meds | daily at 07:15
    at 7:15 every day meds → meds | daily at 07:15
    at half past six feed the baby → feed the baby | at 2026-11-24 06:30
    in an hour and 15 minutes pick up Tom → pick up Tom | at 2026-11-23T08:30:00Z
    at 1730 go home → go home | at 2026-11-23 17:30
    at midnight fireworks → fireworks | at 2026-11-24 00:00
    in 45 min check the roast → check the roast | at 2026-11-23T08:00:00Z
    """

  /// Phrases collected after those.
  static let fourth = """
    the 3rd of May → at 2027-05-03 09:00
    the 3rd of February at 8 → at 2027-02-03 08:00
    the 1st monday of february → at 2027-02-01 09:00
    the last friday in december at 3pm → at 2026-12-25 15:00
    tomorrow at ten → at 2026-11-24 10:00
    tomorrow at ten past ten → at 2026-11-24 10:10
    tomorrow at 5 in the afternoon → at 2026-11-24 17:00
    tomorrow at 11 at night → at 2026-11-24 23:00
    tomorrow 6 in the morning → at 2026-11-24 06:00
    tomorrow six thirty am → at 2026-11-24 06:30
    six thirty pm tomorrow → at 2026-11-24 18:30
    6.30pm tomorrow → refused
    quarter past 6 tomorrow morning → at 2026-11-24 06:15
    five to six tonight → at 2026-11-23 17:55
    half past nine tonight → at 2026-11-23 21:30
    nine tonight → at 2026-11-23 21:00
    9 this morning → at 2026-11-23 09:00
    ten this morning → at 2026-11-23 10:00
    2 this afternoon → at 2026-11-23 14:00
    12 in the afternoon → at 2026-11-23 12:00
    12 at night → at 2026-11-24 00:00
    13 in the afternoon → refused
    four in the morning → at 2026-11-24 04:00
    seven in the morning on saturday → at 2026-11-28 07:00
    saturday seven in the morning → at 2026-11-28 07:00
    eight fifteen in the evening → at 2026-11-23 20:15
    1230 pm → at 2026-11-23 12:30
    730am tomorrow → at 2026-11-24 07:30
    115 pm friday → at 2026-11-27 13:15
    1730 friday → at 2026-11-27 17:30
    friday 1730 → at 2026-11-27 17:30
    20 to midnight → at 2026-11-23 23:40
    25 to noon → at 2026-11-23 11:35
    ten after nine → at 2026-11-23 09:10
    25 after 9 → at 2026-11-23 09:25
    9 o clock → at 2026-11-23 09:00
    at 9 o'clock on the dot → refused
    in about an hour → at 2026-11-23T08:15:00Z
    in around 20 minutes → at 2026-11-23T07:35:00Z
    within about 2 hours → at 2026-11-23T09:15:00Z
    in three quarters of an hour → at 2026-11-23T08:00:00Z
    in an hour and forty five minutes → at 2026-11-23T09:00:00Z
    in ninety minutes → at 2026-11-23T08:45:00Z
    in 2h 5m 10s → at 2026-11-23T09:20:10Z
    two and a half hours from now → at 2026-11-23T09:45:00Z
    90 min from now → at 2026-11-23T08:45:00Z
    a week from today → at 2026-11-30 08:15
    a week from tomorrow → at 2026-12-01 09:00
    a week from tomorrow at 4 → at 2026-12-01 04:00
    two weeks from friday at noon → at 2026-12-11 12:00
    10 days before christmas → at 2026-12-15 09:00
    a month before christmas → at 2026-11-25 09:00
    two months before june 1 → at 2027-04-01 09:00
    1 month before march 31 → at 2027-02-28 09:00
    a year before 2028-02-29 → at 2027-02-28 09:00
    3 days after christmas eve → at 2026-12-27 09:00
    half a year before 2027-12-01 → at 2027-06-01 09:00
    february second → at 2027-02-02 09:00
    february second 2027 at 8 → at 2027-02-02 08:00
    dec-24 → at 2026-12-24 09:00
    dec-24 at 18:00 → at 2026-12-24 18:00
    24/dec → at 2026-12-24 09:00
    24/dec/2027 18:00 → at 2027-12-24 18:00
    24-dec-2026 18:00 → at 2026-12-24 18:00
    2026-12-24 6pm → at 2026-12-24 18:00
    thursday 24 december 2026 at six pm → at 2026-12-24 18:00
    thursday the 24th of december → at 2026-12-24 09:00
    friday the 24th of december → refused
    fri dec 25th 8:00 a.m. → at 2026-12-25 08:00
    friday at 5:30 in the afternoon → at 2026-11-27 17:30
    next friday → refused
    friday of this week at 9 → at 2026-11-27 09:00
    monday of next week at 9 → at 2026-11-30 09:00
    one week from monday → at 2026-11-30 09:00
    sunday in the evening → at 2026-11-29 19:00
    this coming friday at 9 → at 2026-11-27 09:00
    the end of the month → at 2026-11-30 09:00
    end of next month at 5pm → at 2026-12-31 17:00
    end of december → at 2026-12-31 09:00
    mid december → refused
    early next week → refused
    before friday → refused
    after 5pm → refused
    any day now → refused
    on the hour → refused
    in the future → refused
    in 5 → refused
    in five → refused
    at quarter → refused
    sometime tomorrow → refused
    every friday 13th → refused
    every day at noon and midnight → daily at 00:00,12:00
    every day at 6, 12 and 18 → daily at 06:00,12:00,18:00
    every day at 7:30 am and 9 pm → daily at 07:30,21:00
    every morning at 6:30 except sundays → mon-sat at 06:30
    every evening at nine → daily at 21:00
    every night at 11:30 → daily at 23:30
    nightly at 11 → daily at 23:00
    weekdays at half past seven → weekdays at 07:30
    weekdays at quarter to nine in the morning → weekdays at 08:45
    mwf at 9 → mon,wed,fri at 09:00
    m/w/f 10:00 → mon,wed,fri at 10:00
    t/th at 14:00 → tue,thu at 14:00
    every mwf at 6am → mon,wed,fri at 06:00
    every tth 8:00 → tue,thu at 08:00
    sundays 18:00 → every sun at 18:00
    every sunday evening at 6 → every sun at 18:00
    every sunday at 6 in the evening → every sun at 18:00
    every other sunday at 6 in the evening → every 2 weeks on sun at 18:00 starting 2026-11-23
    every second saturday of the month at 10 → second sat of month at 10:00
    every second tuesday at 19 → every 2 weeks on tue at 19:00 starting 2026-11-23
    every second tuesday in january → every second tue of jan at 09:00
    every third thursday of the month → third thu of month at 09:00
    every last sunday of the month at 17:00 → last sun of month at 17:00
    the second to last friday of the month → second last fri of month at 09:00
    every christmas → every dec 25 at 09:00
    every christmas day at 8am → every dec 25 at 08:00
    every boxing day at noon → every dec 26 at 12:00
    each new year's eve at 23:50 → every dec 31 at 23:50
    every valentine's day → every feb 14 at 09:00
    christmas eve every year at 17:00 → every dec 24 at 17:00
    yearly on christmas eve → every dec 24 at 09:00
    daily dec 1 - dec 24 at 7 → daily at 07:00 starting 2026-12-01 until 2026-12-24
    daily at 7 dec 1-24 → daily at 07:00 starting 2026-12-01 until 2026-12-24
    every day dec 1 through dec 24 at 6:30 → daily at 06:30 starting 2026-12-01 until 2026-12-24
    daily at 7 from the 1st to the 24th of december → refused
    every monday dec 7 - dec 21 at 9 → every mon at 09:00 starting 2026-12-07 until 2026-12-21
    every 2 hours dec 1 to dec 5 → every 2h starting 2026-12-01 until 2026-12-05
    weekdays 9:00 1.12. - 18.12. → weekdays at 09:00 starting 2026-12-01 until 2026-12-18
    every weekday at 8 2026-12-01 - 2026-12-18 → weekdays at 08:00 starting 2026-12-01 until 2026-12-18
    every day at 7 dec 24 - jan 2 → daily at 07:00 starting 2026-12-24 until 2027-01-02
    every 20 minutes between 9 and 11am → every 20m from 09:00 to 11:00
    every half an hour from 8am until noon → every 30m from 08:00 to 12:00
    every 1.5 hours from 8 to 20 → every 90m from 08:00 to 20:00
    every hour on the half hour → refused
    every 100 days → every 100 days at 09:00 starting 2026-11-23
    every 3 weeks on friday at 4pm starting dec 4 → every 3 weeks on fri at 16:00 starting 2026-12-04
    every other month on the 15th at noon → every 2 months on day 15 at 12:00 starting 2026-11-23
    every january 1 and july 1 → every jan 1,jul 1 at 09:00
    twice a year → refused
    every leap year → refused
    on the 10th, 20th and 30th at 8 → refused
    10th and 25th of every month at 8am → day 10,25 of month at 08:00
    last business day of the month at 4pm → last weekday of month at 16:00
    first weekday of every month at 9:30 → first weekday of month at 09:30
    every 3 months on the last friday → every 3 months on last fri at 09:00 starting 2026-11-23
    every 2 weeks when done → every 2 weeks after done at 09:00 starting 2026-12-07
    every month except december on the 1st → day 1 of month at 09:00 except dec 1..dec 31
    every weekday at 9 until christmas → weekdays at 09:00 until 2026-12-25
    every day at 8 for a week → daily at 08:00 until 2026-11-29
    every hour for the next 6 hours → every 1h starting 2026-11-23T08:15:00Z until 2026-11-23T13:15:00Z
    daily at 9 starting on monday → daily at 09:00 starting 2026-11-23
    """

  /// Lines of that collection; those after the first eighty were added when these passed.
  static let fourthLines = """
    add christmas eve 5pm church → church | at 2026-12-24 17:00
    add church christmas eve 5pm → church | at 2026-12-24 17:00
    add new year's day at noon call parents → call parents | at 2027-01-01 12:00
    add halloween at 6pm candy → candy | at 2027-10-31 18:00
    add Christmas tree shopping saturday 10am → Christmas tree shopping | at 2026-11-28 10:00
    add New laptop tomorrow 10am → New laptop | at 2026-11-24 10:00
    add buy christmas presents → refused
    add 1730 friday Leave early → Leave early | at 2026-11-27 17:30
    add Call the bank at 10 this morning → Call the bank | at 2026-11-23 10:00
    add Call the bank 10 this morning → refused
    add 8 this evening Movie → Movie | at 2026-11-23 20:00
    add seven in the evening Movie with Eva → Movie with Eva | at 2026-11-23 19:00
    add Movie at seven in the evening → Movie | at 2026-11-23 19:00
    add Movie seven in the evening → refused
    add Movie tonight at eight → Movie | at 2026-11-23 20:00
    add Ocean's Eleven tonight → refused
    add Blink 182 concert on saturday at 8pm → Blink 182 concert | at 2026-11-28 20:00
    add Level 42 tonight → Level 42 | at 2026-11-23 20:00
    add Apollo 13 tonight at 9 → Apollo 13 | at 2026-11-23 21:00
    add Seven Samurai on sunday at 20:00 → Seven Samurai | at 2026-11-29 20:00
    add Take Five rehearsal on friday at 6pm → Take Five rehearsal | at 2026-11-27 18:00
    add tomorrow at 8, take out the bins → take out the bins | at 2026-11-24 08:00
    add friday, 15:00, dentist → dentist | at 2026-11-27 15:00
    add on friday at 3, dentist → dentist | at 2026-11-27 03:00
    add every monday at 9, weekly plan → refused
    add every day at 8, feed the cat → feed the cat | daily at 08:00
    add in half an hour, check the oven → check the oven | at 2026-11-23T07:45:00Z
    add tonight, call mum → call mum | at 2026-11-23 20:00
    add dec 24, call grandma → call grandma | at 2026-12-24 09:00
    add Call mum, tomorrow at 5 → Call mum | at 2026-11-24 05:00
    add Call mum, dad and Eva tomorrow at 5pm → Call mum, dad and Eva | at 2026-11-24 17:00
    add Milk, bread, eggs tonight → Milk, bread, eggs | at 2026-11-23 20:00
    add Bring cake, friday noon → Bring cake | at 2026-11-27 12:00
    add Gym mwf at 7 → Gym | mon,wed,fri at 07:00
    add Chemistry t/th 10:30am → Chemistry | tue,thu at 10:30
    add Chemistry lab tth at 14:00 → Chemistry lab | tue,thu at 14:00
    add MWF swim at 6am → refused
    add Advent calendar every day at 7 dec 1 - dec 24 → Advent calendar | daily at 07:00 starting 2026-12-01 until 2026-12-24
    add Advent calendar daily dec 1-24 at 7 → Advent calendar | daily at 07:00 starting 2026-12-01 until 2026-12-24
    add Phone grandma every christmas eve at 16:00 → Phone grandma | every dec 24 at 16:00
    add Fireworks every new year's eve at 23:55 → Fireworks | every dec 31 at 23:55
    add Renew insurance a month before 2027-06-30 → Renew insurance | at 2027-05-30 09:00
    add Renew visa 3 months before 2028-05-31 → Renew visa | at 2028-02-29 09:00
    add Book club every second wednesday of the month at 19:00 → Book club | second wed of month at 19:00
    add Book club every second wednesday at 19:00 → Book club | every 2 weeks on wed at 19:00 starting 2026-11-23
    add Take pill at ten past eight → Take pill | at 2026-11-24 08:10
    add Oven off in about 40 minutes → Oven off | at 2026-11-23T07:55:00Z
    add Leave in about an hour → Leave | at 2026-11-23T08:15:00Z
    add Ask about the loan at 11 → Ask about the loan | at 2026-11-23 11:00
    add Talk about 2 hours with Bob tomorrow → refused
    add Second interview on january second at 10 → Second interview | at 2027-01-02 10:00
    add Deadline dec-15 → Deadline | at 2026-12-15 09:00
    add Deadline 15/dec → Deadline | at 2026-12-15 09:00
    add Deadline 12/15 5pm → Deadline | at 2026-12-15 17:00
    add Deadline 12/15/26 → Deadline | at 2026-12-15 09:00
    add Start diet next year → refused
    add Call back 730pm → Call back | at 2026-11-23 19:30
    add Call 911 at noon → Call 911 | at 2026-11-23 12:00
    add Train 730 am → Train | at 2026-11-24 07:30
    add Take the 8:15 bus tomorrow → refused
    add Catch 22 review on friday → Catch 22 review | at 2026-11-27 09:00
    add 3 loads of laundry on saturday morning → 3 loads of laundry | at 2026-11-28 08:00
    add 50 push-ups every morning at 7 → 50 push-ups | daily at 07:00
    add 10 minutes of yoga every morning → 10 minutes of yoga | daily at 08:00
    add 2 pills at 8 every morning → 2 pills | daily at 08:00
    add Review after 2 weeks → Review | at 2026-12-07 08:15
    add Week 3 report on friday → Week 3 report | at 2026-11-27 09:00
    add Day trip on saturday at 7 → Day trip | at 2026-11-28 07:00
    add Night shift on thursday at 22:00 → refused
    add Evening class on tuesday at 18:30 → refused
    add Month end closing on nov 30 at 16:00 → Month end closing | at 2026-11-30 16:00
    add Early flight on dec 3 at 6:10 → Early flight | at 2026-12-03 06:10
    add Late fee notice on dec 3 → Late fee notice | at 2026-12-03 09:00
    add Past due invoices on friday → Past due invoices | at 2026-11-27 09:00
    add Return from Brno on friday at 18:00 → Return from Brno | at 2026-11-27 18:00
    add Fly to Paris on dec 3 → Fly to Paris | at 2026-12-03 09:00
    add Meet at the station at 17:45 → Meet at the station | at 2026-11-23 17:45
    add Look at the contract by friday → Look at the contract | at 2026-11-27 09:00
    add Pick up kids at 3pm and 5pm → refused
    add Pick up kids at 3pm every weekday until june 30 → Pick up kids | weekdays at 15:00 until 2027-06-30
    add Yoga every sunday evening → Yoga | every sun at 19:00
    add Yoga sunday evenings at 6 → Yoga | every sun at 18:00
    add Clean fridge first saturday of every month → Clean fridge | first sat of month at 09:00
    add Clean fridge once a month on the 3rd → Clean fridge | day 3 of month at 09:00
    at eight tonight Movie → Movie | at 2026-11-23 20:00
    at 8 in the evening, Movie → Movie | at 2026-11-23 20:00
    in about 10 minutes stretch → stretch | at 2026-11-23T07:25:00Z
    in 2 hours, leave → leave | at 2026-11-23T09:15:00Z
    at 9 every second monday of the month Board → Board | second mon of month at 09:00
    add Wash car eight tomorrow morning → refused
    add Series finale nine tonight → refused
    add Call Hana at ten tomorrow → Call Hana | at 2026-11-24 10:00
    add Drop off parcel before noon on friday → refused
    add Parcel pickup friday 14:00-16:00 → refused
    add Physio t/th at 17:30 → Physio | tue,thu at 17:30
    add Physio m/w 8am → Physio | mon,wed at 08:00
    add Lecture tth 9:00 → Lecture | tue,thu at 09:00
    add every weekday at 9, daily scrum → refused
    add every friday at 16:00 weekly wrap-up → refused
    add Weekly wrap-up every friday at 16:00 → refused
    add tomorrow 7am, run → run | at 2026-11-24 07:00
    add in an hour, tea with Jana → tea with Jana | at 2026-11-23T08:15:00Z
    add on sundays, call parents → call parents | every sun at 09:00
    add Call parents on sundays at 5pm → Call parents | every sun at 17:00
    add Send invoice 42 on the 1st at 10 → Send invoice 42 | at 2026-12-01 10:00
    add Send invoice on the 1st of the month at 10 → Send invoice | day 1 of month at 10:00
    add Refill inhaler every 30 days → Refill inhaler | every 30 days at 09:00 starting 2026-11-23
    add Refill inhaler in 30 days → Refill inhaler | at 2026-12-23 08:15
    add Check tyres every 4 weeks on saturday → Check tyres | every 4 weeks on sat at 09:00 starting 2026-11-23
    add Clean gutters every november → refused
    add Clean gutters every nov 5 → Clean gutters | every nov 5 at 09:00
    add Clean windows in spring → refused
    add Parent-teacher conference dec 8 18:30 → Parent-teacher conference | at 2026-12-08 18:30
    add Swimming lesson wednesday at 4:15pm → Swimming lesson | at 2026-11-25 16:15
    add Swimming lessons wednesdays at 4:15pm → Swimming lessons | every wed at 16:15
    add Choir on wed evening at half past six → Choir | at 2026-11-25 18:30
    add Pick Eva up from kindergarten at quarter past three pm → Pick Eva up from kindergarten | at 2026-11-23 15:15
    add Grandpa's 80th → refused
    add Grandpa's 80th on feb 3 → Grandpa's 80th | at 2027-02-03 09:00
    add Book hotel for 3 nights on friday → refused
    add Book table for 4 at 19:00 → Book table for 4 | at 2026-11-23 19:00
    add Book table for four tomorrow at 19:00 → Book table for four | at 2026-11-24 19:00
    add Meeting room 4 tomorrow at 13:00 → Meeting room 4 | at 2026-11-24 13:00
    add Watch episode 5 tonight → Watch episode 5 | at 2026-11-23 20:00
    add Finish level 3 by sunday evening → Finish level 3 | at 2026-11-29 19:00
    add Taxi to airport dec 12 at 4:45 am → Taxi to airport | at 2026-12-12 04:45
    add Check-out at 11am on dec 14 → Check-out | at 2026-12-14 11:00
    add Prague to Vienna train friday 7:10 → Prague to Vienna train | at 2026-11-27 07:10
    add Leave for school in 15 → refused
    add Start dishwasher in fifteen minutes → Start dishwasher | at 2026-11-23T07:30:00Z
    add Start dishwasher in a quarter of an hour → Start dishwasher | at 2026-11-23T07:30:00Z
    add Stop the timer in 90 seconds → Stop the timer | at 2026-11-23T07:16:30Z
    add Ring at 6:00, 6:10 and 6:20 on weekdays → Ring | weekdays at 06:00,06:10,06:20
    add Alarm every weekday at quarter to six → Alarm | weekdays at 05:45
    add Alarm weekdays 5:45am, weekends 8am → refused
    add Take iron at noon daily → Take iron | daily at 12:00
    add Take iron daily at noon except on holidays → Take iron | daily at 12:00 except on holidays
    add Take iron daily at noon except sundays until new year → Take iron | mon-sat at 12:00 until 2027-01-01
    add Water orchids every other thursday morning → Water orchids | every 2 weeks on thu at 08:00 starting 2026-11-23
    add Water lawn every 3 days until sept 1 → Water lawn | every 3 days at 09:00 starting 2026-11-23 until 2027-09-01
    add Green bin every second monday → Green bin | every 2 weeks on mon at 09:00 starting 2026-11-23
    add Green bin every second monday of the month → Green bin | second mon of month at 09:00
    add Green bin second monday of each month at 7 → Green bin | second mon of month at 07:00
    add Payroll two days before the end of the month → Payroll | at 2026-11-28 09:00
    add Payroll last workday of each month at 14:00 → Payroll | last weekday of month at 14:00
    add Quarter close jan 4 at 9 → Quarter close | at 2027-01-04 09:00
    add Half marathon on april 10 at 8:30 → Half marathon | at 2027-04-10 08:30
    add First aid course on dec 5 at 9 → First aid course | at 2026-12-05 09:00
    add Last call for papers jan 15 → Last call for papers | at 2027-01-15 09:00
    add Next steps meeting tomorrow at 15:00 → Next steps meeting | at 2026-11-24 15:00
    add This is important tomorrow at 9 → This is important | at 2026-11-24 09:00
    add Three kings day off jan 6 → Three kings day off | at 2027-01-06 09:00
    add Four seasons concert dec 20 7pm → Four seasons concert | at 2026-12-20 19:00
    add Nine to five movie on friday at 9pm → Nine to five movie | at 2026-11-27 21:00
    add Say hi to Jan tomorrow at 9 → refused
    add Jan's birthday on feb 10 → Jan's birthday | at 2027-02-10 09:00
    add Call Monday.com support tomorrow at 10 → Call Monday.com support | at 2026-11-24 10:00
    add Thursday night football at 20:15 on thursday → refused
    add Ping Tom if no reply by wednesday noon → Ping Tom if no reply | at 2026-11-25 12:00
    add 24.12. 17:00 Christmas dinner → Christmas dinner | at 2026-12-24 17:00
    add 2026-12-24 17:00 dinner → dinner | at 2026-12-24 17:00
    add 17:00 dinner → dinner | at 2026-11-23 17:00
    add 7pm dinner with Tom → dinner with Tom | at 2026-11-23 19:00
    add dinner 7pm → dinner | at 2026-11-23 19:00
    add dinner 7ish → refused
    add dinner at 7 or 8 → refused
    at 6:45 on tuesday gym → gym | at 2026-11-24 06:45
    at 15:00 every other friday retro → retro | every 2 weeks on fri at 15:00 starting 2026-11-23
    in a week, call the vet → call the vet | at 2026-11-30 08:15
    """
}
