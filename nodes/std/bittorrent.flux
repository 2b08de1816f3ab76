// The peer protocol of BitTorrent, BEP 3: https://www.bittorrent.org/beps/bep_0003.html, "peer protocol" and "peer
// messages"; the fast extension's messages of BEP 6, and the extension protocol's of BEP 10. A connection begins with a
// `handshake` in each direction, and goes on with messages.

// What a connection begins with.
type handshake = unit {
  : "\x13BitTorrent protocol";
  reserved : bytes &length = 8;
  info_hash : bytes &length = 20;
  peer_id : bytes &length = 20;
};

// A message: its length, and what it says. One of length 0 keeps the connection alive.
type message = unit {
  %byteorder = big;
  %max_size = 2M;

  length : uint32;
  if (self.length > 0) {
    content : content(self.length - 1) &length = self.length;
  }
};

// "all non-keepalive messages start with a single byte which gives their type"
type content = unit (uint32 rest) {
  %byteorder = big;

  kind : uint8;
  switch (self.kind) {
    0, 1, 2, 3 -> : nothing; # choke, unchoke, interested, not interested
    4 -> have : uint32;
    5 -> bitfield : bytes &length = rest;
    6, 8, 16 -> request : block; # request, cancel, and BEP 6's reject
    7 -> piece : piece(rest - 8);
    9 -> port : uint16; # BEP 5
    13, 17 -> piece_index : uint32; # BEP 6: suggest, allowed fast
    14, 15 -> : nothing; # BEP 6: have all, have none
    20 -> extended : extended(rest - 1); # BEP 10
    * -> unknown : bytes &length = rest;
  }
};

type nothing = unit { };

// A part of a piece: "index, begin, and length".
type block = unit {
  index : uint32;
  begin : uint32;
  length : uint32;
};

// "index, begin, and piece"
type piece = unit (uint32 size) {
  index : uint32;
  begin : uint32;
  content : bytes &length = size;
};

// BEP 10: 0 is the handshake, a dictionary; others are what that says.
type extended = unit (uint32 size) {
  id : uint8;
  content : bytes &length = size;
};
