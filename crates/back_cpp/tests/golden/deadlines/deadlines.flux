// Steps with deadlines: a node, an abstract node, a parallel step, a chain; with and without constraints.
option patience : duration = 2s;

Read () => (int socket);
First (int socket) => (int answer);
Second (int socket) => (int answer);
Log (int answer, int other) => (int answer, int other);
Count (int answer, int other) => (int answer, int other);
Send (int answer, int other) => ();
Guess (int socket) => (int answer);

source Read => Page;
Page (int socket) => ();
Page = (Ask within 300ms & Second) within patience -> (Log -> Count) within 5m -> Send within patience;
Ask = First;
handle error Ask => Guess;
atomic Ask:{upstream};
atomic Send:{line};
