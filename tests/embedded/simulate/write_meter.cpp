#include "embedded/simulate/write_meter.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kLastWrites = 20;

std::string_view word_of(api::Verb verb) {
  switch (verb) {
    case api::Verb::kCreate:
      return "POST";
    case api::Verb::kUpdate:
      return "PUT";
    case api::Verb::kPatch:
      return "PATCH";
    case api::Verb::kDelete:
    case api::Verb::kDeleteCollection:
      return "DELETE";
    default:
      return {};  // reads
  }
}

// Whether the request writes the status of a workload without an admission, with QuotaReserved=False: it only says
// why the workload waits. A new controller may write another text, because workloads with the same requests share one
// evaluation.
bool only_says_why(const api::RestRequest& request) {
  if (request.resource.resource != "workloads" || request.subresource != "status" ||
      find_path(request.body, {"status", "admission"}) != nullptr)
    return false;
  for (const auto& condition : array_at(request.body, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "QuotaReserved") return string_at(condition, {"status"}) == "False";
  }
  return false;
}

}  // namespace

WriteMeter::WriteMeter(api::RestClient& inner, Executor& executor, std::uint64_t most_per_minute,
                       std::function<void(const std::string&)> complain)
    : inner_(inner), executor_(executor), most_per_minute_(most_per_minute), complain_(std::move(complain)) {}

void WriteMeter::call(api::RestRequest request, std::function<void(api::RestResponse)> done) {
  if (!count(request)) return inner_.call(std::move(request), std::move(done));
  const bool deletes = request.verb == api::Verb::kDelete || request.verb == api::Verb::kDeleteCollection;
  std::string before(string_at(request.body, {"metadata", "resourceVersion"}));
  inner_.call(std::move(request), [this, deletes, before = std::move(before),
                                   done = std::move(done)](api::RestResponse response) {
    // The server answers a write that changes nothing with the resourceVersion that the request named.
    changes_ +=
        response.ok() && (deletes || string_at(response.body, {"metadata", "resourceVersion"}) != before) ? 1 : 0;
    done(std::move(response));
  });
}

std::unique_ptr<api::WatchHandle> WriteMeter::watch(api::RestRequest request,
                                                    std::function<void(const api::WatchEvent&)> on_event,
                                                    std::function<void()> on_end) {
  return inner_.watch(std::move(request), std::move(on_event), std::move(on_end));
}

bool WriteMeter::count(const api::RestRequest& request) {
  const auto word = word_of(request.verb);
  if (word.empty()) return false;
  ++writes_;
  if (written_) written_(request);
  const bool changes = request.verb == api::Verb::kUpdate || request.verb == api::Verb::kPatch;
  if (changes && request.resource.resource != "events" &&
      string_at(request.body, {"metadata", "resourceVersion"}).empty())
    complain_("a write does not name the version that it is about: " + std::string(word) + " " +
              request.resource.resource + " " + request.name + " " + to_string(request.body));
  // A creation names its object in the body only. Each Event has its own name, so many Events about one object do not
  // count as writes of one object.
  const auto name =
      !request.name.empty() ? std::string_view(request.name) : string_at(request.body, {"metadata", "name"});
  std::string what = std::string(word) + " " + request.resource.resource +
                     (request.subresource.empty() ? "" : "/" + request.subresource) + " " +
                     api::object_key(request.ns, name);
  last_.push_back({executor_.now(), what, to_string(request.body)});
  if (last_.size() > kLastWrites) last_.pop_front();
  Pace& pace = paces_[what];
  if (executor_.now() - pace.since > std::chrono::minutes(1)) pace = {executor_.now(), 0};
  ++pace.writes;
  most_seen_ = std::max(most_seen_, pace.writes);
  if (pace.writes == most_per_minute_ + 1)
    complain_("hot loop: more than " + std::to_string(most_per_minute_) + " writes in a minute: " + what + " " +
              last_.back().body);
  return request.resource.resource != "events" && !only_says_why(request);
}

}  // namespace berth::simulation
