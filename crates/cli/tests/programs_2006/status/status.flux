// What a machine is asked by its users, by a source that includes nothing but mImpl.h.
Listen () => (int sock);
ReadLine (int sock) => (int sock, std::string line);
Command (int sock, std::string line) => (int sock, std::string answer);
ListFiles (int sock, std::string line) => (int sock, std::string answer);
SortWords (int sock, std::string line) => (int sock, std::string answer);
Number (int sock, std::string line) => (int sock, std::string answer);
Uptime (int sock, std::string line) => (int sock, std::string answer);
Send (int sock, std::string answer) => ();
Serve (int sock) => ();
source Listen => Serve;
Serve = ReadLine -> Command -> Send;
typedef files is_files;
typedef sort is_sort;
typedef number is_number;
Command:[_, files] = ListFiles;
Command:[_, sort] = SortWords;
Command:[_, number] = Number;
Command:[_, _] = Uptime;
