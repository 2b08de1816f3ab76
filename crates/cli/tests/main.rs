//! The tests of the command: the command builds servers, and the tests talk to them. All files are one test binary,
//! because a separate binary for each file takes a second to compile and link.

#![expect(clippy::disallowed_methods, reason = "a test is a shell: it builds servers and talks to them")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, and says why"
)]

mod admin;
mod admin_fuzz;
mod blocking_imports;
mod caught_calls;
mod cmake;
mod compress;
mod computed_messages;
mod concurrent_calls;
mod debugging;
mod defaults;
mod dns_responder;
mod examples;
mod fastcgi;
mod files;
mod flick;
mod flick_aggregator;
mod flick_backends;
mod flick_balancer;
mod flick_command;
mod flick_faults;
mod flick_services;
mod flick_shared;
mod flick_worlds;
mod formatting;
mod harness;
mod held_loops;
mod host;
mod line_servers;
mod links;
mod listeners;
mod listing_2;
mod memcached;
mod memcached_text;
mod message_command;
mod message_servers;
mod messages;
mod modules;
mod moved_sources;
mod names;
mod newcomer;
mod node_stacks;
mod pictures;
mod pipelined_upstream;
mod plain_functions;
mod programs_2006;
mod random_programs;
mod redis;
mod restart;
mod sim;
mod sources;
mod spans;
mod start;
mod state;
mod streams;
mod support;
mod tls;
mod upstream_replies;
mod web;
mod web_files;
