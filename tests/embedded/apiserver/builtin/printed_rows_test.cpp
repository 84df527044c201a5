#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::printed_rows_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> first_three(const Json& pod) {
  auto cells = Kind("Pod").cells(pod, "2026-11-21T10:00:00Z");
  cells.resize(3);
  return cells;
}

TEST(PodRow, ReportsTheStateInOneWord) {
  const char* kTwo = R"("spec":{"containers":[{"name":"a"},{"name":"b"}]})";
  const std::tuple<const char*, std::string, const char*, const char*> kCases[] = {
      {"pending", R"({%,"status":{"phase":"Pending"}})", "0/2", "Pending"},
      {"gated",
       R"({%,"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}})",
       "0/2", "SchedulingGated"},
      {"one runs",
       R"({%,"status":{"phase":"Running","containerStatuses":[{"name":"a","ready":true,"state":{"running":{}}},
          {"name":"b","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})",
       "1/2", "CrashLoopBackOff"},
      {"ended",
       R"({%,"status":{"phase":"Succeeded","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}})",
       "0/2", "Completed"},
      {"exit code",
       R"({%,"status":{"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3}}}]}})",
       "0/2", "ExitCode:3"},
      {"signal",
       R"({%,"status":{"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":137,"signal":9}}}]}})",
       "0/2", "Signal:9"},
      {"terminating", R"({"metadata":{"deletionTimestamp":"2026-11-21T09:59:00Z"},%,"status":{"phase":"Running"}})",
       "0/2", "Terminating"},
      {"reason", R"({%,"status":{"phase":"Failed","reason":"Evicted"}})", "0/2", "Evicted"},
  };
  for (const auto& [name, text, ready, status] : kCases) {
    std::string full = text;
    full.replace(full.find('%'), 1, kTwo);
    EXPECT_THAT(first_three(json(full)), ElementsAre(ready, status, "0")) << name;
  }
}

TEST(PodRow, ShowsInitContainersAndRestarts) {
  Json pod = json(R"({"metadata":{"creationTimestamp":"2026-11-21T09:54:30Z"},
    "spec":{"nodeName":"n1","containers":[{"name":"a"}],"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],
            "readinessGates":[{"conditionType":"x"},{"conditionType":"y"}]},
    "status":{"phase":"Pending","podIP":"10.0.0.1","conditions":[{"type":"x","status":"True"}],
      "initContainerStatuses":[{"name":"i","restartCount":2,"lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-11-21T09:59:00Z"}},
                                "state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})");
  EXPECT_THAT(Kind("Pod").cells(pod, "2026-11-21T10:00:00Z"),
              ElementsAre("0/2", "Init:CrashLoopBackOff", "2 (60s ago)", "5m30s", "10.0.0.1", "n1", "<none>", "1/2"));
}

TEST(JobRow, ShowsStatusCompletionsAndDuration) {
  auto row = [](std::string_view status, std::string_view spec) {
    std::string text = std::string(R"({"metadata":{"creationTimestamp":"2026-11-21T09:00:00Z"},"spec":)") +
                       std::string(spec) + R"(,"status":)" + std::string(status) + "}";
    auto cells = Kind("Job", "batch").cells(json(text), "2026-11-21T10:00:00Z");
    cells.resize(4);
    return cells;
  };
  EXPECT_THAT(row("{}", R"({"completions":3,"parallelism":3})"), ElementsAre("Running", "0/3", "", "60m"));
  EXPECT_THAT(row(R"({"conditions":[{"type":"Suspended","status":"True"}]})", R"({"completions":1})"),
              ElementsAre("Suspended", "0/1", "", "60m"));
  EXPECT_THAT(row(R"({"startTime":"2026-11-21T09:10:00Z","succeeded":1})", R"({"parallelism":4})"),
              ElementsAre("Running", "1/1 of 4", "50m", "60m"));
  EXPECT_THAT(row(R"({"startTime":"2026-11-21T09:10:00Z","completionTime":"2026-11-21T09:11:00Z","succeeded":1,
                      "conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]})",
                  R"({"completions":1})"),
              ElementsAre("Complete", "1/1", "60s", "60m"));
}

TEST(NodeRow, ShowsReadinessAndRoles) {
  Json node = json(
      R"({"metadata":{"creationTimestamp":"2026-11-20T10:00:00Z","labels":{"node-role.kubernetes.io/worker":"",
                       "kubernetes.io/role":"gpu"}},"spec":{"unschedulable":true},
      "status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.1.1.1"}],
                "nodeInfo":{"kubeletVersion":"v1.36.0","osImage":"Linux"}}})");
  EXPECT_THAT(Kind("Node").cells(node, "2026-11-21T10:00:00Z"),
              ElementsAre("Ready,SchedulingDisabled", "gpu,worker", "24h", "v1.36.0", "10.1.1.1", "<none>", "Linux",
                          "<unknown>", "<unknown>"));
}

TEST(EventRow, IsTheSameInBothForms) {
  Json old_form = json(
      R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p"},"reason":"R","message":" text\n",
      "type":"Normal","source":{"component":"c","host":"h"},"firstTimestamp":"2026-11-21T09:00:00Z",
      "lastTimestamp":"2026-11-21T09:58:00Z","count":7})");
  EXPECT_THAT(Kind("Event").cells(old_form, "2026-11-21T10:00:00Z"),
              ElementsAre("2m", "Normal", "R", "pod/p", "", "c, h", "text", "60m", "7", "e"));
  Json new_form = json(
      R"({"metadata":{"name":"e"},"regarding":{"kind":"Pod","name":"p"},"reason":"R","note":"text","type":"Normal",
      "eventTime":"2026-11-21T09:00:00.000000Z","reportingController":"c","reportingInstance":"i",
      "series":{"count":4,"lastObservedTime":"2026-11-21T09:59:30.000000Z"}})");
  EXPECT_THAT(Kind("Event", "events.k8s.io").cells(new_form, "2026-11-21T10:00:00Z"),
              ElementsAre("30s", "Normal", "R", "pod/p", "", "c, i", "text", "60m", "4", "e"));
}

}  // namespace
}  // namespace berth::apiserver::printed_rows_test
