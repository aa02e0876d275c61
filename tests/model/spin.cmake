# A model for Spin, as it is and with each of its own defects. Spin writes a checker in C; a test
# writes, compiles and runs it (run_spin.cmake).

# jackdaw_spin_test(NAME IdleProtocolTest.ClaimInWords MODEL idle.pml [DEFECT NAME] EXPECT text)
# EXPECT is what the checker must say, a regular expression.
function(jackdaw_spin_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;MODEL;DEFECT;EXPECT" "")
  string(REPLACE "." "_" dir ${ARG_NAME})
  add_test(NAME ${ARG_NAME}
    COMMAND ${CMAKE_COMMAND} -DMODEL=${CMAKE_CURRENT_SOURCE_DIR}/${ARG_MODEL} -DDEFECT=${ARG_DEFECT}
            -DEXPECT=${ARG_EXPECT} -DDIR=${CMAKE_CURRENT_BINARY_DIR}/spin/${dir}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/run_spin.cmake)
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS model TIMEOUT 300)
endfunction()
