// Defaults, validation and table rows of ReplicaSets, StatefulSets and controller revisions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::apps_kinds_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string with_template(std::string_view more) {
  return R"({"metadata":{"name":"s"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":
      {"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}})" +
         std::string(more) + "}}";
}

std::string status_errors(const Kind& kind, std::string_view status) {
  const Json old = kind.created(with_template(""));
  Json next = old;
  ensure_path(next, {"status"}) = json(status);
  return kind.update_errors(next, old, "status");
}

TEST(ReplicaSetKind, FillsDefaultsAndDropsAStatus) {
  Kind kind("ReplicaSet", "apps");
  Json object = json(with_template(""));
  object.as_object()["status"] = JsonObject{{"replicas", 3}};
  object = kind.created(to_string(object));
  EXPECT_EQ(int_at(object, {"spec", "replicas"}), 1);
  EXPECT_EQ(string_at(object, {"spec", "template", "spec", "restartPolicy"}), "Always");
  EXPECT_EQ(to_string(*find(object, "status")), R"({"replicas":0})");
  EXPECT_EQ(kind.cells(object, "2026-11-21T09:00:05Z"),
            (std::vector<std::string>{"1", "0", "0", "5s", "c", "i:1", "a=b"}));
}

TEST(ReplicaSetKind, RefusesWhatCannotRun) {
  Kind kind("ReplicaSet", "apps");
  EXPECT_EQ(kind.create_errors(with_template("")), "");
  EXPECT_EQ(kind.create_errors("{}"),
            "[spec.selector: Required value, spec.template.metadata.labels: Invalid value: null: `selector` does not "
            "match template `labels`, spec.template.spec.containers: Required value]");
  EXPECT_EQ(kind.create_errors(R"({"spec":{"replicas":-1,"selector":{},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"restartPolicy":"Never","activeDeadlineSeconds":4,"containers":[{"name":"c","image":"i"}]}}}})"),
            "[spec.replicas: Invalid value: -1: must be greater than or equal to 0, "
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment, "
            "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\", "
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not "
            "Supported]");
  Json old = kind.created(with_template("")), next = old;
  ensure_path(next, {"spec", "selector", "matchLabels", "a"}) = "c";
  EXPECT_THAT(kind.update_errors(next, old), HasSubstr("spec.selector: Invalid value"));
  next = old;
  ensure_path(next, {"spec", "template", "metadata", "labels", "more"}) = "c";
  EXPECT_EQ(kind.update_errors(next, old), "");
}

TEST(ReplicaSetKind, CountsOfItsStatusAgree) {
  Kind kind("ReplicaSet", "apps");
  EXPECT_EQ(status_errors(kind, R"({"replicas":2,"fullyLabeledReplicas":2,"readyReplicas":2,"availableReplicas":1})"),
            "");
  EXPECT_EQ(status_errors(kind, R"({"replicas":1,"readyReplicas":2,"availableReplicas":3})"),
            "[status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas, "
            "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas, "
            "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas]");
}

TEST(DeploymentStatus, CountsAgree) {
  Kind kind("Deployment", "apps");
  EXPECT_EQ(status_errors(kind, R"({"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2})"), "");
  EXPECT_EQ(status_errors(kind, R"({"replicas":1,"updatedReplicas":2,"unavailableReplicas":-1})"),
            "[status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0, "
            "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas]");
}

