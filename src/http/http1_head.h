// The head of an HTTP/1.1 request, read strictly (RFC 9112): what two readers could understand differently is refused.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace berth::http {

// Why bytes are no request.
struct Http1Fault {
  int status = 400;
  std::string why;
};
using Http1Check = std::optional<Http1Fault>;  // nullopt: fine

struct Http1Head {
  HttpRequest request;
  bool old = false;     // HTTP/1.0
  bool closes = false;  // the connection ends with this request
  bool expects_continue = false;
  bool chunked = false;
  std::uint64_t length = 0;  // of a body that is not chunked
};

// Reads the first line: method, target and version. An absolute target (http://HOST/PATH) becomes a path, and
// `authority` gets its host.
Http1Check read_request_line(std::string_view line, Http1Head& head, std::optional<std::string>& authority);

// Reads a line of the header or of a trailer.
Http1Check read_field(std::string_view line, Header& field);

// After the last line of the header: checks Host, and finds where the body ends.
Http1Check read_framing(Http1Head& head, const std::optional<std::string>& authority);

// HOST[:PORT]; also for the :authority of HTTP/2. Empty is fine.
bool may_be_host(std::string_view text);

}  // namespace berth::http
