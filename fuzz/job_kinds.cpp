// Any bytes as a description of a kind of jobs: it is read or refused with a reason, and a kind that is read answers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/yaml.h"
#include "jobs/kinds/read/read_kind.h"
#include "kind_questions.h"

using namespace berth;
using namespace berth::jobs::kinds;

// An object that many descriptions fit.
const Json& some_job() {
  static const Json job = parse_yaml(R"(
metadata: {name: a, namespace: ns, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  suspend: true
  template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
  workers: [{name: w, replicas: 2, template: {spec: {containers: [{name: c}]}}}]
  size: 3
status: {active: 1, conditions: [{type: Running, status: "True"}]}
)")
                              .value()
                              .front();
  return job;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto kind = read_job_kind({reinterpret_cast<const char*>(data), size}, "input");
  if (!kind && kind.error().message.empty()) std::abort();
  if (!kind) return 0;
  fuzzing::ask(*kind, JsonObject());
  fuzzing::ask(*kind, some_job());
  return 0;
}
