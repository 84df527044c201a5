#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "embedded/apiserver/patch/field_set.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/patch/schemas.h"
#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver::apply_test {
namespace {

using patch_tests::config_map;
using patch_tests::machine;
using patch_tests::yaml;

Time at(int seconds) { return Time(std::chrono::seconds(1'700'000'000 + seconds)); }

// One object that several managers write.
class Applied {
 public:
  explicit Applied(const Schema& schema, std::string api_version = "v1")
      : schema_(schema), api_version_(std::move(api_version)) {}

  // Returns the conflicts or the error; empty on success.
  std::string apply(std::string_view manager, std::string_view config, bool force = false,
                    const std::string& subresource = {}, const std::vector<std::string>& reset = {}) {
    Json applied = yaml(config);
    return apply_json(manager, std::move(applied), force, subresource, reset);
  }

  std::string apply_json(std::string_view manager, Json applied, bool force = false,
                         const std::string& subresource = {}, const std::vector<std::string>& reset = {}) {
    ensure_path(applied, {"apiVersion"}) = api_version_;
    ensure_path(applied, {"kind"}) = "Thing";
    ensure_path(applied, {"metadata", "name"}) = "x";
    auto result = server_side_apply(live_, applied, schema_, info(manager, subresource), force, reset);
    if (!result) return std::to_string(result.error().code) + " " + result.error().message;
    std::string conflicts;
    for (const auto& c : result->conflicts) conflicts += c.manager + ": " + c.field + "\n";
    if (conflicts.empty()) {
      live_ = std::move(result->object);
      ensure_path(live_, {"metadata", "uid"}) = "u";
    }
    return conflicts;
  }

  void update(std::string_view manager, Json after, const std::string& subresource = {},
              const std::vector<std::string>& reset = {}) {
    track_update(live_, after, schema_, info(manager, subresource), reset);
    live_ = std::move(after);
    ensure_path(live_, {"metadata", "uid"}) = "u";
  }
  void merge(std::string_view manager, std::string_view patch, const std::string& subresource = {}) {
    update(manager, apply_merge_patch(live_, yaml(patch)), subresource);
  }

  // Each entry as "manager operation subresource@seconds {fields}".
  std::vector<std::string> owners() const {
    std::vector<std::string> out;
    for (const auto& entry : array_at(live_, {"metadata", "managedFields"})) {
      std::string text(string_at(entry, {"manager"}));
      text += string_at(entry, {"operation"}) == "Apply" ? " applied" : " updated";
      if (const auto subresource = string_at(entry, {"subresource"}); !subresource.empty()) {
        text += " " + std::string(subresource);
      }
      const auto seconds = parse_time(string_at(entry, {"time"})).value() - at(0);
      text += "@" + std::to_string(seconds / std::chrono::seconds(1));
      std::string fields;
      FieldSet::decode(entry.at("fieldsV1")).value().for_each([&](const FieldPath& path) {
        fields += " " + path_text(path);
      });
      out.push_back(text + fields);
    }
    return out;
  }

  Json content() const {
    Json out = live_;
    for (const char* name : {"metadata", "apiVersion", "kind"}) erase_path(out, {name});
    return out;
  }

  Json live_;
  int clock_ = 0;

 private:
  ManagerInfo info(std::string_view manager, const std::string& subresource) const {
    return {std::string(manager), api_version_, subresource, at(clock_)};
  }
  const Schema& schema_;
  std::string api_version_;
};

using Texts = std::vector<std::string>;

TEST(Apply, FollowsTheLifeOfASharedObject) {
  Applied x(config_map());
  EXPECT_EQ(x.apply("one", "{data: {a: '1', b: '2'}}"), "");
  EXPECT_EQ(x.owners(), Texts{"one applied@0 .data.a .data.b"});

  x.clock_ = 1;
  EXPECT_EQ(x.apply("one", "{data: {a: '1', b: '2'}}"), "");
  EXPECT_EQ(x.owners(), Texts{"one applied@0 .data.a .data.b"}) << "nothing changed, the time neither";

  EXPECT_EQ(x.apply("two", "{data: {c: '3'}}"), "");
  EXPECT_EQ(x.apply("two", "{data: {a: '9', c: '3'}}"), "\"one\": .data.a\n");
  EXPECT_EQ(x.content(), yaml("{data: {a: '1', b: '2', c: '3'}}")) << "a conflict changes nothing";

  EXPECT_EQ(x.apply("two", "{data: {a: '1', c: '3'}}"), "") << "the same value is shared";
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .data.a .data.b", "two applied@1 .data.a .data.c"}));

  x.clock_ = 2;
  EXPECT_EQ(x.apply("two", "{data: {a: '9', c: '3'}}", true), "");
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .data.b", "two applied@2 .data.a .data.c"}));

  EXPECT_EQ(x.apply("two", "{data: {a: '9'}}"), "");
  EXPECT_EQ(x.content(), yaml("{data: {a: '9', b: '2'}}")) << "what is no longer applied goes";

  x.merge("three", "{data: {b: '5'}}");
  EXPECT_EQ(x.owners(), (Texts{"two applied@2 .data.a", "three updated@2 .data.b"}));
  EXPECT_EQ(x.apply("one", "{data: {b: '2'}}"), "\"three\" using v1: .data.b\n");
}

TEST(Apply, AnObjectWithoutOwnersBelongsToItsPast) {
  Applied x(config_map());
  EXPECT_EQ(x.apply("one", "{data: {a: '1', b: '2'}}"), "");
  x.merge("z", "{metadata: {managedFields: [{}]}}");
  EXPECT_EQ(x.owners(), Texts{});
  x.merge("z", "{data: {b: '3'}}");
  EXPECT_EQ(x.owners(), Texts{}) << "updates do not begin to own fields of an object without owners";
  EXPECT_EQ(x.apply("one", "{data: {a: '9'}}"), "\"before-first-apply\" using v1: .data.a\n");
  EXPECT_EQ(x.apply("one", "{data: {a: '1'}}"), "");
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .data.a", "before-first-apply updated@0 .data .data.a .data.b"}));
}

TEST(Apply, RefusesWhatCannotBeApplied) {
  const struct {
    const char *config, *says;
    int code;
  } cases[] = {
      {"{metadata: {name: x}}", "400 invalid object type: /, Kind=", 400},
      {"{apiVersion: v2, kind: Thing}",
       "400 Incorrect version specified in apply patch. Specified patch version: v2, "
       "expected: v1",
       400},
      {"{apiVersion: v1, kind: Thing, metadata: {managedFields: []}}", "400 metadata.managedFields must be nil", 400},
      {"{apiVersion: v1, kind: Thing, metadata: {name: x}, dta: {}}",
       "500 failed to create typed patch object (/x; /v1, Kind=Thing): .dta: field not declared in schema", 500},
      {"{apiVersion: v1, kind: Thing, metadata: {name: w, namespace: apply}, status: {conditions: [{type: "
       "A}, {type: A}]}}",
       "500 failed to create typed patch object (apply/w; /v1, Kind=Thing): .status.conditions: duplicate "
       "entries for "
       "key [type=\"A\"]",
       500},
      {"{apiVersion: v1, kind: Thing, spec: {items: [{image: i}]}}",
       "500 failed to create typed patch object (/; /v1, Kind=Thing): .spec.items: element 0: associative "
       "list with keys "
       "has an element that omits key field \"name\" (and doesn't have default value)",
       500},
      {"{apiVersion: v1, kind: Thing, spec: {replicas: many, tags: [{a: b}], args: x}}",
       "500 failed to create typed patch object (/; /v1, Kind=Thing): errors:\n  .spec.replicas: expected "
       "number, got "
       "string\n  .spec.tags: element 0: set elements must be scalars\n  .spec.args: expected list, got "
       "string",
       500},
  };
  for (const auto& c : cases) {
    const auto refused = server_side_apply(nullptr, yaml(c.config), machine(), {"m", "v1", "", at(0)}, false, {});
    ASSERT_FALSE(refused) << c.config;
    EXPECT_EQ(std::to_string(refused.error().code) + " " + refused.error().message, c.says);
  }
}

TEST(Apply, OwnsListMembersByKeyAndByValue) {
  Applied x(machine());
  EXPECT_EQ(x.apply("one",
                    "{spec: {items: [{name: a, ports: [{port: 80}]}], tags: [t], args: [p], selector: {s: t},"
                    " free: {k: {l: 1}}}}"),
            "");
  EXPECT_EQ(x.owners(),
            Texts{"one applied@0 .spec.args .spec.free.k .spec.free.k.l .spec.items[name=\"a\"] "
                  ".spec.items[name=\"a\"].name .spec.items[name=\"a\"].ports[port=80,protocol=\"TCP\"] "
                  ".spec.items[name=\"a\"].ports[port=80,protocol=\"TCP\"].port .spec.selector .spec.tags[=\"t\"]"});
  EXPECT_EQ(x.apply("two", "{spec: {items: [{name: b, image: i}], tags: [u]}}"), "");
  EXPECT_EQ(x.apply("two", "{spec: {args: [q]}}"), "\"one\": .spec.args\n");
  EXPECT_EQ(x.apply("two", "{spec: {selector: {u: v}}}"), "\"one\": .spec.selector\n");
  // The fields that only the first manager owned are removed; the second manager's items stay.
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 1}}"), "");
  EXPECT_EQ(canonical_json(x.content()),
            canonical_json(yaml("{spec: {replicas: 1, items: [{name: b, image: i}], tags: [u]}}")));
}

TEST(Apply, KeepsTheConfigurationsOrderAndTheOthersPlaces) {
  const struct {
    Texts live, config, merged;
  } cases[] = {
      {{"a", "b"}, {"n", "a"}, {"n", "a", "b"}},
      {{"a", "b"}, {"a", "n"}, {"a", "b", "n"}},
      {{"a", "b", "c"}, {"c", "a"}, {"b", "c", "a"}},
      {{"x", "a", "y", "b"}, {"a", "b"}, {"x", "a", "y", "b"}},
      {{"x"}, {"n"}, {"x", "n"}},
  };
  const auto tags = [](const Texts& values) {
    JsonArray list;
    for (const auto& value : values) list.push_back(Json(value));
    return Json{{"spec", {{"tags", list}}}};
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(merge_typed(tags(c.live), tags(c.config), machine())), to_string(tags(c.merged)));
  }
}

TEST(Apply, RemovesAFieldOnlyWhenNobodyElseOwnsIt) {
  Applied x(machine());
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 1, paused: true, items: [{name: a, image: i, limits: {c: '1'}}]}}"), "");
  EXPECT_EQ(x.apply("two", "{spec: {replicas: 1, items: [{name: a, limits: {m: '2'}}]}}"), "");
  EXPECT_EQ(x.apply("one", "{spec: {}}"), "");
  EXPECT_EQ(canonical_json(x.content()),
            canonical_json(yaml("{spec: {replicas: 1, items: [{name: a, limits: {m: '2'}}]}}")));
}

