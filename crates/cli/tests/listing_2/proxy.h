// What the nodes of the proxy take.
#pragma once

#include "flux/connection.hpp"

void HandOn(flux::connection *client, flux::connection *server, flux::connection *&same_client,
            flux::connection *&same_server);
void HandBack(flux::connection *client, flux::connection *server);
void Close(flux::connection *client, flux::connection *server);
