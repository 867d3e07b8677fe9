import ChimeCore
import ChimeSchedule
import ChimeWords

/// What the state topic says: what is shown, and the tokens with which the newest of it is answered.
struct MQTTState {
  /// Newest first.
  var shown: [OutboundMessage]
  var answers: OfferedAnswers?

  /// Of what one message leaves to be shown.
  init(after message: OutboundMessage, by access: EndpointAccess, at now: Instant) {
    shown = message.shown ?? []
    for index in shown.indices { shown[index].tenant = message.tenant }
    answers = shown.first.flatMap { OfferedAnswers(to: $0, by: access, at: now) }
  }

  var bytes: [UInt8] {
    var json = JSONText()
    json.object { json in
      json.member("dismiss", answers?.dismiss?.token)
      json.member("done", answers?.done?.token)
      if let newest = shown.first {
        json.object("newest") { FiredReminder(message: newest).write(&$0) }
      } else {
        json.member("newest", String?.none)
      }
      json.member("open", Int64(shown.count))
      json.member("snooze", answers?.snooze?.token)
    }
    return json.bytes
  }
}

/// How Home Assistant learns of an endpoint: one device with all its entities (MQTT device discovery, since 2024.11). It is written
/// against `homeassistant/components/mqtt/{schemas,sensor,event,button}.py` of 2026; a test holds it to their keys.
struct MQTTDiscovery {
  /// What the broker knows the endpoint by, and so do the entities.
  var device: String
  var name: String
  var topics: MQTTTopics
  var version: String

  /// What stands in `type` of events.
  static let events = OccurrenceEvent.allCases.filter { $0 != .repeated }.map { DeliveryEvent.Kind.told($0).type }

  var bytes: [UInt8] {
    var json = JSONText()
    json.object { json in
      json.member("availability_topic", topics.availability)
      json.object("components") { components in
        components.object("done") { button(&$0, "done", localized("Done"), icon: "mdi:check") }
        components.object("events") { events(&$0) }
        components.object("open") { sensor(&$0) }
        components.object("snooze") { button(&$0, "snooze", localized("Snooze"), icon: "mdi:alarm-snooze") }
      }
      json.object("device") { device in
        device.member("identifiers", [self.device])
        device.member("manufacturer", "Chime")
        device.member("name", name)
        device.member("sw_version", version)
      }
      json.object("origin") { origin in
        origin.member("name", "chimed")
        origin.member("sw_version", version)
      }
      json.member("qos", Int64(1))
    }
    return json.bytes
  }

  private func begin(_ json: inout JSONText, _ platform: String, _ id: String, _ name: String, icon: String) {
    json.member("platform", platform)
    json.member("unique_id", "\(device)-\(id)")
    json.member("name", name)
    json.member("icon", icon)
  }

  private func sensor(_ json: inout JSONText) {
    begin(&json, "sensor", "open", localized("Reminder"), icon: "mdi:bell")
    json.member("state_topic", topics.state)
    // A state has 255 characters at most; without anything open there is none, which Home Assistant shows as unknown.
    json.member(
      "value_template", "{{ value_json.newest.title[:255] if value_json.newest else None }}")
    json.member("json_attributes_topic", topics.state)
    json.member(
      "json_attributes_template",
      "{{ dict(value_json.newest or {}, open=value_json.open) | tojson }}")
  }

  private func events(_ json: inout JSONText) {
    begin(&json, "event", "events", localized("Events"), icon: "mdi:bell-ring")
    json.member("event_types", Self.events)
    json.member("state_topic", topics.event)
    json.member("value_template", "{{ dict(value_json.data, event_type=value_json.type) | tojson }}")
  }

  /// Its token is an attribute of its own, so that what is pressed is what was shown when it was pressed, once.
  private func button(_ json: inout JSONText, _ answer: String, _ name: String, icon: String) {
    begin(&json, "button", answer, name, icon: icon)
    json.member("command_topic", topics.command)
    json.member("command_template", "{{ this.attributes.token or '' }}")
    json.member("json_attributes_topic", topics.state)
    json.member("json_attributes_template", "{{ {'token': value_json.\(answer)} | tojson }}")
  }
}