TEST(Apply, ForcedChangesTakeNestedFields) {
  Applied x(machine());
  EXPECT_EQ(x.apply("one", "{spec: {items: [{name: a, image: i}]}}"), "");
  EXPECT_EQ(x.apply("two", "{spec: {items: [{name: a, image: j}]}}"), "\"one\": .spec.items[name=\"a\"].image\n");
  EXPECT_EQ(x.apply("two", "{spec: {items: [{name: a, image: j}]}}", true), "");
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .spec.items[name=\"a\"] .spec.items[name=\"a\"].name",
                               "two applied@0 .spec.items[name=\"a\"] .spec.items[name=\"a\"].image "
                               ".spec.items[name=\"a\"].name"}));
}

TEST(Apply, ResetFieldsAreNeitherAppliedNorOwned) {
  Applied x(machine());
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 1}, status: {phase: Up}}", false, "", {"status"}), "");
  EXPECT_EQ(x.content(), yaml("{spec: {replicas: 1}}"));
  EXPECT_EQ(x.owners(), Texts{"one applied@0 .spec.replicas"});
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 7}, status: {phase: Up}}", false, "status", {"spec"}), "");
  EXPECT_EQ(canonical_json(x.content()), canonical_json(yaml("{spec: {replicas: 1}, status: {phase: Up}}")));
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .spec.replicas", "one applied status@0 .status.phase"}));
}

