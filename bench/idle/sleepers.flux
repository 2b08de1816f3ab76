// Flows that do nothing but wait.
use std.timer;

option time : duration = 1m;

Make () => (int number) replicable;
source Make => Rest;
Rest (int number) => ();
Rest = timer.Wait(time);
