import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// Every verb with a daemon that answers according to the interface files: its calls and its output.
@Suite struct VerbTests {
  /// Returns a daemon that has one of everything.
  static func daemon() throws -> FakeDaemon {
    try FakeDaemon { method, parameters in
      switch method.split(separator: ".").suffix(2).joined(separator: ".") {
      case "Reminders.Add":
        .reply(
          RemindersInterface.Add.Reply(reminder: Samples.reminder(), warnings: ["there is no channel \"team\" yet"]))
      case "Reminders.Import":
        .reply(
          RemindersInterface.Import.Reply(
            added: [
              .init(
                line: 3, id: parameters["dryRun"] == true ? nil : "r7k2", title: "Back up", when: "cron: 0 3 * * *",
                timezone: "local", next: Samples.time(1_774_663_200))
            ],
            remarks: [
              .init(line: 5, title: "Old", kind: .past, message: "it has passed"),
              .init(line: 9, kind: .refused, message: "@reboot means the start of the machine, which is not a time"),
            ], warnings: []))
      case "Reminders.Apply":
        .reply(
          RemindersInterface.Apply.Reply(
            set: "home",
            changes: [
              .init(action: .add, kind: .endpoint, id: "team", fields: [.init(name: "secret")]),
              .init(
                action: .change, kind: .reminder, id: "r7k2", title: "Tea",
                fields: [.init(name: "when", old: "\"daily at 09:00\"")]),
              .init(action: .remove, kind: .reminder, id: "old", title: "Old", fields: []),
            ], unchanged: 3, notPruned: 0, secretFiles: [], plan: "9", warnings: ["a warning"]))
      case "Reminders.Export":
        .reply(
          RemindersInterface.Export.Reply(
            text: "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", count: 2, warnings: ["\"Tea\": it is paused"]))
      case "Reminders.Update": .reply(RemindersInterface.Update.Reply(reminder: Samples.reminder(), warnings: []))
      case "Reminders.Copy": .reply(RemindersInterface.Copy.Reply(reminder: Samples.reminder(), warnings: []))
      case "Reminders.List": .reply(RemindersInterface.List.Reply(reminders: [Samples.reminder()]))
      case "Reminders.Get", "Reminders.Remove", "Reminders.Resume", "Reminders.Skip":
        .reply(RemindersInterface.Get.Reply(reminder: Samples.reminder()))
      case "Reminders.Pause": .reply(RemindersInterface.Pause.Reply(reminder: Samples.reminder(state: .paused)))
      case "Reminders.PauseAll":
        .reply(
          RemindersInterface.PauseAll.Reply(
            silence: .init(until: Samples.time(1_774_843_200), critical: parameters["critical"] == true)))
      case "Reminders.ResumeAll": .reply(RemindersInterface.ResumeAll.Reply())
      case "Occurrences.List": .reply(OccurrencesInterface.List.Reply(occurrences: [Samples.occurrence()]))
      case "Occurrences.Upcoming": .reply(OccurrencesInterface.Upcoming.Reply(upcoming: [Samples.coming]))
      case "Occurrences.Snooze":
        .reply(
          OccurrencesInterface.Snooze.Reply(
            occurrence: Samples.occurrence(.snoozed, snoozedUntil: Samples.time(1_774_601_200))))
      case "Occurrences.Move":
        .reply(
          OccurrencesInterface.Move.Reply(
            occurrence: Samples.occurrence(.snoozed, snoozedUntil: Samples.time(1_774_601_200))))
      case "Occurrences.Done", "Occurrences.Dismiss", "Occurrences.Fire":
        .reply(OccurrencesInterface.Done.Reply(occurrence: Samples.occurrence()))
      case "Deliveries.List": .reply(DeliveriesInterface.List.Reply(deliveries: [Samples.delivery]))
      case "Deliveries.Get":
        .reply(DeliveriesInterface.Get.Reply(delivery: Samples.delivery, attempts: [Samples.attempt]))
      case "Deliveries.Redeliver":
        .reply(
          DeliveriesInterface.Redeliver.Reply(
            count: 1, skipped: 2, deliveries: [Samples.delivery], notes: ["endpoint \"team\" is disabled"]))
      case "Deliveries.Cancel": .reply(DeliveriesInterface.Cancel.Reply(count: 12, deliveries: [Samples.delivery]))
      case "Endpoints.Put", "Endpoints.Remove": .reply(EndpointsInterface.Put.Reply(endpoint: Samples.endpoint))
      case "Endpoints.List": .reply(EndpointsInterface.List.Reply(endpoints: [Samples.endpoint]))
      case "Endpoints.Test": .reply(EndpointsInterface.Test.Reply(result: Samples.result))
      case "Commands.List": .reply(CommandsInterface.List.Reply(commands: [Samples.command]))
      case "Commands.Test": .reply(CommandsInterface.Test.Reply(result: Samples.commandTest))
      case "Daemon.TakeSnapshot": .reply(DaemonInterface.TakeSnapshot.Reply(snapshot: Samples.snapshot))
      case "Daemon.ListSnapshots":
        .reply(DaemonInterface.ListSnapshots.Reply(snapshots: [Samples.snapshot, Samples.snapshotBeforeUpgrade]))
      case "Daemon.Status": .reply(DaemonInterface.Status.Reply(status: Samples.health()))
      case "Daemon.Monitor":
        .stream(
          [
            DaemonInterface.Monitor.Reply(events: []),
            DaemonInterface.Monitor.Reply(events: [Samples.event("fired"), Samples.event("done")]),
          ], thenCloses: true)
      default: .service(.methodNotFound(method: method))
      }
    }
  }

