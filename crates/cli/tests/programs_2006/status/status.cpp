// The nodes of the status server. What they use of the libraries came along with mImpl.h.
#include "mImpl.h"
#include "word.h"

static int ls;
static time_t started;

void init(int argc, char **argv)
{
    assert(argc > 1);
    struct sockaddr_in sa;
    memset(&sa, 0, sizeof(sa));
    sa.sin_family = AF_INET;
    sa.sin_port = htons(atoi(argv[1]));
    inet_aton("127.0.0.1", &sa.sin_addr);
    ls = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(ls, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(ls, F_SETFD, FD_CLOEXEC);
    if (bind(ls, (struct sockaddr *)&sa, sizeof sa) < 0 || listen(ls, SOMAXCONN) < 0)
        exit(EXIT_FAILURE);
    started = time(NULL);
}

int Listen(Listen_out *out) { out->sock = accept(ls, NULL, NULL); return out->sock < 0 ? errno : 0; }

int ReadLine(ReadLine_in *in, ReadLine_out *out)
{
    char c;
    while (read(in->sock, &c, 1) == 1 && c != '\n')
        if (is_letter(c)) out->line += tolower(c);
    out->sock = in->sock;
    return out->line.size() > INT_MAX / 2;
}

bool is_files(const std::string &line) { return line.compare(0, 3, "ls ") == 0; }
bool is_sort(const std::string &line) { return line.compare(0, 5, "sort ") == 0; }
bool is_number(const std::string &line)
{
    return line.find_first_not_of("0123456789") == std::string::npos && line != "";
}

int ListFiles(ListFiles_in *in, ListFiles_out *out)
{
    std::set<std::string> names;
    DIR *d = opendir(in->line.c_str() + 3);
    if (!d) return errno;
    while (struct dirent *e = readdir(d)) {
        struct stat st;
        if (stat((in->line.substr(3) + "/" + e->d_name).c_str(), &st) == 0 && S_ISREG(st.st_mode))
            names.insert(e->d_name);
    }
    closedir(d);
    std::ostringstream os;
    std::copy(names.begin(), names.end(), std::ostream_iterator<std::string>(os, "\n"));
    out->answer = os.str();
    out->sock = in->sock;
    return 0;
}

int SortWords(SortWords_in *in, SortWords_out *out)
{
    std::list<std::string> l;
    std::deque<std::string> q;
    std::stringstream s(in->line.substr(5));
    std::string w;
    while (s >> w) q.push_back(w);
    std::sort(q.begin(), q.end());
    l.assign(q.begin(), q.end());
    for (std::list<std::string>::iterator i = l.begin(); i != l.end(); ++i)
        out->answer += *i + "\n";
    out->sock = in->sock;
    return 0;
}

int Number(Number_in *in, Number_out *out)
{
    std::stringstream s;
    double n = atof(in->line.c_str());
    s << std::setprecision(10) << floor(sqrt(n)) << std::endl;
    out->answer = s.str();
    out->sock = in->sock;
    return 0;
}

int Uptime(Uptime_in *in, Uptime_out *out)
{
    struct utsname u;
    uname(&u);
    char buf[256];
    sprintf(buf, "%s up %d\n", u.sysname, difftime(time(NULL), started) < 1000);
    out->answer = buf;
    out->sock = in->sock;
    return 0;
}

int Send(Send_in *in)
{
    send(in->sock, in->answer.c_str(), in->answer.length(), 0);
    close(in->sock);
    return 0;
}
int Serve(Serve_in *in) { return 0; }
int Command(Command_in *in, Command_out *out) { return 0; }
