# Runs the Promela model MODEL, with DEFECT defined if that is not empty, in the directory DIR.
# Fails unless the checker's report matches EXPECT and the checker saw all there is to see.
set(memory_mib 1500)
set(depth 500000)  # Steps; the longest path of idle.pml has 180,000.

find_program(spin spin)
find_program(cc NAMES cc gcc clang)
if(NOT spin OR NOT cc)
  message(FATAL_ERROR "needs spin and a C compiler: ./dev setup")
endif()
file(MAKE_DIRECTORY ${DIR})
if(DEFECT)
  set(define -D${DEFECT})
endif()
foreach(step IN ITEMS
    "${spin};-a;${define};${MODEL}"
    "${cc};-O1;-w;-DNFAIR=3;-DMEMLIM=${memory_mib};-o;checker;pan.c")
  list(FILTER step EXCLUDE REGEX "^$")
  execute_process(COMMAND ${step} WORKING_DIRECTORY ${DIR} RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${step}\n${output}")
  endif()
endforeach()
# -a: look for infinite executions that break the property; -f: only for those that are fair.
execute_process(COMMAND ${DIR}/checker -a -f -m${depth} WORKING_DIRECTORY ${DIR}
                OUTPUT_VARIABLE report ERROR_VARIABLE report)
message("${report}")
if(report MATCHES "search depth too small|MEMLIM|out of memory")
  message(FATAL_ERROR "the checker did not see everything")
endif()
if(NOT report MATCHES "${EXPECT}")
  message(FATAL_ERROR "the checker does not say: ${EXPECT}")
endif()
