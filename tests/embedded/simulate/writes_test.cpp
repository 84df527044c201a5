// The controller writes as little per admitted workload as bench/budgets.yaml says.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/yaml.h"
#include "embedded/simulate/load.h"
#include "embedded/simulate/load_run.h"
#include "source_dir.h"

namespace berth::simulation::writes_test {
namespace {

using As = simulate::LoadAs;

constexpr std::size_t kOfEachSet = 10;  // of the sample's sets: 150 workloads

std::string text_of(const std::string& path) {
  std::ifstream in(source_path(path));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Range {
  double least = 0, most = 0;
};

Range budget(const std::string& name) {
  const auto documents = parse_yaml(text_of("bench/budgets.yaml"));
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << "bench/budgets.yaml: " << (documents ? "expected one document" : documents.error().message);
    return {};
  }
  const Json* range = find_path(documents->front(), {"writes", name});
  if (range == nullptr) {
    ADD_FAILURE() << "bench/budgets.yaml: writes." << name << " is missing";
    return {};
  }
  return {range->at("least").to_number<double>(), range->at("most").to_number<double>()};
}

class Budgets : public testing::TestWithParam<std::pair<As, const char*>> {};

TEST_P(Budgets, WritesPerAdmittedWorkload) {
  const auto& [as, name] = GetParam();
  const auto load = simulate::parse_load(text_of("config/samples/load.yaml"), {kOfEachSet});
  ASSERT_TRUE(load) << load.error().message;
  simulate::LoadRunOptions options;
  options.as = as;
  const auto report = simulate::run_load(*load, options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->finished, report->count);
  std::string requests;
  std::uint64_t writes = 0;
  for (const auto& [what, count] : report->controller_requests) {
    requests += "\n  " + std::to_string(count) + " " + what;
    if (what.starts_with("create ") || what.starts_with("update ") || what.starts_with("patch ") ||
        what.starts_with("delete "))
      writes += count;
  }
  const double per_workload = static_cast<double>(writes) / static_cast<double>(report->finished);
  const Range range = budget(name);
  EXPECT_GE(per_workload, range.least) << "cheaper than bench/budgets.yaml says: lower writes." << name << requests;
  EXPECT_LE(per_workload, range.most) << "the controller writes more than bench/budgets.yaml allows" << requests;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Budgets,
                         testing::Values(std::pair(As::kWorkloads, "workloads"), std::pair(As::kJobs, "jobs"),
                                         std::pair(As::kPods, "pods")),
                         [](const auto& kind) { return std::string(kind.param.second); });

}  // namespace
}  // namespace berth::simulation::writes_test
