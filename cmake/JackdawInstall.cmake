# Installs the programs, and the libraries as the CMake package `Jackdaw`:
#
#   find_package(Jackdaw COMPONENTS scheduler)   jackdaw::scheduler; needs no gRPC
#   find_package(Jackdaw COMPONENTS client)      jackdaw::client
#
# cmake --install BUILD --component programs|scheduler|client installs one part.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Jackdaw)
# Includes are from the root of the repository, so they get a root of their own.
set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/jackdaw)

# jackdaw_install_component(NAME scheduler TARGETS ... HEADERS folder...)
# Headers keep their path below the repository's root.
function(jackdaw_install_component)
  cmake_parse_arguments(ARG "" "NAME" "TARGETS;HEADERS" ${ARGN})
  install(TARGETS ${ARG_TARGETS} EXPORT Jackdaw_${ARG_NAME}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${ARG_NAME})
  foreach(folder IN LISTS ARG_HEADERS)
    cmake_path(GET folder PARENT_PATH parent)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${header_dir}/${parent}
      COMPONENT ${ARG_NAME} FILES_MATCHING PATTERN *.h)
  endforeach()
  install(EXPORT Jackdaw_${ARG_NAME} NAMESPACE jackdaw:: FILE Jackdaw_${ARG_NAME}.cmake
    DESTINATION ${package_dir} COMPONENT ${ARG_NAME})
endfunction()

jackdaw_install_component(NAME scheduler
  TARGETS jackdaw_base jackdaw_pool jackdaw_async jackdaw_graph jackdaw_exec jackdaw_trace jackdaw_scheduler
  HEADERS scheduler/base scheduler/pool scheduler/async scheduler/graph scheduler/exec scheduler/trace)

if(JACKDAW_SERVICE)
  jackdaw_install_component(NAME client TARGETS jackdaw_proto jackdaw_client HEADERS client/cpp)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/proto/generated/ DESTINATION ${header_dir}
    COMPONENT client FILES_MATCHING PATTERN *.h)
  install(TARGETS jackdawd jackdaw RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/JackdawConfig.cmake.in ${PROJECT_BINARY_DIR}/JackdawConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break what the one before had.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/JackdawConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
foreach(component IN ITEMS scheduler client)
  install(FILES ${PROJECT_BINARY_DIR}/JackdawConfig.cmake
                ${PROJECT_BINARY_DIR}/JackdawConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT ${component})
endforeach()
