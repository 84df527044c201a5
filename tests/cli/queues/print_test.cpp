// The formats of -o, and tables.
#include "cli/queues/print.h"

#include <gtest/gtest.h>

#include "cli/table.h"

namespace berth::cli::queues::print_test {
namespace {

const Json kList = parse_json(R"({"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "a", "managedFields": [1]},
   "spec": {"b": 2, "a": [1, 2]}},
  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Running"}}]})")
                       .value();

std::string shown(const std::string& format, bool managed_fields = false) {
  auto parsed = parse_format(format);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  if (!parsed) return "";
  parsed->managed_fields = managed_fields;
  return printed(*parsed, kList);
}

TEST(Formats, AreThoseOfKubectl) {
  EXPECT_EQ(shown("name"), "localqueue.kueue.x-k8s.io/a\npod/p\n");
  EXPECT_EQ(shown("json").find("managedFields"), std::string::npos);
  EXPECT_NE(shown("json", true).find("managedFields"), std::string::npos);
  EXPECT_EQ(shown("yaml").find("apiVersion: v1\nitems:\n"), 0U);
  EXPECT_EQ(shown("jsonpath={.items[*].metadata.name}"), "a p");
  EXPECT_EQ(shown("jsonpath={range .items[*]}{.kind}{\"\\t\"}{@.metadata.name}{\"\\n\"}{end}done"),
            "LocalQueue\ta\nPod\tp\ndone");
  EXPECT_EQ(shown("jsonpath={.items[0].spec.a} {.items[?(@.kind==\"Pod\")].status.phase} {.none}"), "[1,2] Running ");
  EXPECT_EQ(shown("jsonpath=no paths"), "no paths");
}

TEST(Formats, TellWhatIsWrong) {
  for (const char* format : {"xml", "jsonpath", "go-template={{.}}", "JSON"}) {
    const auto parsed = parse_format(format);
    ASSERT_FALSE(parsed) << format;
    EXPECT_EQ(parsed.error().message,
              "--output \"" + std::string(format) + "\": expected json, yaml, name, wide or jsonpath=TEMPLATE");
  }
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "{range .a}";
  for (const std::string& text : {std::string("{.a"), std::string("{range .a}x"), std::string("x{end}"),
                                  std::string("{.a[}"), std::string("{\"a}"), deep}) {
    const auto parsed = parse_format("jsonpath=" + text);
    EXPECT_FALSE(parsed) << text;
  }
}

TEST(Tables, AreAsWideAsTheirCells) {
  Table table({"NAME", "WHY"});
  table.add({{"a"}, {"x"}});
  table.add({{"longer"}, {""}});
  EXPECT_EQ(table.text(false), "NAME     WHY\na        x\nlonger\n");
}

TEST(Tables, ColourOnlyWhenAsked) {
  Table table({"NAME", "STATUS"});
  table.add({{"a"}, {"ADMITTED", Tone::kGood}});
  EXPECT_EQ(table.text(false).find('\033'), std::string::npos);
  EXPECT_EQ(table.text(true), "NAME   STATUS\na      \033[32mADMITTED\033[0m\n");
}

// What others wrote into an object gives a terminal no orders.
TEST(Tables, HaveNoControlCharacters) {
  Table table({"NAME"});
  table.add({{"a\033[2J\nb\x7f"}});
  EXPECT_EQ(table.text(true), "NAME\na [2J b\n");
}

}  // namespace
}  // namespace berth::cli::queues::print_test
