// Turns REST requests into HTTP requests.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
#pragma once

#include <string>

#include "api/rest.h"
#include "kube/transport/transport.h"

namespace berth::kube {

// `prefix` is the path of the server's URL, usually "". The request accepts and sends JSON.
HttpRequest to_http(const api::RestRequest& request, const std::string& prefix);

}  // namespace berth::kube
