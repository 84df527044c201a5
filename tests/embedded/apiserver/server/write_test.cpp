// Create, update, patch and delete.
#include <gtest/gtest.h>

#include "embedded/apiserver/server/harness.h"

namespace berth::apiserver::write_test {
namespace {

using WriteTest = ServerTest;

TEST_F(WriteTest, ANewServerHasItsNamespaces) {
  for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_TRUE(exists(kNamespaces, "", name)) << name;
  }
}

TEST_F(WriteTest, CreateGivesIdentity) {
  const auto created = create(kConfigMaps, "default", config_map("a", R"(,"uid":"mine","generation":9)"));
  ASSERT_EQ(created.code, 201) << to_string(created.body);
  EXPECT_EQ(string_at(created.body, {"metadata", "uid"}).size(), 36u);
  EXPECT_EQ(string_at(created.body, {"metadata", "uid"})[14], '4');
  EXPECT_EQ(string_at(created.body, {"metadata", "namespace"}), "default");
  EXPECT_EQ(string_at(created.body, {"metadata", "creationTimestamp"}), format_time(executor.now()));
  EXPECT_EQ(string_at(created.body, {"metadata", "resourceVersion"}), std::to_string(server->revision()));
  EXPECT_EQ(find_path(created.body, {"metadata", "generation"}), nullptr);
  EXPECT_TRUE(json_equal(get(kConfigMaps, "default", "a").body, created.body));
}

TEST_F(WriteTest, GeneratedNamesHaveFiveCharactersOfTheAlphabet) {
  const auto created = create(kConfigMaps, "default", R"({"metadata":{"generateName":"gen-"}})");
  ASSERT_EQ(created.code, 201);
  const std::string_view name = string_at(created.body, {"metadata", "name"});
  EXPECT_EQ(name.size(), 9u);
  EXPECT_EQ(name.substr(4).find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string_view::npos) << name;
}

TEST_F(WriteTest, TheSameSeedGivesTheSameIdentities) {
  const auto one = create(kConfigMaps, "default", R"({"metadata":{"generateName":"gen-"}})");
  restart(make_memory_log(executor));
  const auto two = create(kConfigMaps, "default", R"({"metadata":{"generateName":"gen-"}})");
  EXPECT_TRUE(json_equal(one.body, two.body));
}

struct Refusal {
  const char* name;
  api::RestRequest request;
  int code;
  const char* message;
};

TEST_F(WriteTest, RefusalsSayWhatIsWrong) {
  ASSERT_EQ(create(kConfigMaps, "default", config_map("there")).code, 201);
  const auto post = [](std::string_view ns, std::string_view body) {
    return request(api::Verb::kCreate, kConfigMaps, ns, "", body);
  };
  const auto put = [](std::string_view name, std::string_view body) {
    return request(api::Verb::kUpdate, kConfigMaps, "default", name, body);
  };
  auto strict = post("default", R"({"metadata":{"name":"u","bogus":1},"dta":{}})");
  strict.field_validation = api::FieldValidation::kStrict;
  auto twice = post("default", config_map("u"));
  twice.field_validation = api::FieldValidation::kStrict;
  twice.duplicate_fields = {"data.a"};
  auto unknown = request(api::Verb::kGet, {"", "v1", "nopes"}, "default", "a");
  auto force = request(api::Verb::kPatch, kConfigMaps, "default", "there", "{}");
  force.force = true;
  auto nobody = request(api::Verb::kPatch, kConfigMaps, "default", "there", "{}");
  nobody.patch_type = api::PatchType::kApply;
  const Refusal refusals[] = {
      {"exists", post("default", config_map("there")), 409, "configmaps \"there\" already exists"},
      {"no namespace", post("missing", config_map("x")), 404, "namespaces \"missing\" not found"},
      {"namespaces differ", post("default", config_map("x", R"(,"namespace":"other")")), 400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"no name", post("default", R"({"kind":"ConfigMap"})"), 422,
       "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"},
      {"another kind", post("default", R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}})"), 400,
       "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to "
       "(core.ConfigMap): unknown conversion"},
      {"another version", post("default", R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"x"}})"), 400,
       "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered "
       "for version \"v2\" in "
       "scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""},
      {"unknown fields", strict, 400,
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field "
       "\"metadata.bogus\", "
       "unknown field \"dta\""},
      {"a field twice", twice, 400,
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: duplicate field "
       "\"data.a\""},
      {"name on the URL", put("there", config_map("two")), 400,
       "the name of the object (two) does not match the name on the URL (there)"},
      {"update of nothing", put("none", config_map("none")), 404, "configmaps \"none\" not found"},
      {"stale", put("there", config_map("there", R"(,"resourceVersion":"1")")), 409,
       "Operation cannot be fulfilled on configmaps \"there\": the object has been modified; please apply "
       "your changes to the "
       "latest version and try again"},
      {"not served", unknown, 404, "the server could not find the requested resource"},
      {"force without apply", force, 422,
       "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply "
       "patch"},
      {"apply by nobody", nobody, 422,
       "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"},
      {"immortal", request(api::Verb::kDelete, kNamespaces, "", "default"), 403,
       "namespaces \"default\" is forbidden: this namespace may not be deleted"},
      {"unknown policy",
       request(api::Verb::kDelete, kConfigMaps, "default", "there", R"({"propagationPolicy":"Sideways"})"), 422,
       "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Sideways\": "
       "supported values: "
       "\"Foreground\", \"Background\", \"Orphan\", \"nil\""},
      {"bad finalizer", post("default", config_map("x", R"(,"finalizers":["nope"])")), 422,
       "ConfigMap \"x\" is invalid: metadata.finalizers[0]: Invalid value: \"nope\": name is neither a "
       "standard finalizer name nor "
       "is it fully qualified"},
      {"owner without uid",
       post("default", config_map("x", R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"c"}])")),
       422, "ConfigMap \"x\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"},
  };
  for (const Refusal& refusal : refusals) {
    const Revision before = server->revision();
    const auto answer = call(refusal.request);
    EXPECT_EQ(answer.code, refusal.code) << refusal.name;
    EXPECT_EQ(api::status_message(answer), refusal.message) << refusal.name;
    EXPECT_EQ(server->revision(), before) << refusal.name;
  }
}

