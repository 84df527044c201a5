// `berth up` allows what a real API server with the same roles allows, and refuses the rest with the same words.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "e2e/rbac_questions.h"
#include "e2e/server.h"
#include "http/certificates.h"
#include "support/https_client.h"
#include "support/real_api_server.h"

namespace berth::e2e::rbac_test {
namespace {

using testing_support::HttpsAnswer;
using testing_support::HttpsClient;
using testing_support::RealApiServer;

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kQuestions = 4000;

std::string content(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// One of the two servers, with a connection for each user.
class Side {
 public:
  Side(std::uint16_t port, const std::string& pki, const RbacTable& table) {
    const http::Credential authority{content(pki + "/ca.crt"), content(pki + "/ca.key")};
    const Time now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
    for (const RbacUser& user : table.users) {
      http::Credential credential;
      if (!user.name.empty()) credential = http::make_client_credential(authority, user.name, user.groups, now).value();
      users_.emplace_back(port, authority.certificate, credential);
    }
    for (const RbacObject& one : table.objects) {
      const HttpsAnswer made =
          users_.back().request("POST", one.path, to_string(one.object), {{"Content-Type", "application/json"}});
      if (made.status != 201) throw std::runtime_error(one.path + " " + to_string(one.object) + ": " + made.body);
    }
  }

  HttpsAnswer ask(const RbacQuestion& question) {
    return users_[question.user].request(question.method, question.target, question.body, question.headers);
  }

 private:
  std::vector<HttpsClient> users_;
};

// What both servers must agree about: who is refused, why, and what a review says.
std::string verdict(const RbacQuestion& question, const HttpsAnswer& answer) {
  if (answer.status == 0) return "no answer: " + answer.body;
  const Json body = parse_json(answer.body).value_or(Json());
  // Kubernetes 1.36 says which verb of constrained impersonation it tried last.
  const bool acts = question.target.find("/selfsubjectreviews") != std::string::npos;
  if (acts && answer.status == 403) return "403 as another user";
  if (answer.status == 401 || answer.status == 403)
    return std::to_string(answer.status) + " " + std::string(string_at(body, {"message"}));
  const bool requests_about_access = question.target.find("/authorization.k8s.io/") != std::string::npos;
  if (requests_about_access) return bool_at(body, {"status", "allowed"}) ? "yes" : "no";
  if (!acts) return "allowed";
  std::string who(string_at(body, {"status", "userInfo", "username"}));
  who.append(" ").append(string_at(body, {"status", "userInfo", "uid"}));
  for (const Json& group : array_at(body, {"status", "userInfo", "groups"})) who += " " + to_string(group);
  return who + to_string(Json(object_at(body, {"status", "userInfo", "extra"})));
}

std::uint16_t port_in(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

TEST(Rbac, AllowsWhatARealApiServerAllows) {
  if (!RealApiServer::configured()) GTEST_SKIP() << testing_support::kNoRealApiServer;
  const RbacTable table = make_rbac_table(kSeed, kQuestions);
  const Server berth_up({"--nodes", "1x1x1"});
  const RealApiServer real_server;
  Side mine(port_in(berth_up.url()), berth_up.dir() + "/data/pki", table);
  Side real(real_server.port(), real_server.dir() + "/pki", table);
  std::size_t different = 0, refused = 0;
  for (const RbacQuestion& question : table.questions) {
    const std::string expected = verdict(question, real.ask(question)), found = verdict(question, mine.ask(question));
    refused += expected.starts_with("403") ? 1 : 0;
    if (found == expected || ++different > 20) continue;
    ADD_FAILURE() << shown(table, question) << "\nreal:  " << expected << "\nberth: " << found;
  }
  EXPECT_EQ(different, 0u) << "of " << table.questions.size();
  // Both answers occur often, or the questions say little.
  EXPECT_GT(refused, kQuestions / 5);
  EXPECT_LT(refused, kQuestions * 4 / 5);
}

}  // namespace
}  // namespace berth::e2e::rbac_test
