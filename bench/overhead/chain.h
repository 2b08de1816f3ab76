// How many flows the benchmark starts.
#pragma once
