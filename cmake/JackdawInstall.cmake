# Installs the libraries as the CMake package `Jackdaw`: find_package(Jackdaw) gives
# jackdaw::scheduler, and jackdaw::client where the service was built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