TEST(StatefulSetKind, FillsDefaultsAndDropsAStatus) {
  Kind kind("StatefulSet", "apps");
  Json object = json(with_template(R"(,"serviceName":"x","volumeClaimTemplates":[{"metadata":{"name":"data"},
      "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}])"));
  object.as_object()["status"] = JsonObject{{"replicas", 3}};
  object = kind.created(to_string(object));
  const Json& spec = *find(object, "spec");
  EXPECT_EQ(int_at(spec, {"replicas"}), 1);
  EXPECT_EQ(int_at(spec, {"revisionHistoryLimit"}), 10);
  EXPECT_EQ(string_at(spec, {"podManagementPolicy"}), "OrderedReady");
  EXPECT_EQ(to_string(*find(spec, "updateStrategy")), R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})");
  EXPECT_EQ(to_string(*find(spec, "persistentVolumeClaimRetentionPolicy")),
            R"({"whenDeleted":"Retain","whenScaled":"Retain"})");
  const Json& claim = array_at(spec, {"volumeClaimTemplates"})[0];
  EXPECT_EQ(string_at(claim, {"apiVersion"}), "v1");
  EXPECT_EQ(string_at(claim, {"kind"}), "PersistentVolumeClaim");
  EXPECT_EQ(string_at(claim, {"spec", "volumeMode"}), "Filesystem");
  EXPECT_EQ(to_string(*find(claim, "status")), R"({"phase":"Pending"})");
  EXPECT_TRUE(json_equal(*find(object, "status"), json(R"({"replicas":0,"availableReplicas":0})")));
  EXPECT_EQ(kind.cells(object, "2026-11-21T09:00:05Z"), (std::vector<std::string>{"0/1", "5s", "c", "i:1"}));
  object = kind.created(with_template(R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}})"));
  EXPECT_EQ(to_string(*find_path(object, {"spec", "updateStrategy", "rollingUpdate"})), R"({"partition":0})");
  object = kind.created(with_template(""));
  EXPECT_EQ(*find_path(object, {"spec", "serviceName"}), Json("")) << "it is always there";
}

TEST(StatefulSetKind, RefusesWhatCannotRun) {
  Kind kind("StatefulSet", "apps");
  EXPECT_EQ(kind.create_errors(with_template("")), "");
  EXPECT_EQ(kind.create_errors("{}"),
            "[spec.selector: Required value, spec.template.metadata.labels: Invalid value: null: `selector` does not "
            "match template `labels`, spec.template.spec.containers: Required value]");
  EXPECT_THAT(
      kind.create_errors(
          with_template(R"(,"replicas":-1,"minReadySeconds":-1,"serviceName":"A_b","ordinals":{"start":-2},
      "podManagementPolicy":"X","updateStrategy":{"type":"Z"},
      "persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Q"})")),
      AllOf(HasSubstr("spec.podManagementPolicy: Invalid value: \"X\": must be 'OrderedReady' or 'Parallel'"),
            HasSubstr("spec.updateStrategy: Invalid value: {\"type\":\"Z\"}: must be 'RollingUpdate' or 'OnDelete'"),
            HasSubstr("spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: \"Q\""),
            HasSubstr("spec.replicas: Invalid value: -1"), HasSubstr("spec.minReadySeconds: Invalid value: -1"),
            HasSubstr("spec.ordinals.start: Invalid value: -2"),
            HasSubstr("spec.serviceName: Invalid value: \"A_b\"")));
  EXPECT_EQ(
      kind.create_errors(with_template(R"(,"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":1}})")),
      "spec.updateStrategy.rollingUpdate: Invalid value: {\"partition\":1}: only allowed for updateStrategy "
      "'RollingUpdate'");
  EXPECT_EQ(kind.create_errors(with_template(R"(,"updateStrategy":{"rollingUpdate":{"partition":-1}})")),
            "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(kind.create_errors(R"({"spec":{"selector":{},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"restartPolicy":"OnFailure","activeDeadlineSeconds":4,"containers":[{"name":"c","image":"i"}]}}}})"),
            "[spec.selector: Invalid value: {}: empty selector is invalid for statefulset, "
            "spec.template.spec.restartPolicy: Unsupported value: \"OnFailure\": supported values: \"Always\", "
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not "
            "Supported]");
}

TEST(StatefulSetKind, ContainersMayMountItsClaims) {
  Kind kind("StatefulSet", "apps");
  const auto mounting = [](std::string_view claims) {
    return R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":
        {"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}},
        "volumeClaimTemplates":)" +
           std::string(claims) + "}}";
  };
  EXPECT_THAT(kind.create_errors(mounting("[]")), HasSubstr("volumeMounts[0].name: Not found: \"data\""));
  EXPECT_EQ(kind.create_errors(mounting(R"([{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],
      "resources":{"requests":{"storage":"1Gi"}}}}])")),
            "");
  EXPECT_THAT(kind.create_errors(mounting(R"([{"metadata":{"name":"data"},"spec":{"accessModes":["X"],
      "resources":{"requests":{"storage":"-1"}}}}])")),
              AllOf(HasSubstr("spec.volumeClaimTemplates[0].spec.accessModes: Unsupported value: \"X\""),
                    HasSubstr("spec.volumeClaimTemplates[0].spec.resources[storage]: Invalid value: \"-1\": must be "
                              "greater than zero")));
  EXPECT_THAT(kind.create_errors(mounting("[{}]")),
              AllOf(HasSubstr("spec.volumeClaimTemplates[0].spec.accessModes: Required value"),
                    HasSubstr("spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"),
                    HasSubstr("spec.template.spec.volumes[0].name: Required value")));
}

