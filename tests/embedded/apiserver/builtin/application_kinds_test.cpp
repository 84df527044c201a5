// Defaults and validation of the kinds that application manifests contain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::application_kinds_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kFlow = "flowcontrol.apiserver.k8s.io";

std::string deployment(std::string_view more) {
  return R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":
      {"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}})" +
         std::string(more) + "}}";
}

TEST(DeploymentKind, FillsWhatDeploymentsHaveAndDropsAStatus) {
  Kind kind("Deployment", "apps");
  Json object = json(deployment(""));
  object.as_object()["status"] = JsonObject{{"replicas", 3}};
  object = kind.created(to_string(object));
  EXPECT_EQ(int_at(object, {"spec", "replicas"}), 1);
  EXPECT_EQ(int_at(object, {"spec", "revisionHistoryLimit"}), 10);
  EXPECT_EQ(int_at(object, {"spec", "progressDeadlineSeconds"}), 600);
  EXPECT_EQ(to_string(*find_path(object, {"spec", "strategy"})),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
  EXPECT_EQ(string_at(object, {"spec", "template", "spec", "restartPolicy"}), "Always");
  EXPECT_EQ(string_at(array_at(object, {"spec", "template", "spec", "containers"})[0], {"imagePullPolicy"}),
            "IfNotPresent");
  EXPECT_EQ(to_string(*find(object, "status")), "{}");
  EXPECT_EQ(kind.cells(object, "2026-11-21T09:00:05Z").front(), "0/1");
}

TEST(DeploymentKind, RefusesWhatCannotRun) {
  Kind kind("Deployment", "apps");
  EXPECT_EQ(kind.create_errors(deployment("")), "");
  EXPECT_EQ(kind.create_errors(deployment(R"(,"strategy":{"type":"Recreate","rollingUpdate":{}})")),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'");
  EXPECT_THAT(kind.create_errors(deployment(R"(,"strategy":{"rollingUpdate":{"maxSurge":"x"}})")),
              HasSubstr("spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x\""));
  EXPECT_THAT(kind.create_errors(deployment(R"(,"replicas":-1)")), HasSubstr("spec.replicas: Invalid value: -1"));
  EXPECT_THAT(kind.create_errors(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"spec":
      {"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})"),
              testing::AllOf(HasSubstr("`selector` does not match template `labels`"),
                             HasSubstr("spec.template.spec.restartPolicy: Unsupported value: \"Never\"")));
  Json old = kind.created(deployment("")), next = old;
  ensure_path(next, {"spec", "selector", "matchLabels", "a"}) = "c";
  EXPECT_THAT(kind.update_errors(next, old), HasSubstr("spec.selector: Invalid value"));
}

TEST(ServiceKind, TakesThePodsPortFromItsOwn) {
  Kind kind("Service");
  Json object = kind.created(R"({"spec":{"ports":[{"port":443},{"name":"m","port":8443,"targetPort":"x"}]}})");
  EXPECT_EQ(to_string(array_at(object, {"spec", "ports"})[0]), R"({"port":443,"protocol":"TCP","targetPort":443})");
  EXPECT_EQ(string_at(object, {"spec", "type"}), "ClusterIP");
  EXPECT_EQ(string_at(object, {"spec", "internalTrafficPolicy"}), "Cluster");
  EXPECT_EQ(kind.create_errors(R"({"spec":{"ports":[{"port":443}]}})"), "");
  EXPECT_EQ(kind.create_errors(R"({"spec":{}})"), "spec.ports: Required value");
  EXPECT_EQ(kind.create_errors(R"({"spec":{"clusterIP":"None"}})"), "");
  EXPECT_THAT(kind.create_errors(R"({"spec":{"ports":[{"name":"a","port":1},{"name":"a","port":1}]}})"),
              testing::AllOf(HasSubstr("spec.ports[1].name: Duplicate value: \"a\""),
                             HasSubstr("spec.ports[1]: Duplicate value")));
  EXPECT_THAT(kind.create_errors(R"({"spec":{"ports":[{"port":70000}]}})"),
              HasSubstr("spec.ports[0].port: Invalid value: 70000"));
}

TEST(Roles, SayWhatTheyAreAbout) {
  Kind roles("Role", kRbac), cluster_roles("ClusterRole", kRbac);
  EXPECT_EQ(roles.create_errors(R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})"), "");
  EXPECT_EQ(cluster_roles.create_errors(R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/metrics"]}]})"), "");
  EXPECT_EQ(roles.create_errors(R"({"rules":[{"verbs":["get"],"resources":["pods"]}]})"),
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group");
  EXPECT_THAT(roles.create_errors(R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/metrics"]}]})"),
              HasSubstr("namespaced rules cannot apply to non-resource URLs"));
  EXPECT_THAT(cluster_roles.create_errors(R"({"aggregationRule":{}})"),
              HasSubstr("aggregationRule.clusterRoleSelectors: Required value"));
}

TEST(Bindings, NameARoleForGood) {
  Kind bindings("ClusterRoleBinding", kRbac);
  constexpr std::string_view kBinding =
      R"({"roleRef":{"kind":"ClusterRole","name":"a"},"subjects":[{"kind":"User","name":"u"}]})";
  Json old = bindings.created(kBinding);
  EXPECT_EQ(string_at(old, {"roleRef", "apiGroup"}), kRbac);
  EXPECT_EQ(string_at(array_at(old, {"subjects"})[0], {"apiGroup"}), kRbac);
  EXPECT_EQ(bindings.create_errors(kBinding), "");
  Json next = old;
  ensure_path(next, {"roleRef", "name"}) = "b";
  EXPECT_THAT(bindings.update_errors(next, old), HasSubstr("cannot change roleRef"));
  EXPECT_EQ(bindings.create_errors(R"({"roleRef":{"kind":"Role","name":"a"}})"),
            "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"");
  EXPECT_EQ(bindings.create_errors(
                R"({"roleRef":{"kind":"ClusterRole","name":"a"},"subjects":[{"kind":"ServiceAccount","name":"s"}]})"),
            "subjects[0].namespace: Required value");
}

TEST(WebhookConfigurations, HaveTheDefaultsOfTheirKind) {
  Kind kind("MutatingWebhookConfiguration", kAdmission);
  Json object = kind.created(R"({"webhooks":[{"name":"a.example.com","sideEffects":"None",
      "admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"n","name":"s","path":"/p"}},
      "rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}]})");
  const Json& webhook = array_at(object, {"webhooks"})[0];
  EXPECT_EQ(string_at(webhook, {"failurePolicy"}), "Fail");
  EXPECT_EQ(string_at(webhook, {"matchPolicy"}), "Equivalent");
  EXPECT_EQ(string_at(webhook, {"reinvocationPolicy"}), "Never");
  EXPECT_EQ(int_at(webhook, {"timeoutSeconds"}), 10);
  EXPECT_EQ(to_string(*find(webhook, "namespaceSelector")), "{}");
  EXPECT_EQ(int_at(webhook, {"clientConfig", "service", "port"}), 443);
  EXPECT_EQ(string_at(array_at(webhook, {"rules"})[0], {"scope"}), "*");
  EXPECT_EQ(kind.create_errors(to_string(object)), "");
}

TEST(WebhookConfigurations, AreRefusedWithEveryMistake) {
  Kind kind("ValidatingWebhookConfiguration", kAdmission);
  const std::string errors = kind.create_errors(
      R"({"webhooks":[{"name":"a.b","timeoutSeconds":31,"clientConfig":{},"rules":[{"operations":["READ"]}]}]})");
  for (const char* part :
       {"webhooks[0].name: Invalid value: \"a.b\"", "webhooks[0].sideEffects: Required value",
        "webhooks[0].admissionReviewVersions: Required value", "exactly one of url or service is required",
        "between 1 and 30 seconds", "webhooks[0].rules[0].operations[0]: Unsupported value: \"READ\"",
        "webhooks[0].rules[0].resources: Required value"}) {
    EXPECT_THAT(errors, HasSubstr(part));
  }
  Json object = json(R"({"webhooks":[{"name":"a.b.c","clientConfig":{"caBundle":"*"}}]})");
  EXPECT_FALSE(kind.strategy().decode(object).has_value()) << "the bundle is no base64";
}

TEST(ApiServiceKind, IsNamedAfterItsVersion) {
  Kind kind("APIService", "apiregistration.k8s.io");
  constexpr std::string_view kSpec =
      R"("spec":{"group":"g.io","version":"v1","groupPriorityMinimum":100,"versionPriority":100,
         "service":{"name":"s","namespace":"n"}}})";
  EXPECT_EQ(kind.create_errors(R"({"metadata":{"name":"v1.g.io"},)" + std::string(kSpec)), "");
  EXPECT_THAT(kind.create_errors(R"({"metadata":{"name":"v2.g.io"},)" + std::string(kSpec)),
              HasSubstr("metadata.name: Invalid value: \"v2.g.io\""));
  EXPECT_THAT(kind.create_errors(R"({"metadata":{"name":"v1.g.io"},"spec":{"group":"g.io","version":"v1"}})"),
              HasSubstr("spec.groupPriorityMinimum: Invalid value: 0"));
}

TEST(DisruptionBudgets, HaveOneBound) {
  Kind kind("PodDisruptionBudget", "policy");
  EXPECT_EQ(kind.create_errors(R"({"spec":{"minAvailable":1,"selector":{}}})"), "");
  EXPECT_THAT(kind.create_errors(R"({"spec":{"minAvailable":1,"maxUnavailable":"50%"}})"),
              HasSubstr("cannot be both set"));
  Json object = kind.created(R"({"spec":{"maxUnavailable":"50%"}})");
  EXPECT_EQ(kind.cells(object, "2026-11-21T09:00:00Z"), (std::vector<std::string>{"N/A", "50%", "0", "0s"}));
}

TEST(PriorityLevels, QueueWithDefaults) {
  Kind levels("PriorityLevelConfiguration", kFlow);
  Json level = levels.created(R"({"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue"}}}})");
  EXPECT_EQ(to_string(*find_path(level, {"spec", "limited", "limitResponse", "queuing"})),
            R"({"queues":64,"handSize":8,"queueLengthLimit":50})");
  EXPECT_EQ(int_at(level, {"spec", "limited", "nominalConcurrencyShares"}), 30);
  EXPECT_THAT(levels.create_errors(R"({"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue",
      "queuing":{"queues":2,"handSize":3}}}}})"),
              HasSubstr("handSize: Invalid value: 3: should not be greater than queues (2)"));
  EXPECT_EQ(levels.create_errors(R"({"spec":{"type":"Limited"}})"),
            "spec.limited: Required value: must not be empty when type is Limited");
}

