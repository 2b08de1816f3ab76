// Values that later steps reach: moved to who takes them last, and copied for who takes them before.
include "reached.h";

Read () => (counted client, counted request);
Parse (counted request) => (counted key);
Log (counted key) => ();
Find (counted key) => (counted page);
Send (counted client, counted page) => (counted sent);
source Read => Page;
Page (counted client, counted request) => (counted client, counted sent);
Page = Parse -> Log -> Load -> Say -> Load -> Send;
Load (counted key) => (counted page);
Load = Find;
Say () => ();
Excuse (counted key, counted client) => (counted page);
handle error Load => Excuse;
