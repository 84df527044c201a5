#include "api/batch/job_validation.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace berth::api::batch::job_validation_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }
std::string errors_of(const FieldErrors& errors) { return errors.empty() ? "" : to_string(errors); }

// A job with these labels, annotations and spec members, all in YAML's flow style.
Json job(std::string_view labels, std::string_view annotations = "{}",
         std::string_view spec = "{suspend: true, parallelism: 4}") {
  Json out;
  ensure_path(out, {"metadata", "labels"}) = object(labels);
  ensure_path(out, {"metadata", "annotations"}) = object(annotations);
  ensure_path(out, {"spec"}) = object(spec);
  return out;
}

constexpr std::string_view kElastic = "{kueue.x-k8s.io/elastic-job: 'true'}";
const std::string kNotElastic =
    "spec.parallelism: Forbidden: the size of an elastic job cannot change while it runs, because the feature gate "
    "ElasticJobsViaWorkloadSlices is not enabled: suspend the job first, or all its pods would be stopped";

TEST(ValidateJobUpdate, WithoutTheGateAnElasticJobThatRunsKeepsItsSize) {
  const auto elastic = [](std::string_view spec) { return job("{}", kElastic, spec); };
  kueue::LabelRules rules;
  rules.elastic_jobs = false;
  const auto change = [&](const Json& old, const Json& now) {
    return errors_of(validate_job_update(now, old, false, rules));
  };
  const Json two = elastic("{suspend: false, parallelism: 2, completions: 8}");
  EXPECT_EQ(change(two, elastic("{suspend: false, parallelism: 4, completions: 8}")), kNotElastic);
  EXPECT_EQ(change(two, elastic("{suspend: false, parallelism: 1, completions: 8}")), kNotElastic);
  EXPECT_EQ(change(two, elastic("{suspend: true, parallelism: 4, completions: 8}")), "") << "it stops";
  EXPECT_EQ(change(elastic("{suspend: true, parallelism: 4}"), elastic("{suspend: true, parallelism: 8}")), "");
  EXPECT_EQ(change(elastic("{suspend: false, parallelism: 8, completions: 2}"),
                   elastic("{suspend: false, parallelism: 9, completions: 2}")),
            "")
      << "as many pods as before";
  EXPECT_EQ(
      change(job("{}", "{}", "{suspend: false, parallelism: 2}"), job("{}", "{}", "{suspend: false, parallelism: 4}")),
      "")
      << "not an elastic job";
  rules.elastic_jobs = true;
  for (const char* size : {"4", "1", "0"})
    EXPECT_EQ(change(two, elastic("{suspend: false, completions: 8, parallelism: " + std::string(size) + "}")), "");
}

TEST(DefaultJob, PodsOfElasticJobsWaitForTheirQuota) {
  const auto gates = [](std::string_view annotations, bool on) {
    Json made =
        job("{kueue.x-k8s.io/queue-name: l}", annotations, "{template: {spec: {schedulingGates: [{name: own}]}}}");
    JobContext context;
    context.labels.elastic_jobs = on;
    default_job(made, context);
    default_job(made, context);
    return to_string(Json(array_at(made, {"spec", "template", "spec", "schedulingGates"})));
  };
  EXPECT_EQ(gates(kElastic, true), R"([{"name":"own"},{"name":"kueue.x-k8s.io/elastic-job"}])");
  EXPECT_EQ(gates(kElastic, false), R"([{"name":"own"}])");
  EXPECT_EQ(gates("{}", true), R"([{"name":"own"}])");
  EXPECT_EQ(gates("{kueue.x-k8s.io/elastic-job: 'True'}", true), R"([{"name":"own"}])") << "only exactly true counts";
}

