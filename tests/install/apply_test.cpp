// An API server with strict field validation accepts the plain manifests, and applying them again changes nothing.
#include "embedded/apiserver/server/api_server.h"
#include "install/manifests.h"

namespace berth::install::apply_test {
namespace {

class Apply : public testing::Test {
 protected:
  Apply() {
    auto opened = apiserver::ApiServer::open(executor_, apiserver::make_memory_log(executor_), {.seed = 7});
    EXPECT_TRUE(opened);
    server_ = std::move(*opened);
  }

  api::RestResponse apply(const Json& object) {
    api::RestRequest request;
    request.verb = api::Verb::kPatch;
    request.patch_type = api::PatchType::kApply;
    request.resource = resource_of(object);
    request.ns = namespace_of(object);
    request.name = name_of(object);
    request.body = object;
    request.field_manager = "kubectl";
    request.field_validation = api::FieldValidation::kStrict;
    request.user = {"admin", {"system:masters"}};
    api::RestResponse answer;
    server_->call(std::move(request), [&](api::RestResponse response) { answer = std::move(response); });
    EXPECT_TRUE(executor_.run_ready(1'000'000));
    return answer;
  }

  api::GroupVersionResource resource_of(const Json& object) const {
    const std::string_view version = string_at(object, {"apiVersion"});
    const std::size_t slash = version.find('/');
    const std::string group(slash == std::string_view::npos ? "" : version.substr(0, slash));
    const auto found = server_->registry().find_kind(
        group, version.substr(slash == std::string_view::npos ? 0 : slash + 1), kind_of(object));
    EXPECT_TRUE(found) << version << " " << kind_of(object) << " is not served";
    return found ? found->gvr : api::GroupVersionResource();
  }

  VirtualExecutor executor_{parse_time("2026-11-21T09:00:00Z").value()};
  std::unique_ptr<apiserver::ApiServer> server_;
};

TEST_F(Apply, EveryObjectIsTakenWithStrictFieldValidation) {
  ASSERT_GT(manifests().size(), 40U);
  for (const Json& object : manifests()) {
    const api::RestResponse answer = apply(object);
    EXPECT_EQ(answer.code, 201) << kind_of(object) << " " << name_of(object) << ": "
                                << string_at(answer.body, {"message"});
    EXPECT_TRUE(answer.warnings.empty()) << name_of(object) << ": " << answer.warnings.front();
  }
}

TEST_F(Apply, ASecondTimeChangesNothing) {
  for (const Json& object : manifests()) apply(object);
  for (const Json& object : manifests()) {
    const std::string before(string_at(apply(object).body, {"metadata", "resourceVersion"}));
    const api::RestResponse answer = apply(object);
    EXPECT_EQ(answer.code, 200);
    EXPECT_EQ(string_at(answer.body, {"metadata", "resourceVersion"}), before)
        << kind_of(object) << " " << name_of(object);
  }
}

}  // namespace
}  // namespace berth::install::apply_test