TEST(Apply, ConflictsNameSubresourceAndVersion) {
  Applied x(machine(), "batch/v1");
  EXPECT_EQ(x.apply("one", "{status: {phase: Up}}", false, "status"), "");
  x.merge("upd", "{spec: {replicas: 4}}");
  EXPECT_EQ(x.apply("two", "{spec: {replicas: 5}, status: {phase: Down}}"),
            "\"one\" with subresource \"status\": .status.phase\n\"upd\" using batch/v1: .spec.replicas\n");
}

TEST(Apply, KubectlTakesOverWhatItAppliedOnTheClientsSide) {
  Applied x(config_map());
  x.update("kubectl-client-side-apply",
           yaml("{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "
                "'{\"data\":{\"a\":\"1\"}}'}}, data: {a: '1', b: '2'}}"));
  EXPECT_EQ(x.apply("other", "{data: {a: '5'}}"), "\"kubectl-client-side-apply\" using v1: .data.a\n");
  EXPECT_EQ(x.apply("kubectl", "{data: {b: '5'}}"), "\"kubectl-client-side-apply\" using v1: .data.b\n");
  EXPECT_EQ(x.apply("kubectl", "{data: {a: '5'}}"), "");
  const auto record =
      string_at(x.live_, {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
  EXPECT_EQ(string_at(parse_json(record).value(), {"data", "a"}), "5");
}

TEST(Update, OwnsWhatItAddedAndChanged) {
  Applied x(machine());
  x.live_ = yaml("{status: {}}");  // the empty form of a built-in kind
  x.update("unknown",
           yaml("{metadata: {labels: {l: m}, finalizers: [e/h]}, spec: {items: [{name: a, limits: {c: '1'}}],"
                " selector: {s: t}, free: {}}, status: {}}"));
  EXPECT_EQ(x.owners(),
            Texts{"unknown updated@0 .metadata.finalizers .metadata.finalizers[=\"e/h\"] .metadata.labels "
                  ".metadata.labels.l .spec .spec.free .spec.items .spec.items[name=\"a\"] "
                  ".spec.items[name=\"a\"].limits .spec.items[name=\"a\"].limits.c .spec.items[name=\"a\"].name "
                  ".spec.selector"});
  x.clock_ = 5;
  x.merge("second", "{spec: {selector: {s: u}}, metadata: {resourceVersion: '7'}}");
  x.merge("unknown", "{metadata: {labels: null}}");
  EXPECT_EQ(x.owners(),
            (Texts{"unknown updated@0 .metadata.finalizers .metadata.finalizers[=\"e/h\"] .spec .spec.free "
                   ".spec.items "
                   ".spec.items[name=\"a\"] .spec.items[name=\"a\"].limits .spec.items[name=\"a\"].limits.c "
                   ".spec.items[name=\"a\"].name",
                   "second updated@5 .spec.selector"}));
}

TEST(Update, NullOfTheEmptyFormIsThereAlready) {
  Json after = yaml("{spec: {items: [{name: a}], replicas: 1}}");
  track_update(yaml("{spec: {items: null}}"), after, machine(), {"m", "v1", "", at(0)}, {});
  EXPECT_EQ(to_string(after.at_pointer("/metadata/managedFields/0/fieldsV1")),
            R"({"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}},"f:replicas":{}}})");
}

