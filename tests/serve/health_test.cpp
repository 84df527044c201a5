#include "serve/health.h"

#include <gtest/gtest.h>

#include "serve/keeping_sink.h"

namespace berth::serve::health_test {
namespace {

class Health : public testing::Test {
 protected:
  http::HttpResponse get(const std::string& target) {
    return ask(handler, request_of("GET", target))->response.value();
  }

  std::string caches = "not synced", thread;
  HealthHandler handler{{}, {{"caches", [this] { return caches; }}, {"thread", [this] { return thread; }, false}}};
};

TEST_F(Health, LivenessDoesNotWaitForReadiness) {
  for (const std::string path : {"/healthz", "/livez"}) {
    EXPECT_EQ(get(path).status, 200);
    EXPECT_EQ(get(path).body, "ok");
    EXPECT_EQ(get(path + "?verbose").body, "[+]ping ok\n[+]thread ok\n" + path.substr(1) + " check passed\n");
  }
  thread = "stuck";
  EXPECT_EQ(get("/livez").status, 500);
}

TEST_F(Health, ReadinessSaysWhatIsMissing) {
  EXPECT_EQ(get("/readyz").status, 500);
  EXPECT_EQ(get("/readyz").body, "[+]ping ok\n[-]caches failed: not synced\n[+]thread ok\nreadyz check failed\n");
  caches.clear();
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/readyz?verbose=true").body, "[+]ping ok\n[+]caches ok\n[+]thread ok\nreadyz check passed\n");
  EXPECT_EQ(get("/readyz?verbose=false").body, "ok");
}

TEST_F(Health, SingleChecksCanBeAskedFor) {
  EXPECT_EQ(get("/readyz/ping").status, 200);
  EXPECT_EQ(get("/readyz/caches").status, 500);
  EXPECT_EQ(get("/readyz/caches").body, "[-]caches failed: not synced\nreadyz check failed\n");
  EXPECT_EQ(get("/readyz/nothing").status, 404);
}

TEST_F(Health, OtherPathsAndMethodsAreRefused) {
  EXPECT_EQ(get("/").status, 404);
  EXPECT_EQ(get("/metrics").status, 404);
  EXPECT_EQ(ask(handler, request_of("POST", "/healthz"))->response.value().status, 405);
}

TEST_F(Health, EndpointsCanHaveOtherNames) {
  HealthHandler named({.readiness = "ready", .liveness = "alive"}, {});
  const auto status = [&](const std::string& path) {
    return ask(named, request_of("GET", path))->response.value().status;
  };
  EXPECT_EQ(status("/ready"), 200);
  EXPECT_EQ(status("/alive"), 200);
  EXPECT_EQ(status("/readyz"), 404);
}

}  // namespace
}  // namespace berth::serve::health_test
