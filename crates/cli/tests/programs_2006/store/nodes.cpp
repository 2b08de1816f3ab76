// The nodes of the store.
#include "mStructs.h"
#include "mImpl.h"
#include "table.h"
#include <sstream>

int ref = 0;
static int sock;
thread self;
char *begin = "+", *end = "\n";

void init(int argc, char *argv[])
{
  sockaddr_in addr;
  int on = 1;
  sock = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  memset(&addr, 0, sizeof addr);
  addr.sin_family = AF_INET;
  addr.sin_port = htons(strtol(argv[1], NULL, 0));
  if (bind(sock, (sockaddr *)&addr, sizeof addr) != 0 || listen(sock, 5) != 0) {
    cerr << "cannot bind" << endl;
    exit(1);
  }
}

int Listen(Listen_out *out)
{
  out->fd = accept(sock, 0, 0);
  ref++;
  return out->fd < 0;
}

int ReadCommand(ReadCommand_in *in, ReadCommand_out *out)
{
  char c;
  out->line = new string;
  while (read(in->fd, &c, 1) == 1 && c != '\n') *out->line += c;
  out->fd = in->fd;
  return out->line->empty();
}

int Parse(Parse_in *in, Parse_out *out)
{
  istringstream is(*in->line);
  string word;
  is >> word;
  if (word == "get") out->f = GET;
  else if (word == "put") out->f = PUT;
  else if (word == "size") out->f = SIZE;
  else if (word == "rank") out->f = RANK;
  else return 1;
  list *last = NULL;
  while (is >> word) {
    list *l = new list(word);
    if (last) last->next = l;
    else out->args = l;
    l->prev = last;
    last = l;
  }
  out->fd = in->fd;
  delete in->line;
  return 0;
}

bool isget(function f) { return f == GET; }
bool isput(function f) { return f == PUT; }
bool issize(function f) { return f == SIZE; }

int Get(Get_in *in, Get_out *out)
{
  out->fd = in->fd;
  try {
    out->line = new string(get(in->args->data));
  } catch (out_of_range &e) {
    out->line = new string("none");
  }
  return 0;
}

int Put(Put_in *in, Put_out *out)
{
  put(in->args->data, in->args->next->data);
  out->fd = in->fd;
  out->line = new string("ok");
}

int Size(Size_in *in, Size_out *out)
{
  ostringstream os;
  os << size;
  out->fd = in->fd;
  out->line = new string(os.str());
}

int Rank(Rank_in *in, Rank_out *out)
{
  ostringstream os;
  list *second = in->args->next;
  os << rank(in->args->data) << ' ' << distance(in->args->data.c_str(), second ? second->data.c_str() : "");
  out->fd = in->fd;
  out->line = new string(os.str());
}

int Reply(Reply_in *in)
{
  string text = begin + *in->line + end;
  write(in->fd, text.data(), text.size());
  close(in->fd);
  delete in->line;
}

void Complain(Parse_in *in, int err) { write(in->fd, "?\n", 2); close(in->fd); }
int Session(Session_in *in) { return 0; }
int Run(Run_in *in, Run_out *out) { return 0; }
