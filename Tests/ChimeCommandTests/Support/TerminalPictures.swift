import Testing

/// An expected drawing on a terminal.
struct TerminalPicture: CustomTestStringConvertible, Sendable {
  var line: String
  var width: Int
  var expected: String

  init(_ line: String, _ width: Int, _ expected: String) {
    (self.line, self.width, self.expected) = (line, width, expected)
  }
  var testDescription: String { "\(line), \(width) columns" }

  static let all = [
    TerminalPicture(
      "chart weight --range 6M", 80,
      #"""
      Weight (kg), 2025-09-28 to 2026-03-27
      84 ┤
         │
         │⢆   ∘
      82 ┤⠈⣆⡀∘⢀⣀⡀∘  ∘∘∘  ∘
         │∘∘⠘⠒⠉∘⠈⠉⠉⠉⠉⠉⠉⠉⠒⠤⡠⠤⡀   ∘      ∘
         │         ∘   ∘  ∘∘⠱⠤⣀⡠⠤⢄⣀⡠⣀⠤⢄⡤⠤⣀⡀   ∘      ∘∘
         │              ∘  ∘∘  ∘∘ ∘ ∘ ∘ ∘∘⠸⠤⠤⠤⠤⠤⠤⢤⡀∘⢀⡠⠒⠒⠲⢄   ∘ ∘∘∘
      80 ┤                       ∘       ∘∘    ∘  ⠈⠉⠁∘  ∘∘⠙⠒⢆⢄⣀⡠⠤⠒⠢⠤⠤⣄⡀∘⢀⢀∘∘∘   ░░░░░░
         │                                       ∘          ∘∘∘∘  ∘ ∘∘⠈⠉⠉⠁⠉⠊⠑⠒⠢⡠⠄┅┅┅┅┅
         │                                                                    ∘ ░░░░░░
      78 ┤                                                                        ░░░░
         │
         │
      76 ┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
         └─┬───────────┬───────────┬───────────┬───────────┬──────────┬───────────┬───
          Oct         Nov         Dec         Jan         Feb        Mar         Apr

      ∘ a day   ⠒⠒ average of 7 days   ┅░ expected   ┄ goal 76.0 kg
      79.2 kg on Fri 2026-03-27.
      ↘ The average changes by -0.1 kg a week.
      On Fri 2026-04-10 Chime expects a value between 77.6 kg and 80.0 kg.
      By this forecast you reach the goal on Tue 2026-05-19.

      """#),
    TerminalPicture(
      "chart weight --range 6M", 40,
      #"""
      Weight (kg), 2025-09-28 to 2026-03-27
      85.0 ┤
           │
      82.5 ┤⢇⡀⣀⡀⣀⢀ ∘
           │∘⠉∘⠉⠉⠁⠙⠒⢆⣀⣀⣀⣀⣀⡀ ∘  ∘
      80.0 ┤      ∘ ∘∘∘∘∘∘⠈⠓⠑⠒⠦⠚⠙⠦⢄⣀⡠⣄⣀⢀∘∘ ░░░
           │                 ∘    ∘∘∘∘∘⠉⠉⠉⠒⠂┅┅
      77.5 ┤                                ░░
           │┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
      75.0 ┤
           └──────┬─────────┬─────────┬───────
                 Nov       Jan       Mar

      ∘ a day   ⠒⠒ average of 7 days
      ┅░ expected   ┄ goal 76.0 kg
      79.2 kg on Fri 2026-03-27.
      ↘ The average changes by -0.1 kg a week.
      On Fri 2026-04-10 Chime expects a value
      between 77.6 kg and 80.0 kg.
      By this forecast you reach the goal on
      Tue 2026-05-19.

      """#),
    TerminalPicture(
      "chart weight --range 1M --ascii", 40,
      #"""
      Weight (kg), 2026-02-28 to 2026-03-27
      80 |    o o  o   o                 :::::
         |****************o   o   ::::::::::::
         |  oo o ooo oo  *********============
         |                    o   ::::::::::::
      78 |                            ::::::::
         |                                 :::
         |
         |
      76 |------------------------------------
         +--+-----------+-----------+---------
          2 Mar      16 Mar      30 Mar

      o a day   * average of 7 days
      =: expected   - goal 76.0 kg
      79.2 kg on Fri 2026-03-27.
      The average changes by -0.1 kg a week.
      On Fri 2026-04-10 Chime expects a value
      between 77.6 kg and 80.0 kg.
      By this forecast you reach the goal on
      Tue 2026-05-19.

      """#),
    TerminalPicture(
      "chart water --range 2W", 40,
      #"""
      Water (ml), 2026-03-14 to 2026-03-27
      4000 ┤
           │
           │    ▄ ▇                 ▁
           │┄┄┄┄•┄•┄•┄•┄•┄•┄•┄•┄┄┄┄┄•┄┄┄
      2000 ┤• • █ █ ▄   █ █ █ █ • • █
           │█ █ █ █ █   █ █ █ █ ▅ █ █ ▃
           │█ █ █ █ █ ▆ █ █ █ █ █ █ █ █
           │█ █ █ █ █ █ █ █ █ █ █ █ █ █
         0 ┤█ █ █ █ █ █ █ █ █ █ █ █ █ █
           └────┬─────────────┬─────────
             16 Mar        23 Mar

      █ a day   • average of 7 days
      ┄ goal 2500 ml
      2247 ml a day on average, on days with
      an entry.

      """#),
    TerminalPicture(
      "chart adkhar-reading --range 3M", 40,
      #"""
      A page of reading (days a week),
      2025-12-28 to 2026-03-27
      9 ┤
        │
        │                    █
      6 ┤      █             █ █ █
        │  █   █ █ █         █ █ █
      3 ┤  █ █ █ █ █   █ █ █ █ █ █
        │  █ █ █ █ █ █ █ █ █ █ █ █ █
        │  █ █ █ █ █ █ █ █ █ █ █ █ █
      0 ┤  █ █ █ █ █ █ █ █ █ █ █ █ █
        └──┬────────┬───────┬────────
          Jan      Feb     Mar

      █ a week
      Done on 62 of 90 days.

      """#),
    TerminalPicture(
      "logbook weight --range 2026-02-25..2026-03-06", 80,
      #"""
      DATE    WEIGHT   AVG  RATE     FAT  NOTES

      March 2026: average 79.3 kg, -0.3 kg
      Fri  6    79.0  79.3  -0.2  21.4 %
      Thu  5    79.8  79.4  -0.3  21.4 %
      Wed  4    79.1  79.3  -0.3  21.4 %
      Mon  2    79.2  79.3  -0.3  21.4 %
      Sun  1    79.3  79.5  -0.1  21.4 %

      February 2026: average 79.6 kg, -0.5 kg
      Sat 28    79.7  79.6  -0.1  21.4 %
      Fri 27    79.3  79.5  -0.2  21.4 %
      Thu 26    79.2  79.6  -0.1  21.4 %  <script>alert('weigh')</script> & "quotes"

      """#),
    TerminalPicture(
      "logbook weight --range 2026-02-25..2026-03-06", 40,
      #"""
      DATE    WEIGHT   AVG  RATE  NOTES

      March 2026: average 79.3 kg, -0.3 kg
      Fri  6    79.0  79.3  -0.2
      Thu  5    79.8  79.4  -0.3
      Wed  4    79.1  79.3  -0.3
      Mon  2    79.2  79.3  -0.3
      Sun  1    79.3  79.5  -0.1

      February 2026: average 79.6 kg, -0.5 kg
      Sat 28    79.7  79.6  -0.1
      Fri 27    79.3  79.5  -0.2
      Thu 26    79.2  79.6  -0.1  <script>ale…

      """#),
    TerminalPicture(
      "logbook weight --range 1Y --filter milestones", 40,
      #"""
      DATE    WEIGHT   AVG  RATE  NOTES

      February 2026: average 79.6 kg, -0.5 kg
      Wed 18    80.4  79.8  +0.3  ★ 80 kg

      October 2025: average 81.7 kg, -0.6 kg
      Tue 14    81.6  81.8  +0.2  ★ 82 kg

      July 2025: average 83.7 kg, -0.9 kg
      Sun 20    83.6  83.7  -0.1  ★ 84 kg

      May 2025: average 85.7 kg, -0.9 kg
      Mon 19    86.4  86.2   0.0  ★ 86 kg

      """#),
    TerminalPicture(
      "logbook watches --range 1W", 40,
      #"""
      DATE    TIME   ITEM          NOTES

      March 2026: 24 of 27 days
      Fri 27  08:00  Tangente 38
      Wed 25  08:00  Submariner
      Tue 24  18:00  Speedmaster
      Tue 24  08:00  Submariner
      Mon 23  08:00  Black Bay 58
      Sun 22  08:00  Tank Must
      Sat 21  08:00  SKX007

      """#),
    TerminalPicture(
      "month water", 80,
      #"""
      Water, March 2026
       Mon        Tue        Wed        Thu        Fri        Sat        Sun
                                                                          1○ 90%
        2● 117%    3● 115%    4○ 68%     5○ 60%     6○ 56%     7○ 50%     8○ 97%
        9● 119%   10○ 69%    11● 122%   12● 106%   13○ 64%    14○ 86%    15○ 86%
       16● 115%   17● 122%   18○ 79%    19○ 48%    20○ 99%    21● 101%   22● 101%
       23● 104%   24○ 64%    25○ 81%    26● 108%  [27○ 60%]   28         29
       30         31

      Met on 11 of 27 days.
      ● met   ○ not met   · does not count

      """#),
    TerminalPicture(
      "month water", 40,
      #"""
      Water, March 2026
       Mon  Tue  Wed  Thu  Fri  Sat  Sun
                                      1○
        2●   3●   4○   5○   6○   7○   8○
        9●  10○  11●  12●  13○  14○  15○
       16●  17●  18○  19○  20○  21●  22●
       23●  24○  25○  26● [27○] 28   29
       30   31

      Met on 11 of 27 days.
      ● met   ○ not met   · does not count

      """#),
    TerminalPicture(
      "month --ascii", 40,
      #"""
      March 2026
       Mon  Tue  Wed  Thu  Fri  Sat  Sun
                                      1/
        2/   3/   4/   5/   6/   7/   8/
        9/  10/  11/  12/  13/  14/  15/
       16/  17/  18/  19/  20/  21/  22/
       23/  24/  25/  26/ [27/] 28   29
       30   31

      All goals were met on 0 days.
      x met   / in part   o not met
      . does not count

      """#),
    TerminalPicture(
      "progress goal", 80,
      #"""
      Practise the cello, March 2026
       Mon   Tue   Wed   Thu   Fri   Sat   Sun
                                            ·
        1     2     ·     ○     3     4★    ·
        5     6     ·     7     ○     8     ·
        9    10     ·    11    12    13     ·
       14    15     ·    16   [ ○]

      Day 16 of 26 in this month, 216 in all.
      ★ Sat 2026-03-07 Third position "onload="alert(1)
      <img src=x onerror=alert(1)>

      """#),
    TerminalPicture(
      "progress goal --month 2026-01 --ascii", 40,
      #"""
      Practise the cello, January 2026
       Mon  Tue  Wed  Thu  Fri  Sat  Sun
                       1    2    3    .
        4    o    .    5    6    7    .
        o    8    .    9    o   10*   .
       11   12    .   13   14   15    .
       16   17    .    o   18   19

      Day 19 of 23 in this month, 185 in all.
      * Sat 2026-01-17 First concert for
      friends
      The prelude of the first suite, from
      memory.

      """#),
  ]
}
