#include "embedded/apiserver/patch/field_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace berth::apiserver::field_set_test {
namespace {

Json json(std::string_view text) { return parse_json(text).value(); }

rc::Gen<PathElement> elements() {
  return rc::gen::element(PathElement::field("spec"), PathElement::field("a.b/c"), PathElement::field("."),
                          PathElement::key(json(R"({"name":"x","port":80})")),
                          PathElement::key(json(R"({"name":"y"})")), PathElement::value(Json("x")),
                          PathElement::value(Json(7)), PathElement{PathElement::Kind::kIndex, "3"});
}

rc::Gen<std::vector<FieldPath>> paths() {
  return rc::gen::container<std::vector<FieldPath>>(
      rc::gen::resize(4, rc::gen::nonEmpty(rc::gen::container<FieldPath>(elements()))));
}

FieldSet set_of(const std::vector<FieldPath>& members) {
  FieldSet out;
  for (const auto& path : members) out.insert(path);
  return out;
}

std::set<FieldPath> listed(const FieldSet& set) {
  std::set<FieldPath> out;
  set.for_each([&](const FieldPath& path) { out.insert(path); });
  return out;
}

TEST(FieldSet, ReadsAndWritesFieldsV1) {
  const auto fields = json(
      R"({"f:data":{".":{},"f:a":{}},"f:spec":{"f:items":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}},"f:tags":{"v:\"x\"":{},"i:3":{}}}})");
  const auto set = FieldSet::decode(fields).value();
  std::vector<std::string> texts;
  set.for_each([&](const FieldPath& path) { texts.push_back(path_text(path)); });
  EXPECT_EQ(texts, (std::vector<std::string>{".data", ".data.a", ".spec.items[name=\"c\"]",
                                             ".spec.items[name=\"c\"].image", ".spec.tags[=\"x\"]", ".spec.tags[3]"}));
  EXPECT_EQ(canonical_json(set.encode()), canonical_json(fields));
}

TEST(FieldSet, RefusesWhatIsNoFieldsV1) {
  for (const char* text : {"[]", R"({"x:a":{}})", R"({"f":{}})", R"({"k:[]":{}})", R"({"k:{}":{}})", R"({"v:":{}})",
                           R"({"i:x":{}})", R"({"f:a":[]})", R"({"f:a":{"f:b":1}})"}) {
    EXPECT_FALSE(FieldSet::decode(json(text))) << text;
  }
}

TEST(FieldSet, ErasesAPathWithAllBelow) {
  auto set = set_of({{PathElement::field("status"), PathElement::field("a")}, {PathElement::field("spec")}});
  set.erase_below({PathElement::field("status")});
  EXPECT_EQ(set, set_of({{PathElement::field("spec")}}));
}

RC_GTEST_PROP(FieldSetLaws, DecodeUndoesEncode, ()) {
  const auto members = *paths();
  // A field named "." is encoded as "f:." and is different from the membership mark ".".
  const auto set = set_of(members);
  const auto back = FieldSet::decode(set.encode());
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == set);
}

RC_GTEST_PROP(FieldSetLaws, AgreeWithSetsOfPaths, ()) {
  const auto a_paths = *paths();
  const auto b_paths = *paths();
  const auto a = set_of(a_paths);
  const auto b = set_of(b_paths);
  std::set<FieldPath> both, either = listed(a), rest = listed(a);
  for (const auto& path : listed(b)) {
    if (listed(a).contains(path)) both.insert(path);
    either.insert(path);
    rest.erase(path);
  }
  RC_ASSERT(listed(FieldSet::intersect(a, b)) == both);
  RC_ASSERT(listed(FieldSet::unite(a, b)) == either);
  RC_ASSERT(listed(FieldSet::subtract(a, b)) == rest);
  RC_ASSERT(FieldSet::subtract(a, a).empty());
  for (const auto& path : a_paths) RC_ASSERT(a.contains(path));
}

}  // namespace
}  // namespace berth::apiserver::field_set_test
