import Testing
import Varlink

@Suite struct InterfaceTests {
  static let everything = """
    # Every construct
    # of the language.
    interface org.example.every-1.Thing

    # Not documentation: an empty line follows.

    # A structure.
    type Record (
      flag: bool,
      whole: int,
      half: float,
      text: string,
      raw: object,
      value: any,
      # A word.
      word: (one, two, three),
      inner: (first: int, second: string),
      list: []string,
      lists: [][]?string,
      map: [string]string,
      set: [string](),
      maybe: ?string,
      maybe_list: ?[](first: int, second: string),
      other: ?Color,
      self2: ?Record
    )

    type Color (red, green) # not documentation either

    type Nothing ()

    # Does something.
    method Do(record: Record) -> (color: Color)

    method Nothing2() -> ()

    error Failed (reason: ?string)
    """

  @Test func everyConstructIsParsed() throws {
    let interface = try Interface(parsing: Self.everything)
    #expect(interface.name == "org.example.every-1.Thing")
    #expect(interface.documentation == "Every construct\nof the language.")
    #expect(interface.members.map(\.name) == ["Record", "Color", "Nothing", "Do", "Nothing2", "Failed"])
    #expect(interface.members.map(\.documentation) == ["A structure.", "", "", "Does something.", "", ""])
    guard case .structure(let fields)? = interface.type("Record") else {
      Issue.record("Record is no structure")
      return
    }
    let types = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.type) })
    #expect(types["flag"] == .bool && types["whole"] == .int && types["half"] == .float && types["text"] == .string)
    #expect(types["raw"] == .object && types["value"] == .any)
    #expect(types["word"] == .enumeration(["one", "two", "three"]))
    #expect(types["lists"] == .array(.array(.nullable(.string))))
    #expect(types["set"] == .map(.structure([])))
    #expect(types["other"] == .nullable(.named("Color")))
    #expect(fields.first { $0.name == "word" }?.documentation == "A word.")
    guard case .nullable(.array(.structure(let inner)))? = types["maybe_list"] else {
      Issue.record("maybe_list is \(String(describing: types["maybe_list"]))")
      return
    }
    #expect(inner.map(\.name) == ["first", "second"])
    #expect(interface.type("Color") == .enumeration(["red", "green"]))
    #expect(interface.type("Nothing") == .structure([]))
    #expect(interface.method("Do")?.output.map(\.type) == [.named("Color")])
    #expect(interface.method("Color") == nil && interface.type("Do") == nil && interface.error("Nope") == nil)
    #expect(interface.error("Failed")?.map(\.type) == [.nullable(.string)])
  }

  /// Text → canonical text, which parses to the same value and is its own canonical text.
  @Test(arguments: [
    ("interface a.b\nmethod F()->()", "interface a.b\n\nmethod F() -> ()\n"),
    ("#x\n\n# y\r\n#\r\n#z\ninterface  a.b # no\n", "# y\n#\n# z\ninterface a.b\n"),
    ("interface a.b\ntype T(a:int,b:[string]()) ", "interface a.b\n\ntype T (a: int, b: [string]())\n"),
    (
      "\u{FEFF}interface a.b\r\rerror E(\u{A0}reason : ?\u{2003}string )",
      "interface a.b\n\nerror E (reason: ?string)\n"
    ),
    ("interface a.b\u{2028}type T ( a,\n b )", "interface a.b\n\ntype T (a, b)\n"),
    (
      "interface a.b\nmethod LongName(first_parameter: string, second_parameter: string) -> (result: string, more: int)",
      """
      interface a.b

      method LongName(first_parameter: string, second_parameter: string) -> (
        result: string,
        more: int
      )

      """
    ),
    (
      "interface a.b\ntype T (\n# Why.\na: int, b: [](# Inner.\nx: int))",
      """
      interface a.b

      type T (
        # Why.
        a: int,
        b: [](x: int)
      )

      """
    ),
  ])
  func interfaceHasOneCanonicalForm(text: String, canonical: String) throws {
    let interface = try Interface(parsing: text)
    #expect(interface.description == canonical)
    let again = try Interface(parsing: canonical)
    #expect(again == interface)
    #expect(again.description == canonical)
  }

  @Test func formattedInterfaceReadsBack() throws {
    let interface = try Interface(parsing: Self.everything)
    #expect(try Interface(parsing: interface.description) == interface)
  }

  @Test(arguments: [
    ("", "1:1: expected 'interface', found the end of the text"),
    ("# only a comment", "1:17: expected 'interface', found the end of the text"),
    ("type T ()", "1:1: expected 'interface', found 'type'"),
    ("interface", "1:10: expected an interface name such as 'org.example.ping', found the end of the text"),
    ("interface org", "1:11: expected an interface name such as 'org.example.ping', found 'org'"),
    ("interface a.b method F() -> ()", "1:15: expected a new line, found 'method'"),
    ("interface a.b\nmethod F() -> () method G() -> ()", "2:18: expected a new line, found 'method'"),
    ("interface a.b\nfunction F()", "2:1: expected 'type', 'method' or 'error', found 'function'"),
    ("interface a.b\nmethod lower() -> ()", "2:8: expected a name that begins with a capital letter, found 'lower'"),
    ("interface a.b\nmethod F_G() -> ()", "2:8: expected a name that begins with a capital letter, found 'F_G'"),
    ("interface a.b\nmethod F -> ()", "2:10: expected '(', found '->'"),
    ("interface a.b\nmethod F()", "2:11: expected '->', found the end of the text"),
    ("interface a.b\nmethod F() - > ()", "2:12: expected '->', found '-'"),
    ("interface a.b\nmethod F(a, b) -> ()", "2:9: expected a structure, found '('"),
    ("interface a.b\nmethod F() -> (a)", "2:15: expected a structure, found '('"),
    ("interface a.b\nerror E", "2:8: expected '(', found the end of the text"),
    ("interface a.b\ntype T []string", "2:8: expected '(', found '[]'"),
    ("interface a.b\ntype T (a: int", "2:15: expected ',' or ')', found the end of the text"),
    ("interface a.b\ntype T (a: int b: int)", "2:16: expected ',' or ')', found 'b'"),
    ("interface a.b\ntype T (a: int, b)", "2:18: expected ':', found ')'"),
    ("interface a.b\ntype T (a, b: int)", "2:13: expected ',' or ')', found ':'"),
    ("interface a.b\ntype T (a: int,)", "2:16: expected a field name, found ')'"),
    ("interface a.b\ntype T (,)", "2:9: expected a field name, found ','"),
    ("interface a.b\ntype T (_a: int)", "2:9: expected a field name, found '_a'"),
    ("interface a.b\ntype T (a_: int)", "2:9: expected a field name, found 'a_'"),
    ("interface a.b\ntype T (a__b: int)", "2:9: expected a field name, found 'a__b'"),
    ("interface a.b\ntype T (1a: int)", "2:9: expected a field name, found '1a'"),
    ("interface a.b\ntype T (a: )", "2:12: expected a type, found ')'"),
    ("interface a.b\ntype T (a: integer)", "2:12: expected a type, found 'integer'"),
    ("interface a.b\ntype T (a: ??int)", "2:13: a type can be nullable only once"),
    ("interface a.b\ntype T (a: [int]string)", "2:12: expected '[]' or '[string]'"),
    ("interface a.b\ntype T (a: int; b: int)", "2:15: ';' does not belong in an interface definition"),
    ("interface a.b\ntype T (é: int)", "2:9: 'é' does not belong in an interface definition"),
    ("interface a.b\n\n  type T (a: Missing)", "3:14: the type 'Missing' is not declared in this interface"),
    ("interface a.b\nmethod F() -> ()\ntype T (a: F)", "3:12: the type 'F' is not declared in this interface"),
    ("interface a.b\ntype T ()\nerror T ()", "3:7: 'T' is declared twice"),
    ("interface a.b\ntype T (a: int, a: int)", "2:17: 'a' occurs twice"),
    ("interface a.b\ntype T (a, a)", "2:12: 'a' occurs twice"),
    ("interface a.b\r\ntype t ()", "2:6: expected a name that begins with a capital letter, found 't'"),
  ])
  func errorStatesItsPosition(text: String, expected: String) {
    let error = #expect(throws: InterfaceError.self) { try Interface(parsing: text) }
    #expect(error?.description == expected)
  }

  @Test func tooDeeplyNestedTypesAreRefused() {
    let text = "interface a.b\ntype T (a: \(String(repeating: "[]", count: 100_000))int)"
    let error = #expect(throws: InterfaceError.self) { try Interface(parsing: text) }
    #expect(error?.message == "types nest deeper than 64")
  }

  @Test(arguments: [
    "a.b", "a.b.c", "a.1", "a.0.0", "org.varlink.service", "com.example.0example", "com.example.example-dash",
    "xn--lgbbat1ad8j.example.algeria", "io.example.Upper",
  ])
  func validInterfaceNamesAreAccepted(name: String) throws {
    #expect(try Interface(parsing: "interface \(name)").name == name)
  }

  @Test(arguments: [
    ".a.b.c", "com.-example.leading", "com.example-.trailing-", "1om.example.digit", "ab", "a.b.c.", "a..b.c", "1.b.c",
    "-a.b.c", "a.b.c-", "a.b-.c", "a.-.c", "a.*.c", "a.?", "a.b_c", "",
  ])
  func invalidInterfaceNamesAreRefused(name: String) {
    #expect(throws: InterfaceError.self) { try Interface(parsing: "interface \(name)") }
  }

  @Test(
    arguments: [
      (["flag": 1], "flag: must be a bool, is a number"),
      (["whole": 1.5], "whole: must be a whole number of 64 bits"),
      (["whole": 1e19], "whole: must be a whole number of 64 bits"),
      (["half": "x"], "half: must be a number, is a string"),
      (["raw": []], "raw: must be an object, is an array"),
      (["value": nil], "value: must be a value, is null"),
      (["word": "four"], "word: is 'four', none of one, two, three"),
      (["inner": ["first": 1]], "inner.second: is missing"),
      (["inner": ["first": 1, "second": "x", "third": 3]], "inner.third: is not declared"),
      (["lists": [["a"], ["b", nil], ["c", 5]]], "lists[2][1]: must be a string, is a number"),
      (["map": ["a": "b", "c": nil]], "map.c: must be a string, is null"),
      (["set": ["a": true]], "set.a: must be an object, is a bool"),
      (["maybe_list": [nil]], "maybe_list[0]: must be an object, is null"),
      (["other": "blue"], "other: is 'blue', none of red, green"),
      (["text": .double(.infinity)], "text: must be a string, is null"),
      (["flag": nil], "flag: must be a bool, is null"),
    ] as [(JSON, String)])
  func mismatchIsLocated(change: JSON, expected: String) throws {
    let interface = try Interface(parsing: Self.everything)
    let good: [String: JSON] = [
      "flag": true, "whole": 1, "half": 0.5, "text": "t", "raw": [:], "value": 0, "word": "two",
      "inner": ["first": 1, "second": "2"], "list": [], "lists": [], "map": [:], "set": ["x": [:]],
    ]
    try interface.validate(.object(good), as: .named("Record"))
    guard case .object(let members) = change else { return }
    let bad = JSON.object(good.merging(members) { $1 })
    let mismatch = #expect(throws: Mismatch.self) { try interface.validate(bad, as: .named("Record")) }
    #expect(mismatch?.description == expected)
  }

  @Test func recursiveTypesAreValidated() throws {
    let interface = try Interface(parsing: "interface a.b\ntype T (next: ?T)")
    try interface.validate(["next": ["next": ["next": nil]]], as: .named("T"))
    let mismatch = #expect(throws: Mismatch.self) {
      try interface.validate(["next": ["next": 5]], as: .named("T"))
    }
    #expect(mismatch?.path == "next.next")
    #expect(throws: Mismatch.self) { try interface.validate([:], as: .named("Missing")) }
  }
}
