// Of a namespace only its labels matter: no other change of it leads to a decision.
#include <gtest/gtest.h>

#include <optional>

#include "api/resources.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller::namespaces_test {
namespace {

class Namespaces : public apiserver::ServerTest {
 protected:
  Namespaces() {
    for (const auto& file : embedded::crds()) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = parse_yaml(file.content).value().front();
      EXPECT_TRUE(call(std::move(crd)).ok()) << file.name;
    }
    create(api::kNamespaces, "", R"({"metadata":{"name":"team","labels":{"tier":"a"}}})");
    controller.emplace(*server, executor, ControllerOptions());
    controller->on_round([this] { ++rounds; });
    controller->start();
    controller->lead();
    pass();
  }
  void pass() { executor.run_until(executor.now() + std::chrono::seconds(5)); }
  // The number of decision rounds after this change of the namespace.
  int rounds_after(std::string_view change) {
    rounds = 0;
    EXPECT_TRUE(patch(api::kNamespaces, "", "team", change).ok());
    pass();
    return rounds;
  }

  std::optional<Controller> controller;
  int rounds = 0;
};

TEST_F(Namespaces, OnlyTheirLabelsLeadToADecision) {
  EXPECT_EQ(rounds_after(R"({"metadata":{"annotations":{"note":"x"}}})"), 0);
  EXPECT_EQ(rounds_after(R"({"metadata":{"labels":{"tier":"a"},"annotations":{"note":"y"}}})"), 0);
  EXPECT_GT(rounds_after(R"({"metadata":{"labels":{"tier":"b"}}})"), 0);
}

}  // namespace
}  // namespace berth::controller::namespaces_test
