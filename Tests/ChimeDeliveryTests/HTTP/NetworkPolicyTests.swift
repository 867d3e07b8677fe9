import Glibc
import Testing

@testable import ChimeDelivery

@Suite struct NetworkAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"),
    ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::ffff:10.0.0.1", "10.0.0.1"), ("::ffff:a00:1", "10.0.0.1"),
    ("64:ff9b::10.0.0.1", "64:ff9b::a00:1"),
  ])
  func addressReadsBack(_ text: String, _ canonical: String) throws {
    let address = try #require(NetworkAddress(text))
    #expect(address.description == canonical)
    #expect(NetworkAddress(canonical) == address)
  }

  /// Texts that only a tolerant resolver would take for an address are refused.
  @Test(arguments: [
    "", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.256", " 1.2.3.4", "1.2.3.4 ", "::g",
    "fe80::1%eth0", "[::1]", "localhost", "1.2.3.4/32",
  ])
  func invalidAddressesAreRefused(_ text: String) { #expect(NetworkAddress(text) == nil) }

  @Test(arguments: [
    ("10.0.0.0/8", "10.0.0.0/8"), ("10.1.2.3", "10.1.2.3"), ("10.1.2.3/32", "10.1.2.3"), ("0.0.0.0/0", "0.0.0.0/0"),
    ("::/0", "::/0"), ("FD00::/8", "fd00::/8"), ("::1/128", "::1"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
    ("::ffff:0:0/96", "0.0.0.0/0"), ("2001:db8:8000::/33", "2001:db8:8000::/33"),
    ("::8000:0:0:0/65", "::8000:0:0:0/65"),
  ])
  func blockReadsBack(_ text: String, _ canonical: String) throws {
    let block = try #require(AddressBlock(text))
    #expect(block.description == canonical)
    #expect(AddressBlock(canonical) == block)
  }

  @Test(arguments: [
    "", "/", "10.0.0.0/", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8 ", "10.0.0.1/8",
    "10.0.0.0/8/8",
    "::1/129", "::1/64", "::ffff:10.0.0.0/95", "::ffff:10.0.0.1/104", "10.0.0/8", "example.org/8", "10.0.0.0/0008",
  ])
  func invalidBlocksAreRefused(_ text: String) { #expect(AddressBlock(text) == nil) }

  @Test(arguments: [
    ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.0/8", "::a00:1", false),
    ("10.0.0.0/8", "::ffff:10.0.0.1", true), ("0.0.0.0/0", "::1", false), ("::/0", "127.0.0.1", false),
    ("::/0", "::ffff:127.0.0.1", false), ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
    ("2001:db8::/33", "2001:db8:8000::", false), ("2001:db8:0:0:8000::/65", "2001:db8::8000:0:0:1", true),
    ("2001:db8:0:0:8000::/65", "2001:db8::1", false),
  ])
  func blockContainsItsAddresses(_ block: String, _ address: String, _ isIn: Bool) throws {
    #expect(try #require(AddressBlock(block)).contains(try #require(NetworkAddress(address))) == isIn)
  }

  /// Addresses in the form that connect(2) receives.
  @Test func socketAddressIsParsed() {
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    #expect(withUnsafeBytes(of: v4) { NetworkAddress($0) }?.description == "127.0.0.1")
    #expect(withUnsafeBytes(of: v4) { NetworkAddress(UnsafeRawBufferPointer(rebasing: $0.prefix(8))) } == nil)
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    inet_pton(AF_INET6, "::ffff:169.254.169.254", &v6.sin6_addr)
    #expect(withUnsafeBytes(of: v6) { NetworkAddress($0) }?.description == "169.254.169.254")
    inet_pton(AF_INET6, "fe80::1", &v6.sin6_addr)
    v6.sin6_scope_id = 2
    #expect(withUnsafeBytes(of: v6) { NetworkAddress($0) }?.description == "fe80::1")
    for family in [AF_UNIX, AF_UNSPEC, AF_PACKET] {
      var other = sockaddr_storage()
      other.ss_family = sa_family_t(family)
      #expect(withUnsafeBytes(of: other) { NetworkAddress($0) } == nil)
    }
    #expect(NetworkAddress(UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
  }
}

@Suite struct NetworkPolicyTests {
  /// An address, and whether the system daemon and a personal daemon may dial it.
  @Test(arguments: [
    ("93.184.215.14", true, true), ("1.1.1.1", true, true), ("192.0.0.9", true, true), ("100.63.255.255", true, true),
    ("100.128.0.0", true, true), ("172.15.255.255", true, true), ("172.32.0.0", true, true), ("11.0.0.0", true, true),
    ("2606:4700::1111", true, true), ("2a00::1", true, true), ("64:ff9b::1.1.1.1", true, true),
    ("2002:0101:0101::1", true, true), ("::ffff:1.1.1.1", true, true),

    ("127.0.0.1", false, true), ("127.255.255.255", false, true), ("::1", false, true),
    ("::ffff:127.0.0.1", false, true),
    ("10.0.0.1", false, true), ("172.16.0.1", false, true), ("172.31.255.255", false, true),
    ("192.168.1.1", false, true),
    ("fc00::1", false, true), ("fdff::1", false, true), ("fec0::1", false, true), ("169.254.1.1", false, true),
    ("fe80::1", false, true), ("febf::1", false, true), ("100.64.0.1", false, true), ("100.127.255.255", false, true),
    ("198.18.0.1", false, true), ("198.19.255.255", false, true), ("2001:2::1", false, true),
    ("192.0.2.1", false, true),
    ("198.51.100.1", false, true), ("203.0.113.1", false, true), ("2001:db8::1", false, true),
    ("3fff:fff::1", false, true),
    ("5f00::1", false, true),
    // Addresses that lead to such an address through a translator or a tunnel.
    ("64:ff9b::127.0.0.1", false, true), ("64:ff9b::10.0.0.1", false, true), ("64:ff9b:1::1", false, false),
    ("64:ff9b:1:ffff:ffff:ffff:10.0.0.1", false, false), ("2002:7f00:1::", false, true), ("2002:a00:1::", false, true),
    ("2002:c0a8:101::1", false, true), ("2001:0:7f00:1::", false, false),
    // Teredo with the server 1.1.1.1 and the client 10.0.0.1, which is written inverted.
    ("2001:0:101:101:0:0:f5ff:fffe", false, true), ("2001:0:101:101:0:0:fefe:fefe", true, true),

    ("0.0.0.0", false, false), ("0.1.2.3", false, false), ("::", false, false), ("::ffff:0.0.0.0", false, false),
    ("224.0.0.1", false, false), ("239.255.255.255", false, false), ("ff02::1", false, false),
    ("255.255.255.255", false, false), ("240.0.0.1", false, false), ("192.0.0.1", false, false),
    ("::127.0.0.1", false, false), ("::1.1.1.1", false, false), ("100::1", false, false), ("2001:10::1", false, false),
    ("2001:20::1", false, false), ("4000::1", false, false), ("2002:e000:1::1", false, false),

    ("169.254.169.254", false, false), ("::ffff:169.254.169.254", false, false), ("169.254.170.2", false, false),
    ("fd00:ec2::254", false, false), ("100.100.100.200", false, false), ("168.63.129.16", false, false),
    ("192.0.0.192", false, false), ("fd20:ce::254", false, false), ("fe80::a9fe:a9fe", false, false),
    ("64:ff9b::169.254.169.254", false, false), ("2002:a9fe:a9fe::1", false, false),
    ("::169.254.169.254", false, false),
    // 169.254.169.254 as a network's own NAT64 writes it after 48, 56, 64 and 96 bits (RFC 6052, 2.2).
    ("64:ff9b:1:a9fe:a9:fe00::", false, false), ("64:ff9b:1:a9:fe:a9fe::", false, false),
    ("64:ff9b:1:0:a9:fea9:fe00:0", false, false), ("64:ff9b:1::a9fe:a9fe", false, false),
  ])
  func policyDecidesByAddress(_ text: String, _ bySystem: Bool, _ byPerson: Bool) throws {
    let address = try #require(NetworkAddress(text))
    #expect((NetworkPolicy(isPersonal: false).refusal(of: address) == nil) == bySystem)
    #expect((NetworkPolicy(isPersonal: true).refusal(of: address) == nil) == byPerson)
  }

  /// A public address of this machine is treated like its loopback address.
  @Test(arguments: ["8.8.4.4", "::ffff:8.8.4.4", "64:ff9b::808:404", "2002:808:404::1", "2606:4700::1111"])
  func onlyAUsersDaemonReachesTheMachinesOwnAddresses(_ text: String) throws {
    let address = try #require(NetworkAddress(text))
    let own = Set(["8.8.4.4", "2606:4700::1111"].compactMap(NetworkAddress.init))
    func refusal(_ policy: NetworkPolicy) -> AddressRefusal? { policy.refusal(of: address, isOwn: own.contains) }
    #expect(NetworkPolicy(isPersonal: false).refusal(of: address) == nil)
    #expect(refusal(NetworkPolicy(isPersonal: true)) == nil)
    let refused = try #require(refusal(NetworkPolicy(isPersonal: false)))
    #expect(refused.description.contains("an address of this machine"), "\(refused)")
    let block = try #require(AddressBlock("\(refused.face)"))
    #expect(refusal(NetworkPolicy(isPersonal: false, allow: [block])) == nil)
  }

  @Test func machinesAddressesComeFromItsInterfaces() throws {
    #expect(try #require(NetworkAddress("127.0.0.1")).isOfThisMachine)
    // For documentation (RFC 5737): no interface has it.
    #expect(try !#require(NetworkAddress("192.0.2.77")).isOfThisMachine)
  }

  @Test(arguments: [
    (["10.0.0.0/8"], [], "10.1.2.3", true), (["10.0.0.0/8"], [], "::ffff:10.1.2.3", true),
    (["10.0.0.0/8"], [], "64:ff9b::10.1.2.3", true), (["10.0.0.0/8"], [], "2002:a01:203::1", true),
    (["10.0.0.0/8"], [], "192.168.1.1", false), (["::1"], [], "::1", true), (["::1"], [], "127.0.0.1", false),
    (["127.0.0.1"], [], "127.0.0.2", false), (["::/0"], [], "127.0.0.1", false),
    (["::/0"], [], "::ffff:127.0.0.1", false), (["::/0"], [], "fd00::1", true),
    (["64:ff9b::/96"], [], "64:ff9b::a00:1", true),
    (["0.0.0.0/0"], [], "0.0.0.0", true), (["224.0.0.0/4"], [], "224.0.0.1", true),
    // Metadata services must be allowed by their exact address.
    (["0.0.0.0/0", "::/0"], [], "169.254.169.254", false), (["169.254.0.0/16"], [], "169.254.169.254", false),
    (["169.254.169.254/31"], [], "169.254.169.254", false), (["169.254.169.254"], [], "169.254.169.254", true),
    (["169.254.169.254/32"], [], "::ffff:169.254.169.254", true), (["fd00::/8"], [], "fd00:ec2::254", false),
    (["fd00:ec2::254/128"], [], "fd00:ec2::254", true), (["64:ff9b::/96"], [], "64:ff9b::a9fe:a9fe", false),
    (["64:ff9b::a9fe:a9fe"], [], "64:ff9b::a9fe:a9fe", true),
    // A denied address stays denied.
    (["10.0.0.0/8"], ["10.1.0.0/16"], "10.1.2.3", false), (["10.0.0.0/8"], ["10.1.0.0/16"], "10.2.2.3", true),
    ([], ["1.1.1.0/24"], "1.1.1.1", false), ([], ["1.1.1.0/24"], "::ffff:1.1.1.1", false),
    ([], ["1.1.1.0/24"], "64:ff9b::1.1.1.1", false), ([], ["1.1.1.0/24"], "1.1.2.1", true),
    ([], ["::/0"], "2606:4700::1111", false), ([], ["::/0"], "1.1.1.1", true),
  ])
  func allowAndDenyListsApply(_ allow: [String], _ deny: [String], _ text: String, _ may: Bool) throws {
    let policy = NetworkPolicy(
      isPersonal: false, allow: allow.compactMap(AddressBlock.init), deny: deny.compactMap(AddressBlock.init))
    #expect(policy.allow.count == allow.count && policy.deny.count == deny.count)
    #expect((policy.refusal(of: try #require(NetworkAddress(text))) == nil) == may)
  }

  /// The sentence names the address, its kind and the entry to add; adding it works.
  @Test(arguments: [
    (
      "10.0.0.5",
      "10.0.0.5 is a private address, to which Chime may not connect; to allow it, add \"10.0.0.5\" to allow of "
    ),
    ("169.254.169.254", "169.254.169.254 is a cloud's metadata service, to which Chime may not connect"),
    ("64:ff9b::7f00:1", "64:ff9b::7f00:1, which leads to 127.0.0.1, is a loopback address"),
    ("::7f00:1", "::127.0.0.1 is a reserved address"),
  ])
  func refusalNamesTheEntryToAdd(_ text: String, _ sentence: String) throws {
    let address = try #require(NetworkAddress(text))
    var policy = NetworkPolicy(isPersonal: false)
    var refusal = try #require(policy.refusal(of: address))
    #expect(refusal.description.hasPrefix(sentence), "\(refusal)")
    for _ in 0..<3 {
      let named = refusal.description.split(separator: "\"").dropFirst().first.map(String.init) ?? ""
      policy.allow.append(try #require(AddressBlock(named)))
      guard let next = policy.refusal(of: address) else { break }
      refusal = next
    }
    #expect(policy.refusal(of: address) == nil)
    policy.deny = [try #require(AddressBlock("0.0.0.0/0")), try #require(AddressBlock("::/0"))]
    #expect(policy.refusal(of: address)?.description.contains("is in deny of [webhook]") == true)
  }
}

@Suite struct ProxyServerTests {
  @Test(arguments: [
    "http://proxy.lan:3128", "https://proxy.lan:443", "socks5h://127.0.0.1:1080", "http://[::1]:8080",
    "http://proxy:1/",
  ])
  func validProxiesAreAccepted(_ url: String) throws { #expect(try url.hasPrefix(ProxyServer(url).url)) }

  @Test(arguments: [
    ("", "begins with"), ("proxy.lan:3128", "begins with"), ("socks5://proxy:1080", "begins with"),
    ("ftp://proxy:21", "begins with"), ("http://proxy.lan", "a host and a port"), ("http://:3128", "a host and a port"),
    ("http://proxy:0", "a host and a port"), ("http://proxy:65536", "a host and a port"),
    ("http://proxy:3128/path", "a host and a port"), ("http://pro xy:3128", "a host and a port"),
    ("http://[::g]:1", "a host and a port"), ("http://[127.0.0.1]:1", "a host and a port"),
    ("http://ann:hunter2@proxy:3128", "user name or password"),
  ])
  func invalidProxiesAreRefused(_ url: String, _ sentence: String) {
    let error = #expect(throws: DeliveryError.self) { try ProxyServer(url) }
    #expect(error?.description.contains(sentence) == true)
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test func invalidExceptionsAreRefused() {
    for text in ["localhost", ".lan", "10.0.0.0/8", "::1", "a-b_c.example"] { #expect(ProxyServer.isException(text)) }
    for text in ["", ".", "*", "a,b", "a b", "10.0.0.0/33", "http://x"] { #expect(!ProxyServer.isException(text)) }
    #expect(throws: DeliveryError.self) { try ProxyServer("http://proxy:1", except: ["a,b"]) }
  }
}
