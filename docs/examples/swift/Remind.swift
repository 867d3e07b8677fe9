// Sets a reminder, waits until it fires, and says that it is done, with the library Varlink of this repository.
import Foundation
import Varlink

// What this program needs of what the daemon tells; a reply may have more, which is passed over.
struct Draft: Codable {
  var title: String
  var when: String
  var tags: [String]?
}
struct Time: Codable { var at: String }
struct Reminder: Codable {
  var id: String
  var title: String
  var when: String
  var next: Time?
}
struct Event: Codable {
  var event: String
  var reminder: String?
  var occurrence: String?
}
struct Occurrence: Codable {
  var state: String
  var endedAt: Time?
}

// The parameters and the replies of the methods.
struct Add: Codable, JSONCodable {
  var reminder: Draft
  var token: String?
}
struct Added: Codable, JSONCodable { var reminder: Reminder }
struct Filter: Codable { var tag: String? }
struct List: Codable, JSONCodable {
  var filter: Filter?
  var limit: Int?
  var cursor: String?
}
struct Listed: Codable, JSONCodable {
  var reminders: [Reminder]
  var cursor: String?
}
struct Monitored: Codable, JSONCodable { var events: [Event] }
struct Done: Codable, JSONCodable { var id: String? }
struct Answered: Codable, JSONCodable { var occurrence: Occurrence }

@main
struct Remind {
  static func main() throws {
    let environment = ProcessInfo.processInfo.environment
    let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(getuid())"
    let address = "unix:" + (environment["CHIME_SOCKET"] ?? "\(runtime)/chime/io.chime")
    let client = try VarlinkClient(address)

    // A stream has a connection of its own. Its first reply says that it has begun, so nothing is missed.
    let events = try VarlinkClient(address).callMore("io.chime.Daemon.Monitor", returning: Monitored.self)
    _ = try events.next()

    // The token makes it safe to try again: the same one gives the first answer.
    let draft = Draft(title: "Stretch", when: "in 2s", tags: ["example"])
    let added: Added = try client.call("io.chime.Reminders.Add", Add(reminder: draft, token: "stretch-\(getpid())"))
    let reminder = added.reminder
    print("added \(reminder.id): \(reminder.when), next \(reminder.next?.at ?? "never")")

    // Pages have a cursor.
    var cursor: String?
    repeat {
      let page: Listed = try client.call(
        "io.chime.Reminders.List", List(filter: Filter(tag: "example"), limit: 100, cursor: cursor))
      for each in page.reminders { print("listed \(each.id): \(each.title)") }
      cursor = page.cursor
    } while cursor != nil

    waiting: while let reply = try events.next() {
      for event in reply.events where event.event == "fired" && event.reminder == reminder.id {
        print("fired \(event.occurrence ?? "")")
        break waiting
      }
    }

    let answered: Answered = try client.call("io.chime.Occurrences.Done", Done(id: reminder.id))
    print("\(answered.occurrence.state) at \(answered.occurrence.endedAt?.at ?? "")")

    // Errors are typed, and carry what a person needs.
    do {
      let never = Add(reminder: Draft(title: "Never", when: "every 90n"))
      _ = try client.call("io.chime.Reminders.Add", never, returning: Added.self)
    } catch {
      print(error)
    }
  }
}