TEST(Update, OfASubresourceIsAnEntryOfItsOwnAndKeepsTheSentOwnersOut) {
  Applied x(machine());
  x.update("m", yaml("{spec: {replicas: 1}}"), "", {"status"});
  Json after = x.live_;
  ensure_path(after, {"status", "phase"}) = "Up";
  ensure_path(after, {"metadata", "managedFields"}) = JsonArray{JsonObject()};
  x.update("m", after, "status");
  EXPECT_EQ(x.owners(), (Texts{"m updated@0 .spec .spec.replicas", "m updated status@0 .status .status.phase"}));
}

TEST(Update, ChangesOfTheFormOfAValueMoveItsFields) {
  Applied x(machine());
  x.update("one", yaml("{spec: {free: {a: {b: 1}}}}"));
  x.merge("two", "{spec: {free: {a: [1]}}}");
  EXPECT_EQ(x.owners(), (Texts{"one updated@0 .spec .spec.free", "two updated@0 .spec.free.a"}));
}

TEST(Update, TheOldestOfTooManyUpdatersBecomeAncient) {
  Applied x(config_map());
  x.update("m0", yaml("{data: {k0: v}}"));
  for (int i = 1; i < 12; ++i) {
    x.clock_ = i;
    x.merge("m" + std::to_string(i), "{data: {k" + std::to_string(i) + ": v}}");
  }
  const auto owners = x.owners();
  ASSERT_EQ(owners.size(), 10u);
  EXPECT_EQ(owners.front(), "ancient-changes updated@2 .data .data.k0 .data.k1 .data.k2");
  EXPECT_EQ(owners.back(), "m11 updated@11 .data.k11");
}

