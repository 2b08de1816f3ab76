// What is asked of it is a word a line: most are sent back, some take their time, some are wrong.
use std.tcp;
include "words.h";

option listen : string = ":7400";

source tcp.Listen(listen) => Word;
Word = tcp.ReadLine(64k) -> Answer -> tcp.SendLine -> tcp.Return;

typedef slow (std::string line) { line == "slow" };

Answer (std::string line) => (std::string line);
Answer:[slow] = Rest -> Count;
Answer:[_] = Check -> Count;
handle error Check => Excuse;

Rest (std::string line) => (std::string line);
Check (std::string line) => (std::string line);
Excuse (std::string line, int error) => (std::string line);
Count (std::string line) => (std::string line);
atomic Count:{count};
atomic Rest:{rest?};
