#include "embedded/commands/apply_objects.h"

#include <utility>

#include "api/status.h"
#include "base/log.h"

namespace berth::cli {
namespace {

constexpr int kMaxAttempts = 50;  // for an object whose kind is not served yet: a new definition needs a moment
constexpr std::chrono::milliseconds kBetweenAttempts{100};
constexpr int kConflict = 409;

std::string described(const Json& object) {
  const std::string_view ns = string_at(object, {"metadata", "namespace"});
  std::string text(string_at(object, {"kind"}));
  const std::string_view name = string_at(object, {"metadata", "name"});
  text += " " + (ns.empty() ? "" : std::string(ns) + "/") +
          std::string(name.empty() ? string_at(object, {"metadata", "generateName"}) : name);
  return text;
}

// Applies the objects one after the other; keeps itself alive until done.
class Applying : public std::enable_shared_from_this<Applying> {
 public:
  Applying(api::RestClient& client, const apiserver::Registry& registry, Executor& executor,
           std::vector<ObjectToApply> objects, std::function<void(Result<void>)> done)
      : client_(client),
        registry_(registry),
        executor_(executor),
        objects_(std::move(objects)),
        done_(std::move(done)) {}

  void next() {
    if (at_ == objects_.size()) return done_({});
    const ObjectToApply& o = objects_[at_];
    const std::string_view api_version = string_at(o.object, {"apiVersion"});
    const std::size_t slash = api_version.find('/');
    const bool core = slash == std::string_view::npos;
    const auto info =
        registry_.find_kind(core ? "" : api_version.substr(0, slash),
                            core ? api_version : api_version.substr(slash + 1), string_at(o.object, {"kind"}));
    if (!info)
      return again("no kind \"" + std::string(string_at(o.object, {"kind"})) + "\" in \"" + std::string(api_version) +
                   "\" is served");
    apply(o, *info);
  }

 private:
  void apply(const ObjectToApply& o, const apiserver::ResourceInfo& info) {
    api::RestRequest request;
    request.resource = info.gvr;
    request.name = string_at(o.object, {"metadata", "name"});
    // Only a creation lets the server complete the name.
    request.verb = request.name.empty() ? api::Verb::kCreate : api::Verb::kPatch;
    request.patch_type = api::PatchType::kApply;
    if (info.namespaced) {
      const std::string_view ns = string_at(o.object, {"metadata", "namespace"});
      request.ns = ns.empty() ? "default" : ns;
    }
    request.body = o.object;
    request.field_manager = "berth";
    request.force = o.force;
    request.user = {"system:apiserver", {"system:masters"}};
    client_.call(std::move(request),
                 [self = shared_from_this()](api::RestResponse response) { self->on_answer(response); });
  }

  void on_answer(const api::RestResponse& response) {
    const ObjectToApply& o = objects_[at_];
    if (response.ok() || (response.code == kConflict && !o.force)) {
      if (!response.ok()) log::info("left as it is", {{"object", described(o.object)}});
      ++at_;
      attempts_ = 0;
      return next();
    }
    done_(fail(o.origin + ": " + described(o.object) + ": " + std::string(api::status_message(response))));
  }

  void again(const std::string& why) {
    if (++attempts_ >= kMaxAttempts) {
      return done_(fail(objects_[at_].origin + ": " + described(objects_[at_].object) + ": " + why));
    }
    executor_.after(kBetweenAttempts, [self = shared_from_this()] { self->next(); });
  }

  api::RestClient& client_;
  const apiserver::Registry& registry_;
  Executor& executor_;
  std::vector<ObjectToApply> objects_;
  std::function<void(Result<void>)> done_;
  std::size_t at_ = 0;
  int attempts_ = 0;
};

}  // namespace

void apply_objects(api::RestClient& client, const apiserver::Registry& registry, Executor& executor,
                   std::vector<ObjectToApply> objects, std::function<void(Result<void>)> done) {
  auto applying = std::make_shared<Applying>(client, registry, executor, std::move(objects), std::move(done));
  executor.post([applying] { applying->next(); });
}

}  // namespace berth::cli
