#include "controller/shell.h"

#include <utility>

namespace berth::controller {
namespace {

// Event names must differ from those of other recorders with the same seed.
constexpr std::uint64_t kEventSeed = 0x6265727468;

}  // namespace

Shell::Shell(api::RestClient& api_client, Executor& its_executor, ControllerOptions its_options,
             EffectReceiver& receiver)
    : client(api_client),
      executor(its_executor),
      options(std::move(its_options)),
      writes(client, executor),
      events(client, executor, {.instance = "berth", .seed = options.seed ^ kEventSeed}),
      unreadable(events, [this] { return leading_; }),
      host(executor, writes, events, options.engine, receiver, options.journal),
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
  unreadable.tell_all();
}

}  // namespace berth::controller
