#include "embedded/apiserver/server/api_server.h"

#include <array>
#include <optional>
#include <utility>

#include "embedded/apiserver/builtin/builtin.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/discovery/discovery.h"
#include "embedded/apiserver/gc/event_expiry.h"
#include "embedded/apiserver/gc/garbage_collector.h"
#include "embedded/apiserver/gc/namespace_lifecycle.h"
#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/core.h"
#include "embedded/apiserver/requests/crds.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/requests.h"
#include "embedded/apiserver/requests/watches.h"

namespace berth::apiserver {
namespace {

constexpr JsonLimits kDocuments{.max_bytes = 64u << 20, .max_depth = 256};  // of OpenAPI, which the server makes itself
constexpr std::array<std::string_view, 4> kNamespaces{"default", "kube-system", "kube-public", "kube-node-lease"};

}  // namespace

// The controllers that run inside the server.
struct Controllers {
  Controllers(Core& core, Requests& requests) : collector(core, requests), namespaces(core, requests), events(core) {
    collector.load();
    namespaces.load();
    events.load();
  }
  void on_change(const Change& change) {
    collector.on_change(change);
    namespaces.on_change(change);
    events.on_change(change);
  }
  GarbageCollector collector;
  NamespaceLifecycle namespaces;
  EventExpiry events;
};

struct ApiServer::Impl {
  Impl(Executor& executor, std::unique_ptr<Log> log, const ApiServerOptions& options)
      : core(executor, std::move(log), options), crds(core), requests(core, crds) {}
  // Every request gets exactly one response, even when the server is destroyed before a write is durable.
  ~Impl() {
    core.freshness.abandon();
    core.store.abandon();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> start();
  void on_durable(const Change& change);
  Result<void> create_namespace(std::string_view name);
  void read_document(const std::string& path, std::function<void(api::RestResponse)> done);

  Core core;
  discovery::Discovery documents{core.registry, {}};
  Crds crds;
  Requests requests;
  std::optional<Controllers> controllers;
};

Result<void> ApiServer::Impl::start() {
  core.store.on_write(core.options.on_write);
  if (auto loaded = core.store.load(); !loaded) return loaded;
  for (ResourcePtr& resource : builtin_resources()) core.registry.add(std::move(resource));
  core.registry.add(crd_resource());
  if (auto served = crds.load(); !served) return served;
  core.store.observe([this](const Change& change) { on_durable(change); });
  for (const std::string_view name : kNamespaces) {
    if (auto created = create_namespace(name); !created) return created;
  }
  if (core.options.controllers) controllers.emplace(core, requests);
  return {};
}

void ApiServer::Impl::on_durable(const Change& change) {
  core.watches->on_change(change);
  core.freshness.advance(change.revision);
  if (change.type == Change::Type::kDeleted) crds.on_removed(change.key);
  if (controllers) controllers->on_change(change);
}

Result<void> ApiServer::Impl::create_namespace(std::string_view name) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = {"", "v1", "namespaces"};
  request.field_manager = "kube-apiserver";
  request.body = JsonObject{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", JsonObject{{"name", name}}}};
  const Answer answer = requests.handle(request);
  if (answer.response.ok() || answer.response.code == 409) return {};
  return fail("namespace " + std::string(name) + " cannot be created: " + to_string(answer.response.body));
}

void ApiServer::Impl::read_document(const std::string& path, std::function<void(api::RestResponse)> done) {
  api::RestResponse out = not_served();
  http::HttpRequest request;
  request.method = "GET";
  request.target = path;
  if (const auto target = http::parse_target(path)) {
    const auto found = documents.get(request, *target);
    auto body = found && found->status == 200 ? parse_json(found->body, kDocuments) : Result<Json>(fail("no document"));
    if (body) out = {200, std::move(*body), {}};
  }
  core.executor.post([out = std::move(out), done = std::move(done)] { done(out); });
}

Result<std::unique_ptr<ApiServer>> ApiServer::open(Executor& executor, std::unique_ptr<Log> log,
                                                   ApiServerOptions options) {
  auto impl = std::make_unique<Impl>(executor, std::move(log), options);
  impl->core.registry.set_decorator(options.admission);
  if (auto started = impl->start(); !started) return tl::unexpected(started.error());
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(impl)));
}

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiServer::~ApiServer() = default;

void ApiServer::call(api::RestRequest request, std::function<void(api::RestResponse)> done) {
  if (!request.path.empty()) return impl_->read_document(request.path, std::move(done));
  impl_->requests.call(std::move(request), std::move(done));
}

std::unique_ptr<api::WatchHandle> ApiServer::watch(api::RestRequest request,
                                                   std::function<void(const api::WatchEvent&)> on_event,
                                                   std::function<void()> on_end) {
  return impl_->requests.watch(request, std::move(on_event), std::move(on_end));
}

const Lookup& ApiServer::objects() const { return impl_->core.lookup; }
const Registry& ApiServer::registry() const { return impl_->core.registry; }
Revision ApiServer::revision() const { return impl_->core.store.revision(); }
std::string ApiServer::storage_problem() const { return impl_->core.store.problem(); }
std::uint64_t ApiServer::storage_failures() const { return impl_->core.store.failures(); }
Time ApiServer::now() const { return impl_->core.executor.now(); }

}  // namespace berth::apiserver