TEST_F(WriteTest, UnknownFieldsAreWarnedOfUnlessIgnored) {
  auto r = request(api::Verb::kCreate, kConfigMaps, "default", "", R"({"metadata":{"name":"u1"},"dta":{}})");
  EXPECT_EQ(call(r).warnings, std::vector<std::string>{"unknown field \"dta\""});
  r.body = json(R"({"metadata":{"name":"u2"},"dta":{}})");
  r.field_validation = api::FieldValidation::kIgnore;
  const auto answer = call(r);
  EXPECT_EQ(answer.code, 201);
  EXPECT_TRUE(answer.warnings.empty());
  EXPECT_EQ(find(answer.body, "dta"), nullptr);
}

TEST_F(WriteTest, AnUpdateThatChangesNothingKeepsTheResourceVersion) {
  const auto created = create(kConfigMaps, "default", config_map("a"));
  const auto updated = update(kConfigMaps, "default", created.body);
  EXPECT_EQ(updated.code, 200);
  EXPECT_TRUE(json_equal(updated.body, created.body)) << to_string(updated.body);
  EXPECT_EQ(patch(kConfigMaps, "default", "a", "{}").code, 200);
  EXPECT_EQ(string_at(created.body, {"metadata", "resourceVersion"}), std::to_string(server->revision()));
}

TEST_F(WriteTest, BuiltInKindsAreUpdatedWithoutAVersionToo) {
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  const auto updated = update(kConfigMaps, "default", json(R"({"metadata":{"name":"a"},"data":{"k":"v"}})"));
  EXPECT_EQ(updated.code, 200) << to_string(updated.body);
  EXPECT_EQ(string_at(updated.body, {"data", "k"}), "v");
}