TEST(ValidateJob, AmountsAreNotNegative) {
  const Json wrong = job("{}", "{}", "{suspend: true, template: {spec: {overhead: {cpu: '-100'}}}}");
  const std::string refused =
      "spec.template.spec.overhead[cpu]: Invalid value: \"-100\": must be greater than or equal to 0";
  EXPECT_EQ(errors_of(validate_job(wrong)), refused);
  EXPECT_EQ(errors_of(validate_job_update(wrong, job("{}", "{}", "{suspend: true}"), false)), refused);
  Json stopped = wrong;
  ensure_path(stopped, {"metadata", "labels"}) = object("{a: b}");
  EXPECT_EQ(errors_of(validate_job_update(stopped, wrong, false)), "") << "an old one can still be changed";
}

TEST(DefaultJob, ManagedJobsStartSuspended) {
  const struct {
    std::string what;
    Json job;
    JobContext context;
    std::string after;
  } cases[] = {
      {"with a queue", job("{kueue.x-k8s.io/queue-name: l}", "{}", "{}"), {}, R"({"suspend":true})"},
      {"without a queue", job("{}", "{}", "{}"), {}, "{}"},
      {"without a queue when all are managed",
       job("{}", "{}", "{suspend: false}"),
       {.manage_without_queue_name = true},
       R"({"suspend":true})"},
      {"in a namespace that is not managed",
       job("{kueue.x-k8s.io/queue-name: l}", "{}", "{}"),
       {.namespace_managed = false},
       "{}"},
      {"of a managed owner", job("{kueue.x-k8s.io/queue-name: l}", "{}", "{}"), {.ancestor_managed = true}, "{}"},
      {"with a default queue", job("{}", "{}", "{}"), {.default_queue_exists = true}, R"({"suspend":true})"},
  };
  for (const auto& c : cases) {
    Json now = c.job;
    default_job(now, c.context);
    EXPECT_EQ(to_string(now.at("spec")), c.after) << c.what;
  }
}

TEST(DefaultJob, QueueAndPriorityClassNamedDefaultAreTaken) {
  Json a = job("{}");
  default_job(a, {.default_queue_exists = true, .default_priority_class_exists = true});
  EXPECT_EQ(to_string(a.at("metadata").at("labels")),
            R"({"kueue.x-k8s.io/queue-name":"default","kueue.x-k8s.io/priority-class":"default"})");
  Json b = job("{kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/priority-class: high}");
  const Json before = b;
  default_job(b, {.default_queue_exists = true, .default_priority_class_exists = true});
  EXPECT_TRUE(json_equal(b, before));
  Json unmanaged = job("{}");
  default_job(unmanaged, {.default_priority_class_exists = true});
  EXPECT_EQ(to_string(unmanaged.at("metadata").at("labels")), "{}");
  Json owned = job("{}");
  default_job(owned, {.ancestor_managed = true, .default_queue_exists = true});
  EXPECT_EQ(to_string(owned.at("metadata").at("labels")), "{}");
}

