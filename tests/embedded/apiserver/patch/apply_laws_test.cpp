// Algebraic laws of server-side apply, on random configurations.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "embedded/apiserver/patch/applied.h"
#include "embedded/apiserver/patch/field_set.h"
#include "embedded/apiserver/patch/schemas.h"
#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver::apply_laws_test {
namespace {

using namespace apply_tests;
using patch_tests::everything;

rc::Gen<Json> configs(std::vector<std::string> names) {
  using Map = std::map<std::string, std::string>;
  const auto name = rc::gen::elementOf(names);
  const auto text = rc::gen::element<std::string>("1", "2", "3");
  const auto pairs = rc::gen::resize(
      4, rc::gen::container<std::vector<std::pair<std::string, std::string>>>(rc::gen::pair(name, text)));
  const auto map = rc::gen::map(pairs, [](const auto& v) { return Map(v.begin(), v.end()); });
  return rc::gen::map(rc::gen::tuple(map, map, map, map), [](const auto& parts) {
    const auto& [items, tags, limits, free] = parts;
    Json out = JsonObject();
    Json& spec = ensure_path(out, {"spec"}) = {{"replicas", 1}};
    JsonArray list;
    for (const auto& [key, image] : items) {
      JsonObject item{{"name", key}, {"image", image}};
      for (const auto& [resource, amount] : limits) item["limits"].emplace_object()[key + resource] = amount;
      list.push_back(item);
    }
    if (!list.empty()) ensure_path(spec, {"items"}) = list;
    JsonArray values;
    for (const auto& [key, value] : tags) values.push_back(Json(key + value));
    if (!values.empty()) ensure_path(spec, {"tags"}) = values;
    for (const auto& [key, value] : free) ensure_path(spec, {"free", key}) = value;
    return out;
  });
}

RC_GTEST_PROP(ApplyLaws, TwiceIsOnce, ()) {
  Applied x(everything());
  x.apply_json("one", *configs({"a", "b", "c"}));
  const auto config = *configs({"a", "b", "c"});
  x.apply_json("two", config, true);
  const auto once = x.live_;
  x.clock_ = 9;
  x.apply_json("two", config, *rc::gen::arbitrary<bool>());
  RC_ASSERT(to_string(x.live_) == to_string(once));
}

RC_GTEST_PROP(ApplyLaws, AppliedFieldsAreOwnedAndThere, ()) {
  Applied x(everything());
  x.apply_json("one", *configs({"a", "b", "c"}));
  auto config = *configs({"a", "b", "c"});
  RC_PRE(!fields_of(config, everything()).empty());
  RC_ASSERT(x.apply_json("two", config, true) == "");
  const auto wanted = fields_of(config, everything());
  RC_ASSERT(FieldSet::subtract(wanted, fields_of(x.live_, everything())).empty());
  bool found = false;
  for (const auto& entry : array_at(x.live_, {"metadata", "managedFields"})) {
    if (string_at(entry, {"manager"}) != "two") continue;
    found = true;
    RC_ASSERT(FieldSet::decode(entry.at("fieldsV1")).value() == wanted);
  }
  RC_ASSERT(found);
}

RC_GTEST_PROP(ApplyLaws, NobodyOwnsWhatIsNotThere, ()) {
  Applied x(everything());
  for (int i = 0; i < 4; ++i) {
    const auto who = *rc::gen::element<std::string>("one", "two", "three");
    x.apply_json(who, *configs({"a", "b", "c"}), *rc::gen::arbitrary<bool>());
  }
  RC_PRE(x.live_.is_object());
  // Every field has an owner, because there was no update.
  FieldSet owned;
  for (const auto& entry : array_at(x.live_, {"metadata", "managedFields"})) {
    owned = FieldSet::unite(owned, FieldSet::decode(entry.at("fieldsV1")).value());
  }
  Json content = x.content();
  const auto there = fields_of(content, everything());
  RC_ASSERT(FieldSet::subtract(there, owned).empty());
  RC_ASSERT(FieldSet::subtract(owned, there).empty());
}

RC_GTEST_PROP(ApplyLaws, ManagersOfDisjointFieldsCommute, ()) {
  const auto first = *configs({"a", "b"});
  const auto second = *configs({"c", "d"});
  Applied x(everything()), y(everything());
  RC_ASSERT(x.apply_json("one", first) == "");
  RC_ASSERT(x.apply_json("two", second) == "");
  RC_ASSERT(y.apply_json("two", second) == "");
  RC_ASSERT(y.apply_json("one", first) == "");
  RC_ASSERT(x.owners() == y.owners());
  RC_ASSERT(compare_typed(x.content(), y.content(), everything()).same());
}

RC_GTEST_PROP(ApplyLaws, AComparisonIsWhatSeparatesTheFieldSets, ()) {
  const auto before = *configs({"a", "b", "c"});
  const auto after = *configs({"a", "b", "c"});
  const auto changes = compare_typed(before, after, everything());
  const auto old_fields = fields_of(before, everything());
  const auto new_fields = fields_of(after, everything());
  RC_ASSERT(FieldSet::subtract(FieldSet::subtract(new_fields, old_fields), changes.added) == FieldSet());
  RC_ASSERT(FieldSet::subtract(FieldSet::subtract(old_fields, new_fields), changes.removed) == FieldSet());
  RC_ASSERT(FieldSet::intersect(changes.modified, changes.added).empty());
}

}  // namespace
}  // namespace berth::apiserver::apply_laws_test