TEST_F(WriteTest, AnotherUidIsAnotherObject) {
  auto object = create(kConfigMaps, "default", config_map("a")).body;
  ensure_path(object, {"metadata", "uid"}) = "11111111-1111-4111-8111-111111111111";
  const auto updated = update(kConfigMaps, "default", object);
  EXPECT_EQ(updated.code, 409);
  EXPECT_NE(api::status_message(updated).find("Precondition failed: UID in precondition: 11111111-1111"),
            std::string_view::npos);
}

TEST_F(WriteTest, DryRunsChangeNothing) {
  const Revision before = server->revision();
  auto r = request(api::Verb::kCreate, kConfigMaps, "default", "", config_map("dry"));
  r.dry_run = true;
  const auto created = call(r);
  EXPECT_EQ(created.code, 201);
  EXPECT_EQ(find_path(created.body, {"metadata", "resourceVersion"}), nullptr);
  EXPECT_EQ(server->revision(), before);
  EXPECT_FALSE(exists(kConfigMaps, "default", "dry"));

  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  auto d = request(api::Verb::kDelete, kConfigMaps, "default", "a");
  d.dry_run = true;
  EXPECT_EQ(call(d).code, 200);
  auto p = request(api::Verb::kPatch, kConfigMaps, "default", "a", R"({"data":{"k":"v"}})");
  p.dry_run = true;
  EXPECT_EQ(string_at(call(p).body, {"data", "k"}), "v");
  EXPECT_EQ(find(get(kConfigMaps, "default", "a").body, "data"), nullptr);
}

TEST_F(WriteTest, PatchesOfAllKinds) {
  ASSERT_EQ(create(kConfigMaps, "default", R"({"metadata":{"name":"p"},"data":{"a":"1","b":"2"}})").code, 201);
  EXPECT_EQ(to_string(*find(
                patch(kConfigMaps, "default", "p", R"([{"op":"remove","path":"/data/b"}])", api::PatchType::kJson).body,
                "data")),
            R"({"a":"1"})");
  EXPECT_EQ(to_string(*find(patch(kConfigMaps, "default", "p", R"({"data":{"c":"3"}})").body, "data")),
            R"({"a":"1","c":"3"})");
  EXPECT_EQ(
      canonical_json(*find(
          patch(kConfigMaps, "default", "p", R"({"data":{"c":null,"d":"4"}})", api::PatchType::kStrategicMerge).body,
          "data")),
      R"({"a":"1","d":"4"})");
  const auto applied = patch(kConfigMaps, "default", "p",
                             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"data":{"e":"5"}})",
                             api::PatchType::kApply);
  EXPECT_EQ(applied.code, 200) << to_string(applied.body);
  EXPECT_EQ(string_at(applied.body, {"data", "e"}), "5");
  EXPECT_EQ(patch(kConfigMaps, "default", "p", R"({"metadata":{"resourceVersion":"1"},"data":{"f":"8"}})").code, 409);
}

TEST_F(WriteTest, ApplyCreatesWhatIsNotThere) {
  const auto applied = patch(kConfigMaps, "default", "x",
                             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1"}})",
                             api::PatchType::kApply);
  EXPECT_EQ(applied.code, 201) << to_string(applied.body);
  EXPECT_TRUE(exists(kConfigMaps, "default", "x"));
}

TEST_F(WriteTest, ApplyConflictsNameFieldAndOwner) {
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1"}})";
  ASSERT_EQ(patch(kConfigMaps, "default", "x", body, api::PatchType::kApply).code, 201);
  auto other = request(api::Verb::kPatch, kConfigMaps, "default", "x",
                       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"2"}})");
  other.patch_type = api::PatchType::kApply;
  other.field_manager = "other";
  const auto conflict = call(other);
  EXPECT_EQ(conflict.code, 409);
  EXPECT_EQ(api::status_message(conflict), "Apply failed with 1 conflict: conflict with \"test\": .data.a");
  other.force = true;
  EXPECT_EQ(call(other).code, 200);
}