TEST(ValidateJob, Rules) {
  const std::string topology = "spec.template.metadata.annotations";
  const auto with_template = [](std::string_view annotations) {
    Json out = job("{}");
    ensure_path(out, {"spec", "template", "metadata", "annotations"}) = object(annotations);
    return out;
  };
  const struct {
    Json job;
    std::string errors;
  } cases[] = {
      {job("{kueue.x-k8s.io/queue-name: l.a-1, kueue.x-k8s.io/max-exec-time-seconds: '60'}",
           "{kueue.x-k8s.io/job-min-parallelism: '3'}"),
       ""},
      {job("{kueue.x-k8s.io/max-exec-time-seconds: '0'}"),
       "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: 0: should be greater than 0"},
      {job("{kueue.x-k8s.io/max-exec-time-seconds: soon}"),
       R"(metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: "soon": must be an integer)"},
      {job("{}", "{kueue.x-k8s.io/job-min-parallelism: '4'}"),
       "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: 4: should be between 0 and "
       "3"},
      {job("{}", "{kueue.x-k8s.io/job-min-parallelism: '0'}"),
       "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: 0: should be between 0 and "
       "3"},
      {job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}", "{suspend: true, parallelism: 4, completions: 2}"),
       "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: 2: should be between 0 and "
       "1"},
      {job("{}", "{kueue.x-k8s.io/job-min-parallelism: few}"),
       R"(metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "few": must be an integer)"},
      {job("{}", "{kueue.x-k8s.io/job-min-parallelism: '1', kueue.x-k8s.io/elastic-job: 'true'}"),
       R"(metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "1": partial admission and elastic job cannot )"
       "be used together"},
      {job("{}", "{kueue.x-k8s.io/job-completions-equal-parallelism: 'true'}",
           "{completionMode: Indexed, parallelism: 2, completions: 2}"),
       ""},
      {job("{}", "{kueue.x-k8s.io/job-completions-equal-parallelism: 'true'}", "{parallelism: 2, completions: 3}"),
       R"([metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: "true": should not be enabled for NonIndexed jobs, )"
       R"(spec.completions: Invalid value: 3: should be equal to parallelism when kueue.x-k8s.io/job-completions-equal-parallelism annotation is true])"},
      {job("{}", "{kueue.x-k8s.io/job-completions-equal-parallelism: '1'}"),
       R"(metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: "1": must be true or false)"},
      {job("{}", "{kueue.x-k8s.io/admission-gated-by: 'example.com/a, example.com/b'}"), ""},
      {job("{}", "{kueue.x-k8s.io/admission-gated-by: 'a.example.com/x,,a.example.com/x'}"),
       R"([metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "a.example.com/x,,a.example.com/x": cannot contain )"
       R"(empty gate names, metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: )"
       R"("a.example.com/x,,a.example.com/x": duplicate gate name: a.example.com/x])"},
      {job("{}", "{kueue.x-k8s.io/admission-gated-by: x}"),
       R"(metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "x": must be a domain-prefixed path (such as )"
       R"("acme.io/foo"))"},
      {job("{}", "{kueue.x-k8s.io/admission-gated-by: 'example.com/a b'}"),
       R"(metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "a b": must consist of letters, digits and )"
       R"(/-._~%!$&'()*+,;=:)"},
      {job("{}", "{kueue.x-k8s.io/admission-gated-by: example.com/" + std::string(60, 'x') + "}"),
       "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Too long: may not be more than 63 bytes"},
      {with_template("{kueue.x-k8s.io/podset-required-topology: example.com/rack, "
                     "kueue.x-k8s.io/podset-slice-required-topology: host, "
                     "kueue.x-k8s.io/podset-slice-size: '2'}"),
       ""},
      {with_template("{kueue.x-k8s.io/podset-required-topology: rack, "
                     "kueue.x-k8s.io/podset-unconstrained-topology: 'true'}"),
       topology + R"(: Invalid value: must not contain more than one topology annotation: )"
                  R"(["kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology", )"
                  R"("kueue.x-k8s.io/podset-unconstrained-topology"])"},
      {with_template("{kueue.x-k8s.io/podset-slice-required-topology: host}"),
       topology + "[kueue.x-k8s.io/podset-slice-size]: Required value: must be set when "
                  "'kueue.x-k8s.io/podset-slice-required-topology' is specified"},
      {with_template("{kueue.x-k8s.io/podset-slice-size: '2'}"),
       topology + "[kueue.x-k8s.io/podset-slice-size]: Forbidden: may not be set when "
                  "'kueue.x-k8s.io/podset-slice-required-topology' is not specified"},
      {with_template("{kueue.x-k8s.io/podset-slice-required-topology: host, kueue.x-k8s.io/podset-slice-size: '5'}"),
       topology +
           R"([kueue.x-k8s.io/podset-slice-size]: Invalid value: "5": must not be greater than pod set count 4)"},
      {with_template("{kueue.x-k8s.io/podset-slice-required-topology: host, kueue.x-k8s.io/podset-slice-size: many}"),
       topology + R"([kueue.x-k8s.io/podset-slice-size]: Invalid value: "many": must be a numeric value)"},
      {with_template("{kueue.x-k8s.io/podset-slice-required-topology: host, kueue.x-k8s.io/podset-slice-size: '0'}"),
       topology + R"([kueue.x-k8s.io/podset-slice-size]: Invalid value: "0": must be greater than or equal to 1)"},
      {with_template("{kueue.x-k8s.io/podset-slice-required-topology: host, kueue.x-k8s.io/podset-slice-size: '3'}"),
       ""},
      {with_template("{kueue.x-k8s.io/podset-unconstrained-topology: maybe}"),
       topology + R"([kueue.x-k8s.io/podset-unconstrained-topology]: Invalid value: "maybe": must be a boolean value)"},
      {with_template("{kueue.x-k8s.io/podset-preferred-topology: rack, kueue.x-k8s.io/podset-group-name: pair}"), ""},
      {with_template("{kueue.x-k8s.io/podset-preferred-topology: rack, kueue.x-k8s.io/podset-group-name: '7'}"),
       topology + R"([kueue.x-k8s.io/podset-group-name]: Invalid value: "7": must not be a number)"},
      {with_template("{kueue.x-k8s.io/podset-unconstrained-topology: 'true', kueue.x-k8s.io/podset-group-name: pair}"),
       topology + "[kueue.x-k8s.io/podset-group-name]: Forbidden: may not be set when neither "
                  "'kueue.x-k8s.io/podset-preferred-topology' nor 'kueue.x-k8s.io/podset-required-topology' "
                  "is specified"},
      {with_template("{kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-group-name: pair, "
                     "kueue.x-k8s.io/podset-slice-required-topology: host, kueue.x-k8s.io/podset-slice-size: '2'}"),
       ""},
      {with_template(R"({kueue.x-k8s.io/podset-required-topology: block, kueue.x-k8s.io/podset-group-name: pair,
        kueue.x-k8s.io/podset-slice-required-topology-constraints: '[{"topology": "rack", "size": 3}]'})"),
       ""},
      {with_template(R"({kueue.x-k8s.io/podset-slice-required-topology-constraints:
        '[{"topology": "block", "size": 3}, {"topology": "rack", "size": 1}]'})"),
       topology + "[kueue.x-k8s.io/podset-slice-required-topology-constraints]: Invalid value: 3: must evenly divide "
                  "pod set count 4 when more than one layer is specified"},
      {with_template(R"({kueue.x-k8s.io/podset-slice-required-topology-constraints:
        '[{"topology": "block", "size": 4}, {"topology": "rack", "size": 2}]'})"),
       ""},
      {with_template("{kueue.x-k8s.io/podset-slice-required-topology-constraints: '{}'}"),
       topology +
           R"([kueue.x-k8s.io/podset-slice-required-topology-constraints]: Invalid value: "{}": must be a valid )"
           R"(JSON array, such as [{"topology": "rack", "size": 4}])"},
      {with_template("{kueue.x-k8s.io/podset-slice-required-topology-constraints: '[]'}"),
       topology +
           R"([kueue.x-k8s.io/podset-slice-required-topology-constraints]: Invalid value: "[]": topology constraints must )"
           R"(contain between 1 and 3 entries)"},
      {with_template(R"({kueue.x-k8s.io/podset-slice-required-topology-constraints:
        '[{"topology": "rack", "size": 4}, {"topology": "rack", "size": 3}, {"size": 0}]'})"),
       "[" + topology +
           R"j([kueue.x-k8s.io/podset-slice-required-topology-constraints][1].topology: Duplicate value: "rack (also at index 0)", )j" +
           topology +
           "[kueue.x-k8s.io/podset-slice-required-topology-constraints][2].topology: Required value: must "
           "name a level, " +
           topology +
           "[kueue.x-k8s.io/podset-slice-required-topology-constraints][2].size: Invalid value: 0: must be "
           "greater "
           "than or equal to 1, " +
           topology +
           "[kueue.x-k8s.io/podset-slice-required-topology-constraints][1].size: Invalid value: 3: must "
           "evenly divide "
           "the parent layer size 4]"},
      {with_template(
           R"({kueue.x-k8s.io/podset-slice-required-topology-constraints: '[{"topology": "rack", "size": 8}]',
        kueue.x-k8s.io/podset-slice-size: '2', kueue.x-k8s.io/podset-slice-required-topology: host})"),
       "[" + topology +
           "[kueue.x-k8s.io/podset-slice-required-topology-constraints]: Forbidden: may not be set when "
           "'kueue.x-k8s.io/podset-slice-required-topology' is specified, " +
           topology +
           "[kueue.x-k8s.io/podset-slice-required-topology-constraints]: Forbidden: may not be set when "
           "'kueue.x-k8s.io/podset-slice-size' is specified, " +
           topology +
           "[kueue.x-k8s.io/podset-slice-required-topology-constraints]: Invalid value: 8: must not be "
           "greater "
           "than pod set count 4]"},
      {with_template("{kueue.x-k8s.io/podset-required-topology: example.com/" + std::string(60, 'x') + "}"),
       topology + "[kueue.x-k8s.io/podset-required-topology]: Invalid value: \"example.com/" + std::string(60, 'x') +
           "\": must be no more than 63 characters"},
  };
  for (const auto& c : cases) EXPECT_EQ(errors_of(validate_job(c.job)), c.errors);
  for (const auto& bad : {job("{kueue.x-k8s.io/queue-name: A_b}"), job("{kueue.x-k8s.io/prebuilt-workload-name: A_b}"),
                          job("{}", "{kueue.x-k8s.io/prebuilt-workload-name: A_b}")})
    EXPECT_NE(errors_of(validate_job(bad)).find("a lowercase RFC 1123 subdomain"), std::string::npos);
  EXPECT_EQ(errors_of(validate_job(job("{}", "{kueue.x-k8s.io/prebuilt-workload-name: A_b}"),
                                   {.identifier_annotations = false})),
            "")
      << "the annotation means nothing without its gate";
  EXPECT_TRUE(
      errors_of(validate_job(with_template("{kueue.x-k8s.io/podset-preferred-topology: a b}")))
          .starts_with(topology + "[kueue.x-k8s.io/podset-preferred-topology]: Invalid value: \"a b\": name part"));
}

