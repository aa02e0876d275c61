# Installs one component of a build into a prefix of its own, builds a project that uses it,
# and runs the result:
#
#   cmake -DBUILD=dir -DWANTED=scheduler|client -DEXAMPLE=file.cc -DWORK=dir
#         [-DCOMPILER=c++] [-DLAUNCHER=ccache] [-DRUN=TRUE] -P install_test.cmake

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed with ${status}: ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component ${WANTED})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DWANTED=${WANTED} -DEXAMPLE=${EXAMPLE})
run(${CMAKE_COMMAND} --build ${WORK}/build)

# The build tree must not be what was used.
file(GLOB_RECURSE exported ${WORK}/prefix/*.cmake)
foreach(file IN LISTS exported)
  file(READ ${file} text)
  string(FIND "${text}" "${BUILD}" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${file} names the build directory")
  endif()
endforeach()

if(RUN)
  run(${WORK}/build/consumer)
endif()
