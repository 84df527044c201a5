#include "kube/rest_path.h"

#include <gtest/gtest.h>

#include "kube/endpoint.h"

namespace berth::kube::rest_path_test {
namespace {

using api::RestRequest;
using api::Verb;

RestRequest workload(Verb verb) {
  RestRequest r;
  r.verb = verb;
  r.resource = {"kueue.x-k8s.io", "v1beta2", "workloads"};
  r.ns = "team";
  r.name = "w";
  return r;
}

TEST(RestPath, NamesObjectsSubresourcesAndCollections) {
  EXPECT_EQ(to_http(workload(Verb::kGet), "").target, "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/w");
  RestRequest status = workload(Verb::kUpdate);
  status.subresource = "status";
  status.body = JsonObject{{"a", 1}};
  const HttpRequest put = to_http(status, "/prefix");
  EXPECT_EQ(put.method, "PUT");
  EXPECT_EQ(put.target, "/prefix/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/w/status");
  EXPECT_EQ(put.body, R"({"a":1})");
  RestRequest pods;
  pods.verb = Verb::kList;
  pods.resource = {"", "v1", "pods"};
  pods.limit = 5;
  pods.label_selector = "a in (b,c),d=e/f";
  EXPECT_EQ(to_http(pods, "").target, "/api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29%2Cd%3De%2Ff&limit=5");
  pods.name = "a b/c";
  pods.limit = 0;
  pods.label_selector.clear();
  EXPECT_EQ(to_http(pods, "").target, "/api/v1/pods/a%20b%2Fc");
}

TEST(RestPath, SaysHowToPatch) {
  RestRequest r = workload(Verb::kPatch);
  r.body = JsonObject{};
  r.patch_type = api::PatchType::kApply;
  r.force = true;
  r.field_manager = "berth";
  const HttpRequest apply = to_http(r, "");
  EXPECT_EQ(apply.method, "PATCH");
  EXPECT_TRUE(apply.target.ends_with("?fieldManager=berth&force=true")) << apply.target;
  const auto has = [&](const HttpRequest& h, const std::string& type) {
    return std::find(h.headers.begin(), h.headers.end(), std::pair<std::string, std::string>("Content-Type", type)) !=
           h.headers.end();
  };
  EXPECT_TRUE(has(apply, "application/apply-patch+yaml"));
  r.patch_type = api::PatchType::kJson;
  EXPECT_TRUE(has(to_http(r, ""), "application/json-patch+json"));
}

TEST(RestPath, AsksForTheMetadataAloneOfWhatItWrites) {
  const auto accepts = [](RestRequest r) {
    r.wants_metadata_only = true;
    for (const auto& [name, value] : to_http(r, "").headers) {
      if (name == "Accept") return value;
    }
    return std::string();
  };
  const std::string alone = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  EXPECT_EQ(accepts(workload(Verb::kCreate)), alone);
  EXPECT_EQ(accepts(workload(Verb::kUpdate)), alone);
  EXPECT_EQ(accepts(workload(Verb::kPatch)), alone);
  EXPECT_EQ(accepts(workload(Verb::kDelete)), "application/json") << "it may answer with a Status";
}

TEST(RestPath, Watches) {
  RestRequest r;
  r.verb = Verb::kWatch;
  r.resource = {"", "v1", "nodes"};
  r.resource_version = "7";
  r.allow_bookmarks = true;
  r.send_initial_events = false;
  r.timeout_seconds = 60;
  EXPECT_EQ(
      to_http(r, "").target,
      "/api/v1/nodes?resourceVersion=7&watch=true&sendInitialEvents=false&allowWatchBookmarks=true&timeoutSeconds=60");
}

TEST(ParseEndpoint, TakesHostsAddressesAndPrefixes) {
  const auto full = parse_endpoint("https://[fd00::1]:6443/k8s/clusters/x/");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->host, "fd00::1");
  EXPECT_EQ(full->port, 6443);
  EXPECT_EQ(full->path, "/k8s/clusters/x");
  const auto proxy = parse_endpoint("http://me:pw@proxy");
  ASSERT_TRUE(proxy);
  EXPECT_EQ(proxy->port, 80);
  EXPECT_EQ(proxy->user_info, "me:pw");
  EXPECT_EQ(parse_endpoint("https://").error().message, "the URL https://: expected https://HOST[:PORT]");
  EXPECT_EQ(parse_endpoint("ftp://h").error().message, "the URL ftp://h: expected the scheme https");
  EXPECT_EQ(parse_endpoint("https://h:0").error().message, "the URL https://h:0: the port must be 1 to 65535");
}

}  // namespace
}  // namespace berth::kube::rest_path_test
