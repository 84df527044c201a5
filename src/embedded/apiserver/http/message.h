// Imports the HTTP request and response types into the namespace of the API server's HTTP layer.
#pragma once

#include "http/message.h"

namespace berth::apiserver::http {

using berth::http::Exchange;
using berth::http::Header;
using berth::http::HttpRequest;
using berth::http::HttpResponse;
using berth::http::kMaxBodyBytes;
using berth::http::not_found_page;
using berth::http::plain_text;
using berth::http::ResponseSink;
using berth::http::SharedBytes;

}  // namespace berth::apiserver::http
