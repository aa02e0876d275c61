// The standard reflection service, from the descriptors that are compiled in. One of our
// own: gRPC's runs on threads of its own, which would poll beside our queue and slow it
// down, and it cannot describe the health service.

#ifndef JACKDAW_SERVER_REFLECTION_SERVICE_H_
#define JACKDAW_SERVER_REFLECTION_SERVICE_H_

#include <string>
#include <vector>

#include "server/rpc/service.h"

namespace jackdaw {

// Gives the reflection service `service`, of version v1 or v1alpha, its handler. `listed`:
// the full names of the server's services.
void RegisterReflection(const std::vector<std::string>& listed, RpcService* service);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_REFLECTION_SERVICE_H_
