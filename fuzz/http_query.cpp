// Bytes as request targets, Accept headers, User-Agents, token files and endpoints.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/http/negotiate.h"
#include "embedded/apiserver/http/options.h"
#include "embedded/apiserver/http/resource_path.h"
#include "http/listen_address.h"
#include "http/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth::apiserver;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = berth::http::parse_target(text)) {
    BERTH_INVARIANT(!target->path.empty() && target->path.front() == '/');
    for (const std::string& part : target->segments) BERTH_INVARIANT(part != "..");
    if (const auto path = http::resource_path(target->segments)) BERTH_INVARIANT(!path->resource.version.empty());
    for (const auto verb : {berth::api::Verb::kCreate, berth::api::Verb::kPatch, berth::api::Verb::kDelete,
                            berth::api::Verb::kList, berth::api::Verb::kWatch}) {
      berth::api::RestRequest request;
      request.verb = verb;
      const auto refusal = http::apply_options(target->query, text, request);
      BERTH_INVARIANT(!refusal || refusal->code >= 400);
    }
  }
  http::negotiate(text, {true, true, true});
  BERTH_INVARIANT(http::manager_of_user_agent(text).size() <= 128);
  http::TokenTable::parse(text);
  (void)berth::http::parse_listen_address("--listen", std::string(text));
  return 0;
}
