import ChimeCore
import ChimeSchedule
import ChimeWords

/// The payload of the state topic: the open messages, and the answer tokens of the newest.
struct MQTTState {
  /// The open messages, newest first.
  var shown: [OutboundMessage]
  var answers: OfferedAnswers?

  /// Creates the state after a message.
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

/// The Home Assistant discovery payload: one device with all entities (MQTT device discovery, since 2024.11).
///
/// It follows `homeassistant/components/mqtt/{schemas,sensor,event,button}.py` of 2026. A test checks the keys.
struct MQTTDiscovery {
  /// The MQTT client id, also the prefix of the entities' ids.
  var device: String
  var name: String
  var topics: MQTTTopics
  var version: String

  /// The values of `type` in events.
  static let events = OccurrenceEvent.allCases.filter { $0 != .repeated }.map { DeliveryEvent.Kind.event($0).type }

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
    // A state has at most 255 characters. Home Assistant shows None as unknown.
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

  /// The button's token is an attribute, so that a press uses the token that was current when it was pressed.
  private func button(_ json: inout JSONText, _ answer: String, _ name: String, icon: String) {
    begin(&json, "button", answer, name, icon: icon)
    json.member("command_topic", topics.command)
    json.member("command_template", "{{ this.attributes.token or '' }}")
    json.member("json_attributes_topic", topics.state)
    json.member("json_attributes_template", "{{ {'token': value_json.\(answer)} | tojson }}")
  }
}