TEST(ValidateJobUpdate, Rules) {
  const std::string running = "{suspend: false, parallelism: 4}";
  const std::string queue = "metadata.labels[kueue.x-k8s.io/queue-name]: ";
  const std::string priority = "metadata.labels[kueue.x-k8s.io/priority-class]: ";
  const std::string time = "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: ";
  const struct {
    std::string what;
    Json old, now;
    bool default_queue = false;
    std::string errors;
  } cases[] = {
      {"another queue while suspended", job("{kueue.x-k8s.io/queue-name: a}"), job("{kueue.x-k8s.io/queue-name: b}"),
       false, ""},
      {"another queue while running", job("{kueue.x-k8s.io/queue-name: a}", "{}", running),
       job("{kueue.x-k8s.io/queue-name: b}", "{}", running), false, queue + "Invalid value: \"b\": field is immutable"},
      {"another queue and unsuspended at once", job("{kueue.x-k8s.io/queue-name: a}"),
       job("{kueue.x-k8s.io/queue-name: b}", "{}", running), false, queue + "Invalid value: \"b\": field is immutable"},
      {"no queue", job("{kueue.x-k8s.io/queue-name: a}"), job("{}"), false, ""},
      {"no queue where there is a default one", job("{kueue.x-k8s.io/queue-name: a}"), job("{}"), true,
       queue + "Invalid value: \"\": queue-name must not be empty in namespace with default queue"},
      {"no queue where there is a default one, while running", job("{kueue.x-k8s.io/queue-name: a}", "{}", running),
       job("{}", "{}", running), true,
       "[" + queue + "Invalid value: \"\": field is immutable, " + queue +
           "Invalid value: \"\": queue-name must not be empty in namespace with default queue]"},
      {"another priority class while running", job("{kueue.x-k8s.io/priority-class: a}", "{}", running),
       job("{kueue.x-k8s.io/priority-class: b}", "{}", running), false, ""},
      {"a first priority class while suspended", job("{}"), job("{kueue.x-k8s.io/priority-class: b}"), false, ""},
      {"a first priority class while running", job("{}", "{}", running),
       job("{kueue.x-k8s.io/priority-class: b}", "{}", running), false,
       priority + "Invalid value: \"b\": WorkloadPriorityClass cannot be added to a non-suspended workload"},
      {"no priority class", job("{kueue.x-k8s.io/priority-class: a}"), job("{}"), false,
       priority + "Invalid value: \"\": WorkloadPriorityClass cannot be removed from a workload"},
      {"another time limit while suspended", job("{kueue.x-k8s.io/max-exec-time-seconds: '1'}"),
       job("{kueue.x-k8s.io/max-exec-time-seconds: '2'}"), false, ""},
      {"another time limit while stopping", job("{kueue.x-k8s.io/max-exec-time-seconds: '1'}", "{}", running),
       job("{kueue.x-k8s.io/max-exec-time-seconds: '2'}"), false, time + "Invalid value: \"2\": field is immutable"},
      {"fewer gates", job("{}", "{kueue.x-k8s.io/admission-gated-by: 'x.io/a,x.io/b'}"),
       job("{}", "{kueue.x-k8s.io/admission-gated-by: x.io/b}"), false, ""},
      {"more gates", job("{}", "{kueue.x-k8s.io/admission-gated-by: x.io/a}"),
       job("{}", "{kueue.x-k8s.io/admission-gated-by: 'x.io/a,x.io/c'}"), false,
       "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: can only remove gates, not add "
       "new ones"},
      {"a first gate", job("{}"), job("{}", "{kueue.x-k8s.io/admission-gated-by: x.io/a}"), false,
       "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: cannot add admission gate after "
       "creation"},
      {"a gate that was stored somehow stays", job("{}", "{kueue.x-k8s.io/admission-gated-by: a}"),
       job("{}", "{kueue.x-k8s.io/admission-gated-by: a}", running), false, ""},
      {"a wrong time limit that was stored somehow stays",
       job("{kueue.x-k8s.io/max-exec-time-seconds: x}", "{}", running),
       job("{kueue.x-k8s.io/max-exec-time-seconds: x}"), false, ""},
      {"completions as parallelism while running",
       job("{}", "{kueue.x-k8s.io/job-completions-equal-parallelism: 'false'}", running), job("{}", "{}", running),
       false,
       "metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Forbidden: field is "
       "immutable while the job is "
       "not suspended"},
      {"a prebuilt workload while running", job("{}", "{}", running),
       job("{kueue.x-k8s.io/prebuilt-workload-name: w}", "{}", running), false,
       "metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"w\": field is immutable"},
      {"elasticity", job("{}"), job("{}", "{kueue.x-k8s.io/elastic-job: 'true'}"), false,
       "metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: true: field is immutable"},
      {"started with fewer pods", job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}"),
       job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}", "{suspend: false, parallelism: 2}"), false, ""},
      {"stopped", job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}", "{suspend: false, parallelism: 2}"),
       job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}"), false, ""},
      {"other parallelism while running", job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}", running),
       job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}", "{suspend: false, parallelism: 3}"), false,
       "spec.parallelism: Forbidden: cannot change when partial admission is enabled and the job is not "
       "suspended"},
      {"too small while suspended", job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}"),
       job("{}", "{kueue.x-k8s.io/job-min-parallelism: '2'}", "{suspend: true, parallelism: 2}"), false,
       "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: 2: should be between 0 and "
       "1"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(errors_of(validate_job_update(c.now, c.old, c.default_queue)), c.errors) << c.what;
}

}  // namespace
}  // namespace berth::api::batch::job_validation_test
