"""What a client of pymemcache has of a server, a line each: client.py FOLDER PORT, with the package in the folder."""

import sys

sys.path.insert(0, sys.argv[1])
from pymemcache.client.base import Client  # noqa: E402

client = Client(("127.0.0.1", int(sys.argv[2])), default_noreply=False)
keys = [f"key{number}" for number in range(40)]
print(client.flush_all())
print([client.set(key, key.upper() * 50) for key in keys])
print(client.set_many({key: "many" for key in keys[:5]}))
print(client.get_many(keys + ["none"]))
print([client.get(key) for key in keys + ["none"]])
print(client.add("key1", "x"), client.add("new", "x"), client.replace("key1", "5"), client.replace("no", "x"))
print(client.append("new", "y"), client.prepend("new", "w"), client.get("new"))
print(client.incr("key1", 7), client.decr("key1", 2), client.incr("none", 1), client.touch("key1", 60))
print(client.set("quiet", "q", noreply=True), client.delete("key2", noreply=True), client.get("quiet"))
print(client.delete("key3"), client.delete("key3"), client.delete_many(keys[4:6]), client.get_many(keys[:8]))
value, unique = client.gets("key7")
print(value, client.cas("key7", "swapped", unique), client.cas("key7", "again", unique), client.get("key7"))
print(client.set("large", "l" * 700_000), len(client.get("large")), client.version() != b"")
print(client.flush_all(), client.get_many(keys))
client.quit()
