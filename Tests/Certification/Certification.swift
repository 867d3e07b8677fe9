import Varlink

/// The certification: a sequence of calls, each of which takes what the previous one returned.
///
/// Source: the interface `org.varlink.certification`, and the expectations of its servers.
enum Certification {
  static let interface = "org.varlink.certification"

  static let definition = """
    # A course of calls by which implementations of Varlink prove that they understand each other. The output of each
    # call is the input of the next: Start, Test01 to Test11, End.
    interface org.varlink.certification

    type Interface (
      foo: ?[]?[string](foo, bar, baz),
      anon: (foo: bool, bar: bool)
    )

    type MyType (
      object: object,
      enum: (one, two, three),
      struct: (first: int, second: string),
      array: []string,
      dictionary: [string]string,
      stringset: [string](),
      nullable: ?string,
      nullable_array_struct: ?[](first: int, second: string),
      interface: Interface
    )

    method Start() -> (client_id: string)

    method Test01(client_id: string) -> (bool: bool)

    method Test02(client_id: string, bool: bool) -> (int: int)

    method Test03(client_id: string, int: int) -> (float: float)

    method Test04(client_id: string, float: float) -> (string: string)

    method Test05(client_id: string, string: string) -> (
      bool: bool,
      int: int,
      float: float,
      string: string
    )

    method Test06(
      client_id: string,
      bool: bool,
      int: int,
      float: float,
      string: string
    ) -> (struct: (bool: bool, int: int, float: float, string: string))

    method Test07(
      client_id: string,
      struct: (bool: bool, int: int, float: float, string: string)
    ) -> (map: [string]string)

    method Test08(client_id: string, map: [string]string) -> (set: [string]())

    method Test09(client_id: string, set: [string]()) -> (mytype: MyType)

    # Called with 'more'; answers ten times.
    method Test10(client_id: string, mytype: MyType) -> (string: string)

    # Called 'oneway', with the ten answers.
    method Test11(client_id: string, last_more_replies: []string) -> ()

    method End(client_id: string) -> (all_ok: bool)

    # The client has not begun with Start.
    error ClientIdError ()

    # The call is not the one that is due.
    error CertificationError (wants: object, got: object)
    """

  /// One call of the sequence: its input besides the client's ID, and its output.
  struct Step {
    var name: String
    var input: [String: JSON] = [:]
    /// Several outputs are as many replies.
    var outputs: [[String: JSON]] = [[:]]
    var more = false
    var oneway = false
  }

  private static let scalars: [String: JSON] = [
    "bool": false, "int": 2, "float": .double(.pi), "string": "a lot of string",
  ]
  private static let map: JSON = ["foo": "Foo", "bar": "Bar"]
  private static let set: JSON = ["one": [:], "two": [:], "three": [:]]
  private static let lines = (1...10).map { JSON.string("Reply number \($0)") }
  private static let myType: JSON = [
    "object": ["method": "org.varlink.certification.Test09", "parameters": ["map": map]],
    "enum": "two",
    "struct": ["first": 1, "second": "2"],
    "array": ["one", "two", "three"],
    "dictionary": map,
    "stringset": set,
    "interface": [
      "foo": [nil, ["foo": "foo", "bar": "bar"], nil, ["one": "foo", "two": "bar"]],
      "anon": ["foo": true, "bar": false],
    ],
  ]

  static let steps: [Step] = [
    Step(name: "Test01", outputs: [["bool": true]]),
    Step(name: "Test02", input: ["bool": true], outputs: [["int": 1]]),
    Step(name: "Test03", input: ["int": 1], outputs: [["float": 1.0]]),
    Step(name: "Test04", input: ["float": 1.0], outputs: [["string": "ping"]]),
    Step(name: "Test05", input: ["string": "ping"], outputs: [scalars]),
    Step(name: "Test06", input: scalars, outputs: [["struct": .object(scalars)]]),
    Step(name: "Test07", input: ["struct": .object(scalars)], outputs: [["map": map]]),
    Step(name: "Test08", input: ["map": map], outputs: [["set": set]]),
    Step(name: "Test09", input: ["set": set], outputs: [["mytype": myType]]),
    Step(name: "Test10", input: ["mytype": myType], outputs: lines.map { ["string": $0] }, more: true),
    Step(name: "Test11", input: ["last_more_replies": .array(lines)], oneway: true),
    Step(name: "End", outputs: [["all_ok": true]]),
  ]
}

extension JSON {
  /// The value without null members of objects: a nullable field may be missing or null.
  var withoutNulls: JSON {
    switch self {
    case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.withoutNulls))
    case .array(let elements): .array(elements.map(\.withoutNulls))
    default: self
    }
  }
}
