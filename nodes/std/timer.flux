// Time.

// Waits. Only this flow waits.
Wait (long time_ms) => ();
