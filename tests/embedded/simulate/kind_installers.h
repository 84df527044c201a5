// Simulated administrators who uninstall kinds of jobs with all their objects, install them again, and move them to
// another version while jobs run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/simulate/hands.h"
#include "embedded/simulate/lab_names.h"

namespace berth::simulation {

inline constexpr std::string_view kLaterVersion = "v9";  // the version that kinds move to

class KindInstallers {
 public:
  // The kinds are those of config/external that Berth describes.
  KindInstallers(api::RestClient& client, std::uint64_t seed);

  // Disturbs a kind, or puts right one that was disturbed.
  void act();
  // Puts all kinds right. Call it repeatedly, because requests are asynchronous.
  void calm_down();
  // How often a kind was deleted; how often its version was not served any more, or not the stored one.
  std::uint64_t uninstalled() const { return uninstalled_; }
  std::uint64_t moved() const { return moved_; }

 private:
  void move(const std::string& name, bool still_served);
  void restore(const std::string& name);

  simulate::Random random_;
  Hands hands_;
  std::map<std::string, Json> definitions_;  // by name
  std::vector<std::string> names_;
  std::map<std::string, bool> disturbed_;
  std::uint64_t uninstalled_ = 0, moved_ = 0;
};

}  // namespace berth::simulation
