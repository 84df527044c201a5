// The v1beta2 form of topology assignments: every valid form is read, written ones read back, large assignments stay
// small, and errors name the place.
#include "api/kueue/topology_assignment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/yaml.h"

namespace berth::api::kueue::topology_assignment_test {
namespace {

constexpr std::size_t kObjectLimit = 1536u << 10;  // of etcd: 1.5 MiB

TopologyAssignment hosts(const std::vector<std::pair<std::string, std::int32_t>>& domains) {
  TopologyAssignment assignment;
  assignment.levels = {"kubernetes.io/hostname"};
  for (const auto& [name, count] : domains) assignment.domains.push_back({{name}, count});
  return assignment;
}

Json yaml(std::string_view text) {
  auto documents = parse_yaml(text);
  EXPECT_TRUE(documents) << documents.error().message;
  return documents->at(0);
}

std::string written(const TopologyAssignment& assignment) { return to_string(encode_topology_assignment(assignment)); }

void expect_same(const TopologyAssignment& assignment) {
  const auto read = decode_topology_assignment(encode_topology_assignment(assignment));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(*read == assignment) << written(assignment).substr(0, 2000);
}

TEST(TopologyAssignmentText, WritesWhatAllDomainsShareOnce) {
  EXPECT_EQ(written(hosts({{"tn-r1-n1", 2}, {"tn-r1-n2", 2}, {"tn-r1-n3", 2}})),
            R"({"levels":["kubernetes.io/hostname"],"slices":[{"domainCount":3,"valuesPerLevel":[{"individual":)"
            R"({"prefix":"tn-r1-n","roots":["1","2","3"]}}],"podCounts":{"universal":2}}]})");
  EXPECT_EQ(written(hosts({{"a", 7}})),
            R"({"levels":["kubernetes.io/hostname"],"slices":[{"domainCount":1,"valuesPerLevel":[{"universal":"a"}],)"
            R"("podCounts":{"universal":7}}]})");
  EXPECT_EQ(written(hosts({})), R"({"levels":["kubernetes.io/hostname"],"slices":[]})");
}

TEST(TopologyAssignmentText, PrefixAndSuffixDoNotOverlap) {
  const auto assignment = hosts({{"n1", 1}, {"n11", 2}, {"n111", 3}});
  EXPECT_EQ(written(assignment),
            R"({"levels":["kubernetes.io/hostname"],"slices":[{"domainCount":3,"valuesPerLevel":[{"individual":)"
            R"({"prefix":"n","suffix":"1","roots":["","1","11"]}}],"podCounts":{"individual":[1,2,3]}}]})");
  expect_same(assignment);
}

TEST(TopologyAssignmentText, SplitsByPrefixOfHostnamesWhenThatIsSmaller) {
  std::vector<std::pair<std::string, std::int32_t>> domains;
  for (const char* pool : {"gke-training-pool-a100-us-central1-a-", "gke-training-pool-h100-us-central1-b-"})
    for (int i = 100; i < 150; ++i) domains.emplace_back(pool + std::to_string(i), 8);
  const auto assignment = hosts(domains);
  const Json json = encode_topology_assignment(assignment);
  const auto& slices = array_at(json, {"slices"});
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(string_at(array_at(slices[1], {"valuesPerLevel"})[0], {"individual", "prefix"}),
            "gke-training-pool-h100-us-central1-b-1");
  expect_same(assignment);

  // With only two pairs a second slice would make the text longer.
  const auto few = hosts({{"a-1", 1}, {"a-2", 1}, {"b-1", 1}, {"b-2", 1}});
  EXPECT_EQ(array_at(encode_topology_assignment(few), {"slices"}).size(), 1u);
}

TEST(TopologyAssignmentText, OnlyHostnamesAreSplit) {
  TopologyAssignment assignment;
  assignment.levels = {"block", "rack"};
  for (const char* block : {"a-very-long-name-of-a-block-1", "a-very-long-name-of-a-block-2"})
    for (int i = 0; i < 40; ++i)
      assignment.domains.push_back({{block, std::string(block) + "-rack-" + std::to_string(i)}, 1});
  EXPECT_EQ(array_at(encode_topology_assignment(assignment), {"slices"}).size(), 1u);
  expect_same(assignment);
}

TEST(TopologyAssignmentText, ShortensPrefixesUntilThereAreFewEnoughSlices) {
  std::vector<std::pair<std::string, std::int32_t>> domains;
  for (int pool = 0; pool < 1500; ++pool)
    for (int i = 0; i < 2; ++i)
      domains.emplace_back("some-cluster-" + std::to_string(pool % 3) + "-pool-" + std::to_string(10000 + pool) +
                               "-node-" + std::to_string(i),
                           1);
  std::sort(domains.begin(), domains.end());
  const auto assignment = hosts(domains);
  const Json json = encode_topology_assignment(assignment);
  EXPECT_EQ(array_at(json, {"slices"}).size(), 3u) << "one for each cluster, not for each pool";
  expect_same(assignment);
}

// Names like those of cloud providers: a node pool, then a random suffix.
TopologyAssignment large(std::size_t nodes, std::size_t per_pool, bool same_counts) {
  std::vector<std::pair<std::string, std::int32_t>> domains;
  std::uint64_t state = 17;
  for (std::size_t i = 0; i < nodes; ++i) {
    std::string name = "gke-prod-training-a3-mega-pool-" + std::to_string(1000 + i / per_pool) + "-";
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::uint64_t digits = (state >> 33) % 1679616;  // 36^4
    for (int d = 0; d < 4; ++d, digits /= 36) name += "0123456789abcdefghijklmnopqrstuvwxyz"[digits % 36];
    domains.emplace_back(std::move(name), same_counts ? 8 : static_cast<std::int32_t>(1 + i % 8));
  }
  std::sort(domains.begin(), domains.end());
  domains.erase(
      std::unique(domains.begin(), domains.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
      domains.end());
  return hosts(domains);
}

TEST(TopologyAssignmentText, AssignmentOver150000NodesFitsIntoAnObject) {
  for (const std::size_t per_pool : {200, 1000, 50000}) {
    for (const bool same_counts : {true, false}) {
      const auto assignment = large(155'000, per_pool, same_counts);
      ASSERT_GE(assignment.domains.size(), 150'000u);
      EXPECT_LT(written(assignment).size(), kObjectLimit) << per_pool << " " << same_counts;
      expect_same(assignment);
    }
  }
}

TEST(TopologyAssignmentText, NoSliceHasMoreDomainsThanTheSchemaAllows) {
  std::vector<std::pair<std::string, std::int32_t>> domains;
  for (int i = 0; i < 150'000; ++i) domains.emplace_back("node-" + std::to_string(100'000 + i), 1);
  const auto assignment = hosts(domains);
  const Json json = encode_topology_assignment(assignment);
  for (const Json& slice : array_at(json, {"slices"})) EXPECT_LE(int_at(slice, {"domainCount"}), 100'000);
  EXPECT_LT(to_string(json).size(), kObjectLimit);
  expect_same(assignment);
}

TEST(TopologyAssignmentText, ReadsEveryForm) {
  const auto read = decode_topology_assignment(yaml(R"(
levels: [block, rack]
slices:
- domainCount: 2
  valuesPerLevel: [{universal: b1}, {individual: {prefix: r-, suffix: .x, roots: ["1", "2"]}}]
  podCounts: {individual: [3, 4]}
- domainCount: 1
  valuesPerLevel: [{universal: b2}, {individual: {roots: [r]}}]
  podCounts: {universal: 5}
)"));
  ASSERT_TRUE(read) << read.error().message;
  const TopologyAssignment expected{{"block", "rack"}, {{{"b1", "r-1.x"}, 3}, {{"b1", "r-2.x"}, 4}, {{"b2", "r"}, 5}}};
  EXPECT_TRUE(*read == expected);
}

TEST(TopologyAssignmentText, MalformedOnesSayWhere) {
  const auto error = [](std::string_view text) {
    const auto read = decode_topology_assignment(yaml(text));
    return read ? std::string("read") : read.error().message;
  };
  EXPECT_EQ(error("{}"), "levels: expected 1 to 16 node labels");
  EXPECT_EQ(error("levels: [1]"), "levels: expected strings");
  EXPECT_EQ(error("{levels: [h], slices: [{}]}"), "slices[0].domainCount: expected a number from 1 to 100000");
  EXPECT_EQ(error("{levels: [h], slices: [{domainCount: 1}]}"),
            "slices[0].valuesPerLevel: expected 1 entries, one for each level, found 0");
  EXPECT_EQ(error("{levels: [h], slices: [{domainCount: 1, valuesPerLevel: [{}]}]}"),
            "slices[0].valuesPerLevel[0]: expected exactly one of universal and individual");
  EXPECT_EQ(error("{levels: [h], slices: [{domainCount: 2, valuesPerLevel: [{individual: {roots: [a]}}]}]}"),
            "slices[0].valuesPerLevel[0].individual.roots: expected 2 strings, one for each domain, found 1");
  EXPECT_EQ(error("{levels: [h], slices: [{domainCount: 1, valuesPerLevel: [{universal: a}]}]}"),
            "slices[0].podCounts: missing");
  EXPECT_EQ(
      error("{levels: [h], slices: [{domainCount: 1, valuesPerLevel: [{universal: a}], podCounts: {universal: 0}}]}"),
      "slices[0].podCounts.universal: expected a number from 1 to 2147483647");
  EXPECT_EQ(error("{levels: [h], slices: [{domainCount: 1, valuesPerLevel: [{universal: a}], "
                  "podCounts: {universal: 1, individual: [1]}}]}"),
            "slices[0].podCounts: expected exactly one of universal and individual");
}

TEST(TopologyAssignmentText, AFewBytesCannotNameMillionsOfDomains) {
  JsonArray slices;
  for (int i = 0; i < 1000; ++i)
    slices.push_back(yaml("{domainCount: 100000, valuesPerLevel: [{universal: a}], podCounts: {universal: 1}}"));
  const auto read = decode_topology_assignment(JsonObject{{"levels", JsonArray{"h"}}, {"slices", slices}});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "slices[10].domainCount: more than 1000000 domains in all");
}

// Names of few letters and dashes share many prefixes and suffixes.
rc::Gen<std::string> name_gen() {
  return rc::gen::map(rc::gen::container<std::string>(rc::gen::element('a', 'b', '-')),
                      [](std::string text) { return text.substr(0, 12); });
}

RC_GTEST_PROP(TopologyAssignmentText, WhatWasWrittenReadsBack, ()) {
  TopologyAssignment assignment;
  const auto levels = static_cast<std::size_t>(*rc::gen::inRange(1, 4));
  assignment.levels = {"kubernetes.io/hostname"};
  while (assignment.levels.size() < levels)
    assignment.levels.insert(assignment.levels.begin(), "level" + std::to_string(assignment.levels.size()));
  const auto count = *rc::gen::inRange(0, 60);
  for (int i = 0; i < count; ++i) {
    TopologyDomain domain;
    for (std::size_t l = 0; l < levels; ++l) domain.values.push_back(*name_gen());
    domain.count = *rc::gen::inRange(1, 4);
    assignment.domains.push_back(std::move(domain));
  }
  const auto read = decode_topology_assignment(encode_topology_assignment(assignment));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == assignment);
}

}  // namespace
}  // namespace berth::api::kueue::topology_assignment_test
