// Parallel steps: copies and moves, names in common, an empty branch, one inside another, constraints.
include "branches.h";

Read () => (int socket, std::string request);
User (int socket, std::string request) => (int socket, std::string user);
News (std::string request) => (int news[3]);
Weather (int socket, std::string request) => (int socket, double degrees);
Show (int first, std::string user, int news[3], int socket, double degrees, int last, std::string request) => ();
source Read => Page;
Page (int socket, std::string request) => ();
Page = (User & (News & Weather) &) -> Show;
handle error News => Guess;
Guess (std::string request) => (int news[3]);
handle error Weather => Apologise;

// `b` is taken by `Audit`, as `c` is, and the branches that need it then run one after the other.
Start () => (int key);
First (int key) => ();
Second (int key) => (int key);
source Start => Audit;
Audit = Between -> Second;
Between = (First & Second);
atomic Audit:{c};
atomic First:{b};
atomic Second:{b?};
