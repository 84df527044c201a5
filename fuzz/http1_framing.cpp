// Bytes as the input of an HTTP/1.1 connection; the first byte sets the size of the pieces. The server's reader finds
// the same requests as a strict reader of the whole text, and refuses what that one refuses.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/text.h"
#include "http/http1_reader.h"
#include "strict_http1.h"

namespace {

using namespace berth;
using http::Http1Reader;

struct Found {
  std::vector<http::HttpRequest> requests;
  int refused = 0;
};

Found read(std::string_view bytes, std::size_t piece) {
  Found found;
  Http1Reader reader;
  http::HttpRequest request;
  while (!bytes.empty()) {
    std::string_view input = bytes.substr(0, piece);
    bytes.remove_prefix(input.size());
    for (;;) {
      const Http1Reader::Taken taken = reader.read(input);
      BERTH_INVARIANT(taken.bytes <= input.size());
      input.remove_prefix(taken.bytes);
      if (taken.event == Http1Reader::Event::kMore) break;
      if (taken.event == Http1Reader::Event::kHead) request = reader.take_head().request;
      if (taken.event == Http1Reader::Event::kBody) request.body += taken.body;
      if (taken.event == Http1Reader::Event::kEnd) {
        found.requests.push_back(request);
        reader.next_request();
      }
      if (taken.event != Http1Reader::Event::kRefused) continue;
      found.refused = reader.fault().status;
      BERTH_INVARIANT(found.refused >= 400 && !reader.fault().why.empty());
      return found;
    }
    BERTH_INVARIANT(input.empty());
  }
  return found;
}

void compare(const http::HttpRequest& found, const strict_http1::Request& expected) {
  BERTH_INVARIANT(found.method == expected.method);
  BERTH_INVARIANT(found.target == expected.target);
  BERTH_INVARIANT(found.body == expected.body);
  std::size_t seen = 0;
  for (const auto& [name, value] : expected.fields) {
    if (name == "host") continue;  // an absolute target replaces it
    while (to_lower(found.headers.at(seen).name) == "host") ++seen;
    BERTH_INVARIANT(to_lower(found.headers.at(seen).name) == name && found.headers.at(seen).value == value);
    ++seen;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Found found = read(bytes, std::size_t{1} << (data[0] & 0x0f));
  if (found.refused == 431 || found.refused == 414) return 0;  // the strict reader has no limits
  strict_http1::Reader strict(bytes);
  strict.read();
  BERTH_INVARIANT(strict.refused == (found.refused != 0));
  BERTH_INVARIANT(found.requests.size() == strict.requests.size());
  for (std::size_t i = 0; i < found.requests.size(); ++i) compare(found.requests[i], strict.requests[i]);
  return 0;
}
