#include "base/json_path.h"

#include <gmock/gmock.h>

#include "base/yaml.h"

namespace berth::json_path_test {
namespace {

constexpr std::string_view kObject = R"(
spec: {a: {b: [1, 2, {c: x}]}, d.e: dotted}
metadata: {labels: {app.kubernetes.io/name: web}}
status:
  conditions:
  - {type: Admitted, status: "True", n: 1}
  - {type: Finished, status: "False", n: 2}
)";

struct Case {
  std::string_view path, values;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.path; }
};

class JsonPathFinds : public ::testing::TestWithParam<Case> {};

TEST_P(JsonPathFinds, Values) {
  const Json object = parse_yaml(kObject)->front();
  auto path = JsonPath::compile(GetParam().path);
  ASSERT_TRUE(path.has_value()) << path.error().message;
  std::string found;
  for (const Json* value : path->find_all(object)) found += (found.empty() ? "" : " ") + to_string(*value);
  EXPECT_EQ(found, GetParam().values);
}

INSTANTIATE_TEST_SUITE_P(All, JsonPathFinds,
                         ::testing::Values(Case{".spec.a.b[0]", "1"}, Case{"spec.a.b[-1].c", "\"x\""},
                                           Case{".spec.a.b[*]", "1 2 {\"c\":\"x\"}"},
                                           Case{".spec.a.b[1:]", "2 {\"c\":\"x\"}"}, Case{".spec.a.b[0:2]", "1 2"},
                                           Case{".spec['d.e']", "\"dotted\""}, Case{".spec.d\\.e", "\"dotted\""},
                                           Case{".metadata.labels.app\\.kubernetes\\.io/name", "\"web\""},
                                           Case{".status.conditions[?(@.type==\"Admitted\")].status", "\"True\""},
                                           Case{".status.conditions[?(@.type=='Finished')].status", "\"False\""},
                                           Case{".status.conditions[?(@.n > 1)].type", "\"Finished\""},
                                           Case{".status.conditions[?(@.n != 1)].type", "\"Finished\""},
                                           Case{".status.conditions[?(@.n)].type", "\"Admitted\" \"Finished\""},
                                           Case{".status.conditions[?(@.zz)].type", ""}, Case{".nothing.here", ""},
                                           Case{"..type", "\"Admitted\" \"Finished\""}, Case{"$.spec.a.b[0]", "1"},
                                           Case{".spec.a.b[7]", ""}, Case{".spec[0]", ""}));

TEST(JsonPath, RefusesWhatIsNoPath) {
  for (std::string_view text :
       {".a[", ".a]", ".a[?(@.b==)]", ".a[?(b)]", ".a[x]", ".a.", ".a['b]", ".a b", "..a..b..c", ".a[0:1:0]"}) {
    EXPECT_FALSE(JsonPath::compile(text).has_value()) << text;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += ".a";
  EXPECT_FALSE(JsonPath::compile(deep).has_value());
}

TEST(JsonPath, ReportsPlainPathsAndTheirNames) {
  auto plain = JsonPath::compile(".spec['d.e'].f");
  EXPECT_TRUE(plain->is_plain());
  EXPECT_THAT(plain->names(), ::testing::ElementsAre("spec", "d.e", "f"));
  EXPECT_FALSE(JsonPath::compile(".spec.a[0]")->is_plain());
}

TEST(JsonPath, StopsAtTheLimit) {
  const Json list = Json(JsonArray{1, 2, 3});
  EXPECT_EQ(JsonPath::compile("[*]")->find_all(list, 2).size(), 2u);
}

}  // namespace
}  // namespace berth::json_path_test
