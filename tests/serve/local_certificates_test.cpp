#include "serve/local_certificates.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace berth::serve::local_certificates_test {
namespace {

const Time kStart = parse_time("2026-11-21T09:00:00Z").value();

class FileCertificatesTest : public testing::Test {
 protected:
  FileCertificatesTest() {
    directory = std::filesystem::temp_directory_path() / ("berth_certificates_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory);
    listening = source().listen([this](const http::Credential& credential) { seen.push_back(credential.certificate); });
  }
  ~FileCertificatesTest() override { std::filesystem::remove_all(directory); }

  FileCertificates& source() {
    if (!source_) source_ = std::make_unique<FileCertificates>(executor, directory.string());
    return *source_;
  }
  void put(const std::string& name, const std::string& text) { std::ofstream(directory / name) << text; }
  http::Credential credential() { return http::make_server_credential(authority, {"a"}, executor.now()).value(); }
  void pass() { executor.run_until(executor.now() + std::chrono::seconds(10)); }

  VirtualExecutor executor{kStart};
  http::Credential authority = http::make_authority("test", kStart).value();
  std::filesystem::path directory;
  std::vector<std::string> seen;
  std::shared_ptr<void> listening;

 private:
  std::unique_ptr<FileCertificates> source_;
};

TEST_F(FileCertificatesTest, AreReadAgainWhenTheyChange) {
  const auto first = credential(), second = credential();
  put("tls.crt", first.certificate);
  put("tls.key", first.key);
  ASSERT_TRUE(source().start());
  pass();
  EXPECT_EQ(seen, std::vector<std::string>{first.certificate});
  put("tls.crt", second.certificate);
  pass();
  EXPECT_EQ(seen.size(), 1u) << "the key does not belong to it";
  EXPECT_NE(source().problem().find("/tls.key: cannot use"), std::string::npos) << source().problem();
  put("tls.key", second.key);
  pass();
  EXPECT_EQ(seen, (std::vector<std::string>{first.certificate, second.certificate}));
  EXPECT_EQ(source().problem(), "");
}

TEST_F(FileCertificatesTest, MayComeLater) {
  const auto started = source().start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "waiting for a certificate: cannot read " + directory.string() +
                                         "/tls.crt: No such file or directory; expected tls.crt and tls.key (PEM) in " +
                                         directory.string() +
                                         ": mount a Secret of type kubernetes.io/tls there (cert-manager makes one; so "
                                         "does kubectl create secret tls)");
  EXPECT_EQ(source().problem(), started.error().message);
  const auto late = credential();
  put("tls.crt", late.certificate);
  put("tls.key", late.key);
  pass();
  EXPECT_EQ(seen, std::vector<std::string>{late.certificate});
}

TEST_F(FileCertificatesTest, StayWhenTheyAreTakenAway) {
  const auto first = credential();
  put("tls.crt", first.certificate);
  put("tls.key", first.key);
  ASSERT_TRUE(source().start());
  std::filesystem::remove(directory / "tls.key");
  pass();
  EXPECT_EQ(source().current()->certificate, first.certificate);
  EXPECT_NE(source().problem(), "");
}

TEST(CertificateSource, ListenersCanLeave) {
  VirtualExecutor executor(kStart);
  SelfSignedCertificates source(executor, {"a"}, std::chrono::hours(3));
  int stayed = 0, left = 0;
  auto a = source.listen([&](const http::Credential&) { ++stayed; });
  auto b = source.listen([&](const http::Credential&) { ++left; });
  ASSERT_TRUE(source.start());
  b.reset();
  executor.run_until(kStart + std::chrono::hours(2));
  EXPECT_EQ(stayed, 2) << "renewed with a third of its life left";
  EXPECT_EQ(left, 1);
  const auto c = source.listen([&](const http::Credential&) { ++left; });
  EXPECT_EQ(left, 2) << "told at once";
}

}  // namespace
}  // namespace berth::serve::local_certificates_test
