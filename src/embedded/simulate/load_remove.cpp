// Deletes the objects of a load.
#include <memory>
#include <utility>
#include <vector>

#include "embedded/simulate/load_play.h"

namespace berth::simulate {
namespace {

// Sends one request after the other, so that an object is deleted after the objects that use it.
void send_all(const std::shared_ptr<std::vector<api::RestRequest>>& requests, std::size_t next, api::RestClient& client,
              const std::function<void()>& done) {
  if (next == requests->size()) return done();
  client.call(std::move((*requests)[next]), [requests, next, &client, done](const api::RestResponse&) {
    send_all(requests, next + 1, client, done);
  });
}

}  // namespace

void remove_load(const Load& load, LoadAs as, api::RestClient& client, std::function<void()> done) {
  auto requests = std::make_shared<std::vector<api::RestRequest>>();
  api::RestRequest request;
  request.user = {"load", {"system:masters"}};
  request.body = JsonObject{{"propagationPolicy", "Background"}};
  request.verb = api::Verb::kDeleteCollection;
  for (const auto& queue : load.queues) {
    request.ns = queue.name;
    for (const std::string_view kind : {submitted_kind(as), std::string_view("Event")}) {
      request.resource = load_resource(kind);
      requests->push_back(request);
    }
  }
  request.verb = api::Verb::kDelete;
  for (auto object = load.objects.rbegin(); object != load.objects.rend(); ++object) {
    request.resource = load_resource(string_at(*object, {"kind"}));
    request.ns = string_at(*object, {"metadata", "namespace"});
    request.name = string_at(*object, {"metadata", "name"});
    requests->push_back(request);
  }
  send_all(requests, 0, client, done);
}

}  // namespace berth::simulate