TEST(StatefulSetKind, OnlySomeFieldsChange) {
  Kind kind("StatefulSet", "apps");
  const Json old = kind.created(with_template(R"(,"serviceName":"x")"));
  const auto changed = [&](std::initializer_list<std::string_view> path, Json value) {
    Json next = old;
    ensure_path(next, path) = std::move(value);
    return kind.update_errors(next, old);
  };
  const auto refused = HasSubstr("spec: Forbidden: updates to statefulset spec for fields other than");
  EXPECT_THAT(changed({"spec", "serviceName"}, "y"), refused);
  EXPECT_THAT(changed({"spec", "podManagementPolicy"}, "Parallel"), refused);
  EXPECT_THAT(changed({"spec", "selector", "matchLabels", "c"}, "d"), refused);
  EXPECT_THAT(changed({"spec", "volumeClaimTemplates"}, json(R"([{"metadata":{"name":"data"}}])")), refused);
  EXPECT_EQ(changed({"spec", "replicas"}, 3), "");
  EXPECT_EQ(changed({"spec", "ordinals"}, json(R"({"start":3})")), "");
  EXPECT_EQ(changed({"spec", "minReadySeconds"}, 3), "");
  EXPECT_EQ(changed({"spec", "revisionHistoryLimit"}, 3), "");
  EXPECT_EQ(changed({"spec", "updateStrategy"}, json(R"({"type":"OnDelete"})")), "");
  EXPECT_EQ(changed({"spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"}, "Delete"), "");
  EXPECT_EQ(changed({"spec", "template", "metadata", "labels", "more"}, "c"), "");
}

TEST(StatefulSetKind, CountsOfItsStatusAgree) {
  Kind kind("StatefulSet", "apps");
  EXPECT_EQ(status_errors(kind, R"({"replicas":2,"readyReplicas":2,"currentReplicas":1,"updatedReplicas":1,
      "availableReplicas":1,"collisionCount":0})"),
            "");
  EXPECT_EQ(status_errors(kind, R"({"replicas":1,"readyReplicas":2,"updatedReplicas":4,"collisionCount":-1})"),
            "[status.collisionCount: Invalid value: -1: must be greater than or equal to 0, "
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas, "
            "status.updatedReplicas: Invalid value: 4: cannot be greater than status.replicas, "
            "status.collisionCount: Invalid value: -1: cannot be decremented]");
}

TEST(ControllerRevisionKind, KeepsItsData) {
  Kind kind("ControllerRevision", "apps");
  Json old = kind.created(R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"s",
      "uid":"1","controller":true}]},"data":{"spec":{"template":{"a":null}}},"revision":3})");
  EXPECT_EQ(to_string(*find(old, "data")), R"({"spec":{"template":{"a":null}}})");
  EXPECT_EQ(kind.cells(old, "2026-11-21T09:00:05Z"), (std::vector<std::string>{"statefulset.apps/s", "3", "5s"}));
  EXPECT_EQ(kind.create_errors(R"({"revision":-1})"),
            "[data: Required value: data is mandatory, revision: Invalid value: -1: must be greater than or equal to "
            "0]");
  Json next = old;
  next.as_object()["revision"] = 4;
  EXPECT_EQ(kind.update_errors(next, old), "");
  ensure_path(next, {"data", "spec"}) = JsonObject();
  EXPECT_THAT(kind.update_errors(next, old), HasSubstr("data: Invalid value"));
}

}  // namespace
}  // namespace berth::apiserver::apps_kinds_test