// Properties.
// ----------------------------------------------------------------------------------------------------------------

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
  Applied x(machine());
  x.apply_json("one", *configs({"a", "b", "c"}));
  const auto config = *configs({"a", "b", "c"});
  x.apply_json("two", config, true);
  const auto once = x.live_;
  x.clock_ = 9;
  x.apply_json("two", config, *rc::gen::arbitrary<bool>());
  RC_ASSERT(to_string(x.live_) == to_string(once));
}

RC_GTEST_PROP(ApplyLaws, AppliedFieldsAreOwnedAndThere, ()) {
  Applied x(machine());
  x.apply_json("one", *configs({"a", "b", "c"}));
  auto config = *configs({"a", "b", "c"});
  RC_PRE(!fields_of(config, machine()).empty());
  RC_ASSERT(x.apply_json("two", config, true) == "");
  const auto wanted = fields_of(config, machine());
  RC_ASSERT(FieldSet::subtract(wanted, fields_of(x.live_, machine())).empty());
  bool found = false;
  for (const auto& entry : array_at(x.live_, {"metadata", "managedFields"})) {
    if (string_at(entry, {"manager"}) != "two") continue;
    found = true;
    RC_ASSERT(FieldSet::decode(entry.at("fieldsV1")).value() == wanted);
  }
  RC_ASSERT(found);
}

RC_GTEST_PROP(ApplyLaws, NobodyOwnsWhatIsNotThere, ()) {
  Applied x(machine());
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
  const auto there = fields_of(content, machine());
  RC_ASSERT(FieldSet::subtract(there, owned).empty());
  RC_ASSERT(FieldSet::subtract(owned, there).empty());
}

RC_GTEST_PROP(ApplyLaws, ManagersOfDisjointFieldsCommute, ()) {
  const auto first = *configs({"a", "b"});
  const auto second = *configs({"c", "d"});
  Applied x(machine()), y(machine());
  RC_ASSERT(x.apply_json("one", first) == "");
  RC_ASSERT(x.apply_json("two", second) == "");
  RC_ASSERT(y.apply_json("two", second) == "");
  RC_ASSERT(y.apply_json("one", first) == "");
  RC_ASSERT(x.owners() == y.owners());
  RC_ASSERT(compare_typed(x.content(), y.content(), machine()).same());
}

RC_GTEST_PROP(ApplyLaws, AComparisonIsWhatSeparatesTheFieldSets, ()) {
  const auto before = *configs({"a", "b", "c"});
  const auto after = *configs({"a", "b", "c"});
  const auto changes = compare_typed(before, after, machine());
  const auto old_fields = fields_of(before, machine());
  const auto new_fields = fields_of(after, machine());
  RC_ASSERT(FieldSet::subtract(FieldSet::subtract(new_fields, old_fields), changes.added) == FieldSet());
  RC_ASSERT(FieldSet::subtract(FieldSet::subtract(old_fields, new_fields), changes.removed) == FieldSet());
  RC_ASSERT(FieldSet::intersect(changes.modified, changes.added).empty());
}

}  // namespace
}  // namespace berth::apiserver::apply_test