TEST_F(WriteTest, DeleteAnswersWithAStatusOrTheObjectThatWaits) {
  const auto created = create(kConfigMaps, "default", config_map("a"));
  const auto deleted = remove(kConfigMaps, "default", "a");
  EXPECT_EQ(
      to_string(deleted.body),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps","uid":")" +
          std::string(string_at(created.body, {"metadata", "uid"})) + R"("}})");
  EXPECT_EQ(remove(kConfigMaps, "default", "a").code, 404);

  ASSERT_EQ(create(kConfigMaps, "default", config_map("f", R"(,"finalizers":["example.com/hold"])")).code, 201);
  const auto waiting = remove(kConfigMaps, "default", "f");
  EXPECT_EQ(int_at(waiting.body, {"metadata", "deletionGracePeriodSeconds"}, -1), 0);
  const Revision revision = server->revision();
  EXPECT_EQ(remove(kConfigMaps, "default", "f").code, 200);
  EXPECT_EQ(server->revision(), revision);

  const auto more =
      patch(kConfigMaps, "default", "f", R"({"metadata":{"finalizers":["example.com/hold","example.com/more"]}})");
  EXPECT_EQ(more.code, 422);
  EXPECT_NE(api::status_message(more).find("found new finalizers []string{\"example.com/more\"}"),
            std::string_view::npos);
  EXPECT_EQ(patch(kConfigMaps, "default", "f", R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_FALSE(exists(kConfigMaps, "default", "f"));
}

TEST_F(WriteTest, DeletePreconditions) {
  const auto created = create(kConfigMaps, "default", config_map("a"));
  EXPECT_EQ(remove(kConfigMaps, "default", "a", R"({"preconditions":{"uid":"x"}})").code, 409);
  EXPECT_EQ(remove(kConfigMaps, "default", "a", R"({"preconditions":{"resourceVersion":"999999"}})").code, 409);
  const std::string right =
      R"({"preconditions":{"uid":")" + std::string(string_at(created.body, {"metadata", "uid"})) + R"("}})";
  EXPECT_EQ(remove(kConfigMaps, "default", "a", right).code, 200);
}

TEST_F(WriteTest, DeleteCollectionTakesWhatIsSelected) {
  for (const std::string name : {"c0", "c1", "c2"}) {
    ASSERT_EQ(create(kConfigMaps, "default", config_map(name, R"(,"labels":{"k":")" + name.substr(1) + "\"}")).code,
              201);
  }
  auto r = request(api::Verb::kDeleteCollection, kConfigMaps, "default");
  r.label_selector = "k in (0,1)";
  const auto answer = call(r);
  EXPECT_EQ(string_at(answer.body, {"kind"}), "ConfigMapList");
  EXPECT_EQ(array_at(answer.body, {"items"}).size(), 2u);
  EXPECT_FALSE(exists(kConfigMaps, "default", "c1"));
  EXPECT_TRUE(exists(kConfigMaps, "default", "c2"));
}

TEST_F(WriteTest, PodsOnNodesAreGivenTimeToStop) {
  const std::string pod = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})";
  ASSERT_EQ(create(kPods, "default", pod).code, 201);
  auto binding = request(api::Verb::kCreate, kPods, "default", "p",
                         R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})");
  binding.subresource = "binding";
  ASSERT_EQ(call(binding).code, 201);
  EXPECT_EQ(call(binding).code, 409);

  const auto deleting = remove(kPods, "default", "p");
  EXPECT_EQ(int_at(deleting.body, {"metadata", "deletionGracePeriodSeconds"}), 30);
  EXPECT_EQ(string_at(deleting.body, {"metadata", "deletionTimestamp"}),
            format_time(executor.now() + std::chrono::seconds(30)));
  EXPECT_EQ(int_at(deleting.body, {"metadata", "generation"}), 2);
  EXPECT_TRUE(exists(kPods, "default", "p"));
  EXPECT_EQ(int_at(remove(kPods, "default", "p", R"({"gracePeriodSeconds":60})").body,
                   {"metadata", "deletionGracePeriodSeconds"}),
            30);
  EXPECT_EQ(int_at(remove(kPods, "default", "p", R"({"gracePeriodSeconds":5})").body,
                   {"metadata", "deletionGracePeriodSeconds"}),
            5);
  const auto gone = remove(kPods, "default", "p", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(string_at(gone.body, {"kind"}), "Pod");
  EXPECT_FALSE(exists(kPods, "default", "p"));
}

