// The version of this build.

#ifndef JACKDAW_SERVER_VERSION_H_
#define JACKDAW_SERVER_VERSION_H_

namespace jackdaw {

inline constexpr char kVersion[] = JACKDAW_VERSION;  // From CMake's project().

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_VERSION_H_