  /// A command line, its call, and parts of its output.
  @Test(
    arguments: [
      (
        "add \"Drink water\" every 90m from 8:00 to 22:00", "Reminders.Add",
        #"{"reminder":{"title":"Drink water","when":"every 90m from 8:00 to 22:00"}}"#,
        [
          "r7k2  Drink water\n", "every 90m from 08:00 to 22:00",
          "next Fri 2026-03-27 10:26:40 CET (Europe/Prague), in 1 h",
        ]
      ),
      (
        "add \"Drink water\" \"every 90m\" --to desktop --to team,x --tz UTC --gap skip --fold both --tag a --urgency low "
          + "--icon i --sound s --url u --catch-up suspend=all --grace 2h --snooze 5m,1h --body b --token t "
          + "--place 50.0875,14.4213",
        "Reminders.Add",
        #"{"reminder":{"body":"b","catchUp":{"downtime":"latest","suspend":"all"},"channels":["desktop","team","x"],"#
          + #""fold":"both","gap":"skip","grace":"PT2H","icon":"i","latitude":50.0875,"longitude":14.4213,"snooze":["PT5M","PT1H"],"sound":"s","tags":["a"],"#
          + #""timezone":"UTC","title":"Drink water","urgency":"low","url":"u","when":"every 90m"},"token":"t"}"#, []
      ),
      ("in 25m Tea", "Reminders.Add", #"{"reminder":{"title":"Tea","when":"in 25m"}}"#, []),
      (
        "in 1h 30m Take the bread out", "Reminders.Add",
        #"{"reminder":{"title":"Take the bread out","when":"in 1h 30m"}}"#, []
      ),
      ("in \"25m Tea\"", "Reminders.Add", #"{"reminder":{"title":"Tea","when":"in 25m"}}"#, []),
      ("in 2 hours \"Call home\"", "Reminders.Add", #"{"reminder":{"title":"Call home","when":"in 2 hours"}}"#, []),
      ("at 18:30 \"Call home\"", "Reminders.Add", #"{"reminder":{"title":"Call home","when":"at 18:30"}}"#, []),
      (
        "at 2026-12-01 09:00 Dentist", "Reminders.Add",
        #"{"reminder":{"title":"Dentist","when":"at 2026-12-01 09:00"}}"#, []
      ),
      ("at friday at 17:30 Go home", "Reminders.Add", nil, []),
      ("list", "Reminders.List", #"{"limit":100}"#, ["ID    TITLE", "r7k2  Drink water", "in 1 h"]),
      (
        "list wat er --tag a --state waiting -n 7", "Reminders.List",
        #"{"filter":{"state":"waiting","tag":"a","text":"wat er"},"limit":7}"#, []
      ),
      (
        "list --all --before 2026-12-01", "Reminders.List",
        #"{"filter":{"all":true,"dueBefore":"2026-12-01T00:00:00+01:00"},"limit":100}"#, []
      ),
      (
        "next", "Occurrences.Upcoming", #"{"limit":21}"#,
        ["NEXT                     LEFT    LAST", "PASSED          REMINDER\n", "in 1 h", "r7k2  Drink water"]
      ),
      (
        "show Drink water", "Reminders.Get", #"{"id":"Drink water"}"#,
        ["time zone   local (Europe/Prague)", "up to 12h late"]
      ),
      (
        "history r7k2 --since \"3 days\" --open", "Occurrences.List",
        #"{"filter":{"open":true,"reminder":"r7k2","since":"2026-03-24T09:26:40+01:00"},"limit":50}"#, ["done", "3 ms"]
      ),
      (
        "history --since 2026-03-01 --before yesterday", "Occurrences.List",
        #"{"filter":{"before":"2026-03-26T00:00:00+01:00","since":"2026-03-01T00:00:00+01:00"},"limit":50}"#, []
      ),
      ("done", "Occurrences.Done", #"{}"#, ["r7k2  Drink water\n", "done; it was due Fri 2026-03-27 06:40"]),
      ("done Drink water", "Occurrences.Done", #"{"id":"Drink water"}"#, []),
      (
        "snooze 20m", "Occurrences.Snooze", #"{"length":"PT20M"}"#, ["snoozed until Fri 2026-03-27 09:46:40, in 20 min"]
      ),
      ("snooze r7k2 1h 30m", "Occurrences.Snooze", #"{"id":"r7k2","length":"PT1H30M"}"#, []),
      ("snooze Drink water", "Occurrences.Snooze", #"{"id":"Drink water"}"#, []),
      ("snooze 20m --for 1h", "Occurrences.Snooze", #"{"id":"20m","length":"PT1H"}"#, []),
      ("snooze until monday 9", "Occurrences.Snooze", #"{"until":"2026-03-30T09:00:00+02:00"}"#, []),
      (
        "snooze Drink water until monday", "Occurrences.Snooze",
        #"{"id":"Drink water","until":"2026-03-30T09:00:00+02:00"}"#, []
      ),
      (
        "snooze r7k2 until after lunch", "Occurrences.Snooze", #"{"id":"r7k2","until":"2026-03-27T13:00:00+01:00"}"#, []
      ),
      ("snooze r7k2 until tonight", "Occurrences.Snooze", #"{"id":"r7k2","until":"2026-03-27T20:00:00+01:00"}"#, []),
      ("snooze Wait until done", "Occurrences.Snooze", #"{"id":"Wait until done"}"#, []),
      (
        "snooze Tea tonight --until 18:00", "Occurrences.Snooze",
        #"{"id":"Tea tonight","until":"2026-03-27T18:00:00+01:00"}"#, []
      ),
      (
        "move Drink water +1h 30m", "Occurrences.Move", #"{"by":"PT1H30M","id":"Drink water"}"#,
        ["moved to Fri 2026-03-27 09:46:40, in 20 min"]
      ),
      (
        "move Go to bed to tomorrow 10:00", "Occurrences.Move",
        #"{"id":"Go to bed","to":"2026-03-28T10:00:00+01:00"}"#, []
      ),
      ("dismiss r7k2", "Occurrences.Dismiss", #"{"id":"r7k2"}"#, ["dismissed"]),
      ("fire r7k2", "Occurrences.Fire", #"{"id":"r7k2"}"#, ["fired"]),
      (
        "edit r7k2 --title T --when \"daily at 8\" --to \"\" --body \"\"", "Reminders.Update",
        #"{"change":{"body":"","channels":[],"title":"T","when":"daily at 8"},"id":"r7k2"}"#, []
      ),
      (
        "edit r7k2 --place 33.8688S,151.2093E --gap skip", "Reminders.Update",
        #"{"change":{"gap":"skip","latitude":-33.8688,"longitude":151.2093},"id":"r7k2"}"#, []
      ),
      (
        "edit r7k2 --place \"\" --gap \"\" --fold \"\"", "Reminders.Update",
        #"{"change":{"reset":["gap","fold","place"]},"id":"r7k2"}"#, []
      ),
      (
        "edit r7k2 --nag-max 3 --escalate 2:team,phone --escalate \"3: x; 4:y\" --jitter 10m", "Reminders.Update",
        #"{"change":{"jitter":"PT10M","nag":{"escalation":[{"channels":["team","phone"],"from":2},"#
          + #"{"channels":["x"],"from":3},{"channels":["y"],"from":4}],"max":3}},"id":"r7k2"}"#, []
      ),
      (
        "edit r7k2 --nag 5m --escalate \"\" --quiet-hours \"weekdays 22-7; sat 0-9\"", "Reminders.Update",
        #"{"change":{"nag":{"escalation":[],"every":"PT5M"},"#
          + #""quiet":{"hours":["mon-fri 22:00-07:00","sat 00:00-09:00"]}},"id":"r7k2"}"#, []
      ),
      (
        "edit r7k2 --quiet-rule drop --quiet-hours \"\" --category email", "Reminders.Update",
        #"{"change":{"category":"email","quiet":{"hours":[],"rule":"drop"}},"id":"r7k2"}"#, []
      ),
      (
        "edit r7k2 --nag \"\" --nag-max \"\" --quiet-rule \"\" --jitter \"\" --snooze \"\" --category \"\"",
        "Reminders.Update", #"{"change":{"category":"","reset":["snooze","nag","quiet","jitter"]},"id":"r7k2"}"#, []
      ),
      (
        "copy Stand up --title \"Sit down\" --when \"daily at 9\" --location Office --body \"\" --token t",
        "Reminders.Copy",
        #"{"change":{"body":"","location":"Office","title":"Sit down","when":"daily at 9"},"id":"Stand up","token":"t"}"#,
        ["r7k2  "]
      ),
      ("pause r7k2", "Reminders.Pause", #"{"id":"r7k2"}"#, ["paused until you resume it"]),
      ("pause r7k2 --until 2026-12-01", "Reminders.Pause", #"{"id":"r7k2","until":"2026-12-01T00:00:00+01:00"}"#, []),
      (
        "pause r7k2 --until \"friday at 9\"", "Reminders.Pause", #"{"id":"r7k2","until":"2026-04-03T09:00:00+02:00"}"#,
        []
      ),
      (
        "pause Stand up until friday at 9", "Reminders.Pause",
        #"{"id":"Stand up","until":"2026-04-03T09:00:00+02:00"}"#, []
      ),
      ("pause Stand up for 3 days", "Reminders.Pause", #"{"id":"Stand up","until":"2026-03-30T10:26:40+02:00"}"#, []),
      ("pause Time for tea", "Reminders.Pause", #"{"id":"Time for tea"}"#, []),
      ("pause Until dawn", "Reminders.Pause", #"{"id":"Until dawn"}"#, []),
      ("pause r7k2 --until tomorrow", "Reminders.Pause", #"{"id":"r7k2","until":"2026-03-28T00:00:00+01:00"}"#, []),
      ("pause r7k2 --until \"3 days\"", "Reminders.Pause", #"{"id":"r7k2","until":"2026-03-30T10:26:40+02:00"}"#, []),
      ("resume r7k2", "Reminders.Resume", #"{"id":"r7k2"}"#, []),
      ("skip r7k2", "Reminders.Skip", #"{"id":"r7k2"}"#, []),
      ("skip r7k2 -n 0", "Reminders.Skip", #"{"count":0,"id":"r7k2"}"#, []),
      ("remove r7k2", "Reminders.Remove", #"{"id":"r7k2"}"#, ["removed; its history stays"]),
      (
        "import crontab - --tag a,b --to team --tz UTC --all-day-at 8:00 --again --user-column", "Reminders.Import",
        #"{"again":true,"allDayAt":"08:00","channels":["team"],"format":"crontab","system":true,"tags":["a","b"],"#
          + #""text":"","timezone":"UTC"}"#, ["ID ", "r7k2  Back up  cron: 0 3 * * *  Sat 2026-03-28 03:00  in 17 h"]
      ),
      (
        "import - --dry-run", "Reminders.Import", #"{"dryRun":true,"format":"icalendar","text":""}"#,
        ["LINE ", "3     Back up"]
      ),
      ("export --format ics", "Reminders.Export", #"{"format":"icalendar"}"#, ["BEGIN:VCALENDAR\r\n"]),
      (
        "export r7k2 \"Drink water\" --format icalendar", "Reminders.Export",
        #"{"format":"icalendar","ids":["r7k2","Drink water"]}"#, []
      ),
      ("export --tag health", "Reminders.Export", #"{"filter":{"tag":"health"},"format":"toml"}"#, []),
      (
        "apply - --prune --yes --set home", "Reminders.Apply",
        #"{"dryRun":true,"files":[{"name":"standard input","text":""}],"prune":true,"set":"home"}"#,
        ["+ endpoint  team", "~ r7k2  \"Tea\"", "    when  \"daily at 09:00\" → none", "- old"]
      ),
      ("remove r7k2 --dry-run", "Reminders.Get", #"{"id":"r7k2"}"#, ["would remove"]),
      (
        "deliveries r7k2 --to team --state dead", "Deliveries.List",
        #"{"filter":{"channel":"team","reminder":"r7k2","state":"dead"},"limit":50}"#,
        ["HTTP 503; again in 5 min", "msg_1"]
      ),
      (
        "deliveries --since 2026-03-26 --before 2026-03-27", "Deliveries.List",
        #"{"filter":{"before":"2026-03-27T00:00:00+01:00","since":"2026-03-26T00:00:00+01:00"},"limit":50}"#, []
      ),
      ("redeliver msg_1", "Deliveries.Redeliver", #"{"which":{"id":"msg_1"}}"#, ["1 message is sent again", "msg_1"]),
      (
        "redeliver --to team --since 2026-03-26 -n 5 --dry-run", "Deliveries.Redeliver",
        #"{"dryRun":true,"limit":5,"which":{"channel":"team","since":"2026-03-26T00:00:00+01:00"}}"#,
        ["1 message would be sent again"]
      ),
      ("redeliver --all", "Deliveries.Redeliver", #"{"which":{"all":true}}"#, []),
      ("discard --of r7k2", "Deliveries.Cancel", #"{"which":{"reminder":"r7k2"}}"#, ["12 messages are given up"]),
      ("deliveries --id msg_1", "Deliveries.Get", #"{"id":"msg_1"}"#, ["41 ms", "busy"]),
      (
        "endpoint add team http://127.0.0.1:8099/hook", "Endpoints.Put",
        #"{"name":"team","url":"http://127.0.0.1:8099/hook"}"#, ["chime endpoint test team"]
      ),
      ("endpoint list", "Endpoints.List", #"{}"#, ["NAME", "team", "in use"]),
      (
        "endpoint test team", "Endpoints.Test", #"{"name":"team"}"#, ["webhook-id: msg_2", "accepted: 204 after 12 ms"]
      ),
      ("command list", "Commands.List", #"{}"#, ["NAME", "backup", "/usr/local/bin/backup --quiet", "10m", "in use"]),
      ("endpoint remove team", "Endpoints.Remove", #"{"name":"team"}"#, ["removed"]),
      (
        "snapshot", "Daemon.TakeSnapshot", #"{}"#,
        ["/home/u/.local/state/chime/snapshots/chime-00017-20260327T080000Z.db (1.5 MiB)\n"]
      ),
      (
        "snapshot --list", "Daemon.ListSnapshots", #"{}"#,
        ["CREATED", "1.5 MiB", "chime-00017-", "40 KiB", "before an upgrade"]
      ),
      ("status", "Daemon.Status", #"{}"#, ["● all right: chimed 0.1.0, started", "in 1 h: Drink water"]),
      ("watch -n 2", "Daemon.Monitor", #"{}"#, ["09:26:40  fired      r7k2  Drink water fired\n", "done"]),
    ] as [(String, String, String?, [String])])
  func verbsCallAndPrint(_ line: String, _ method: String, _ parameters: String?, _ parts: [String]) throws {
    let daemon = try Self.daemon()
    let outcome = chime(words(line), daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(daemon.methods.first == method)
    if let parameters { #expect(daemon.calls.first?.parameters.description == parameters) }
    for part in parts { #expect(outcome.output.contains(part), "\(part) in \(outcome.output)") }
    #expect(outcome.lines.allSatisfy { !$0.hasSuffix(" ") })
  }

  /// A time alone is enough, but a reminder with such a name takes precedence.
  @Test func pauseAllAcceptsATime() throws {
    for (line, parameters, sentence) in [
      (
        "pause --all until monday", #"{"until":"2026-03-30T00:00:00+02:00"}"#,
        "everything is silent until Mon 2026-03-30 06:00, in 2 d 20 h; critical reminders ring; `chime resume --all` ends the silence"
      ),
      (
        "pause --all --critical for 2 days", #"{"critical":true,"until":"2026-03-29T"#,
        "critical reminders are silent too"
      ),
      ("pause --all --until monday", #"{"until":"2026-03-30T00:00:00+02:00"}"#, "critical reminders ring"),
    ] {
      let daemon = try Self.daemon()
      let outcome = chime(words(line), daemon: daemon)
      #expect(outcome.status == .success, "\(outcome.errors)")
      #expect(outcome.output.contains(sentence), "\(outcome.output)")
      #expect(daemon.methods == ["Reminders.PauseAll"])
      #expect(daemon.calls[0].parameters.description.hasPrefix(parameters), "\(daemon.calls[0].parameters.description)")
    }
    for (line, sentence) in [
      ("pause --all", "until when? a time is missing"), ("pause --all Tea until monday", "--all takes no ID"),
      ("pause --all until yesterday", "yesterday is in the past"), ("pause Tea --critical", "--critical needs"),
    ] {
      let daemon = try Self.daemon()
      let outcome = chime(words(line), daemon: daemon)
      #expect(outcome.status == .usage && outcome.errors.contains(sentence), "\(outcome.errors)")
      #expect(daemon.calls.isEmpty)
    }
    let ended = chime(["resume", "--all"], daemon: try Self.daemon())
    #expect(ended.status == .success && ended.output == "nothing was silent\n")
    #expect(chime(["resume", "--all", "--json"], daemon: try Self.daemon()).output == "{\"silence\":null}\n")
  }

  @Test func timeAloneIsTakenAsAnEndUnlessAReminderHasThatName() throws {
    let known = try Self.daemon()
    #expect(chime(["snooze", "tonight"], daemon: known).status == .success)
    #expect(known.methods.prefix(2) == ["Reminders.Get", "Occurrences.Snooze"])
    #expect(known.calls[1].parameters.description == #"{"id":"tonight"}"#)
    let unknown = try FakeDaemon { method, _ in
      method.hasSuffix(".Get")
        ? .error("NotFound", Wire.NotFound(what: "reminder", id: "tonight", similar: []))
        : .reply(OccurrencesInterface.Snooze.Reply(occurrence: Samples.occurrence(.snoozed)))
    }
    #expect(chime(["snooze", "tonight"], daemon: unknown).status == .success)
    #expect(unknown.calls.last?.parameters.description == #"{"until":"2026-03-27T20:00:00+01:00"}"#)
  }

  @Test func discardAllAsksFirst() throws {
    for (answer, methods) in [("y\n", 2), ("no\n", 1)] {
      let daemon = try Self.daemon()
      let outcome = chime(
        ["discard", "--all"], daemon: daemon, isTerminal: true, input: answer, isInputTerminal: true)
      #expect(outcome.errors.contains("Give up 12 messages? [y/N]"), "\(outcome.errors)")
      #expect(daemon.calls.count == methods)
      #expect(daemon.calls.first?.parameters.description == #"{"dryRun":true,"which":{"all":true}}"#)
      #expect(outcome.status == (methods == 2 ? .success : .failed))
    }
    let few = try Self.daemon()
    #expect(chime(["redeliver", "--all"], daemon: few, isTerminal: true, isInputTerminal: true).status == .success)
    #expect(few.calls.count == 2)
  }

  @Test func unknownMessageSuggestsTheListing() throws {
    let daemon = try FakeDaemon { _, _ in
      .error("NotFound", Wire.NotFound(what: "delivery", id: "msg_x", similar: []))
    }
    let outcome = chime(["redeliver", "msg_x"], daemon: daemon)
    #expect(outcome.status == .failed)
    #expect(outcome.errors.contains("`chime deliveries` shows them"), "\(outcome.errors)")
  }

  @Test(arguments: ["redeliver", "discard", "redeliver msg_1 --all", "discard msg_1 --to team"])
  func redeliverAndDiscardNeedASelection(line: String) throws {
    let outcome = chime(words(line), daemon: try Self.daemon())
    #expect(outcome.status == .usage)
    #expect(outcome.errors.contains("`chime deliveries` shows them"), "\(outcome.errors)")
  }

  /// JSON is one object whose list is named after its content; plain output has a header and equally many fields per line.
  @Test(arguments: [
    ("list", "reminders"), ("next", "upcoming"), ("history", "occurrences"), ("deliveries", "deliveries"),
    ("endpoint list", "endpoints"), ("command list", "commands"),
    ("show r7k2", "reminder"), ("done", "occurrence"), ("snooze 5m", "occurrence"),
    ("dismiss", "occurrence"), ("fire r7k2", "occurrence"), ("add Tea every 90m", "reminder"),
    ("in 5m Tea", "reminder"),
    ("at 18:00 Tea", "reminder"), ("edit r7k2 --title T", "reminder"), ("pause r7k2", "reminder"),
    ("resume r7k2", "reminder"), ("skip r7k2", "reminder"), ("remove r7k2", "reminder"), ("status", "status"),
    ("endpoint add team http://x", "endpoint"), ("endpoint test team", "result"), ("endpoint remove team", "endpoint"),
    ("deliveries --id msg_1", "delivery"), ("redeliver msg_1", "skipped"), ("discard --all", "count"),
    ("when daily at 8", "next"), ("version", "version"),
    ("add Tea every 90m --dry-run", "dryRun"), ("import -", "imported"), ("import crontab - --dry-run", "remarks"),
  ])
  func jsonAndPlainOutputHaveTheirShape(_ line: String, _ key: String) throws {
    let daemon = try Self.daemon()
    let outcome = chime(words(line) + ["--json"], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.lines.count == 2)
    #expect(try JSON(parsing: outcome.output)[key] != nil, "\(outcome.output)")
    let plain = chime(words(line) + ["--plain", "--color", "always"], daemon: daemon)
    let counts = plain.lines.dropLast().map { $0.count { $0 == "\t" } }
    #expect(counts.count >= 2)
    #expect(Set(counts).count == 1, "\(plain.output)")
    #expect(!plain.output.contains("\u{1B}"))
  }

  @Test func quietPrintsNothing() throws {
    let outcome = chime(["-q", "add", "Tea", "every 90m"], daemon: try Self.daemon())
    #expect(outcome.status == .success)
    #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
  }

  @Test func warningsGoToStandardError() throws {
    let outcome = chime(["add", "Tea", "every 90m"], daemon: try Self.daemon())
    #expect(outcome.errors == "warning: there is no channel \"team\" yet\n")
  }

  @Test func watchEndsWhenTheDaemonDisconnects() throws {
    let outcome = chime(["watch", "--json"], daemon: try Self.daemon())
    #expect(outcome.status == .unavailable)
    #expect(outcome.lines.count == 3)
    for line in outcome.lines.dropLast() { #expect(try JSON(parsing: line)["event"] != nil) }
  }

  @Test func allPagesAreRead() throws {
    let daemon = try FakeDaemon { _, parameters in
      guard case .int(let limit)? = parameters["limit"] else { return .hangUp }
      let from = parameters["cursor"].flatMap { if case .string(let text) = $0 { Int(text) } else { nil } } ?? 0
      // As the daemon ends a page that becomes too large.
      let page = (from..<min(1_200, from + min(Int(limit), 500))).map { Samples.reminder("r\($0)", "Title \($0)") }
      let next = from + page.count
      return .reply(RemindersInterface.List.Reply(reminders: page, cursor: next < 1_200 ? String(next) : nil))
    }
    let all = chime(["list", "-n", "all", "--plain"], daemon: daemon)
    #expect(all.lines.count == 1_202)
    #expect(daemon.calls.count == 3)
    let some = chime(["list"], daemon: daemon)
    #expect(some.lines.count == 102)
    #expect(some.errors.contains("the first 100"))
    #expect(daemon.calls.count == 4)
    #expect(try JSON(parsing: chime(["list", "--json"], daemon: daemon).output)["more"] == true)
  }

  @Test func emptyListsSayWhatToDo() throws {
    let daemon = try FakeDaemon { _, _ in .reply(RemindersInterface.List.Reply(reminders: [])) }
    let outcome = chime(["list"], daemon: daemon)
    #expect(outcome.status == .success)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("chime add \"Drink water\""))
    #expect(chime(["list", "--json"], daemon: daemon).output == "{\"reminders\":[],\"more\":false}\n")
    #expect(chime(["list", "--plain"], daemon: daemon).lines.count == 2)
  }

  @Test func unreadableReminderIsAWarning() throws {
    let daemon = try FakeDaemon { _, _ in
      .reply(
        RemindersInterface.List.Reply(
          reminders: [Samples.reminder()], warnings: ["the definition of reminder aaaa cannot be read"]))
    }
    let outcome = chime(["list"], daemon: daemon)
    #expect(outcome.status == .success)
    #expect(outcome.output.contains("Drink water"))
    #expect(outcome.errors == "warning: the definition of reminder aaaa cannot be read\n")
  }

  // MARK: when

  /// Returns a daemon whose configuration has a location and a calendar.
  private func knowingDaemon() throws -> FakeDaemon {
    try FakeDaemon { method, _ in
      switch method {
      case SchedulesInterface.Explain.method:
        .reply(
          SchedulesInterface.Explain.Reply(
            canonical: "sunset", dialect: "solar", zone: "Europe/Prague",
            next: [
              .init(at: "2026-03-27T18:22:00+01:00", zone: "Europe/Prague", abbreviation: "CET", secondsUntil: 1),
              .init(
                at: "2026-03-29T19:25:00+02:00", zone: "Europe/Prague", abbreviation: "CEST", secondsUntil: 2,
                remark: "\u{1B}moved"
              ),
            ], remarks: []))
      case SchedulesInterface.Convert.method:
        .reply(SchedulesInterface.Convert.Reply(canonical: "cron: 0 9 * * *", dialect: "cron", remarks: ["not quite"]))
      default: .hangUp
      }
    }
  }

  @Test func whenAsksTheDaemonForItsConfiguration() throws {
    let daemon = try knowingDaemon()
    let outcome = chime(["when", "sunset", "-n", "2"], daemon: daemon)
    #expect(
      outcome.output == """
        sunset
        solar, Europe/Prague

        NEXT                  OFFSET       LEFT
        Fri 2026-03-27 18:22  +01:00 CET   in 8 h 55 min
        Sun 2026-03-29 19:25  +02:00 CEST  in 2 d 9 h  \u{241B}moved

        """)
    #expect(
      daemon.calls.first?.parameters.description
        == #"{"after":"2026-03-27T08:26:40Z","count":2,"timezone":"Europe/Prague","when":"sunset"}"#)
    _ = chime(["when", "daily at 8 except on holidays"], daemon: daemon)
    #expect(daemon.methods == ["Schedules.Explain", "Schedules.Explain"])
    let converted = chime(["when", "daily at 9 except on holidays", "--as", "cron"], daemon: daemon)
    #expect(converted.output == "cron: 0 9 * * *\n")
    #expect(converted.errors == "not quite\n")
    #expect(daemon.methods.last == "Schedules.Convert")
  }

  @Test(arguments: [
    ["when", "daily at 8"], ["when", "sunset", "--place", "50.0875,14.4213"], ["when", "daily at 8", "--as", "phrase"],
    ["when", "every 90n"], ["when", "sunsett"], ["add", "Tea", "sunset", "--place", "50.0875,14.4213", "--dry-run"],
  ])
  func whenNeedsNoDaemonForOtherSchedules(_ arguments: [String]) throws {
    let daemon = try knowingDaemon()
    _ = chime(arguments, daemon: daemon)
    #expect(daemon.calls.isEmpty)
  }

  @Test func whenWithoutADaemonSaysWhatIsMissing() throws {
    let place = chime(["when", "sunset"])
    #expect(place.status == .usage)
    #expect(place.errors.contains("--place"))
    #expect(place.errors.contains("no daemon answers to look up a place; start it with"))
    let calendar = chime(["when", "daily at 8 except on holidays"])
    #expect(calendar.errors.contains("no daemon answers to look up the calendar holidays; start it with"))
  }

  @Test func remarkIsPrintedBesideItsTimeOrBelow() throws {
    let arguments = ["when", "daily at 2:30", "--after", "2026-03-28", "-n", "2"]
    let wide = chime(arguments, width: 120, isTerminal: true, environment: ["NO_COLOR": "1"])
    #expect(wide.lines[5].hasSuffix("in 1 d 3 h  02:30 does not exist on 2026-03-29; moved to 03:30"))
    let narrow = chime(arguments, width: 80, isTerminal: true, environment: ["NO_COLOR": "1"])
    #expect(narrow.lines[5] == "Sun 2026-03-29 03:30  +02:00 CEST  in 1 d 3 h")
    #expect(narrow.lines[6] == "  \u{2191} 02:30 does not exist on 2026-03-29; moved to 03:30")
    let colored = chime(arguments, width: 80, isTerminal: true)
    #expect(colored.output.contains("\u{1B}[33m  \u{2191} 02:30"))
    #expect(colored.lines.count == narrow.lines.count)
  }
}
