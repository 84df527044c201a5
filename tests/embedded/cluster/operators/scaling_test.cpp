// The autoscaler of the pretend operators.
#include "embedded/cluster/operators/scaling.h"

#include <gmock/gmock.h>

#include "base/yaml.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::cluster::scaling_test {
namespace {

using testing::HasSubstr;

jobs::kinds::JobKindPtr kind_of(std::string_view name) {
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) {
    if (kind->kind == name) return kind;
  }
  return nullptr;
}

const api::kueue::ObjectGetter kNone = [](const auto&, auto, auto) { return nullptr; };
const Time kMade = parse_time("2026-01-01T00:00:00Z").value();

// A cluster with two groups of workers, of which the first follows the series.
Json cluster(std::string_view series) {
  return parse_yaml(
             "{metadata: {name: a, namespace: ns, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {headGroupSpec: "
             "{template: {spec: {containers: []}}}, workerGroupSpecs: [{groupName: s, replicas: 1, template: "
             "{metadata: "
             "{annotations: {berth.dev/scale: '" +
             std::string(series) +
             "'}}, spec: {containers: []}}}, {groupName: t, replicas: 5, template: {spec: {containers: []}}}]}}")
      ->front();
}

// The sizes after that many seconds, and the seconds at which they change next: "4 5, 300".
std::string scaled(std::string_view series, int seconds) {
  const Json before = cluster(series);
  const auto out = scale(*kind_of("RayCluster"), before, kNone, kMade + std::chrono::seconds(seconds));
  if (!out) return out.error().message;
  std::string text;
  for (const Json& group : array_at(out->job ? *out->job : before, {"spec", "workerGroupSpecs"}))
    text += std::to_string(int_at(group, {"replicas"})) + " ";
  text += out->job ? "written" : "as it is";
  if (out->next) text += ", next " + std::to_string((*out->next - kMade) / std::chrono::seconds(1));
  return text;
}

TEST(Scaling, FollowsTheSeries) {
  constexpr std::string_view series = "1m=4,2m=0,5m=1";
  EXPECT_EQ(scaled(series, 59), "1 5 as it is, next 60");
  EXPECT_EQ(scaled(series, 60), "4 5 written, next 120");
  EXPECT_EQ(scaled(series, 130), "0 5 written, next 300");
  EXPECT_EQ(scaled(series, 300), "1 5 as it is");
  EXPECT_EQ(scaled("5m=1,2m=0,1m=4", 130), "0 5 written, next 300") << "in any order";
  EXPECT_EQ(scaled("", 10), "1 5 as it is");
}

TEST(Scaling, SaysWhatIsWrongWithASeries) {
  for (const std::string wrong : {"4", "1m", "1m=", "1m=x", "1m=-1", "soon=4", "1m=4;2m=1"})
    EXPECT_THAT(scaled(wrong, 0), HasSubstr("has \"" + wrong + "\", expected a time and a size such as 1m=4"));
  Json job = parse_yaml(
                 "{metadata: {name: a, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {replicatedJobs: [{name: w, "
                 "template: {spec: {template: {metadata: {annotations: {berth.dev/scale: 1m=4}}, spec: {}}}}}]}}")
                 ->front();
  const auto out = scale(*kind_of("JobSet"), job, kNone, kMade);
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("is on the pod set w, whose description has no countField"));
}

}  // namespace
}  // namespace berth::cluster::scaling_test