TEST_F(WriteTest, PodsWithoutNodeGoAtOnce) {
  ASSERT_EQ(
      create(kPods, "default", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})").code,
      201);
  auto eviction = request(api::Verb::kCreate, kPods, "default", "p",
                          R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})");
  eviction.subresource = "eviction";
  EXPECT_EQ(call(eviction).code, 201);
  EXPECT_FALSE(exists(kPods, "default", "p"));
}

TEST_F(WriteTest, GatedPodsAreNotBound) {
  ASSERT_EQ(
      create(
          kPods, "default",
          R"({"metadata":{"name":"p"},"spec":{"schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"i"}]}})")
          .code,
      201);
  auto binding = request(api::Verb::kCreate, kPods, "default", "p",
                         R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})");
  binding.subresource = "binding";
  const auto refused = call(binding);
  EXPECT_EQ(refused.code, 409);
  EXPECT_EQ(api::status_message(refused),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p has non-empty .spec.schedulingGates");
}

TEST_F(WriteTest, StatusIsWrittenThroughItsSubresourceAlone) {
  ASSERT_EQ(
      create(
          kPods, "default",
          R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}})")
          .code,
      201);
  EXPECT_EQ(string_at(get(kPods, "default", "p").body, {"status", "phase"}), "Pending");
  EXPECT_EQ(string_at(patch(kPods, "default", "p", R"({"status":{"phase":"Running"}})").body, {"status", "phase"}),
            "Pending");
  const auto written = patch(kPods, "default", "p", R"({"spec":{"priority":7},"status":{"phase":"Running"}})",
                             api::PatchType::kMerge, "status");
  EXPECT_EQ(written.code, 200) << to_string(written.body);
  EXPECT_EQ(string_at(written.body, {"status", "phase"}), "Running");
  EXPECT_EQ(int_at(written.body, {"spec", "priority"}), 0);
  EXPECT_EQ(int_at(written.body, {"metadata", "generation"}), 1);
}

TEST_F(WriteTest, EventsAreTheSameObjectsInBothGroups) {
  const api::GroupVersionResource events{"events.k8s.io", "v1", "events"};
  const auto created =
      create(events, "default",
             R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e","namespace":"default"},
    "eventTime":"2026-11-21T09:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r",
    "regarding":{"kind":"Pod","namespace":"default","name":"p"},"note":"n","type":"Normal"})");
  ASSERT_EQ(created.code, 201) << to_string(created.body);
  EXPECT_EQ(string_at(created.body, {"note"}), "n");
  const auto core = get(kEvents, "default", "e");
  EXPECT_EQ(string_at(core.body, {"apiVersion"}), "v1");
  EXPECT_EQ(string_at(core.body, {"message"}), "n");
  EXPECT_EQ(string_at(core.body, {"involvedObject", "name"}), "p");
  EXPECT_EQ(string_at(core.body, {"metadata", "resourceVersion"}),
            string_at(created.body, {"metadata", "resourceVersion"}));
}

TEST_F(WriteTest, EventsAreForgottenAfterAnHour) {
  ASSERT_EQ(
      create(
          kEvents, "default",
          R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"},"reason":"r","message":"m","type":"Normal"})")
          .code,
      201);
  executor.run_until(executor.now() + std::chrono::minutes(59));
  EXPECT_TRUE(exists(kEvents, "default", "e"));
  ASSERT_EQ(patch(kEvents, "default", "e", R"({"count":2})").code, 200);
  executor.run_until(executor.now() + std::chrono::minutes(59));
  EXPECT_TRUE(exists(kEvents, "default", "e"));
  executor.run_until(executor.now() + std::chrono::minutes(2));
  EXPECT_FALSE(exists(kEvents, "default", "e"));
}

}  // namespace
}  // namespace berth::apiserver::write_test
