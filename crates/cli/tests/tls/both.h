// A node that answers, and fails on the way.
#pragma once

#include "http.h"

int Break(const http::request &request);
