// The nodes of NAME.flux: plain functions that know nothing of threads or locks. Flux writes NAME.flux.h.
#include "NAME.flux.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

static std::vector<double> samples;

int Measure(Measure_out *out)
{
    return getloadavg(&out->load, 1) == 1 ? 0 : 1;
}

int Record(Record_in *in)
{
    samples.push_back(in->load);
    return 0;
}

int SumUp(SumUp_out *out)
{
    out->count = static_cast<int>(samples.size());
    if (out->count == 0) {
        return 1;
    }
    out->average = std::accumulate(samples.begin(), samples.end(), 0.0) / out->count;
    samples.clear();
    return 0;
}

int Print(Print_in *in)
{
    printf("load %.2f on average of %d samples\n", in->average, in->count);
    return fflush(stdout) == 0 ? 0 : 1;
}
