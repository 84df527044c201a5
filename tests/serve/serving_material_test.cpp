#include "serve/serving_material.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/base64.h"

namespace berth::serve::serving_material_test {
namespace {

using std::chrono::hours;

const Time kStart = parse_time("2026-11-21T09:00:00Z").value();
constexpr hours kDay{24};
constexpr hours kYear = 365 * kDay;
const std::vector<std::string> kNames = service_names({"webhook"}, "kueue-system", "cluster.local");

class ServingMaterialTest : public testing::Test {
 protected:
  std::optional<ServingMaterial> step(bool known = true) {
    auto next = next_material(present ? &*present : nullptr, {now, names, known}, lifetimes).value();
    if (next) present = next;
    return next;
  }
  std::size_t authorities() const {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = present->authorities.find("-----BEGIN", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  // Whether a client that trusts these authorities accepts the serving certificate.
  bool served_to(const std::string& trusted) const {
    const std::size_t second = trusted.find("-----BEGIN", 1);
    for (const std::string& authority :
         {trusted.substr(0, second), second == std::string::npos ? "" : trusted.substr(second)}) {
      if (!authority.empty() && http::usable(present->leaf, {authority, {}}, names, now, hours(0))) return true;
    }
    return false;
  }

  Time now = kStart;
  std::vector<std::string> names = kNames;
  CertificateLifetimes lifetimes;
  std::optional<ServingMaterial> present;
};

TEST_F(ServingMaterialTest, IsMadeOfNothingAndThenStays) {
  ASSERT_TRUE(step(false));
  EXPECT_EQ(authorities(), 1u);
  EXPECT_TRUE(served_to(present->authorities));
  EXPECT_FALSE(step());
  now += kYear * 2 / 3 - kDay;
  EXPECT_FALSE(step());
}

TEST_F(ServingMaterialTest, TheLeafIsRenewedByTheSameAuthority) {
  step();
  const ServingMaterial first = *present;
  now += kYear * 2 / 3 + kDay;
  ASSERT_TRUE(step(false));  // the authority stays the same, so no client has to load one
  EXPECT_EQ(present->authorities, first.authorities);
  EXPECT_NE(present->leaf.certificate, first.leaf.certificate);
  EXPECT_TRUE(served_to(first.authorities));
}

TEST_F(ServingMaterialTest, AnotherAuthorityIsTrustedBeforeItSigns) {
  step();
  const ServingMaterial first = *present;
  now += lifetimes.authority * 2 / 3 + kDay;
  present->leaf = http::make_server_credential({first.authorities, first.authority_key}, names, now).value();
  const std::string leaf = present->leaf.certificate;

  ASSERT_TRUE(step(false));
  EXPECT_EQ(authorities(), 2u);
  EXPECT_NE(present->authority_key, first.authority_key);
  EXPECT_EQ(present->leaf.certificate, leaf);  // clients that trust only the old authority still accept it
  EXPECT_FALSE(step(false)) << "as long as not everybody knows";
  now += kDay;
  EXPECT_FALSE(step(false));

  ASSERT_TRUE(step(true));
  EXPECT_NE(present->leaf.certificate, leaf);
  EXPECT_EQ(authorities(), 2u);
  EXPECT_FALSE(served_to(first.authorities));
  EXPECT_TRUE(served_to(present->authorities));

  now += lifetimes.overlap - hours(2);
  EXPECT_FALSE(step());
  now += hours(3);
  ASSERT_TRUE(step());
  EXPECT_EQ(authorities(), 1u);
  EXPECT_TRUE(served_to(present->authorities));
  EXPECT_FALSE(step());
}

TEST_F(ServingMaterialTest, WithoutAGoodLeafNobodyWaits) {
  step();
  now += lifetimes.authority * 2 / 3 + kDay;  // the leaf expired long ago
  ASSERT_TRUE(step(false));
  EXPECT_EQ(authorities(), 1u);
  EXPECT_TRUE(served_to(present->authorities));
}

TEST_F(ServingMaterialTest, NamesThatAreNewGetANewLeaf) {
  step();
  names.push_back("visibility.kueue-system.svc");
  EXPECT_FALSE(served_to(present->authorities));
  ASSERT_TRUE(step());
  EXPECT_TRUE(served_to(present->authorities));
}

TEST_F(ServingMaterialTest, NamesMayBeAsLongAsServicesAndNamespacesAre) {
  names = service_names({std::string(63, 's')}, std::string(63, 'n'), "cluster.local");
  step();
  EXPECT_TRUE(served_to(present->authorities));
}

TEST_F(ServingMaterialTest, AnAuthorityWhoseKeyIsAnotherOneIsReplaced) {
  step();
  const std::string trusted = present->authorities;
  present->authority_key = http::make_authority("other", now).value().key;
  ASSERT_TRUE(step(false));
  EXPECT_EQ(authorities(), 2u);
  EXPECT_TRUE(served_to(trusted));
}

// More than a year in steps of a day, with clients that lag behind: clients accept the serving certificate at any
// time, both with the authorities published five days ago and with the present ones.
TEST_F(ServingMaterialTest, IsAlwaysTrustedByThoseWhoLagBehind) {
  lifetimes = {.authority = 90 * kDay, .leaf = 20 * kDay, .overlap = 6 * kDay};
  constexpr std::size_t kLag = 5;
  std::vector<std::string> history;  // of the authorities, one a day
  std::size_t rotations = 0;
  step();
  for (int day = 0; day < 400; ++day, now += kDay) {
    const bool known =
        history.size() >= kLag && std::all_of(history.end() - kLag, history.end(),
                                              [&](const std::string& a) { return a == present->authorities; });
    const std::string before = present->authority_key;
    step(known);
    rotations += before != present->authority_key ? 1 : 0;
    history.push_back(present->authorities);
    ASSERT_TRUE(served_to(present->authorities)) << day;
    ASSERT_TRUE(served_to(history[history.size() > kLag ? history.size() - kLag : 0])) << day;
    ASSERT_LE(authorities(), 2u);
  }
  EXPECT_GE(rotations, 5u);
}

// --- The Secret.

TEST_F(ServingMaterialTest, ComesBackFromASecret) {
  step();
  Json secret = JsonObject{{"metadata", JsonObject{{"name", "s"}, {"labels", JsonObject{{"a", "b"}}}}},
                           {"data", JsonObject{{"other", "eA=="}}}};
  EXPECT_EQ(read_material(secret).value(), std::nullopt);
  write_material(secret, *present);
  EXPECT_EQ(read_material(secret).value(), present);
  EXPECT_EQ(string_at(secret, {"data", "other"}), "eA==");
  EXPECT_EQ(string_at(secret, {"metadata", "labels", "a"}), "b");
}

TEST_F(ServingMaterialTest, SecretsOfAnotherShapeAreRefused) {
  step();
  Json secret = JsonObject{{"metadata", JsonObject{{"name", "s"}, {"namespace", "kueue-system"}}}};
  write_material(secret, *present);
  Json without = secret;
  erase_path(without, {"data", "ca.key"});
  EXPECT_EQ(read_material(without).error().message,
            "Secret kueue-system/s: data: ca.key expected beside the rest; delete the Secret to have it made anew, or "
            "switch off "
            "internalCertManagement to use certificates from files");
  for (const std::string_view key : {"ca.crt", "ca.key", "tls.crt", "tls.key"}) {
    for (const std::string& value : {base64_encode("not a certificate but a secret"), std::string("%%%")}) {
      Json bad = secret;
      ensure_path(bad, {"data", key}) = value;
      EXPECT_EQ(read_material(bad).error().message,
                "Secret kueue-system/s: data[" + std::string(key) + "]: expected PEM");
    }
  }
}

TEST(ServiceNames, AreShortAndLong) {
  EXPECT_EQ(service_names({"a", "b"}, "n", "d.e"),
            (std::vector<std::string>{"a.n.svc", "a.n.svc.d.e", "b.n.svc", "b.n.svc.d.e"}));
}

}  // namespace
}  // namespace berth::serve::serving_material_test
