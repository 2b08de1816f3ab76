// Runs the program of `pages/reached.md` and the same written by hand, and prints of each how often values were copied,
// and what the last node was given.
#define main generated_main
#include "reached.flux.cpp"
#undef main

#include <cstdio>

int Read(Read_out *out)
{
    out->client.number = 1;
    out->request.number = 10;
    return 0;
}

int Parse(Parse_in *in, Parse_out *out)
{
    out->key.number = in->request.number + 10;
    return 0;
}

// What is copied for it, it may spoil.
int Log(Log_in *in)
{
    in->key.number = -1;
    return 0;
}

// The second time fails where this is said.
static bool fails = false;

int Find(Find_in *in, Find_out *out)
{
    static int calls = 0;
    if (++calls % 2 == 0 && fails) {
        return 1;
    }
    out->page.number = in->key.number + 1;
    in->key.number = -1;
    return 0;
}

int Excuse(Excuse_in *in, Excuse_out *out)
{
    out->page.number = in->client.number + 100;
    return 0;
}

int Say()
{
    return 0;
}

int Send(Send_in *in, Send_out *out)
{
    std::printf("%d %d", in->client.number, in->page.number);
    out->sent.number = 2;
    return 0;
}

// What an author would write who copies nothing that may be moved: each node may spoil what it is given.
static void page_by_hand(counted client, counted request, Page_out &out)
{
    Parse_in parse{std::move(request)};
    Parse_out parsed;
    Parse(&parse, &parsed);
    Log_in log{parsed.key};
    Log(&log);
    Find_in find{parsed.key};
    Find_out found;
    if (Find(&find, &found) != 0) {
        Excuse_in excuse{parsed.key, client};
        Excuse_out excused;
        Excuse(&excuse, &excused);
    }
    Say();
    Find_in again{parsed.key};
    counted page;
    if (Find(&again, &found) == 0) {
        page = std::move(found.page);
    } else {
        Excuse_in excuse{std::move(parsed.key), client};
        Excuse_out excused;
        Excuse(&excuse, &excused);
        page = std::move(excused.page);
    }
    Send_in send{client, std::move(page)};
    Send_out sent;
    Send(&send, &sent);
    out = Page_out{std::move(client), std::move(sent.sent)};
}

int main()
{
    for (const bool failing : {false, true}) {
        fails = failing;
        flux::flow flow;
        Read_out values;
        static_cast<void>(flux_flows::Read_produce(flow, values));
        counted::copies = 0;
        const flux::outcome exit = flux_flows::Read_run(flow, values);
        std::printf(" exit %d copies %d\n", static_cast<int>(exit), counted::copies);

        static_cast<void>(flux_flows::Read_produce(flow, values));
        counted::copies = 0;
        Page_out out;
        page_by_hand(std::move(values.client), std::move(values.request), out);
        std::printf(" by hand copies %d\n", counted::copies);
    }
}
