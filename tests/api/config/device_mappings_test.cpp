// resources.deviceClassMappings (KEP-2941).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/config/read.h"

namespace berth::api::config::device_mappings_test {
namespace {

using testing_support::error_of;
using testing_support::kHead;
using testing_support::read;

std::string mappings(const std::string& items) { return kHead + "resources: {deviceClassMappings: [" + items + "]}\n"; }
std::string source(const std::string& what) {
  return mappings("{name: g, deviceClassNames: [a], sources: [" + what + "]}");
}
const std::string kSelector = "deviceSelector: {cel: {expression: 'true'}}";

TEST(DeviceMappings, AreRead) {
  const auto read_in =
      read(mappings("{name: team/accel, deviceClassNames: [a.example.com, b.example.com]}, "
                    "{name: memory, deviceClassNames: [c], sources: [{counter: {name: mem, driver: "
                    "d.example.com, " +
                    kSelector + "}}]}"));
  ASSERT_EQ(read_in.device_class_mappings.size(), 2U);
  EXPECT_EQ(read_in.device_class_mappings[0].name, "team/accel");
  EXPECT_TRUE(read_in.device_class_mappings[0].maps("b.example.com"));
  EXPECT_TRUE(read_in.device_class_mappings[1].has(DeviceSource::Kind::kCounter));
  EXPECT_EQ(read_in.device_class_mappings[1].sources[0].driver, "d.example.com");
  EXPECT_TRUE(read_in.not_honoured.empty());
}

TEST(DeviceMappings, MayShareAClassForDifferentCounters) {
  const auto counter = [](const std::string& mapping, const std::string& name) {
    return "{name: " + mapping + ", deviceClassNames: [a], sources: [{counter: {name: " + name + ", driver: d, " +
           kSelector + "}}]}";
  };
  EXPECT_EQ(error_of(mappings(counter("x", "memory") + ", " + counter("y", "cores"))), "");
  EXPECT_NE(error_of(mappings(counter("x", "memory") + ", " + counter("y", "memory")))
                .find("device class a already has a counter source for counter \"memory\""),
            std::string::npos);
}

TEST(DeviceMappings, AreRefused) {
  const struct {
    std::string file, path, why;
  } cases[] = {
      {mappings("{deviceClassNames: [a]}"), "[0].name", "is missing"},
      {mappings("{name: '-', deviceClassNames: [a]}"), "[0].name", "expected the name of a resource"},
      {mappings("{name: pods, deviceClassNames: [a]}"), "[0].name", "expected another name"},
      {mappings("{name: g, deviceClassNames: []}"), "[0].deviceClassNames",
       "at least one device class name is required"},
      {mappings("{name: g, deviceClassNames: [a, a]}"), "[0].deviceClassNames[1]", "expected each class once"},
      {mappings("{name: g, deviceClassNames: [a, b, c, d, e, f, g, h, i]}"), "[0].deviceClassNames",
       "expected at most 8"},
      {mappings("{name: g, deviceClassNames: [a]}, {name: g, deviceClassNames: [b]}"), "[1].name",
       "expected each name once"},
      {mappings("{name: g, deviceClassNames: [a]}, {name: h, deviceClassNames: [a]}"), "[1].deviceClassNames[0]",
       "device class a already mapped to resource g"},
      {source("{}"), "[0].sources[0]", "exactly one source type must be set per entry"},
      {source("{counter: {name: m, driver: d, " + kSelector + "}, capacity: {name: m, driver: d, " + kSelector + "}}"),
       "[0].sources[0]", "exactly one source type must be set per entry"},
      {source("{counter: {name: m, driver: d, " + kSelector + "}}, {capacity: {name: m, driver: d, " + kSelector +
              "}}"),
       "[0].sources", "cannot mix counter and capacity sources"},
      {source("{counter: {name: M_, driver: d, " + kSelector + "}}"), "[0].sources[0].counter.name", "a DNS label"},
      {source("{counter: {name: m, " + kSelector + "}}"), "[0].sources[0].counter.driver", "the name of a driver"},
      {source("{counter: {name: m, driver: d}}"), "[0].sources[0].counter.deviceSelector.cel.expression", "is missing"},
      {source("{capacity: {name: a/b/c, driver: d, " + kSelector + "}}"), "[0].sources[0].capacity.name", "dimension"},
      {mappings("{name: g, deviceClassNames: [a], colour: red}"), "[0].colour", ""},
  };
  for (const auto& each : cases) {
    const std::string found = error_of(each.file);
    EXPECT_NE(found.find("resources.deviceClassMappings" + each.path), std::string::npos) << each.file << found;
    EXPECT_NE(found.find(each.why), std::string::npos) << each.file << found;
  }
}

TEST(DeviceMappings, AreAtMostSixteen) {
  std::string many;
  for (int i = 0; i < 17; ++i)
    many +=
        (i == 0 ? "{name: g" : ", {name: g") + std::to_string(i) + ", deviceClassNames: [c" + std::to_string(i) + "]}";
  EXPECT_NE(error_of(mappings(many)).find("has 17 items, expected at most 16"), std::string::npos);
}

}  // namespace
}  // namespace berth::api::config::device_mappings_test
