#include "controller/shell.h"

#include <utility>

#include "api/resources.h"
#include "jobs/job_adapter.h"
#include "jobs/pods/pod_plan.h"

namespace berth::controller {
namespace {

// Event names must differ from those of other recorders with the same seed.
constexpr std::uint64_t kEventSeed = 0x6265727468;

// Kinds whose objects make their pods again, such as StatefulSets, are not among them.
std::optional<JobResource> job_resource(const ControllerOptions& options, const api::OwnerReference& owner) {
  const auto& batch = jobs::batch_job().kind();
  if (owner.kind == batch.kind && owner.api_version == batch.api_version())
    return JobResource{batch.resource, batch.controller};
  if (options.manage_pods && owner.kind == "Pod" && owner.api_version == "v1")
    return JobResource{api::kPods, std::string(jobs::kPodController)};
  for (const auto& known : options.kinds) {
    const auto& kind = *known.description;
    if (known.managed && owner.kind == kind.kind && owner.api_version == kind.api_version())
      return JobResource{kind.resource, kind.controller()};
  }
  return std::nullopt;
}

}  // namespace

Shell::Shell(api::RestClient& api_client, Executor& its_executor, ControllerOptions its_options,
             EffectReceiver& receiver)
    : client(api_client),
      executor(its_executor),
      options(std::move(its_options)),
      writes(client, executor),
      events(client, executor, {.instance = "berth", .seed = options.seed ^ kEventSeed}),
      unreadable(events, [this] { return leading_; }),
      host(
          executor, writes, events, options.engine, receiver,
          [this](const api::OwnerReference& owner) { return job_resource(options, owner); }, options.journal),
      queue_status_rate(options.queue_status_rate, executor.now()) {}

kube::InformerOptions Shell::informer_options(bool keep_objects) {
  kube::InformerOptions out;
  out.keep_objects = keep_objects;
  out.seed = options.seed * 1000 + ++informers_;
  return out;
}

void Shell::lead() {
  leading_ = true;
  host.lead();
  unreadable.report_all();
}

}  // namespace berth::controller
