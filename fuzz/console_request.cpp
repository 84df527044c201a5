// Bytes as a request to the console: the method, the target and the headers line by line, an empty line, the body. A
// request that is not refused has a plain path; changes that are understood name one object.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "console/changes.h"
#include "console/names.h"
#include "console/request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string out(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return out;
  };
  http::HttpRequest request;
  request.method = line();
  request.target = line();
  for (std::string header = line(); !header.empty(); header = line()) {
    const std::size_t colon = std::min(header.find(':'), header.size());
    request.headers.push_back({header.substr(0, colon), header.substr(std::min(colon + 1, header.size()))});
  }
  request.peer_address = "10.0.0.1";
  static const auto proxies = console::TrustedProxies::parse({"10.0.0.0/8", "fd00::/8"}).value();
  const auto read = console::read_request(std::move(request), proxies);
  BERTH_INVARIANT(!read->peer_address.empty() || read->refused);
  if (read->refused) {
    BERTH_INVARIANT(read->refused->status >= 400);
  } else {
    BERTH_INVARIANT(!read->target.path.empty() && read->target.path.front() == '/');
    for (const std::string& part : read->target.segments) BERTH_INVARIANT(part != "..");
    BERTH_INVARIANT(!read->api() || read->method == "GET" || read->method == "POST");
  }
  if (const auto body = parse_json(text)) {
    if (const auto change = console::read_change(*body)) {
      BERTH_INVARIANT(console::may_be_name(change->name));
      BERTH_INVARIANT(change->name.find('/') == std::string::npos);
    }
  }
  return 0;
}
