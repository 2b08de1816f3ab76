// Time.

// Lets a while pass, of which only this flow knows.
Wait (long time_ms) => ();