TEST(FlowSchemas, SayWhoseRequestsTheyAreAbout) {
  Kind schemas("FlowSchema", kFlow);
  Json schema = schemas.created(R"({"spec":{"priorityLevelConfiguration":{"name":"a"}}})");
  EXPECT_EQ(int_at(schema, {"spec", "matchingPrecedence"}), 1000);
  EXPECT_THAT(schemas.create_errors(
                  R"({"spec":{"priorityLevelConfiguration":{"name":"a"},"matchingPrecedence":10001,"rules":[{"subjects":
      [{"kind":"User","group":{"name":"g"}}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}]}})"),
              testing::AllOf(HasSubstr("must be between 1 and 10000"), HasSubstr("user: Required value"),
                             HasSubstr("group: Forbidden"), HasSubstr("resourceRules[0].namespaces: Required")));
}

TEST(NetworkPolicies, BoundTheDirectionsOfTheirRules) {
  Kind kind("NetworkPolicy", "networking.k8s.io");
  Json policy = kind.created(R"({"spec":{"egress":[{"to":[{"podSelector":{}}],"ports":[{"port":53}]}]}})");
  EXPECT_EQ(to_string(*find_path(policy, {"spec", "policyTypes"})), R"(["Ingress","Egress"])");
  EXPECT_EQ(to_string(*find_path(policy, {"spec", "podSelector"})), "{}");
  EXPECT_EQ(kind.create_errors(to_string(policy)), "");
  EXPECT_THAT(kind.create_errors(R"({"spec":{"ingress":[{"from":[{}],"ports":[{"port":5,"endPort":4}]}]}})"),
              testing::AllOf(HasSubstr("from[0]: Required value"), HasSubstr("endPort: Invalid value: 4")));
}

}  // namespace
}  // namespace berth::apiserver::application_kinds_test
