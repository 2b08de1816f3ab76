// Error handlers on paths through nodes that are shared: Load is reached in two ways, Open inside of it too.
Receive () => (int request);
Cache (int request) => (int request);
Disk (int request) => (int request);
Seek (int request) => (int request);
Read (int request) => (int request);
Again (int request, int error) => (int request);
Send (int request) => ();

source Receive => Answer;

Answer = Cache -> Load -> Disk -> Load -> Send;
Load = Open -> Read;
Open = Seek;

// In the cache what is not found is a miss; anywhere else it is an error of the request.
handle error Cache -> Load -> Open -> Seek => Miss;
handle error Seek => NotFound;

// What cannot be read is read again, when it is on the disk; that may fail in the same way as any other node.
handle error Disk -> Load -> * -> Read => Again;
handle error Read -> Again => GiveUp;

// The longest path is asked, whichever was written first.
handle error * -> Disk => SpinUp;
handle error Load -> Disk -> Load => Never;
handle error Cache -> Load -> Disk => Replace;
handle error Answer => Apologise;
