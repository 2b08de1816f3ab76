// Listeners of HTTP, each with settings of its own.
use std.http;

option small : int = 0;
option large : int = 0;
option secure : int = 0;
option other : int = 0;
option again : int = 0;
option silent : int = 0;
option again_body : size = 10;
option word : string = "common";
option idle : int = 5000;

source http.Listen(small, body: 10, log: word, first_byte: 0ms, idle: idle) => Answer;
source http.Listen(large, body: 1k, log: "json", proxies: "127.0.0.1 ::1", first_byte: 0ms) => Answer;
source http.Listen(secure, certificate: "localhost.pem", key: "localhost.key") => Answer;
source http.Listen(other, certificate: "other.example.pem", key: "other.example.key") => Answer;
source http.Listen(silent, first_byte: 100ms) => Answer;
source http.Listen(again, body: again_body, log: word, first_byte: 0ms, idle: idle) => Answer;

Answer (http.request request, text path) => ();
Answer = http.Client -> http.Content -> Words -> http.SendText(200, "text/plain");
Words (text client, text content) => (text content) { content = client + " " + content; };
