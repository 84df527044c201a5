// Uids and versions, stored small.
#include "kube/object_identity.h"

#include <gtest/gtest.h>

namespace berth::kube::object_identity_test {
namespace {

constexpr const char* kUuid = "0f8fad5b-d9cb-469f-a165-70867728950e";

TEST(ObjectIdentity, GivesBackWhatItWasMadeOf) {
  for (const std::string uid :
       {kUuid, "00000000-0000-0000-0000-000000000000", "0F8FAD5B-D9CB-469F-A165-70867728950E",
        "0f8fad5b-d9cb-469f-a165-70867728950", "0f8fad5bd9cb-469f-a165-70867728950e-", "u", ""}) {
    for (const std::string version : {"1", "18446744073709551615", "18446744073709551616", "0", "007", "-1", "a", ""}) {
      const ObjectIdentity identity(uid, version);
      EXPECT_EQ(identity.uid(), uid);
      EXPECT_EQ(identity.version(), version);
      EXPECT_TRUE(identity.has_uid(uid));
      EXPECT_FALSE(identity.has_uid(uid + "0"));
      EXPECT_EQ(identity, ObjectIdentity(uid, version));
      EXPECT_NE(identity, ObjectIdentity(uid, version + "1"));
      EXPECT_NE(identity, ObjectIdentity(uid + "0", version));
    }
  }
}

TEST(ObjectIdentity, OfAnObjectWithoutOneIsEmpty) {
  EXPECT_EQ(ObjectIdentity().uid(), "");
  EXPECT_EQ(ObjectIdentity().version(), "");
  EXPECT_TRUE(ObjectIdentity().has_uid(""));
  EXPECT_FALSE(ObjectIdentity().has_uid(kUuid));
}

}  // namespace
}  // namespace berth::kube::object_identity_test
