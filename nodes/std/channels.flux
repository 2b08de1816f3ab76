// Channels: what is published on one is sent on all connections that have subscribed to it.
//
// Who publishes never waits. What a subscriber has not received yet is kept for it, and sent by the event loop of its
// connection between the replies to its own requests; a subscriber that is too far behind is cut off. A subscription
// ends with its connection.
//
// A subscriber may be silent for a long time. Its server turns off the limit for idle clients:
// `tcp.Messages(port, resp.command, idle: 0ms)`.
//
// Nodes in C++ may also call these functions, from any flow: `channels::Publish("news", message, receivers)`.

include "flux/connection.hpp";
include "flux/message.hpp";
include "channels.h";

// How many bytes may wait for a subscriber.
option backlog : size = 1M;

// Sends what was published: one instance on each event loop, or one in all. It starts no flow.
source Deliver => Delivered;
Deliver () => () replicable;
Delivered () => ();
Delivered = ;

// From now on the connection is sent what is published on the channel; before that it is sent the reply. Fails with
// EBADF if the connection is not owned by the flow, with ECONNRESET if it is cut off.
Subscribe (text channel, flux::message reply, flux::connection *connection) => (flux::connection *connection);
Subscribe = Join(backlog);
Join (size_t backlog, text channel, flux::message reply, flux::connection *connection)
  => (flux::connection *connection);

// The connection is not sent any more what is published there.
Unsubscribe (text channel, flux::connection *connection) => (flux::connection *connection);

// The channels of the connection, the first one that it has subscribed to first.
Subscriptions (flux::connection *connection) => (flux::connection *connection, list<text> channels);

// Has the content sent to all subscribers of the channel, and gives how many there are.
Publish (text channel, flux::message content) => (int64 receivers);

// How many have subscribed to the channel: for nobody no content need be made.
Listeners (text channel) => (int64 listeners);

// Subscriptions of connections that have ended are forgotten.
source every 1s => Tidy;
Tidy () => ();
