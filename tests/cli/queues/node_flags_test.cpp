// Labels, taints, tolerations and selectors in flags.
#include "cli/queues/node_flags.h"

#include <gtest/gtest.h>

#include <functional>

namespace berth::cli::queues::node_flags_test {
namespace {

using Parse = std::function<Result<Json>(const std::string&)>;

Parse of(Result<JsonObject> (*parse)(std::string_view, const std::vector<std::string>&)) {
  return [parse](const std::string& value) {
    return parse("--flag", {value}).map([](JsonObject o) { return Json(std::move(o)); });
  };
}
Parse of(Result<JsonArray> (*parse)(std::string_view, const std::vector<std::string>&)) {
  return [parse](const std::string& value) {
    return parse("--flag", {value}).map([](JsonArray a) { return Json(std::move(a)); });
  };
}

void becomes(const Parse& parse, const std::string& value, const std::string& expected) {
  const auto parsed = parse(value);
  ASSERT_TRUE(parsed) << value << ": " << parsed.error().message;
  EXPECT_TRUE(json_equal(*parsed, parse_json(expected).value())) << value << ": " << to_string(*parsed);
}

// The error names the flag and says what was expected.
void is_refused(const Parse& parse, const std::string& value, const std::string& expected) {
  const auto parsed = parse(value);
  ASSERT_FALSE(parsed) << value << ": " << to_string(*parsed);
  EXPECT_EQ(parsed.error().message.find("--flag"), 0U) << parsed.error().message;
  EXPECT_NE(parsed.error().message.find(expected), std::string::npos) << value << ": " << parsed.error().message;
}

TEST(NodeFlags, Labels) {
  becomes(of(parse_labels), "pool=a,zone=", R"({"pool": "a", "zone": ""})");
  is_refused(of(parse_labels), "pool", "expected KEY=VALUE");
  is_refused(of(parse_labels), "", "expected KEY=VALUE");
  is_refused(of(parse_labels), "a=b,,c=d", "expected KEY=VALUE");
  is_refused(of(parse_labels), "=b", "expected KEY=VALUE");
  is_refused(of(parse_labels), "a b=c", "labels: Invalid value");
  is_refused(of(parse_labels), "a=b c", "labels: Invalid value");
}

TEST(NodeFlags, Taints) {
  becomes(of(parse_taints), "key1=value:NoSchedule,key2:NoExecute",
          R"([{"effect": "NoSchedule", "key": "key1", "value": "value"}, {"effect": "NoExecute", "key": "key2"}])");
  for (const char* value : {"wrong", "", "key:Never", "key", ":NoSchedule", "=v:NoSchedule", "key:NoSchedule:x"})
    is_refused(of(parse_taints), value, "expected KEY=VALUE:EFFECT or KEY:EFFECT, with effect NoSchedule");
  is_refused(of(parse_taints), "a:NoSchedule,a=b:NoSchedule", "Duplicate value");
}

TEST(NodeFlags, Tolerations) {
  becomes(of(parse_tolerations), "key1=value:NoSchedule,key2:NoExecute,key3=value,key4,:PreferNoSchedule", R"([
    {"key": "key1", "operator": "Equal", "value": "value", "effect": "NoSchedule"},
    {"key": "key2", "operator": "Exists", "effect": "NoExecute"},
    {"key": "key3", "operator": "Equal", "value": "value"},
    {"key": "key4", "operator": "Exists"},
    {"operator": "Exists", "effect": "PreferNoSchedule"}])");
  for (const char* value : {"", "key:Never", "=v", ":", "a,,b"})
    is_refused(of(parse_tolerations), value, "expected KEY=VALUE:EFFECT, KEY=VALUE, KEY:EFFECT, KEY or :EFFECT");
}

TEST(NodeFlags, Selectors) {
  const Parse parse = [](const std::string& value) {
    return parse_selector("--flag", value).map([](JsonObject o) { return Json(std::move(o)); });
  };
  becomes(parse, "", "{}");
  becomes(parse, "team=a,env in (dev,test),!legacy,tier!=x", R"({
    "matchLabels": {"team": "a"},
    "matchExpressions": [{"key": "env", "operator": "In", "values": ["dev", "test"]},
                         {"key": "legacy", "operator": "DoesNotExist"},
                         {"key": "tier", "operator": "NotIn", "values": ["x"]}]})");
  is_refused(parse, "team in", "expected a label selector such as team=a");
  is_refused(parse, "a===b", "expected a label selector");
  is_refused(parse, "size > 3", "expected no < and no >");
}

}  // namespace
}  // namespace berth::cli::queues::node_flags_test
